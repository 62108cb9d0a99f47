package stream

import "bytes"

// Values frames JSON objects and arrays that follow one another with only spaces or a comma between them,
// and so also a body that is one object. Bytes after the last one are residue. The zero value is ready.
type Values struct {
	pos   int64
	text  chunkBuffer // the open value, or bytes outside values
	depth int
	str   bool
	esc   bool
}

// Write frames p.
func (v *Values) Write(p []byte, emit func(Frame)) {
	for _, c := range p {
		v.pos++
		v.text.appendByte(c)
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
				v.flush(FrameData, false, emit)
			}
		}
	}
}

// Close emits a value that never closed, marked Truncated, or residue.
func (v *Values) Close(emit func(Frame)) {
	if v.depth == 0 {
		v.flush(FrameResidue, true, emit)
		return
	}
	v.flush(FrameData, true, emit)
}

func (v *Values) flush(kind FrameKind, cut bool, emit func(Frame)) {
	data := bytes.TrimSpace(bytes.TrimPrefix(v.text.joinBytes(), utf8BOM))
	if kind == FrameData {
		data = bytes.TrimLeft(data, ", \t\r\n")
	}
	if len(data) > 0 {
		f := Frame{Kind: kind, Data: data, End: v.pos, Truncated: cut}
		if kind == FrameResidue {
			f.Why = "bytes after the last JSON object"
		}
		emit(f)
	}
	v.text.reset()
}
