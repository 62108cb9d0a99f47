package aistudio

import (
	"errors"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// Arguments are a google.protobuf.Struct, and every value in them is a google.protobuf.Value: a
// message of one field, whose number says the type. As a positional array that makes
//
//	null    [0]
//	number  [null,42]
//	string  [null,null,"x"]
//	bool    [null,null,null,1]
//	object  [null,null,null,null,STRUCT]   STRUCT is [[[key,VALUE],…]]
//	list    [null,null,null,null,null,LIST]  LIST is [[VALUE,…]]
//
// so the length tells the type. But layers of messages are left out and put in on real wires, and a
// list of members that has the length of a value is still an object: what looks like members is
// members, before any length counts.

// unwrapLimit is how many layers of one element may stand round a value.
const unwrapLimit = 10

// errBadStruct means that no reading of the array is an object.
var errBadStruct = errors.New("neither a list of members nor one inside other arrays")

// A note is something odd about a value.
type note struct {
	of     *stream.Diagnosis
	offset int    // in the text
	value  string // as on the wire, cut short
}

// reading is what positional arguments come to. Its buffers are reused.
type reading struct {
	text  []byte // one JSON object without spaces; keys, strings and numbers are spelled as on the wire
	notes []note
}

// read decodes the arguments of a call, which are an array.
func (r *reading) read(v value) error {
	r.text, r.notes = r.text[:0], r.notes[:0]
	return r.object(v)
}

// isMembers reports whether v is a list of [key], [key,VALUE] or longer.
func isMembers(v value) bool {
	for e := range v.all() {
		if !e.isArray() || !e.at(0).isString() {
			return false
		}
	}
	return v.len() > 0
}

// isListBody reports whether v is the field inside a LIST: its elements are all arrays and v is no
// object. (A value of one element would pass, but that is a layer round something, as a list body
// of one is.)
func isListBody(v value) bool {
	for e := range v.all() {
		if !e.isArray() {
			return false
		}
	}
	return v.isArray() && !isMembers(v)
}

// object reads a STRUCT, with as many layers round it as there are.
func (r *reading) object(v value) error {
	for range unwrapLimit + 1 {
		first := v.at(0)
		switch {
		case v.len() == 0, v.len() == 1 && first.isNull(), v.len() == 1 && first.isArray() && first.len() == 0:
			r.text = append(r.text, "{}"...)
			return nil
		case isMembers(v):
			return r.members(v)
		case v.len() > 1 || !first.isArray():
			return errBadStruct
		}
		v = first
	}
	return errBadStruct
}

func (r *reading) members(v value) error {
	sep := byte('{')
	for e := range v.all() {
		r.text = append(append(append(r.text, sep), e.at(0).raw()...), ':')
		sep = ','
		if err := r.value(e.at(1)); err != nil {
			return err
		}
	}
	r.text = append(r.text, '}')
	return nil
}

// value reads a VALUE.
func (r *reading) value(v value) error {
	for range unwrapLimit + 1 {
		switch {
		case !v.isArray():
			r.text = appendLeaf(r.text, v)
			return nil
		case v.len() == 0:
			r.text = append(r.text, "null"...)
			return nil
		case isMembers(v):
			return r.members(v)
		case v.len() > 1 || !v.at(0).isArray():
			return r.typed(v)
		}
		v = v.at(0)
	}
	return errBadStruct
}

// typed reads a value by its length, and what it holds from the last element.
func (r *reading) typed(v value) error {
	n := v.len()
	last := v.at(n - 1)
	if !isCanonical(v) {
		r.note(nonCanonical, v, len(r.text))
		if isListBody(v) {
			return r.list(v) // the layers of the value and of the list are both missing
		}
	}
	switch {
	case n == 1:
		r.text = append(r.text, "null"...)
		return nil
	case n == 5 && (last.isArray() || last.isNull()):
		return r.object(last)
	case n == 6 && (last.isArray() || last.isNull()):
		return r.list(last)
	}
	if text := literal(n, last); text != nil {
		if text.BeyondDouble() {
			r.note(numAsFloat, last, len(r.text))
		}
		r.text = append(r.text, text...)
		return nil
	}
	r.note(nonCanonical, v, len(r.text))
	return r.value(last)
}

// isCanonical reports whether v has one field, and that one known.
func isCanonical(v value) bool {
	i, n := 0, v.len()
	for e := range v.all() {
		if i++; i < n && !e.isNull() && !(i == 1 && string(e.raw()) == "0") {
			return false
		}
	}
	return n <= 6 && (n != 1 || v.at(0).isNull() || string(v.at(0).raw()) == "0")
}

// literal is the JSON for the field of a number, a string or a bool, by the length of its value;
// nil if it holds none.
func literal(length int, field value) dialect.Raw {
	raw := field.raw()
	switch {
	case length == 2 && field.isNumber(), length == 3 && field.isString():
		return raw
	case length == 2 && field.isString():
		switch text := dialect.Raw(raw.Text()); string(text) {
		case "NaN", "Infinity", "-Infinity":
			return raw // JSON has no number for it
		default:
			if s := text.Scan(); (value{{raw: text}}).isNumber() && string(s.Value()) == string(text) {
				return text // an int64 is written as a string
			}
		}
	case length == 4 && field.isTrue():
		return dialect.Raw("true")
	case length == 4 && (string(raw) == "0" || string(raw) == "false"):
		return dialect.Raw("false")
	}
	return nil
}

// appendLeaf appends what is no array as it stands.
func appendLeaf(dst []byte, v value) []byte {
	if raw := v.raw(); raw != nil {
		return append(dst, raw...)
	}
	return append(dst, "null"...)
}

// list reads a LIST, with the layer of the message round its values or without.
func (r *reading) list(v value) error {
	start := len(r.text)
	if isMembers(v) { // one object, without any layer of its own
		r.note(listAmbiguous, v, start)
		r.text = append(r.text, '[')
		err := r.members(v)
		r.text = append(r.text, ']')
		return err
	}
	items := v
	if v.len() == 1 && isListBody(v.at(0)) {
		items = v.at(0)
	}
	sep := byte('[')
	for e := range items.all() {
		r.text = append(r.text, sep)
		sep = ','
		if err := r.value(e); err != nil {
			return err
		}
	}
	if sep == '[' {
		r.text = append(r.text, '[')
	}
	r.text = append(r.text, ']')
	if items.len() == 1 && isAmbiguous(items, v) {
		r.note(listAmbiguous, v, start)
	}
	return nil
}

// isAmbiguous reports whether the one item of a list might as well be a layer round it, or the
// layer the item.
func isAmbiguous(items, list value) bool {
	item := items.at(0)
	unwrapped := len(items) == len(list)
	return item.isArray() && (unwrapped || item.len() == 1 && item.at(0).isArray())
}

// note says what is odd about v, the first time something is odd in that way.
func (r *reading) note(of *stream.Diagnosis, v value, offset int) {
	for _, n := range r.notes {
		if n.of == of {
			return
		}
	}
	r.notes = append(r.notes, note{of, offset, clip(v.raw(), 0)})
}
