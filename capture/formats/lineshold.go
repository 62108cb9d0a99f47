package formats

import "bytes"

// This file holds what a line says of a payload that comes later: the name of an event, a request.

// holdEvent keeps the name of an event until its data comes.
func (s *openStreams) holdEvent(f *payload) {
	if len(s.events) == maxEventNames {
		s.r.others.addLine(1, s.events[0].data)
		s.events = append(s.events[:0], s.events[1:]...)
	}
	f.on.fields = f.on.fields || !f.on.pieces
	e := pendingEventName{on: f.on, keys: f.keys, spot: s.spanOf(f), data: s.dataWithEnd(f, "\n"), before: f.before, after: f.after, line: s.r.number}
	if f.room == nil {
		e.before, e.after = bytes.Clone(e.before), bytes.Clone(e.after)
	}
	e.kind = bytes.TrimSpace(e.data[len("event:"):])
	s.events = append(s.events, e)
}

// eventOf is the name that was said of a chunk, if there is one. Where the chunk says its name itself
// that decides, and otherwise that the name stands right before it.
func (s *openStreams) eventOf(f *payload) (e pendingEventName, is bool) {
	best := -1
	for i := len(s.events) - 1; i >= 0; i-- { // the last ones are the nearest
		e := &s.events[i]
		if e.on != f.on || !sameKeys(e.keys, f.keys) && compareKeys(e.keys, f.keys).conflicts() {
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
		return pendingEventName{}, false
	}
	e = s.events[best]
	s.events = append(s.events[:best], s.events[best+1:]...)
	return e, true
}

// holdRequest keeps a request until its answer comes.
func (s *openStreams) holdRequest(f *payload) bool {
	if f.weak || len(f.text) > maxHeldRequestBytes {
		return false
	}
	for len(s.requests) > 0 && (len(s.requests) == maxRequests || s.asked+len(f.text) > maxHeldRequestBytes) {
		s.asked -= len(s.requests[0].text)
		s.requests = s.requests[1:]
	}
	held := *f
	held.spot = s.spanOf(f)
	held.text, held.before, held.after = bytes.Clone(f.text), bytes.Clone(f.before), bytes.Clone(f.after)
	s.requests = append(s.requests, held)
	s.asked += len(held.text)
	return true
}

// requestOf is the request that an answer is to: the last one whose lines name the same request.
func (s *openStreams) requestOf(f *payload) *payload {
	for i := len(s.requests) - 1; i >= 0; i-- {
		a := compareKeys(s.requests[i].keys, f.keys)
		if a.same[ofRequest]+a.same[ofTrace] == 0 || a.other[ofRequest]+a.other[ofTrace]+a.other[ofPlace] > 0 {
			continue
		}
		ask := s.requests[i]
		s.requests = append(s.requests[:i], s.requests[i+1:]...)
		s.asked -= len(ask.text)
		return &ask
	}
	return nil
}
