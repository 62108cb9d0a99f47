package stream

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"toolscope/stream/count"
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

// EventStream frames the binary event stream of AWS: length-prefixed messages with headers, a payload and two
// checksums. A frame's Event is the type of the event, exception or error. An exception or error is a Failed
// frame. The Data of an error without a payload is its message as plain text. The zero value is ready to use.
// If a message is invalid, for example because a checksum doesn't match, the start of the next message is
// unknown. The invalid message and all later bytes are then residue.
//
// Layout and limits: "Event stream encoding" in the Smithy and AWS SDK sources (botocore/eventstream.py).
type EventStream struct {
	pos int64
	buf []byte
	bad string // the reason why reading stopped; "" if it didn't
}

const (
	preludeLen            = 12
	trailerLen            = 4
	maxEventStreamHeaders = 128 << 10
	maxEventStreamMessage = 24<<20 + maxEventStreamHeaders + preludeLen + trailerLen
)

// IsEventStream reports whether head could begin a message, and whether it certainly does. It certainly does if the
// first bytes of a message are there and their checksum is right. If head is too short to decide, only the first
// result can be true.
func IsEventStream(head []byte) (could, is bool) {
	if len(head) < preludeLen {
		return len(head) == 0 || head[0] <= maxEventStreamMessage>>24, false
	}
	_, _, why := readPrelude(head)
	return why == "", why == ""
}

// readPrelude reads the first bytes of a message. If they are wrong, it returns the reason.
func readPrelude(p []byte) (total, headers int, why string) {
	total, headers = int(binary.BigEndian.Uint32(p)), int(binary.BigEndian.Uint32(p[4:]))
	switch got := crc32.ChecksumIEEE(p[:8]); {
	case got != binary.BigEndian.Uint32(p[8:]):
		why = fmt.Sprintf("the checksum of a message's first 8 bytes is %08x, but the message states %08x", got, binary.BigEndian.Uint32(p[8:]))
	case total > maxEventStreamMessage || headers > maxEventStreamHeaders || headers+preludeLen+trailerLen > total:
		why = fmt.Sprintf("a message can't have %d bytes with %d bytes of headers", total, headers)
	}
	return total, headers, why
}

// Write appends p to the stream, and emits each message that is now complete.
func (e *EventStream) Write(p []byte, emit func(Frame)) {
	e.buf = append(e.buf, p...)
	at := 0
	for e.bad == "" && len(e.buf)-at >= preludeLen {
		total, headers, why := readPrelude(e.buf[at:])
		if why != "" {
			e.bad = why
			break
		}
		if len(e.buf)-at < total {
			break
		}
		f, why := readMessage(e.buf[at:at+total], headers)
		if why != "" {
			e.bad = why
			break
		}
		at += total
		e.pos += int64(total)
		f.End = e.pos
		emit(f)
	}
	e.buf = e.buf[:copy(e.buf, e.buf[at:])]
}

// Close emits the remaining bytes as residue. It marks them Truncated if they are an unfinished message.
func (e *EventStream) Close(emit func(Frame)) {
	if len(e.buf) == 0 {
		return
	}
	f := Frame{Kind: FrameResidue, Data: e.buf, End: e.pos + int64(len(e.buf)), Truncated: e.bad == "", Why: e.bad}
	if f.Truncated {
		f.Why = fmt.Sprintf("the stream was cut %s into a message", count.Of(len(e.buf), "byte"))
	}
	emit(f)
	e.pos, e.buf = f.End, nil
}

// readMessage reads one complete message. If the message is invalid, it returns the reason.
func readMessage(p []byte, headers int) (f Frame, why string) {
	body := p[:len(p)-trailerLen]
	if got, want := crc32.ChecksumIEEE(body), binary.BigEndian.Uint32(p[len(body):]); got != want {
		return f, fmt.Sprintf("the checksum of a message of %d bytes is %08x, but the message states %08x", len(p), got, want)
	}
	f.Data = body[preludeLen+headers:]
	var kind, note []byte
	for h := body[preludeLen : preludeLen+headers]; len(h) > 0; {
		name, value, rest, ok := readHeader(h)
		if !ok {
			return f, fmt.Sprintf("the headers of a message of %d bytes don't match their declared length", len(p))
		}
		switch h = rest; string(name) {
		case ":message-type":
			kind = value
		case ":event-type", ":exception-type", ":error-code":
			f.Event = value
		case ":error-message":
			note = value
		}
	}
	f.Failed = string(kind) == "exception" || string(kind) == "error"
	if string(kind) == "error" && len(f.Data) == 0 {
		f.Data = note
	}
	return f, ""
}

// headerSizes are the lengths of a header's value by type. -1 is for bytes and text, whose length precedes
// them.
var headerSizes = [...]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 6: -1, 7: -1, 8: 8, 9: 16}

// readHeader reads the first header of h. The result ok is false if h contains no complete, known header.
func readHeader(h []byte) (name, value, rest []byte, ok bool) {
	take := func(n int) (part []byte) {
		if ok = ok && n <= len(h); ok {
			part, h = h[:n], h[n:]
		}
		return part
	}
	ok = true
	if n := take(1); ok {
		name = take(int(n[0]))
	}
	kind := take(1)
	if !ok || int(kind[0]) >= len(headerSizes) {
		return nil, nil, nil, false
	}
	size := headerSizes[kind[0]]
	if size < 0 {
		n := take(2)
		if !ok {
			return nil, nil, nil, false
		}
		size = int(binary.BigEndian.Uint16(n))
	}
	value = take(size)
	return name, value, h, ok
}
