package formats

import (
	"bytes"

	"toolscope/capture"
)

// A stream that begins while another is open, in lines that tell nothing else, is either a second one
// at the same time, or the next one after the first was broken off. What only the first can go on
// with tells that it is alive. What either can go on with is held until the second one ends: if the
// first was not heard of by then, it was broken off.

// heldLimit is how many payloads are held for that.
const heldLimit = 10_000

// restarted reports whether all that a payload may be of are a stream and the one it may be the
// restart of, which comes last.
func (s *flows) restarted(all []*logStream) bool {
	return len(all) == 2 && all[1].rival == all[0]
}

// hold keeps a payload until it is clear that it is of this stream.
func (s *flows) hold(x *logStream, f *find) {
	own := *f
	own.spot = s.spot(f)
	own.text, own.kind = bytes.Clone(f.text), bytes.Clone(f.kind)
	own.before, own.after, own.room = bytes.Clone(f.before), bytes.Clone(f.after), nil
	own.held = true
	if f.field {
		if e, named := s.eventOf(f); named {
			own.event = &e
		}
	}
	x.held = append(x.held, own)
	x.track(f)
	x.last = s.r.number
	switch {
	case f.last:
		s.release(x)
	case len(x.held) > heldLimit:
		s.mixAll([]*logStream{x, x.rival}, f)
	}
}

// release gives a stream what was held for it, and ends the one that was broken off.
func (s *flows) release(x *logStream) {
	held, rival := x.held, x.rival
	x.held, x.rival = nil, nil
	if rival != nil {
		s.end(rival, capture.EndEOF, "")
	}
	for i := range held {
		s.write(x, &held[i])
	}
}

// alive notices that a stream goes on beside the one that may have been its restart.
func (s *flows) alive(x *logStream, f *find) {
	if x.of != ofMessages {
		return
	}
	for _, other := range s.open {
		if other.rival != x {
			continue
		}
		if other.held != nil {
			s.mixAll([]*logStream{x, other}, f)
		}
		other.rival = nil
	}
}

// rivalOf is the stream that one that begins may be the restart of.
func (s *flows) rivalOf(f *find) (rival *logStream) {
	for _, x := range s.open {
		if x.on != f.on || x.of != f.of || x.of != ofMessages || x.over || x.lost || x.mute || agree(x.clues, f.clues).against() {
			continue
		}
		if rival != nil {
			return nil
		}
		rival = x
	}
	return rival
}
