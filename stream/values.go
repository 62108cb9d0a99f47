package stream

import "bytes"

// Values frames JSON objects that follow one another with nothing but spaces
// between, and so also a body that is one object. The zero value is ready.
type Values struct {
	pos   int64
	text  []byte // the open value, or what is none
	depth int
	str   bool
	esc   bool
}

// Write frames p.
func (v *Values) Write(p []byte, emit func(Frame)) {
	for _, c := range p {
		v.pos++
		v.text = append(v.text, c)
		switch {
		case v.esc:
			v.esc = false
		case v.str:
			v.esc, v.str = c == '\\', c != '"'
		case c == '"':
			v.str = v.depth > 0
		case c == '{' || c == '[':
			v.depth++
		case (c == '}' || c == ']') && v.depth > 0:
			if v.depth--; v.depth == 0 {
				v.flush(false, emit)
			}
		}
	}
}

// Close emits a value that never closed, marked Cut.
func (v *Values) Close(emit func(Frame)) { v.flush(true, emit) }

func (v *Values) flush(cut bool, emit func(Frame)) {
	if data := bytes.TrimSpace(bytes.TrimPrefix(v.text, utf8BOM)); len(data) > 0 {
		emit(Frame{Data: data, End: v.pos, Cut: cut})
		v.text = v.text[:0]
	}
}
