package formats

import "bytes"

// This file holds what a line says of a payload that comes later: the name of an event, a request.

// holdEvent keeps the name of an event until its data comes.
func (s *flows) holdEvent(f *find) {
	if len(s.events) == eventLimit {
		s.r.others.add(1, s.events[0].data)
		s.events = append(s.events[:0], s.events[1:]...)
	}
	f.on.fields = f.on.fields || !f.on.pieces
	e := heldEvent{on: f.on, clues: f.clues, spot: s.spot(f), data: s.data(f, "\n"), before: f.before, after: f.after, line: s.r.number}
	if f.room == nil {
		e.before, e.after = bytes.Clone(e.before), bytes.Clone(e.after)
	}
	e.kind = bytes.TrimSpace(e.data[len("event:"):])
	s.events = append(s.events, e)
}

// eventOf is the name that was said of a chunk, if there is one. Where the chunk says its name itself
// that decides, and otherwise that the name stands right before it.
func (s *flows) eventOf(f *find) (e heldEvent, is bool) {
	best := -1
	for i := len(s.events) - 1; i >= 0; i-- { // the last ones are the nearest
		e := &s.events[i]
		if e.on != f.on || !sameClues(e.clues, f.clues) && agree(e.clues, f.clues).against() {
			continue
		}
		if f.kind != nil && bytes.Equal(e.kind, f.kind) {
			best = i
			break
		}
		w, known := wordOf(e.kind)
		if known && w.of != ofAny && f.of != ofAny && w.of != f.of || known && f.kind != nil && e.line < s.r.number-1 {
			continue // it is that of another, whose data did not come
		}
		if best < 0 || e.line > s.events[best].line {
			best = i
		}
	}
	if best < 0 {
		return heldEvent{}, false
	}
	e = s.events[best]
	s.events = append(s.events[:best], s.events[best+1:]...)
	return e, true
}

// holdAsk keeps a request until its answer comes.
func (s *flows) holdAsk(f *find) bool {
	if f.weak || len(f.text) > askBytes {
		return false
	}
	for len(s.asks) > 0 && (len(s.asks) == askLimit || s.asked+len(f.text) > askBytes) {
		s.asked -= len(s.asks[0].text)
		s.asks = s.asks[1:]
	}
	held := *f
	held.spot = s.spot(f)
	held.text, held.before, held.after = bytes.Clone(f.text), bytes.Clone(f.before), bytes.Clone(f.after)
	s.asks = append(s.asks, held)
	s.asked += len(held.text)
	return true
}

// askOf is the request that an answer is to: the last one whose lines name the same request.
func (s *flows) askOf(f *find) *find {
	for i := len(s.asks) - 1; i >= 0; i-- {
		a := agree(s.asks[i].clues, f.clues)
		if a.same[ofRequest]+a.same[ofTrace] == 0 || a.other[ofRequest]+a.other[ofTrace]+a.other[ofPlace] > 0 {
			continue
		}
		ask := s.asks[i]
		s.asks = append(s.asks[:i], s.asks[i+1:]...)
		s.asked -= len(ask.text)
		return &ask
	}
	return nil
}
