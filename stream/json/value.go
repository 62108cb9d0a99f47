package json

import (
	"bytes"
	"errors"
	"iter"
	"strconv"
	"strings"
)

// Value contains the exact bytes of one JSON value; nil is a missing value.
type Value []byte

// Kind returns the first byte of the value, one of {["tfn-0…9, or 0 if it is missing.
func (r Value) Kind() byte {
	if len(r) == 0 {
		return 0
	}
	return r[0]
}

// IsPresent reports whether the value is neither missing nor null.
func (r Value) IsPresent() bool { return len(r) > 0 && r[0] != 'n' }

// IsString reports whether the value is a string.
func (r Value) IsString() bool { return r.Kind() == '"' }

// Word returns the content of a string without escapes, such as an enum value of a protocol. It returns nil for
// any other value.
func (r Value) Word() []byte {
	if !r.IsString() || bytes.IndexByte(r, '\\') >= 0 {
		return nil
	}
	return r[1 : len(r)-1]
}

// OrDefault returns the content of a string, or other if the value is an empty string or not a string.
func (r Value) OrDefault(other []byte) []byte {
	if !r.HasText() {
		return other
	}
	if word := r.Word(); word != nil {
		return word
	}
	return r.Append(nil)
}

// Append appends the value as text: the content of a string, or the exact bytes of any other value.
func (r Value) Append(dst []byte) []byte {
	if len(dst) == 0 && cap(dst) > 1<<20 && len(r) < cap(dst)/4 {
		dst = nil // drop the buffer if one value has made it large
	}
	if !r.IsString() {
		return append(dst, r...)
	}
	return AppendUnquoted(dst, r[1:len(r)-1])
}

// Text returns the content of a string, and "" for any other value.
func (r Value) Text() string {
	if !r.IsString() {
		return ""
	}
	if word := r.Word(); word != nil {
		return string(word)
	}
	var room [1 << 10]byte
	return string(r.Append(room[:0]))
}

// Unquoted returns the content of a string as bytes, and nil for any other value. The result may share memory with the
// value.
func (r Value) Unquoted() []byte {
	if word := r.Word(); word != nil {
		return word[:len(word):len(word)]
	}
	if !r.IsString() {
		return nil
	}
	return r.Append(nil)
}

// Is reports whether the value is the string s.
func (r Value) Is(s string) bool {
	if !r.IsString() {
		return false
	}
	lit := r[1 : len(r)-1]
	return string(lit) == s || bytes.IndexByte(lit, '\\') >= 0 && r.Text() == s
}

// Empty reports whether the value is the string "".
func (r Value) Empty() bool { return len(r) == 2 && r[0] == '"' }

// HasText reports whether the value is a string other than "".
func (r Value) HasText() bool { return len(r) > 2 && r[0] == '"' }

// IsTrue reports whether the value is true.
func (r Value) IsTrue() bool { return string(r) == "true" }

// EmptyObject reports whether the value is an object without fields.
func (r Value) EmptyObject() bool {
	s := r.Scan()
	return s.Kind() == '{' && !s.Object() && s.End() == nil
}

// Int returns the value of an integer. A number like 12.0 counts, because some providers write integers like that.
// The result ok is false for any other value.
func (r Value) Int() (n int64, ok bool) {
	if !r.IsNumber() {
		return 0, false
	}
	if len(r) == 1 && r[0] != '-' {
		return int64(r[0] - '0'), true
	}
	n, err := strconv.ParseInt(string(r), 10, 64)
	if err != nil {
		f, ok := r.Float()
		return int64(f), ok && f == float64(int64(f))
	}
	return n, true
}

// Int32 returns an integer value, such as the slot of a call, or 0 if the value is not an integer.
func (r Value) Int32() int32 {
	n, _ := r.Int()
	return int32(n)
}

// IsNumber reports whether the value is a number.
func (r Value) IsNumber() bool {
	k := r.Kind()
	return k == '-' || '0' <= k && k <= '9'
}

// BeyondDouble reports whether the value is an integer beyond ±2^53, where doubles can't represent every
// integer.
func (r Value) BeyondDouble() bool {
	const exact = 1 << 53
	if !r.IsNumber() || len(r) < len("9007199254740992") {
		return false
	}
	n, err := strconv.ParseInt(string(r), 10, 64)
	return errors.Is(err, strconv.ErrRange) || err == nil && (n > exact || n < -exact)
}

// Float returns the value of a number. It returns false for any other value, and for a number that is too large.
func (r Value) Float() (float64, bool) {
	if !r.IsNumber() {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(r), 64)
	return f, err == nil
}

// Get returns the value of the field name, or nil if there is none. If a key is repeated, the last one counts.
func (r Value) Get(name string) (value Value) {
	if r == nil {
		return nil
	}
	s := Scan(r)
	for ok := s.Object(); ok; ok = s.Member() {
		if string(s.Key()) == name {
			value = s.Value()
		}
	}
	return value
}

// Scan returns a Scanner of the value.
func (r Value) Scan() Scanner { return Scan(r) }

// Elements iterates over the elements of an array. Any other value has no elements. If the array is cut off,
// the last element may be nil.
func (r Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if r == nil {
			return
		}
		s := r.Scan()
		for ok := s.Array(); ok && yield(s.Value()); ok = s.Element() {
		}
	}
}

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

// FieldIndex contains the fields of an object, for code that looks up many of them. The zero FieldIndex has none.
type FieldIndex struct {
	fields []indexedField
	err    error
}

type indexedField struct {
	name  []byte
	value Value
}

// IndexFields reads the fields of an object. If the text is cut off, the index contains the fields before the cut.
// Other values have no fields.
func IndexFields(object []byte) FieldIndex {
	x := FieldIndex{fields: make([]indexedField, 0, 8)}
	s := Scan(object)
	for ok := s.Object(); ok; ok = s.Member() {
		x.fields = append(x.fields, indexedField{s.Key(), s.Value()})
	}
	x.err = s.End()
	return x
}

// Get returns the value of the field name, or nil if there is none. If a key is repeated, the last one counts.
func (x *FieldIndex) Get(name string) Value {
	for i := len(x.fields) - 1; i >= 0; i-- {
		if string(x.fields[i].name) == name {
			return x.fields[i].value
		}
	}
	return nil
}

// Err returns an error if the text is neither empty nor one valid object.
func (x *FieldIndex) Err() error { return x.err }

// PathAt returns the path of the smallest value that contains a range of a JSON text, for example
// messages[4].content[0].
func PathAt(body []byte, start, end int) (path string) {
	value, base := Value(body), 0
	for base != start || base+len(value) != end {
		name, inner, at := ChildAt(value, start-base, end-base)
		if inner == nil {
			break
		}
		path, value, base = path+name, inner, base+at
	}
	return strings.TrimPrefix(path, ".")
}

// ChildAt returns the field or element that contains a range of a value, with its name in a path and its offset.
func ChildAt(value Value, start, end int) (name string, child Value, at int) {
	s := value.Scan()
	isIn := func(v Value) bool {
		at = cap(value) - cap(v)
		return v != nil && at <= start && end <= at+len(v)
	}
	switch value.Kind() {
	case '{':
		for ok := s.Object(); ok; ok = s.Member() {
			key := string(s.Key())
			if v := s.Value(); isIn(v) {
				return "." + key, v, at
			}
		}
	case '[':
		n := 0
		for ok := s.Array(); ok; ok = s.Element() {
			if v := s.Value(); isIn(v) {
				return "[" + strconv.Itoa(n) + "]", v, at
			}
			n++
		}
	}
	return "", nil, 0
}
