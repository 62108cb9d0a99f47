package fault

import "bytes"

// eventSplitter finds the ends of events in a body that arrives in chunks, cut anywhere.
type eventSplitter interface {
	// next returns how many bytes of p belong to the open event, and whether it ends with them.
	next(p []byte) (n int, ended bool)
}

func endsOf(f framing, whole bool) eventSplitter {
	switch {
	case f == eventStream:
		return new(sseSplitter)
	case f == jsonLines:
		return lineSplitter{}
	case f == awsFrames:
		return new(awsSplitter)
	case f == jsonText && whole:
		return bodySplitter{}
	}
	return chunkSplitter{}
}

// chunkSplitter makes each chunk an event.
type chunkSplitter struct{}

func (chunkSplitter) next(p []byte) (int, bool) { return len(p), true }

// bodySplitter makes the body one event.
type bodySplitter struct{}

func (bodySplitter) next(p []byte) (int, bool) { return len(p), false }

// lineSplitter makes each line an event.
type lineSplitter struct{}

func (lineSplitter) next(p []byte) (int, bool) {
	i := bytes.IndexByte(p, '\n')
	if i < 0 {
		return len(p), false
	}
	return i + 1, true
}

// sseSplitter ends an event after an empty line. Lines end with LF, CR, or both.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
type sseSplitter struct {
	text bool // the open line is not empty
	cr   bool // the latest byte was a CR: an LF only completes it
}

func (s *sseSplitter) next(p []byte) (int, bool) {
	for i, c := range p {
		half := c == '\n' && s.cr
		s.cr = c == '\r'
		switch {
		case half:
		case c != '\n' && c != '\r':
			s.text = true
		case s.text:
			s.text = false
		case s.cr && i+1 < len(p) && p[i+1] == '\n':
			s.cr = false
			return i + 2, true
		default:
			return i + 1, true
		}
	}
	return len(p), false
}

// awsSplitter splits AWS messages. From the first bytes that are not a message, the rest is one event.
type awsSplitter struct {
	prelude []byte
	left    int  // bytes still to come of the open message
	lost    bool // the rest is not messages
}

func (m *awsSplitter) next(p []byte) (int, bool) {
	taken := 0
	if m.left == 0 && !m.lost {
		taken = min(awsPrelude-len(m.prelude), len(p))
		if m.prelude = append(m.prelude, p[:taken]...); len(m.prelude) < awsPrelude {
			return len(p), false
		}
		m.left = awsLength(m.prelude) - awsPrelude
		m.lost = m.left < 4 // a message has at least its prelude and its checksums
		m.prelude = m.prelude[:0]
	}
	if m.lost {
		return len(p), false
	}
	n := min(m.left, len(p)-taken)
	m.left -= n
	return taken + n, m.left == 0
}

// eachLine yields the lines of server-sent events without their line ends, and the offset after each.
func eachLine(p []byte) func(yield func(line []byte, end int) bool) {
	return func(yield func([]byte, int) bool) {
		for at := 0; at < len(p); {
			n := bytes.IndexAny(p[at:], "\r\n")
			if n < 0 {
				yield(p[at:], len(p))
				return
			}
			end := at + n + 1
			if p[end-1] == '\r' && end < len(p) && p[end] == '\n' {
				end++
			}
			if !yield(p[at:at+n], end) {
				return
			}
			at = end
		}
	}
}
