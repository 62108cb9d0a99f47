package formats

import (
	"bytes"

	"toolscope/capture"
)

// A stream that begins while another is open, in lines that tell nothing else, is either a second one
// at the same time, or the next one after the first was broken off. What only the first can go on
// with tells that it is alive. What either can go on with is held until the second one ends: if the
// first was not heard of by then, it was broken off.

// maxHeldPayloads is how many payloads are held for that.
const maxHeldPayloads = 10_000

// isRestart reports whether all that a payload may be of are a stream and the one it may be the
// restart of, which comes last.
func (s *openStreams) isRestart(all []*logStream) bool {
	return len(all) == 2 && all[1].rival == all[0]
}

// holdForStream keeps a payload until it is clear that it is of this stream.
func (s *openStreams) holdForStream(x *logStream, f *payload) {
	own := *f
	own.spot = s.spanOf(f)
	own.text, own.kind = bytes.Clone(f.text), bytes.Clone(f.kind)
	own.before, own.after, own.room = bytes.Clone(f.before), bytes.Clone(f.after), nil
	own.held = true
	if f.field {
		if e, named := s.eventOf(f); named {
			own.event = &e
		}
	}
	x.held = append(x.held, own)
	x.followChunk(f)
	x.last = s.r.number
	switch {
	case f.last:
		s.releaseHeld(x)
	case len(x.held) > maxHeldPayloads:
		s.loseStreams([]*logStream{x, x.rival}, f)
	}
}

// releaseHeld gives a stream what was held for it, and ends the one that was broken off.
func (s *openStreams) releaseHeld(x *logStream) {
	held, rival := x.held, x.rival
	x.held, x.rival = nil, nil
	if rival != nil {
		s.endStream(rival, capture.EndEOF, "")
	}
	for i := range held {
		s.writePayload(x, &held[i])
	}
}

// noteAlive notes that a stream continues next to the one that looked like its restart.
func (s *openStreams) noteAlive(x *logStream, f *payload) {
	if x.of != ofMessages {
		return
	}
	for _, other := range s.open {
		if other.rival != x {
			continue
		}
		if other.held != nil {
			s.loseStreams([]*logStream{x, other}, f)
		}
		other.rival = nil
	}
}

// rivalOf is the stream that one that begins may be the restart of.
func (s *openStreams) rivalOf(f *payload) (rival *logStream) {
	for _, x := range s.open {
		if x.on != f.on || x.of != f.of || x.of != ofMessages || x.over || x.lost || x.mute || compareKeys(x.keys, f.keys).conflicts() {
			continue
		}
		if rival != nil {
			return nil
		}
		rival = x
	}
	return rival
}
