package stream

import "bytes"

var utf8BOM = []byte("\xef\xbb\xbf")

// SSESplitter splits a stream of server-sent events by the algorithm of the WHATWG HTML Living Standard,
// section 9.2.6. It differs on purpose in two points. First, it also emits what the standard discards:
// comments, blocks without data and an unterminated last block. Kind and Truncated mark these. Second, it
// treats two more kinds of blocks without a data field as data. One has text that begins with a brace: Google
// reports an error in mid-stream as bare JSON. The other has a field error: old versions of llama.cpp report an
// error like that. HTML between the fields is in Stray.
//
// The zero value is ready to use. A block is emitted with the first byte of the blank line that ends it. An LF
// that completes a CRLF belongs to the next frame, so that a CRLF split over two writes changes nothing.
type SSESplitter struct {
	pos     int64       // stream offset of the next byte
	line    chunkBuffer // an unfinished line from earlier writes
	afterCR bool        // the last line ended with CR: an LF now belongs to it
	started bool        // the first line has been seen (only it may contain a BOM)

	event  []byte
	data   []byte // data of the open block; borrows the current write while lent is set
	own    []byte // buffer for data that outlives a write or spans several lines
	lent   bool
	bare   bool // the open block is not fields but JSON, collected in own
	failed bool // the open block has a field error, collected in own
	stray  []byte
	fields sseFields

	usual     []byte // the latest block with one data line, up to its data; see takeUsual
	usualName []byte // the name of the event in usual
}

// sseFields counts the fields and comments of the open block.
type sseFields struct{ data, other, comments int }

// Write splits the unfinished bytes of earlier writes and p into SSE events, and emits each as a frame.
func (s *SSESplitter) Write(p []byte, emit func(Frame)) {
	lf, cr := -1, -1 // the next LF and CR in p at or after i; each is searched for again only after i has passed it
	for i := 0; i < len(p); {
		if s.afterCR {
			s.afterCR = false
			if p[i] == '\n' {
				i++
				s.pos++
				continue
			}
		}
		if cr < i {
			cr = indexFrom(p, i, '\r')
		}
		if n := s.takeUsual(p[i:cr], emit); n > 0 {
			i += n
			continue
		}
		if lf < i {
			lf = indexFrom(p, i, '\n')
		}
		end := min(lf, cr)
		if end == len(p) {
			s.line.add(p[i:])
			s.pos += int64(len(p) - i)
			break
		}
		s.pos += int64(end + 1 - i)
		s.afterCR = end == cr
		s.endLine(p[i:end], emit)
		i = end + 1
	}
	s.keepData()
}

// takeUsual emits the block at the beginning of p if it differs from the latest block only in its data. It returns the
// length of the block, or 0 if it left p alone.
func (s *SSESplitter) takeUsual(p []byte, emit func(Frame)) int {
	from := len(s.usual)
	if from == 0 || s.fields != (sseFields{}) || !s.line.isEmpty() || !bytes.HasPrefix(p, s.usual) {
		return 0
	}
	n := bytes.IndexByte(p[from:], '\n')
	if to := from + n; n < 0 || to+1 == len(p) || p[to+1] != '\n' {
		return 0
	}
	s.pos += int64(from + n + 2)
	emit(Frame{Event: s.usualName, Data: p[from : from+n], End: s.pos, Named: true})
	return from + n + 2
}

// indexFrom returns the index of c in p at or after i, or len(p).
func indexFrom(p []byte, i int, c byte) int {
	if p[i] == c {
		return i
	}
	if n := bytes.IndexByte(p[i:], c); n >= 0 {
		return i + n
	}
	return len(p)
}

// Close emits the unterminated last block, if any, marked Truncated.
func (s *SSESplitter) Close(emit func(Frame)) {
	if !s.line.isEmpty() {
		s.addLine(s.line.joinBytes())
		s.line.reset()
	}
	s.emitBlock(emit, true)
}

// endLine ends a line. Its bytes from earlier writes are in s.line, and tail is the rest of the line.
func (s *SSESplitter) endLine(tail []byte, emit func(Frame)) {
	line := tail
	joined := !s.line.isEmpty()
	if joined {
		s.line.add(tail)
		line = s.line.joinBytes()
	}
	if len(line) == 0 {
		s.started = true
		s.emitBlock(emit, false)
		return
	}
	s.addLine(line)
	switch {
	case !joined:
	case s.lent: // data borrows from the buffer of line: swap the two buffers
		s.own, s.line.small, s.lent = s.data, s.own[:0], false
	default:
		s.line.reset()
	}
}

func (s *SSESplitter) addLine(line []byte) {
	if !s.started {
		s.started = true
		line = bytes.TrimPrefix(line, utf8BOM)
		if len(line) == 0 {
			return
		}
	}
	if line[0] == ':' {
		s.fields.comments++
		return
	}
	n := 0 // the end of the name; the loop is short if the line is a field
	for n < len(line) && line[n] != ':' {
		n++
	}
	value := line[min(n+1, len(line)):]
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(line[:n]) {
	case "data":
		s.bare, s.failed = false, false
		if s.fields.data++; s.fields.data == 1 {
			s.data, s.lent = value, true
			return
		}
		s.keepData()
		s.own = append(append(s.own, '\n'), value...)
		s.data = s.own
		return
	case "event":
		s.event = append(s.event[:0], value...)
	case "id", "retry": // known, but only useful to a client that reconnects
	case "error":
		if s.fields.data == 0 && !s.bare {
			s.own, s.failed = append(s.own[:0], value...), true
		}
	default:
		switch { // of the other lines, bare JSON and HTML are kept
		case s.bare:
			s.own = append(append(s.own, '\n'), line...)
		case s.fields.data == 0 && line[0] == '{':
			s.bare, s.own = true, append(s.own[:0], line...)
		case (line[0] == '<' || len(s.stray) > 0) && len(s.stray) < maxStray:
			s.stray = append(append(s.stray, line...), '\n')
		}
	}
	s.fields.other++
}

// maxStray is the maximum number of bytes of lines without a field that are kept. The last of these lines is
// kept completely.
const maxStray = 2048

// keepData copies lent data, whose bytes are about to be reused by the caller.
func (s *SSESplitter) keepData() {
	if s.lent {
		s.own = append(s.own[:0], s.data...)
		s.data, s.lent = s.own, false
	}
}

// emitBlock emits the open block as a frame, unless it is empty, and begins a new block.
func (s *SSESplitter) emitBlock(emit func(Frame), cut bool) {
	fields := s.fields
	s.fields = sseFields{}
	if fields == (sseFields{}) {
		return
	}
	f := Frame{Event: s.event, Data: s.data, End: s.pos, Truncated: cut, Named: true, Lines: fields.data > 1 || s.bare, Stray: s.stray}
	switch {
	case fields.data > 0:
	case s.bare:
		f.Data = s.own
	case s.failed:
		f.Data, f.Failed = s.own, true
	case fields.other > 0:
		f.Kind = FrameNoData
	default:
		f.Kind = FrameComment
	}
	s.data, s.lent, s.bare, s.failed = nil, false, false, false
	if fields.data == 1 {
		// Keep the beginning of the block for takeUsual, in the form that most programs write.
		s.usual, s.usualName = s.usual[:0], nil
		if name := len(s.event); name > 0 {
			s.usual = append(append(append(s.usual, "event: "...), s.event...), '\n')
			s.usualName = s.usual[len(s.usual)-1-name : len(s.usual)-1]
		}
		s.usual = append(s.usual, "data: "...)
	}
	emit(f)
	s.event, s.own, s.stray = s.event[:0], resetBuffer(s.own), nil
}
