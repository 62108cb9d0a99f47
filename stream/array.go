package stream

import (
	"bytes"

	"toolscope/stream/jsonbytes"
)

// XSSI is the prefix that Google's web services put before a JSON text, so that a page can't load it as a
// script.
const XSSI = ")]}'"

// Array frames a JSON array that is sent element by element: one frame per element, whatever spaces,
// commas and line ends are between them. Bytes after the closing bracket are residue. The zero value is
// ready for an array that directly contains the elements, as Gemini sends without alt=sse.
type Array struct {
	Within int // number of arrays between the outer one and the elements

	pos   int64
	elem  chunkBuffer // the open element
	depth int         // open brackets, including the outer array
	level int         // arrays entered on the way to the elements
	inner bool        // the array that holds the elements is still open or to come
	str   bool        // inside a string
	esc   bool        // after a backslash
	ended bool        // the outer array has closed
}

// Write frames p.
func (a *Array) Write(p []byte, emit func(Frame)) {
	for _, c := range p {
		a.pos++
		switch {
		case a.str:
			a.elem.appendByte(c)
			a.inString(c)
		case a.ended || a.depth == 0:
			a.frameOutside(c)
		default:
			a.frameInside(c, emit)
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

// frameOutside handles a byte before the array opens or after it closed.
func (a *Array) frameOutside(c byte) {
	if a.elem.isEmpty() && jsonbytes.IsSpace(c) {
		return
	}
	if c == '[' && !a.ended && a.elem.blocks == nil { // few bytes come before an array
		before := bytes.TrimSpace(bytes.TrimPrefix(a.elem.joinBytes(), utf8BOM))
		if len(before) == 0 || string(before) == XSSI {
			a.depth, a.inner = 1, a.Within > 0
			a.elem.reset()
			return
		}
	}
	a.elem.appendByte(c)
}

func (a *Array) frameInside(c byte, emit func(Frame)) {
	base := 1 + a.level
	switch c {
	case '[', '{':
		if a.depth++; c == '[' && a.inner && a.level < a.Within && a.depth == base+1 {
			a.level++ // one of the arrays around the elements
			return
		}
	case ']', '}':
		if a.depth == base && c == '}' {
			break // closes nothing that is open: part of the element, which will not decode
		}
		if a.depth--; a.depth < base {
			a.flush(FrameData, false, emit)
			// anything else in the outer arrays is an element of its own
			a.level, a.inner, a.ended = max(0, a.level-1), false, a.depth == 0
			return
		}
	case ',':
		if a.depth == base {
			a.inner = a.inner && a.level == a.Within
			a.flush(FrameData, false, emit)
			return
		}
	case '"':
		a.str = true
	}
	a.elem.appendByte(c)
	if a.depth == base && (c == ']' || c == '}') {
		a.flush(FrameData, false, emit) // at once: the comma may be seconds away
	}
}

// Close emits an element that never closed, marked Truncated, or residue.
func (a *Array) Close(emit func(Frame)) {
	if a.ended || a.depth == 0 {
		a.flush(FrameResidue, true, emit)
		return
	}
	a.flush(FrameData, true, emit)
}

func (a *Array) flush(kind FrameKind, cut bool, emit func(Frame)) {
	if data := bytes.TrimSpace(a.elem.joinBytes()); len(data) > 0 {
		f := Frame{Kind: kind, Data: data, End: a.pos, Truncated: cut}
		if kind == FrameResidue {
			f.Why = "bytes after the end of the array"
		}
		emit(f)
	}
	a.elem.reset()
}
