package formats

import (
	"bytes"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/marks"
)

// The functions below choose the stream that a payload belongs to.

// keyOverlap counts, by weight, the correlation keys that a line shares with a stream and those that differ.
type keyOverlap struct{ same, other [ofRequest + 1]int }

func compareKeys(f []correlationKey, with []correlationKey) (a keyOverlap) {
	for _, c := range with {
		for _, own := range f {
			if own.name != c.name {
				continue
			}
			if own.value == c.value {
				a.same[c.rank]++
			} else {
				a.other[c.rank]++
			}
			break
		}
	}
	return a
}

// sameKeys reports whether two lists of keys are the same slice, as in lines that match the same template.
func sameKeys(a, b []correlationKey) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// conflicts reports whether a line can't belong to the stream, because it names another request or trace, or comes
// from another place or another side of a gateway.
func (a keyOverlap) conflicts() bool {
	if a.other[ofLeg] > 0 {
		return true
	}
	return a.differsInSource()
}

// differsInSource reports whether two lines name different requests or traces, or come from different places. Such
// lines may still belong to one request, if a gateway received one line's data and sent the other's.
func (a keyOverlap) differsInSource() bool {
	if a.same[ofRequest]+a.other[ofRequest] > 0 {
		return a.same[ofRequest] == 0
	}
	if a.same[ofTrace]+a.other[ofTrace] > 0 && a.same[ofTrace] == 0 {
		return true
	}
	return a.other[ofPlace] > 0
}

// keepCommonKeys drops the keys of a stream that have another value in one of its lines. It takes all keys of the
// first line.
func (x *logStream) keepCommonKeys(with []correlationKey) {
	if x.lines == 0 {
		x.keys, x.kept = slices.Clone(with), with
		return
	}
	if sameKeys(x.kept, with) {
		return
	}
	kept := x.keys[:0]
	for _, own := range x.keys {
		same := true
		for _, c := range with {
			if c.name == own.name {
				same = c.value == own.value
				break
			}
		}
		if same {
			kept = append(kept, own)
		}
	}
	x.keys, x.kept = kept, with
}

// streamChoice is the stream that was chosen for a payload.
type streamChoice struct {
	flow *logStream
	many bool         // several streams are possible
	all  []*logStream // these streams, if many is set
}

// chooseStream chooses the open stream for a payload. If several are possible, it returns all of them, with the last
// one as the choice. If there is none, the choice is empty.
func (s *openStreams) chooseStream(f *payload) streamChoice {
	first, second := s.open, []*logStream(nil)
	if f.id != 0 && !f.begins { // prefer the streams with this id to those that have not named their response
		first, second = s.index.byID[f.id], s.index.nameless
	}
	fit := s.candidatesFor(first, f)
	if len(fit) == 0 {
		fit = s.candidatesFor(second, f)
	}
	for _, by := range []func([]*logStream, *payload) []*logStream{byItem, byRequest, byNumber, byBlock, byMark, byRest} {
		if len(fit) < 2 {
			break
		}
		if fewer := by(fit, f); len(fewer) > 0 {
			fit = fewer
		}
	}
	switch len(fit) {
	case 0:
		return streamChoice{}
	case 1:
		return streamChoice{flow: fit[0]}
	}
	return streamChoice{flow: fit[len(fit)-1], many: true, all: fit}
}

// candidatesFor selects, from the parameter all, the streams that a payload may belong to. The result is valid until
// the next call.
func (s *openStreams) candidatesFor(all []*logStream, f *payload) []*logStream {
	fit, form := s.fit[:0], f.formInLog()
	for _, x := range all {
		if x.on == f.on && (form == anyForm || x.form == anyForm || form == x.form) && (f.of == x.of || f.is == aMark || f.weak || f.of == nil || x.of == nil && f.is != eventText) && (sameKeys(x.kept, f.keys) || !compareKeys(x.keys, f.keys).conflicts()) && !(x.over && f.is != aMark) && !x.apartFrom(f) {
			fit = append(fit, x)
		}
	}
	s.fit = fit
	return fit
}

func filterStreams(all []*logStream, is func(*logStream) bool) (some []*logStream) {
	for _, x := range all {
		if is(x) {
			some = append(some, x)
		}
	}
	return some
}

func byItem(all []*logStream, f *payload) []*logStream {
	if f.item == 0 {
		return nil
	}
	return filterStreams(all, func(x *logStream) bool {
		for _, item := range x.items {
			if item == f.item {
				return true
			}
		}
		return false
	})
}

func byRequest(all []*logStream, f *payload) []*logStream {
	return byKeys(byKeys(byKeys(all, f, ofRequest), f, ofTrace), f, ofPlace)
}

func byRest(all []*logStream, f *payload) []*logStream { return byKeys(all, f, plainKey) }

// byKeys returns the streams whose keys of a given weight match the line, if the streams differ in these keys.
func byKeys(all []*logStream, f *payload, rank keyWeight) []*logStream {
	for _, c := range f.keys {
		if c.rank != rank {
			continue
		}
		same, other := 0, 0
		has := func(x *logStream) bool {
			for _, own := range x.keys {
				if own.name == c.name {
					return own.value == c.value
				}
			}
			return false
		}
		for _, x := range all {
			if has(x) {
				same++
			} else {
				other++
			}
		}
		if same > 0 && other > 0 {
			all = filterStreams(all, has)
		}
	}
	return all
}

func byNumber(all []*logStream, f *payload) []*logStream {
	if f.number < 0 {
		return nil
	}
	return filterStreams(all, func(x *logStream) bool { return x.next == f.number })
}

// byBlock returns the streams in which the content block of a chunk can begin, continue or end.
func byBlock(all []*logStream, f *payload) []*logStream {
	if !traitsOf(f.of).Blocks {
		return nil
	}
	return filterStreams(all, func(x *logStream) bool {
		switch {
		case f.phase == marks.BlockStart:
			return x.block < 0 && x.begun == f.block
		case f.phase != marks.NoBlock:
			return x.block == f.block
		case f.last:
			return x.finished
		}
		return f.ends && x.block < 0 && x.begun > 0 && !x.finished
	})
}

// byMark returns the finished stream whose last chunk is the oldest, if the payload is the mark of a stream's end.
// This mark is the same in all streams, so it doesn't identify its stream.
func byMark(all []*logStream, f *payload) []*logStream {
	if f.is != aMark {
		return nil
	}
	var oldest *logStream
	for _, x := range all {
		if x.finished && (oldest == nil || x.last < oldest.last) {
			oldest = x
		}
	}
	if oldest == nil {
		return nil
	}
	return []*logStream{oldest}
}

// The code below separates streams whose chunks don't name their response.

// apartFrom reports whether a chunk that doesn't name its response can't belong to a stream.
func (x *logStream) apartFrom(f *payload) bool {
	if f.id != 0 || !traitsOf(f.of).Unnamed || f.is != aChunk {
		return false
	}
	over := x.finished && f.identity.more // no content follows the end of a response
	return x.id != 0 || over || x.identity.conflicts(f.identity)
}

// finishedStream is the latest finished stream whose chunks don't name their response.
type finishedStream struct {
	on    *payloadPath
	keys  []correlationKey
	model uint64
	at    time.Time
	first int64 // number of the stream's first line
}

// mixedSince returns the number of the first line from which a stream is known to contain two streams, or 0 if that
// is not known. Any of three facts proves it: the token count fell, the stream began before its request, or another
// stream ended after the request.
func (s *openStreams) mixedSince(x *logStream, f *payload) int64 {
	const inexact = 20 * time.Millisecond // precision of the times that a program writes itself
	if f.id != 0 || x.id != 0 || f.is != aChunk {
		return 0
	}
	if f.identity.tokens > 0 && f.identity.tokens < x.identity.tokens {
		return x.first
	}
	if !f.last || f.identity.at.IsZero() || f.identity.took == 0 {
		return 0
	}
	asked := f.identity.at.Add(-f.identity.took)
	last := s.ended
	s.ended = finishedStream{x.on, f.keys, f.identity.model, f.identity.at, x.first}
	switch {
	case !x.identity.at.IsZero() && x.identity.at.Before(asked.Add(-inexact)):
		return x.first
	case last.on == x.on && last.model == f.identity.model && asked.Add(inexact).Before(last.at) && !compareKeys(last.keys, f.keys).conflicts():
		return last.first
	}
	return 0
}

// A stream may begin while another is open, with nothing to identify their lines. Then it either runs in parallel
// with the first stream, or follows the first one, which broke off. A payload that only the first stream can contain
// shows that the first stream continues. Payloads that fit both streams are held until the second one ends. If the
// first stream has had no payload of its own by then, it broke off.

// maxHeldPayloads is the maximum number of held payloads for a stream.
const maxHeldPayloads = 10_000

// holdForStream keeps a payload until it is clear that it belongs to the stream.
func (s *openStreams) holdForStream(x *logStream, f *payload) {
	own := *f
	own.span = s.spanOf(f)
	own.text, own.kind = bytes.Clone(f.text), bytes.Clone(f.kind)
	own.before, own.after, own.room = bytes.Clone(f.before), bytes.Clone(f.after), nil
	own.held = true
	if f.field {
		if i := s.findEventName(f); i >= 0 {
			own.event = new(pendingEventName)
			*own.event = s.events[i]
			s.events = slices.Delete(s.events, i, i+1)
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

// releaseHeld writes the held payloads of a stream, and ends the stream that broke off.
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

// noteAlive records that a stream continues although a later stream looked like its restart.
func (s *openStreams) noteAlive(x *logStream, f *payload) {
	if !traitsOf(x.of).Blocks {
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

// rivalOf returns the open stream that a new stream may restart, or nil if there is none or more than one.
func (s *openStreams) rivalOf(f *payload) (rival *logStream) {
	for _, x := range s.open {
		if x.on != f.on || x.of != f.of || !traitsOf(x.of).Blocks || x.over || x.lost || x.mute || compareKeys(x.keys, f.keys).conflicts() {
			continue
		}
		if rival != nil {
			return nil
		}
		rival = x
	}
	return rival
}

// The functions below hold event names until their data arrives, and requests until their response arrives.

// holdEvent keeps the name of an event until its data arrives.
func (s *openStreams) holdEvent(f *payload) {
	if len(s.events) == maxEventNames {
		s.r.others.addLine(1, s.events[0].text)
		s.events = slices.Delete(s.events, 0, 1)
	}
	f.on.fields = f.on.fields || !f.on.pieces
	span := s.spanOf(f)
	s.events = append(s.events, pendingEventName{on: f.on, keys: f.keys, line: s.r.number, text: s.withEnd(f.text, "", f.room)})
	e := &s.events[len(s.events)-1]
	e.kind, e.span = bytes.TrimSpace(e.text[len("event:"):]), span
	if e.before, e.after = f.before, f.after; f.room == nil {
		e.before, e.after = bytes.Clone(e.before), bytes.Clone(e.after)
	}
}

// findEventName returns the index of the event name that belongs to a chunk, or -1 if there is none. It prefers the
// name that equals the chunk's type, and otherwise chooses the latest name.
func (s *openStreams) findEventName(f *payload) (best int) {
	best = -1
	for i := len(s.events) - 1; i >= 0; i-- { // start with the latest name, which is the nearest
		e := &s.events[i]
		if e.on != f.on || !sameKeys(e.keys, f.keys) && compareKeys(e.keys, f.keys).conflicts() {
			continue
		}
		if f.kind != nil && bytes.Equal(e.kind, f.kind) {
			return i
		}
		m, known := s.r.unwrapper.rules.typeOf(e.kind)
		if known && m.of != nil && f.of != nil && m.of != f.of || known && f.kind != nil && e.line < s.r.number-1 {
			continue // the name of another event, whose data didn't arrive
		}
		if best < 0 || e.line > s.events[best].line {
			best = i
		}
	}
	return best
}

// holdRequest keeps a request until its response arrives. It reports whether it kept the request.
func (s *openStreams) holdRequest(f *payload) bool {
	if f.weak || len(f.text) > maxHeldRequestBytes {
		return false
	}
	for len(s.requests) > 0 && (len(s.requests) == maxRequests || s.asked+len(f.text) > maxHeldRequestBytes) {
		s.asked -= len(s.requests[0].text)
		s.requests = s.requests[1:]
	}
	held := *f
	held.span = s.spanOf(f)
	held.text, held.before, held.after = bytes.Clone(f.text), bytes.Clone(f.before), bytes.Clone(f.after)
	s.requests = append(s.requests, held)
	s.asked += len(held.text)
	return true
}

// requestOf removes and returns the held request of a response: the latest one whose line names the same request or
// trace. It returns nil if there is none.
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
