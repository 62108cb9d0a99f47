package aistudio

import (
	"errors"
	"fmt"
	"iter"

	"toolscope/providers/dialect"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/jsonbytes"
)

// A value is one JSON value with everything inside it, flat: the first node is the value itself,
// those of its elements follow. A nil value was not there. It is valid until its parser reads the
// next text.
type value []node

type node struct {
	raw   dialect.Raw // exact bytes; nil where a comma stands for a value
	size  int         // nodes of the value, this one included
	elems int         // of an array
}

func (v value) raw() dialect.Raw {
	if len(v) == 0 {
		return nil
	}
	return v[0].raw
}

func (v value) isArray() bool  { return v.raw().Kind() == '[' }
func (v value) isString() bool { return v.raw().IsString() }
func (v value) isNull() bool   { return !v.raw().Given() }

// isCut reports whether an array breaks off.
func (v value) isCut() bool { return string(v.raw()) == "[" }

// isNumber reports whether the value is a number, not a string that holds one.
func (v value) isNumber() bool { return v.raw().IsNumber() }

// isTrue reports whether a bool field is set: as 1 or as true.
func (v value) isTrue() bool { return string(v.raw()) == "1" || v.raw().IsTrue() }

// integer is the value of an int field; an int64 is written as a string.
func (v value) integer() (int64, bool) {
	if v.isString() {
		return dialect.Raw(v.raw().Text()).Int()
	}
	return v.raw().Int()
}

func (v value) count() stream.Count {
	n, ok := v.integer()
	return stream.Count{N: n, Told: ok}
}

// len is how many elements an array has.
func (v value) len() int {
	if len(v) == 0 {
		return 0
	}
	return v[0].elems
}

// at is element i of an array, the field of number i+1 of a message.
func (v value) at(i int) value {
	for e := range v.all() {
		if i == 0 {
			return e
		}
		i--
	}
	return nil
}

// all are the elements of an array.
func (v value) all() iter.Seq[value] {
	return func(yield func(value) bool) {
		for i := 1; i < len(v); i += v[i].size {
			if !yield(v[i : i+v[i].size]) {
				return
			}
		}
	}
}

// A parser reads JSON texts whose arrays may leave out a null before a comma, as in JavaScript:
// [,[7,"no"]] has two elements, [1,] has one.
type parser struct {
	data  []byte
	i     int
	nodes []node
}

// parse reads one text, which the value borrows. After an error nodes holds what came before it: an
// array that breaks off has nothing but its bracket as raw.
func (p *parser) parse(data []byte) (value, error) {
	p.data, p.i, p.nodes = data, 0, p.nodes[:0]
	p.space()
	if err := p.value(1); err != nil {
		return nil, err
	}
	if p.space(); p.i < len(data) {
		return nil, fmt.Errorf("byte %d: expected the end of the text, got %q", p.i, data[p.i])
	}
	return p.nodes, nil
}

func (p *parser) value(depth int) error {
	if p.peek() != '[' {
		return p.leaf()
	}
	if depth > stream.MaxDepth {
		return errors.New("nested too deeply")
	}
	at, start := len(p.nodes), p.i
	p.nodes = append(p.nodes, node{raw: p.data[start : start+1]})
	p.i++
	elems, err := p.elements(depth)
	if err == nil {
		p.nodes[at].raw = p.data[start:p.i]
	}
	p.nodes[at].size, p.nodes[at].elems = len(p.nodes)-at, elems
	return err
}

// elements reads what is in an array, and its end.
func (p *parser) elements(depth int) (n int, err error) {
	for p.space(); p.peek() != ']'; p.space() {
		before := len(p.nodes)
		if p.peek() == ',' {
			p.nodes = append(p.nodes, node{size: 1})
		} else {
			err = p.value(depth + 1)
		}
		if len(p.nodes) > before {
			n++
		}
		if err != nil {
			return n, err
		}
		switch p.space(); p.peek() {
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

// leaf reads what is no array: an object is one, its members are nobody's fields.
func (p *parser) leaf() error {
	s := dialect.Scan(p.data[p.i:])
	raw := s.Value()
	if err := s.Err(); err != nil {
		return fmt.Errorf("after %s: %w", count.Of(p.i, "byte"), err)
	}
	p.nodes = append(p.nodes, node{raw: raw, size: 1})
	p.i += len(raw)
	return nil
}

func (p *parser) peek() byte {
	if p.i < len(p.data) {
		return p.data[p.i]
	}
	return 0
}

func (p *parser) space() {
	p.i += jsonbytes.Space(p.data[p.i:])
}
