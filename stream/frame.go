package stream

import (
	"bytes"

	"toolscope/stream/json"
)

// FrameKind says what a frame means to the protocol that uses the framing.
type FrameKind uint8

const (
	FrameData    FrameKind = iota // carries a payload for the protocol
	FrameComment                  // keep-alive: only SSE comments
	FrameNoData                   // SSE fields without data: the SSE standard dispatches no event for them
	FrameResidue                  // bytes that belong to no frame of this framing
)

// A Frame is one unit of a wire framing. Frames tile the stream: each begins where the previous one
// ended, so every byte belongs to exactly one frame.
//
// Event and Data are borrowed: they are valid until the emit call returns.
type Frame struct {
	Kind      FrameKind
	Event     []byte // SSE event type, empty if the frame has none
	Data      []byte // payload without framing
	End       int64  // stream offset just past the frame
	Truncated bool   // the stream ended inside the frame
	Named     bool   // the framing has event names: if Event is empty, the sender left the name out
	Lines     bool   // Data consists of several joined lines of the framing
	Stray     []byte // lines of HTML between the lines of the framing; not borrowed

	Failed bool   // the framing itself marks this as an error, and Event is its type
	Why    string // for residue: the reason why the bytes belong to no frame
}

// resetBuffer returns an empty buffer for reuse. It drops a buffer that is larger than 1 MiB, because later frames
// are probably smaller.
func resetBuffer(p []byte) []byte {
	if cap(p) > 1<<20 {
		return nil
	}
	return p[:0]
}

// A Framer splits bytes into frames. The frames don't depend on how the bytes are cut into writes. Close
// emits the remaining bytes, if there are any. It marks them Truncated, unless they are known to be invalid.
type Framer interface {
	Write(p []byte, emit func(Frame))
	Close(emit func(Frame))
}

// Lines frames newline-delimited JSON: one frame per line. Blank lines are skipped, and white space around a
// line is dropped. The zero value is ready to use.
type Lines struct {
	pos  int64
	line chunkBuffer
	any  bool
}

// Write adds p to the stream, and emits each line that is now complete.
func (l *Lines) Write(p []byte, emit func(Frame)) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.line.add(p)
			l.pos += int64(len(p))
			return
		}
		line := p[:i]
		if !l.line.isEmpty() {
			l.line.add(line)
			line = l.line.joinBytes()
		}
		l.pos += int64(i + 1)
		l.emit(line, false, emit)
		l.line.reset()
		p = p[i+1:]
	}
}

// Close emits the unterminated last line, marked Truncated.
func (l *Lines) Close(emit func(Frame)) {
	l.emit(l.line.joinBytes(), true, emit)
	l.line.reset()
}

func (l *Lines) emit(line []byte, cut bool, emit func(Frame)) {
	if !l.any {
		line = bytes.TrimPrefix(line, utf8BOM)
	}
	l.any = true
	if line = bytes.TrimSpace(line); len(line) > 0 {
		emit(Frame{Data: line, End: l.pos, Truncated: cut})
	}
}

// Values frames JSON objects and arrays in a row, with only white space or a comma between them. It also frames
// a body that is one object. Bytes after the last value are residue. The zero value is ready to use.
type Values struct {
	pos   int64
	text  chunkBuffer // the open value, or bytes outside values
	depth int
	str   bool
	esc   bool
}

// Write adds p to the stream, and emits each value that is now complete.
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

// Close emits a value that was never closed, marked Truncated, or residue.
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

// XSSI is the prefix that Google's web services put before a JSON text, so that a page can't load it as a
// script.
const XSSI = ")]}'"

// Array frames a JSON array that is sent element by element. Each element is one frame. White space and commas
// between elements are part of the frames. Bytes after the closing bracket are residue. The zero value is ready
// for an array that directly contains the elements, as Gemini sends it without alt=sse.
type Array struct {
	Within int // number of arrays between the outer one and the elements

	pos   int64
	elem  chunkBuffer // the open element
	depth int         // open brackets, including the outer array
	level int         // number of arrays entered on the way to the elements
	inner bool        // an inner array that contains the elements is open or may still come
	str   bool        // inside a string
	esc   bool        // after a backslash
	ended bool        // the outer array has closed
}

// Write adds p to the stream, and emits each element that is now complete.
func (a *Array) Write(p []byte, emit func(Frame)) {
	for _, c := range p {
		a.pos++
		switch {
		case a.str:
			a.elem.appendByte(c)
			switch {
			case a.esc:
				a.esc = false
			case c == '\\':
				a.esc = true
			case c == '"':
				a.str = false
			}
		case a.ended || a.depth == 0:
			a.frameOutside(c)
		default:
			a.frameInside(c, emit)
		}
	}
}

// frameOutside reads a byte before the array opens or after it has closed.
func (a *Array) frameOutside(c byte) {
	if a.elem.isEmpty() && json.IsSpace(c) {
		return
	}
	if c == '[' && !a.ended && a.elem.blocks == nil { // only a few bytes may come before an array
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
			a.level++ // one of the outer arrays that contain the elements
			return
		}
	case ']', '}':
		if a.depth == base && c == '}' {
			break // this bracket closes nothing: it is part of the element, which will not decode
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
		a.flush(FrameData, false, emit) // emit it at once, because the comma may arrive seconds later
	}
}

// Close emits an element that was never closed, marked Truncated, or residue.
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
