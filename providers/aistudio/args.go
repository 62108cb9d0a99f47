package aistudio

import (
	"bytes"
	"errors"

	"toolscope/stream"
	"toolscope/stream/json"
)

// Arguments are a google.protobuf.Struct, and every value in them is a google.protobuf.Value. A Value is a
// message with one field, and the number of the field is the type. As positional arrays, the values are:
//
//	null    [0]
//	number  [null,42]
//	string  [null,null,"x"]
//	bool    [null,null,null,1]
//	object  [null,null,null,null,STRUCT]   STRUCT is [[[key,VALUE],…]]
//	list    [null,null,null,null,null,LIST]  LIST is [[VALUE,…]]
//
// So the length shows the type. But real traffic omits and adds layers of messages. Also, a list of pairs is
// an object even if it has the length of a value. For this reason, an array that looks like a list of pairs
// is read as one, whatever its length.

// maxUnwraps is the maximum number of one-element arrays that may wrap a value.
const maxUnwraps = 10

// errBadStruct is the error for an array that can't be read as an object.
var errBadStruct = errors.New("neither a list of key-value pairs nor arrays that wrap such a list")

// An oddValue is a value with an unusual form, together with the diagnosis for it.
type oddValue struct {
	of     *stream.Diagnosis
	offset int    // offset in the text
	value  string // the value as sent, cut off if it is long
}

// argsReader converts positional arguments to JSON. Its buffers are reused.
type argsReader struct {
	text  []byte // one JSON object without spaces; keys, strings and numbers are spelled as sent
	notes []oddValue
}

// read reads the arguments of a call, which are an array.
func (r *argsReader) read(v jsonNodes) error {
	r.text, r.notes = r.text[:0], r.notes[:0]
	return r.readObject(v)
}

// isMembers reports whether v is a list of pairs: [key], [key,VALUE] or longer.
func isMembers(v jsonNodes) bool {
	for e := range v.elements() {
		if !e.isArray() || !e.element(0).isString() {
			return false
		}
	}
	return v.len() > 0
}

// isListBody reports whether v is the field inside a LIST: all elements of v are arrays, and v is not an object. It
// also returns true for a value of one element. Like a list body of one element, such a value only wraps something
// else.
func isListBody(v jsonNodes) bool {
	for e := range v.elements() {
		if !e.isArray() {
			return false
		}
	}
	return v.isArray() && !isMembers(v)
}

// readObject reads a STRUCT, together with any arrays that wrap it.
func (r *argsReader) readObject(v jsonNodes) error {
	for range maxUnwraps + 1 {
		first := v.element(0)
		switch {
		case v.len() == 0, v.len() == 1 && first.isNull(), v.len() == 1 && first.isArray() && first.len() == 0:
			r.text = append(r.text, "{}"...)
			return nil
		case isMembers(v):
			return r.readMembers(v)
		case v.len() > 1 || !first.isArray():
			return errBadStruct
		}
		v = first
	}
	return errBadStruct
}

func (r *argsReader) readMembers(v jsonNodes) error {
	sep := byte('{')
	for e := range v.elements() {
		r.text = append(append(append(r.text, sep), e.element(0).raw()...), ':')
		sep = ','
		if err := r.readValue(e.element(1)); err != nil {
			return err
		}
	}
	r.text = append(r.text, '}')
	return nil
}

// readValue reads a VALUE.
func (r *argsReader) readValue(v jsonNodes) error {
	for range maxUnwraps + 1 {
		switch {
		case !v.isArray():
			r.text = appendLeaf(r.text, v)
			return nil
		case v.len() == 0:
			r.text = append(r.text, "null"...)
			return nil
		case isMembers(v):
			return r.readMembers(v)
		case v.len() > 1 || !v.element(0).isArray():
			return r.readByLength(v)
		}
		v = v.element(0)
	}
	return errBadStruct
}

// readByLength reads a value. Its type depends on the number of elements, and its content is the last element. A list
// body without the arrays that should wrap it is read as a list.
func (r *argsReader) readByLength(v jsonNodes) error {
	n := v.len()
	last := v.element(n - 1)
	if !isCanonical(v) {
		r.addOddity(nonCanonical, v, len(r.text))
		if isListBody(v) {
			return r.readList(v) // the arrays that should wrap the value and the list are both missing
		}
	}
	switch {
	case n == 1:
		r.text = append(r.text, "null"...)
		return nil
	case n == 5 && (last.isArray() || last.isNull()):
		return r.readObject(last)
	case n == 6 && (last.isArray() || last.isNull()):
		return r.readList(last)
	}
	if text := literalJSON(n, last); text != nil {
		if text.BeyondDouble() {
			r.addOddity(numAsFloat, last, len(r.text))
		}
		r.text = append(r.text, text...)
		return nil
	}
	r.addOddity(nonCanonical, v, len(r.text))
	return r.readValue(last)
}

// isCanonical reports whether the last field of v is a known one, and all fields before it are unset.
func isCanonical(v jsonNodes) bool {
	i, n := 0, v.len()
	for e := range v.elements() {
		if i++; i < n && !e.isNull() && !(i == 1 && string(e.raw()) == "0") {
			return false
		}
	}
	return n <= 6 && (n != 1 || v.element(0).isNull() || string(v.element(0).raw()) == "0")
}

// literalJSON returns the JSON of a field that contains a number, a string or a bool. The type depends on the length
// of the value that contains the field. literalJSON returns nil if the field contains none of these.
func literalJSON(length int, field jsonNodes) json.Value {
	raw := field.raw()
	switch {
	case length == 2 && field.isNumber(), length == 3 && field.isString():
		return raw
	case length == 2 && field.isString():
		switch text := json.Value(raw.Text()); string(text) {
		case "NaN", "Infinity", "-Infinity":
			return raw // this value is not a number in JSON
		default:
			if s := text.Scan(); (jsonNodes{{raw: text}}).isNumber() && string(s.Value()) == string(text) {
				return text // an int64 is written as a string
			}
		}
	case length == 4 && field.isTrue():
		return json.Value("true")
	case length == 4 && (string(raw) == "0" || string(raw) == "false"):
		return json.Value("false")
	}
	return nil
}

// appendLeaf appends a value that is not an array, unchanged.
func appendLeaf(dst []byte, v jsonNodes) []byte {
	if raw := v.raw(); raw != nil {
		return append(dst, raw...)
	}
	return append(dst, "null"...)
}

// readList reads a LIST, whether or not its values are wrapped in a message.
func (r *argsReader) readList(v jsonNodes) error {
	start := len(r.text)
	if isMembers(v) { // one object without an array of its own
		r.addOddity(listAmbiguous, v, start)
		r.text = append(r.text, '[')
		err := r.readMembers(v)
		r.text = append(r.text, ']')
		return err
	}
	items := v
	if v.len() == 1 && isListBody(v.element(0)) {
		items = v.element(0)
	}
	sep := byte('[')
	for e := range items.elements() {
		r.text = append(r.text, sep)
		sep = ','
		if err := r.readValue(e); err != nil {
			return err
		}
	}
	if sep == '[' {
		r.text = append(r.text, '[')
	}
	r.text = append(r.text, ']')
	if items.len() == 1 && isAmbiguous(items, v) {
		r.addOddity(listAmbiguous, v, start)
	}
	return nil
}

// isAmbiguous reports whether the array in a list may be either the list's only item or an array that wraps an item.
func isAmbiguous(items, list jsonNodes) bool {
	item := items.element(0)
	unwrapped := len(items) == len(list)
	return item.isArray() && (unwrapped || item.len() == 1 && item.element(0).isArray())
}

// addOddity records an oddity of v, once per diagnosis.
func (r *argsReader) addOddity(of *stream.Diagnosis, v jsonNodes, offset int) {
	for _, n := range r.notes {
		if n.of == of {
			return
		}
	}
	r.notes = append(r.notes, oddValue{of, offset, clipFrom(v.raw(), 0)})
}

// A frameShape is the kind of a frame. Framing removes the outer arrays, but some bodies lack them. The kind of an
// array therefore depends on its content.
type frameShape uint8

const (
	anOther frameShape = iota
	aChunk
	aCandidate // candidate of a chunk that the framing mistook for one of the outer arrays
	anError
	aList   // list of chunks, or of lists of chunks
	nothing // null, or an array of nulls, at any depth
)

// maxNesting is the maximum number of lists around a chunk.
const maxNesting = 3

func shapeOf(v jsonNodes, lists int) frameShape {
	switch {
	case isError(v):
		return anError
	case isEmpty(v):
		return nothing
	case isBareCandidate(v):
		return aCandidate
	case isChunk(v):
		return aChunk
	case v.isArray() && lists > 0:
		return shapeOfList(v, lists)
	}
	return anOther
}

// shapeOfList returns the shape of an array. The array is a list if each element is a chunk, an error, a candidate, a
// list or null. If all elements are null, the shape is nothing.
func shapeOfList(v jsonNodes, lists int) frameShape {
	all := nothing
	for e := range v.elements() {
		switch shapeOf(e, lists-1) {
		case anOther:
			return anOther
		case nothing:
		default:
			all = aList
		}
	}
	return all
}

// isEmpty reports whether v is null, [], or an array of nulls.
func isEmpty(v jsonNodes) bool {
	for e := range v.elements() {
		if !e.isNull() {
			return false
		}
	}
	return v.isNull() || v.isArray()
}

// isError reports whether v is [code, message, …], a google.rpc.Status.
func isError(v jsonNodes) bool {
	code, ok := v.element(0).raw().Int()
	return ok && code > 0 && v.element(1).isString()
}

// isChunk reports whether v is a chunk. The first field of a chunk is usually a list of candidates. In a chunk
// without candidates, the first three fields are arrays or null, and no field is an error or a chunk with candidates.
func isChunk(v jsonNodes) bool {
	first := v.element(0)
	if hasCandidates(v) {
		return true
	}
	for e := range v.elements() {
		if isError(e) || hasCandidates(e) {
			return false
		}
	}
	isMessage := func(v jsonNodes) bool { return v.isNull() || v.isArray() }
	return v.len() > 1 && isMessage(first) && first.len() == 0 && isMessage(v.element(1)) && isMessage(v.element(2))
}

func hasCandidates(v jsonNodes) bool {
	for e := range v.element(0).elements() {
		if !isCandidate(e) {
			return false
		}
	}
	return v.element(0).len() > 0
}

// isCandidate reports whether v is [content, finishReason, …]. Either of the two may be missing, but not both.
func isCandidate(v jsonNodes) bool {
	content := v.element(0)
	switch {
	case !v.isArray() || !v.element(1).isNull() && !v.element(1).isNumber():
		return false
	case isEmpty(content):
		return v.element(1).isNumber()
	}
	// The content is [parts, role]. A part has no known field at index 0.
	parts := content.element(0)
	if !content.isArray() || !parts.isArray() && !parts.isNull() || !content.element(1).isString() && !content.element(1).isNull() {
		return false
	}
	for e := range parts.elements() {
		if !e.isArray() || !e.element(0).isNull() {
			return false
		}
	}
	return content.len() > 0
}

// isBareCandidate reports whether v is a candidate and not a chunk. A candidate has a finish reason but no content,
// or content with a role.
func isBareCandidate(v jsonNodes) bool {
	return v.element(0).isNull() && v.element(1).isNumber() || v.element(0).isArray() && v.element(0).element(1).isString() && isCandidate(v)
}

// stripPrefix removes the prefix that Google's services add before a JSON text.
func stripPrefix(data []byte) []byte {
	if rest, ok := bytes.CutPrefix(bytes.TrimSpace(data), []byte(stream.XSSI)); ok {
		return rest
	}
	return data
}
