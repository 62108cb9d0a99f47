package aistudio

import (
	"errors"
	"fmt"
	"iter"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// jsonNodes is one JSON value with its elements, as a flat list. The first node is the value itself, and the nodes of
// its elements follow. If jsonNodes is nil, the value is absent. The nodes are valid until the parser reads the next
// text.
type jsonNodes []node

type node struct {
	raw   json.Value // exact bytes; nil for a null that is omitted before a comma
	size  int        // number of nodes of the value, including this one
	elems int        // number of elements of an array
}

func (v jsonNodes) raw() json.Value {
	if len(v) == 0 {
		return nil
	}
	return v[0].raw
}

func (v jsonNodes) isArray() bool  { return v.raw().Kind() == '[' }
func (v jsonNodes) isString() bool { return v.raw().IsString() }
func (v jsonNodes) isNull() bool   { return !v.raw().IsPresent() }

// isCut reports whether an array is cut off.
func (v jsonNodes) isCut() bool { return string(v.raw()) == "[" }

// isNumber reports whether the value is a number, and not a string that contains a number.
func (v jsonNodes) isNumber() bool { return v.raw().IsNumber() }

// isTrue reports whether a bool field is set, as 1 or as true.
func (v jsonNodes) isTrue() bool { return string(v.raw()) == "1" || v.raw().IsTrue() }

// asInt returns the value of an int field. An int64 is written as a string.
func (v jsonNodes) asInt() (int64, bool) {
	if v.isString() {
		return json.Value(v.raw().Text()).Int()
	}
	return v.raw().Int()
}

func (v jsonNodes) asCount() stream.Count {
	n, ok := v.asInt()
	return stream.Count{N: n, Reported: ok}
}

// len returns the number of elements of an array.
func (v jsonNodes) len() int {
	if len(v) == 0 {
		return 0
	}
	return v[0].elems
}

// element returns element i of an array. In a message, this is field i+1.
func (v jsonNodes) element(i int) jsonNodes {
	for e := range v.elements() {
		if i == 0 {
			return e
		}
		i--
	}
	return nil
}

// elements iterates over the elements of an array.
func (v jsonNodes) elements() iter.Seq[jsonNodes] {
	return func(yield func(jsonNodes) bool) {
		for i := 1; i < len(v); i += v[i].size {
			if !yield(v[i : i+v[i].size]) {
				return
			}
		}
	}
}

// A parser reads JSON texts whose arrays may omit a null before a comma, as in JavaScript: [,[7,"no"]] has
// two elements; [1,] has one.
type parser struct {
	data  []byte
	i     int
	nodes []node
}

// parse reads one text. The returned value refers to the text's bytes. After an error, nodes contains the values that
// were read before the error. If an array is cut off, its raw text is only the opening bracket.
func (p *parser) parse(data []byte) (jsonNodes, error) {
	p.data, p.i, p.nodes = data, 0, p.nodes[:0]
	p.skipSpace()
	if err := p.parseValue(1); err != nil {
		return nil, err
	}
	if p.skipSpace(); p.i < len(data) {
		return nil, fmt.Errorf("byte %d: expected the end of the text, got %q", p.i, data[p.i])
	}
	return p.nodes, nil
}

func (p *parser) parseValue(depth int) error {
	if p.peek() != '[' {
		// An object counts as a leaf, because its members are not fields of a message.
		s := json.Scan(p.data[p.i:])
		raw := s.Value()
		if err := s.Err(); err != nil {
			return fmt.Errorf("after %s: %w", count.Of(p.i, "byte"), err)
		}
		p.nodes = append(p.nodes, node{raw: raw, size: 1})
		p.i += len(raw)
		return nil
	}
	if depth > json.MaxDepth {
		return errors.New("nested too deeply")
	}
	at, start := len(p.nodes), p.i
	p.nodes = append(p.nodes, node{raw: p.data[start : start+1]})
	p.i++
	elems, err := p.parseElements(depth)
	if err == nil {
		p.nodes[at].raw = p.data[start:p.i]
	}
	p.nodes[at].size, p.nodes[at].elems = len(p.nodes)-at, elems
	return err
}

// parseElements reads the elements of an array and the closing bracket.
func (p *parser) parseElements(depth int) (n int, err error) {
	for p.skipSpace(); p.peek() != ']'; p.skipSpace() {
		before := len(p.nodes)
		if p.peek() == ',' {
			p.nodes = append(p.nodes, node{size: 1})
		} else {
			err = p.parseValue(depth + 1)
		}
		if len(p.nodes) > before {
			n++
		}
		if err != nil {
			return n, err
		}
		switch p.skipSpace(); p.peek() {
		case ',':
			p.i++
		case ']':
		default:
			return n, fmt.Errorf("byte %d: expected a comma or ]", p.i)
		}
	}
	p.i++
	return n, nil
}

func (p *parser) peek() byte {
	if p.i < len(p.data) {
		return p.data[p.i]
	}
	return 0
}

func (p *parser) skipSpace() {
	p.i += json.SpaceLen(p.data[p.i:])
}

// lengthFirst appends the object that a decoder reads from positional arguments if it checks the length of an
// array before its content. Published clients did so, and passed wrong arguments to tools in two cases:
//
//   - A list item that is an object without an enclosing value is a list of
//     [key,VALUE]. Each pair has length 2, the length of a number, [null,n].
//     So the decoder returns the element at index 1 unchanged. The element is
//     [null,null,"1"], a list that loses its nulls: {"todos":[{"id":["1"]}]}.
//   - With one more array around the item, the length is 1, the length of
//     null. So the object loses its fields: {"todos":[{}]}.
//
// The result is right for canonical arguments. It is used only for a comparison: if it differs from
// toolscope's reading, the difference is shown.
func lengthFirst(dst []byte, v jsonNodes) []byte {
	if !isMembers(v) {
		v = v.element(0)
	}
	if !isMembers(v) {
		return append(dst, "{}"...)
	}
	return appendMembers(dst, v, lengthValue)
}

func appendMembers(dst []byte, v jsonNodes, member func([]byte, jsonNodes) []byte) []byte {
	sep := byte('{')
	for e := range v.elements() {
		dst = append(append(append(dst, sep), e.element(0).raw()...), ':')
		dst = member(dst, e.element(1))
		sep = ','
	}
	return append(dst, '}')
}

// lengthValue appends a value that is read by its length alone.
func lengthValue(dst []byte, v jsonNodes) []byte {
	n := v.len()
	switch {
	case !v.isArray():
		return appendLeaf(dst, v)
	case n <= 1:
		return append(dst, "null"...)
	case n == 5:
		return lengthFirst(dst, v.element(4))
	case n == 6:
		return lengthItems(dst, v.element(5))
	}
	last := v.element(n - 1)
	if text := literalJSON(n, last); text != nil {
		return append(dst, text...)
	}
	if n < 5 {
		return asItIs(dst, last)
	}
	return asItIs(dst, v)
}

func lengthItems(dst []byte, v jsonNodes) []byte {
	if v.len() == 1 && isListBody(v.element(0)) {
		v = v.element(0)
	}
	return appendList(dst, v, false, func(dst []byte, item jsonNodes) []byte {
		switch {
		case isMembers(item):
			return appendMembers(dst, item, asItIs)
		case item.len() == 1 && item.element(0).isArray():
			return append(dst, "{}"...)
		}
		return lengthValue(dst, item)
	})
}

// asItIs appends an array as a list of its elements, without the nulls.
func asItIs(dst []byte, v jsonNodes) []byte {
	if !v.isArray() {
		return appendLeaf(dst, v)
	}
	return appendList(dst, v, true, asItIs)
}

func appendList(dst []byte, v jsonNodes, dropNulls bool, item func([]byte, jsonNodes) []byte) []byte {
	dst = append(dst, '[')
	start := len(dst)
	for e := range v.elements() {
		if dropNulls && e.isNull() {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = item(dst, e)
	}
	return append(dst, ']')
}
