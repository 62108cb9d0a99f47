package stream

import "bytes"

// Array frames a JSON array that is sent element by element, as Gemini does
// without alt=sse: one frame an element, whatever spaces, commas and line ends
// stand between. What follows the closing bracket is residue. The zero value
// is ready.
type Array struct {
	pos   int64
	elem  []byte // the open element
	depth int    // brackets open, the outer array included
	str   bool   // inside a string
	esc   bool   // after a backslash
	ended bool   // the outer array has closed
}

// Write frames p.
func (a *Array) Write(p []byte, emit func(Frame)) {
	for _, c := range p {
		a.pos++
		switch {
		case a.str:
			a.elem = append(a.elem, c)
			a.inString(c)
		case a.ended || a.depth == 0:
			a.outside(c)
		default:
			a.inside(c, emit)
		}
	}
}

func (a *Array) inString(c byte) {
	switch {
	case a.esc:
		a.esc = false
	case c == '\\':
		a.esc = true
	case c == '"':
		a.str = false
	}
}

// outside handles a byte before the array opens or after it closed.
func (a *Array) outside(c byte) {
	if c == '[' && !a.ended && len(bytes.TrimSpace(bytes.TrimPrefix(a.elem, utf8BOM))) == 0 {
		a.depth, a.elem = 1, a.elem[:0]
		return
	}
	a.elem = append(a.elem, c)
}

func (a *Array) inside(c byte, emit func(Frame)) {
	switch c {
	case '[', '{':
		a.depth++
	case ']', '}':
		if a.depth--; a.depth == 0 {
			a.flush(FrameData, false, emit)
			a.ended = true
			return
		}
	case ',':
		if a.depth == 1 {
			a.flush(FrameData, false, emit)
			return
		}
	case '"':
		a.str = true
	}
	a.elem = append(a.elem, c)
	if a.depth == 1 && (c == ']' || c == '}') {
		a.flush(FrameData, false, emit) // at once: the comma may be seconds away
	}
}

// Close emits an element that never closed, marked Cut, or residue.
func (a *Array) Close(emit func(Frame)) {
	kind := FrameData
	if a.ended || a.depth == 0 {
		kind = FrameResidue
	}
	a.flush(kind, true, emit)
}

func (a *Array) flush(kind FrameKind, cut bool, emit func(Frame)) {
	if data := bytes.TrimSpace(a.elem); len(data) > 0 {
		emit(Frame{Kind: kind, Data: data, End: a.pos, Cut: cut})
	}
	a.elem = a.elem[:0]
}

// Body frames a response that is one JSON text: a single frame at the end. The
// zero value is ready.
type Body struct{ data []byte }

// Write keeps p.
func (b *Body) Write(p []byte, _ func(Frame)) { b.data = append(b.data, p...) }

// Close emits the body. Whether it is whole only its syntax can tell.
func (b *Body) Close(emit func(Frame)) {
	if data := bytes.TrimSpace(bytes.TrimPrefix(b.data, utf8BOM)); len(data) > 0 {
		emit(Frame{Data: data, End: int64(len(b.data))})
	}
}
