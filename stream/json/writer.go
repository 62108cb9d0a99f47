package json

import (
	"slices"
	"strconv"
)

// A Writer writes one JSON text, without spaces. The zero value is ready to use.
type Writer struct {
	Text  []byte
	comma bool // the next key or element needs a comma before it
}

// Open begins an object or array with the bracket { or [.
func (w *Writer) Open(bracket byte) *Writer {
	w.writeComma()
	w.Text = append(w.Text, bracket)
	w.comma = false
	return w
}

// Close ends an object or array with the bracket } or ].
func (w *Writer) Close(bracket byte) *Writer {
	w.Text = append(w.Text, bracket)
	w.comma = true
	return w
}

// Key begins a field. Its value must follow.
func (w *Writer) Key(name string) *Writer {
	w.writeComma()
	w.Text = append(AppendQuoted(w.Text, []byte(name)), ':')
	w.comma = false
	return w
}

// String writes a string value.
func (w *Writer) String(s string) *Writer { return w.Bytes([]byte(s)) }

// Bytes writes a string value from bytes.
func (w *Writer) Bytes(s []byte) *Writer {
	w.writeComma()
	w.Text = AppendQuoted(w.Text, s)
	return w
}

// Int writes a number.
func (w *Writer) Int(n int) *Writer {
	w.writeComma()
	w.Text = strconv.AppendInt(w.Text, int64(n), 10)
	return w
}

// Raw writes a value that is already JSON.
func (w *Writer) Raw(value []byte) *Writer {
	w.writeComma()
	w.Text = append(w.Text, value...)
	return w
}

// Member writes a field with a string.
func (w *Writer) Member(name, value string) *Writer { return w.Key(name).String(value) }

// Flag writes a field with true or false.
func (w *Writer) Flag(name string, is bool) *Writer {
	w.Key(name)
	w.writeComma()
	w.Text = strconv.AppendBool(w.Text, is)
	return w
}

// MemberIfSet writes a field with a string, unless the string is empty.
func (w *Writer) MemberIfSet(name, value string) *Writer {
	if value != "" {
		w.Member(name, value)
	}
	return w
}

// WriteList writes a field with a list of JSON texts.
func (w *Writer) WriteList(name string, items [][]byte) *Writer {
	w.Key(name).Open('[')
	for _, item := range items {
		w.Raw(item)
	}
	return w.Close(']')
}

// A Member is one field of an object to write. A Member without a Value is omitted.
type Member struct {
	Name  string
	Value []byte // JSON
}

// UpdatedMember returns a field for ReplaceMembers. The parameter before is the object to which the field will be
// applied. A field with a nil value is omitted, unless the object has it with an empty value (null, "" or []). In
// that case, the field stays.
func UpdatedMember(before Value, name string, value []byte) Member {
	was := before.Get(name)
	if value == nil && (!was.IsPresent() || was.Empty() || string(was) == "[]") {
		value = was
	}
	return Member{name, value}
}

// WrapArray returns the array of the elements that a Writer wrote one after another. It returns nil if there
// are no elements.
func WrapArray(elements *Writer) []byte {
	if len(elements.Text) == 0 {
		return nil
	}
	return append(append([]byte{'['}, elements.Text...), ']')
}

// ReplaceMembers returns a copy of an object with these fields. Each field replaces the field of the same name, or is
// appended. A field whose Value is nil is removed. All other fields stay. The parameter before is the object, and may
// be nil.
func ReplaceMembers(before Value, members ...Member) []byte {
	var w Writer
	w.Open('{')
	done := make([]bool, len(members))
	put := func(n int) {
		if m := members[n]; !done[n] && m.Value != nil {
			w.Key(m.Name).Raw(m.Value)
		}
		done[n] = true
	}
	s := before.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		key := string(s.Key())
		if n := slices.IndexFunc(members, func(m Member) bool { return m.Name == key }); n >= 0 {
			put(n)
		} else {
			w.Key(key).Raw(s.Value())
		}
	}
	for n := range members {
		put(n)
	}
	return w.Close('}').Text
}

func (w *Writer) writeComma() {
	if w.comma {
		w.Text = append(w.Text, ',')
	}
	w.comma = true
}

// Value writes text as JSON if it is a JSON value, and otherwise as a string.
func (w *Writer) Value(text []byte) *Writer {
	if !Valid(text) {
		return w.Bytes(text)
	}
	return w.Raw(text)
}
