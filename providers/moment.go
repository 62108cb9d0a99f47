package providers

import (
	"slices"
	"time"

	"toolscope/stream"
)

// A moment is the source as it was when so many events had been told, and the record that brings the
// next had not come; within a record, what the events before tell of it. That is what a View of the
// past shows. Invariant: nothing that was known later is in it but what is said here:
//
//   - How an exchange is read, which is decided once, and before its first turn.
//   - Its request's head and the tools that it declares.
//   - What turns have left of which not all is kept: see stream.Timeline.At.

// knownSince says when what became known of an exchange: how many events there have to be.
type knownSince struct {
	since        int32 // it began
	status       int32 // of its response
	end          int32 // it ended, and all was told
	requestSizes []sizeAt
}

// sizeAt is how much of the request had come when there were so many events.
type sizeAt struct {
	events int32
	size   int64
}

// noteSize notes that the request has so many bytes.
func (k *knownSince) noteSize(events int32, size int64) {
	if n := len(k.requestSizes); n > 0 && k.requestSizes[n-1].events == events {
		k.requestSizes[n-1].size = size
		return
	}
	k.requestSizes = append(k.requestSizes, sizeAt{events, size})
}

// requestSizeAt is how many bytes of the request had come.
func (k *knownSince) requestSizeAt(n int32) int64 {
	i := len(k.requestSizes)
	for i > 0 && k.requestSizes[i-1].events > n {
		i--
	}
	if i == 0 {
		return 0
	}
	return k.requestSizes[i-1].size
}

// nextEvent is how many events there are once a record has brought its first: what is known of the record
// is so from then on. If it brings none, hush is called.
func (in *Inspector) nextEvent() int32 { return in.eventCount() + 1 }

// retract says that the record which was told of brought no event: what it brought was there before.
func (k *knownSince) retract(told int32) {
	for _, at := range []*int32{&k.since, &k.status} {
		if *at == told {
			*at--
		}
	}
	if n := len(k.requestSizes) - 1; n >= 0 && k.requestSizes[n].events == told {
		size := k.requestSizes[n].size
		k.requestSizes = k.requestSizes[:n]
		k.noteSize(told-1, size)
	}
}

// eventCount is how many events there are.
func (in *Inspector) eventCount() int32 { return int32(in.Timeline.Len()) }

// At is the view of the moment at which there were n events, 0 ≤ n ≤ Events of what there is now. It
// stays there while more is written. What its methods return is valid until it walks on or the next
// record is written.
func (v *View) At(n int) *View {
	then := &View{in: v.in, past: &pastView{events: v.clampEvent(n)}}
	then.past.session = v.in.Timeline.At(then.past.events)
	return then
}

// MoveTo has a view of the past be one of another moment, at which nothing ended that did not. A few
// events further on its session is the same one, to which these were added; otherwise it is another
// one.
func (v *View) MoveTo(n int) {
	p, n := v.past, v.clampEvent(n)
	if p.ends == nil && n == p.events && v.in.Timeline.IsCurrent(p.session) {
		return
	}
	if p.ends != nil {
		p.session = v.in.Timeline.At(n)
	} else {
		p.session = v.in.Timeline.MoveTo(p.session, n)
	}
	p.events, p.ends, p.exchanges = n, nil, nil
}

func (v *View) clampEvent(n int) int { return min(max(n, 0), v.in.Timeline.Len()) }

// EndHere has what is open at the moment of a view of the past end there, as if toolscope had cut the
// source: events follow that never came. Walk takes it back.
func (v *View) EndHere() {
	p := v.past
	v.MoveTo(p.events)
	p.session, p.exchanges, p.ends = v.in.Timeline.At(p.events), nil, []stream.Event{}
	for _, t := range p.session.Turns {
		if !t.Closed() && t.Retention == stream.InMemory {
			p.ends = append(p.ends, stream.Event{
				Kind: stream.TurnClose, At: v.timeOf(t), Turn: t.Number, Frame: t.LastFrame, Code: stream.CloseCut, Text: EndedHere,
				What: &stream.Ending{By: stream.Toolscope},
			})
		}
	}
	for _, e := range p.ends { // before the first is applied: then it is another moment
		v.in.Timeline.Detach(p.session, e.Turn)
	}
	for _, e := range p.ends {
		p.session.Apply(e)
	}
}

// EndedHere is why a response ended that toolscope was asked to end at a moment.
const EndedHere = "toolscope was asked to end it here: what came after is left out"

// Ended reports whether EndHere was asked for.
func (v *View) Ended() bool { return v.past != nil && v.past.ends != nil }

// timeOf is when the latest event of a turn came, at the moment of the view.
func (v *View) timeOf(t *stream.Turn) time.Duration {
	return v.in.Timeline.EventPrefix(lastBefore(v.in, t, int32(v.past.events)), 0).At
}

// pastView is what a view of the past has.
type pastView struct {
	events    int
	session   *stream.Session
	exchanges map[int]*Exchange // as they were, where that is not as they are
	ends      []stream.Event    // that never came, behind the events; nil unless the source ends here
}

// syntheticEnd is event n of a view, if that never came.
func (v *View) syntheticEnd(n int) (e stream.Event, is bool) {
	if v.past == nil || n < v.past.events || n >= v.past.events+len(v.past.ends) {
		return e, false
	}
	return v.past.ends[n-v.past.events], true
}

// exchangeAsOf is an exchange as it was, nil where it had not begun.
func (p *pastView) exchangeAsOf(x *Exchange, s *stream.Session) *Exchange {
	n := int32(p.events)
	switch {
	case x == nil || x.known.since > n:
		return nil
	case x.Ended && x.known.end <= n && x.known.requestSizeAt(n) == x.known.requestSizeAt(x.in.eventCount()):
		return x
	}
	if then := p.exchanges[x.Number]; then != nil {
		return then
	}
	then := x.asOf(n, s)
	if p.ends != nil && !then.Ended {
		then.Ended, then.by, then.why = true, stream.Toolscope, EndedHere
	}
	if p.exchanges == nil {
		p.exchanges = map[int]*Exchange{}
	}
	p.exchanges[x.Number] = then
	return then
}

// asOf is the exchange as it was when there were n events, and s was the session.
func (x *Exchange) asOf(n int32, s *stream.Session) *Exchange {
	then, now := *x, *x.exchangeContent
	then.exchangeContent = &now
	then.turns, then.Response = nil, x.responseIn(s)
	for _, number := range x.turns {
		if s.Turn(number) != nil {
			then.turns = append(then.turns, number)
		}
	}
	if x.Sent.Size() > 0 && then.Response.Size() < x.Response.Size() {
		then.Sent = stream.Wire{} // which of them had come is not known
	}
	if size := x.known.requestSizeAt(n); size < x.Request.Size() {
		then.Request = x.Request.Prefix(size)
		then.past.read, then.past.messages, then.past.names, then.past.namesRead = 0, nil, nil, 0
	}
	if x.known.status > n {
		head := *x.Head
		head.Status, head.Header = 0, nil
		then.Head, then.headAt = &head, stream.NoTime
	}
	if !x.Ended || x.known.end > n {
		then.Ended, then.own, then.why, then.by = false, false, "", 0
	}
	if last := x.lastIn(s); last != nil {
		if at := x.in.Timeline.EventPrefix(lastBefore(x.in, last, n), 0).At; at != stream.NoTime {
			then.at = at
		}
	}
	return &then
}

// lastBefore is the number of a turn's last event before event n.
func lastBefore(in *Inspector, t *stream.Turn, n int32) int {
	for at := range in.Timeline.EventsBefore(in.Session().Turn(t.Number), int(n)) {
		return at
	}
	return int(t.OpenedBy)
}

// lastIn is the latest turn of the exchange in a session, nil if it has none there.
func (x *Exchange) lastIn(s *stream.Session) *stream.Turn {
	for _, number := range slices.Backward(x.turns) {
		if t := s.Turn(number); t != nil {
			return t
		}
	}
	return nil
}

// responseIn is as much of the response as the turns of a session tell of: all of it where they tell
// of its last frame.
func (x *Exchange) responseIn(s *stream.Session) stream.Wire {
	told, all := int32(-1), int32(-1)
	for _, number := range x.turns {
		if t := x.in.Session().Turn(number); t != nil {
			all = max(all, t.LastFrame)
		}
		if t := s.Turn(number); t != nil {
			told = max(told, t.LastFrame)
		}
	}
	switch {
	case told < 0:
		return x.Response.Prefix(0)
	case told == all, int(told) >= x.Response.Frames():
		return x.Response.Prefix(x.Response.Size())
	}
	_, end := x.Response.FrameSpan(told)
	return x.Response.Prefix(end)
}
