package dialect

import "strconv"

// A Writer writes one JSON text, without spaces. The zero value is ready.
type Writer struct {
	Text  []byte
	comma bool // the next key or element needs one before it
}

// Open begins an object or array: { or [.
func (w *Writer) Open(bracket byte) *Writer {
	w.next()
	w.Text = append(w.Text, bracket)
	w.comma = false
	return w
}

// Close ends it: } or ].
func (w *Writer) Close(bracket byte) *Writer {
	w.Text = append(w.Text, bracket)
	w.comma = true
	return w
}

// Key begins a member; its value follows.
func (w *Writer) Key(name string) *Writer {
	w.next()
	w.Text = append(AppendString(w.Text, []byte(name)), ':')
	w.comma = false
	return w
}

// String writes a value that is a string.
func (w *Writer) String(s string) *Writer { return w.Bytes([]byte(s)) }

// Bytes writes a string of bytes.
func (w *Writer) Bytes(s []byte) *Writer {
	w.next()
	w.Text = AppendString(w.Text, s)
	return w
}

// Int writes a number.
func (w *Writer) Int(n int) *Writer {
	w.next()
	w.Text = strconv.AppendInt(w.Text, int64(n), 10)
	return w
}

// Raw writes a value that is JSON already.
func (w *Writer) Raw(value []byte) *Writer {
	w.next()
	w.Text = append(w.Text, value...)
	return w
}

// Member writes a member that is a string.
func (w *Writer) Member(name, value string) *Writer { return w.Key(name).String(value) }

// Some writes a member that is a string, unless that is empty.
func (w *Writer) Some(name, value string) *Writer {
	if value != "" {
		w.Member(name, value)
	}
	return w
}

func (w *Writer) next() {
	if w.comma {
		w.Text = append(w.Text, ',')
	}
	w.comma = true
}

// Value writes a text as the JSON value it is, or as a string if it is none.
func (w *Writer) Value(text []byte) *Writer {
	if s := Scan(text); s.Value() == nil || s.End() != nil {
		return w.Bytes(text)
	}
	return w.Raw(text)
}
