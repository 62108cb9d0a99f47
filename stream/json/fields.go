package json

import (
	"bytes"
	"iter"
)

// FieldReader reads the fields of an object, or the elements of an array, one by one. The text may be cut off.
// The reader validates nothing: it stops where the text makes no sense. It copies nothing.
//
//	for r := ReadFields(object); r.Next(); {
//		switch value := r.Value(); string(r.Key) { … }
//	}
type FieldReader struct {
	Key    []byte // key of the current field as written, without its quotes
	At     int    // start of the current value; if it is missing, the end of the text that was read
	Closed bool   // the end of the value is present; if there is no value, the closing bracket is present
	text   []byte
	closer byte // 0 if no value follows
	begun  bool
}

// ReadFields returns a reader for an object. Other values have no fields.
func ReadFields(object []byte) FieldReader { return newFieldReader(object, '{') }

// ReadElements returns a reader for an array. Other values have no elements.
func ReadElements(array []byte) FieldReader { return newFieldReader(array, '[') }

func newFieldReader(text []byte, opener byte) (r FieldReader) {
	if n := SpaceLen(text); n < len(text) && text[n] == opener {
		r = FieldReader{At: n, text: text, closer: opener + 2} // } is 2 more than {, and ] is 2 more than [
	}
	return r
}

// Next moves to the next value. It returns false if there are no more values. The value itself may be missing or cut
// off.
func (r *FieldReader) Next() bool {
	if r.closer == 0 {
		return false
	}
	p, n := r.text, r.At
	if r.begun {
		if n += SpaceLen(p[n:]); n == len(p) || p[n] != ',' {
			return r.endAt(n)
		}
	}
	r.begun = true
	n++
	n += SpaceLen(p[n:])
	if r.closer == '}' {
		if n == len(p) || p[n] != '"' {
			return r.endAt(n)
		}
		size, closed := StringEnd(p[n:])
		if !closed {
			return r.endAt(len(p))
		}
		r.Key = p[n+1 : n+size-1]
		n += size
		if n += SpaceLen(p[n:]); n == len(p) || p[n] != ':' {
			r.At, r.Closed, r.closer = n, false, 0
			return false
		}
		n++
		n += SpaceLen(p[n:])
	} else if n == len(p) || p[n] == ']' {
		return r.endAt(n)
	}
	r.At = n
	return true
}

func (r *FieldReader) endAt(n int) bool {
	r.Closed = n < len(r.text) && r.text[n] == r.closer
	if r.At, r.closer = n, 0; r.Closed {
		r.At++
	}
	return false
}

// Value returns the current value and moves past it. The result is empty if the value is missing.
func (r *FieldReader) Value() []byte {
	n, closed := ValueLen(r.text[r.At:])
	r.Closed = closed
	return r.Skip(n)
}

// Rest returns the text from the current value on, for a caller that reads the value itself and then
// calls Skip.
func (r *FieldReader) Rest() []byte { return r.text[r.At:] }

// Skip moves past the current value, which has n bytes, and returns it.
func (r *FieldReader) Skip(n int) []byte {
	end := r.At + n
	value := r.text[r.At:end:end]
	r.At = end
	return value
}

// Name returns the key of the current field, unquoted.
func (r *FieldReader) Name() string {
	if bytes.IndexByte(r.Key, '\\') < 0 {
		return string(r.Key)
	}
	return string(AppendUnquoted(nil, r.Key))
}

// IsNamed reports whether the current field has this name.
func (r *FieldReader) IsNamed(name string) bool {
	return string(r.Key) == name || bytes.IndexByte(r.Key, '\\') >= 0 && r.Name() == name
}

// Members iterates over the fields of an object: unquoted keys and raw values. Other values have no fields.
func Members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for r := ReadFields(object); r.Next(); {
			if value := r.Value(); len(value) == 0 || !yield(r.Name(), value) {
				return
			}
		}
	}
}

// Elements iterates over the raw elements of an array. Other values have no elements.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for r := ReadElements(array); r.Next(); {
			if value := r.Value(); len(value) == 0 || !yield(value) {
				return
			}
		}
	}
}

// EachMember calls the function do for each field of an object, with the field's key and the text from its value on.
// The function returns the length of the value, or 0 if it didn't read the value. EachMember returns the length of
// the object, or 0 if there is none.
func EachMember(object []byte, do func(key string, rest []byte) int) int {
	r := ReadFields(object)
	for r.Next() {
		n := do(r.Name(), r.Rest())
		if n == 0 {
			n = ValueEnd(r.Rest())
		}
		if n == 0 {
			r.endAt(r.At)
		}
		r.Skip(n)
	}
	return r.At
}

// Find returns the value at the path of keys, or nil if there is none. If a key is repeated, the first one counts,
// even if the text is cut off after it.
func Find(object []byte, keys ...string) []byte {
	for _, key := range keys {
		r, found := ReadFields(object), []byte(nil)
		for found == nil && r.Next() {
			value := r.Value()
			if len(value) == 0 {
				break
			}
			if r.IsNamed(key) {
				found = value
			}
		}
		if object = found; object == nil {
			return nil
		}
	}
	return object
}

// FirstElement returns the first element of an array, or nil if it has none.
func FirstElement(array []byte) []byte {
	for first := range Elements(array) {
		return first
	}
	return nil
}

// Pick returns the values of the fields that keys name. The value is nil for a field that is missing or null. If a
// key is repeated, the first one with a value counts.
func Pick(object []byte, keys ...string) [][]byte {
	found, left := make([][]byte, len(keys)), len(keys)
	for r := ReadFields(object); left > 0 && r.Next(); {
		value := r.Value()
		if len(value) == 0 {
			break
		}
		for i, key := range keys {
			if r.IsNamed(key) {
				if found[i] == nil && !IsNull(value) {
					found[i] = value
					left--
				}
				break
			}
		}
	}
	return found
}

// FoundField is a field of an object: its key as written, without quotes, its value, and the offset where the
// value begins.
type FoundField struct {
	Key, Value []byte
	At         int
}

// AppendFields appends the fields of the object that p begins with, and returns the object's length. The
// result whole is false if p ends inside the object or is not JSON.
func AppendFields(to []FoundField, p []byte) (all []FoundField, n int, whole bool) {
	if len(p) == 0 || p[0] != '{' {
		return to, 0, false
	}
	r := ReadFields(p)
	for r.Next() {
		at := r.At
		to = append(to, FoundField{r.Key, r.Value(), at})
		if !r.Closed {
			return to, len(p), false
		}
	}
	return to, r.At, r.Closed
}

// Text unquotes a string. The result ok is false for any other value, and for a string that is cut off.
func Text(value []byte) (text []byte, ok bool) {
	value = value[SpaceLen(value):]
	content, closed := Content(value)
	if !closed || value[0] != '"' {
		return nil, false
	}
	return AppendUnquoted(nil, content), true
}

// FindText returns the string at the path of keys, or "" if there is none.
func FindText(object []byte, keys ...string) string {
	text, _ := Text(Find(object, keys...))
	return string(text)
}

// PartOfText unquotes a string that may be cut off.
func PartOfText(value []byte) []byte {
	content, _ := Content(value)
	return AppendUnquoted(nil, content)
}

// IsNull reports whether a value is missing or null.
func IsNull(value []byte) bool { return len(value) == 0 || string(value) == "null" }
