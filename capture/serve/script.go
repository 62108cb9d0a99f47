package serve

import (
	"bytes"
	"time"
)

// script is what is going to be sent as the body: a response cut into events. Every byte is in
// exactly one of them.
type script struct {
	framing framing
	packed  bool // the bytes are compressed
	events  []event
	whole   bool          // nothing is cut off
	broken  bool          // the connection breaks at the end
	pause   time.Duration // before each event
	split   bool          // each byte is written by itself
}

// event is the bytes of one event, or of one chunk where the body has no events.
type event struct {
	parts []part
	full  bool // it carries something: it is not just a comment or an empty line
}

// part is the bytes that an event has from one chunk. Parts of the same chunk are written together.
type part struct {
	chunk int
	after time.Duration
	data  []byte
}

// write is what is handed to the connection at once.
type write struct {
	pause time.Duration // before it, at any speed
	after time.Duration // as recorded
	data  []byte
}

func newScript(x *Exchange) *script {
	s := &script{framing: x.framing(), packed: x.encoded(), whole: true, broken: x.Cut}
	var ends []int
	switch s.framing {
	case eventStream:
		ends = eventEnds(x.Body())
	case jsonLines:
		ends = lineEnds(x.Body())
	case awsFrames:
		ends = messageEnds(x.Body())
	default:
		at := 0
		for _, c := range x.Chunks {
			at += len(c.Data)
			ends = append(ends, at)
		}
	}
	s.cut(x.Chunks, ends)
	return s
}

// cut makes events of chunks, given where in the body each event ends.
func (s *script) cut(chunks []Chunk, ends []int) {
	var e event
	at := 0
	for i, c := range chunks {
		for p := c.Data; len(p) > 0; {
			n := min(len(p), ends[0]-at)
			e.parts = append(e.parts, part{i, c.After, p[:n]})
			p, at = p[n:], at+n
			if at == ends[0] {
				e.full = s.carries(e.data())
				s.events = append(s.events, e)
				e, ends = event{}, ends[1:]
			}
		}
	}
}

// carries reports whether an event carries something.
func (s *script) carries(p []byte) bool {
	switch s.framing {
	case eventStream:
		for line := range lines(p) {
			if line = bytes.TrimPrefix(line, []byte("\ufeff")); bytes.HasPrefix(line, []byte("data")) {
				return true
			}
		}
		return false
	case jsonLines:
		return len(bytes.TrimSpace(p)) > 0
	}
	return true
}

// streams reports whether the body is a stream of events.
func (s *script) streams() bool {
	return s.framing == eventStream || s.framing == jsonLines || s.framing == awsFrames
}

func (e event) data() []byte {
	if len(e.parts) == 1 {
		return e.parts[0].data
	}
	var all []byte
	for _, p := range e.parts {
		all = append(all, p.data...)
	}
	return all
}

// with is the event with other bytes. They arrive whole, when the last of the event's bytes did.
func (e event) with(p []byte) event {
	last := e.parts[len(e.parts)-1]
	last.data = p
	return event{[]part{last}, e.full}
}

// writes joins again what was received at once.
func (s *script) writes() []write {
	var list []write
	chunk, joined := -1, false
	for _, e := range s.events {
		pause := s.pause
		if !e.full {
			pause = 0
		}
		for _, p := range e.parts {
			if p.chunk == chunk && pause == 0 {
				last := &list[len(list)-1]
				if !joined { // what was recorded must not be written over
					last.data, joined = bytes.Clone(last.data), true
				}
				last.data = append(last.data, p.data...)
				continue
			}
			list = append(list, write{pause, p.after, p.data})
			chunk, joined, pause = p.chunk, false, 0
		}
	}
	if s.split {
		return bytewise(list)
	}
	return list
}

func bytewise(list []write) []write {
	var split []write
	for _, w := range list {
		for i := range w.data {
			split = append(split, write{w.pause, w.after, w.data[i : i+1]})
			w.pause = 0
		}
	}
	return split
}

// lines yields the lines of server-sent events, without their ends: LF, CR, or both.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
func lines(p []byte) func(yield func(line []byte, end int) bool) {
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

// eventEnds is where server-sent events end: behind the empty line.
func eventEnds(p []byte) []int {
	var ends []int
	for line, end := range lines(p) {
		if len(line) == 0 {
			ends = append(ends, end)
		}
	}
	return closed(ends, len(p))
}

func lineEnds(p []byte) []int {
	var ends []int
	for i, c := range p {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	return closed(ends, len(p))
}

// messageEnds is where AWS messages end. Behind one that is no message, everything is one piece.
func messageEnds(p []byte) []int {
	var ends []int
	for at := 0; ; {
		n := awsLength(p[at:])
		if n < 16 || n > len(p)-at { // a message is at least its prelude and its checksums
			return closed(ends, len(p))
		}
		at += n
		ends = append(ends, at)
	}
}

// closed ends with the end of the body.
func closed(ends []int, size int) []int {
	if len(ends) == 0 || ends[len(ends)-1] != size {
		ends = append(ends, size)
	}
	return ends
}
