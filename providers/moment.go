package providers

import (
	"slices"

	"toolscope/stream"
)

// A moment is the source as it was when so many events had been told, and the record that brings the
// next had not come; within a record, what the events before tell of it. That is what a View of the
// past shows. Invariant: nothing that was known later is in it but what is said here:
//
//   - How an exchange is read, which is decided once, and before its first turn.
//   - Its request's head and the tools that it declares.
//   - What turns have left of which not all is kept: see stream.Timeline.At.

// known says when what became known of an exchange: how many events there have to be.
type known struct {
	since  int32 // it began
	status int32 // of its response
	end    int32 // it ended, and all was told
	asked  []sized
}

// sized is how much of the request had come when there were so many events.
type sized struct {
	events int32
	size   int64
}

// ask notes that the request has so many bytes.
func (k *known) ask(events int32, size int64) {
	if n := len(k.asked); n > 0 && k.asked[n-1].events == events {
		k.asked[n-1].size = size
		return
	}
	k.asked = append(k.asked, sized{events, size})
}

// askedAt is how many bytes of the request had come.
func (k *known) askedAt(n int32) int64 {
	i := len(k.asked)
	for i > 0 && k.asked[i-1].events > n {
		i--
	}
	if i == 0 {
		return 0
	}
	return k.asked[i-1].size
}

// told is how many events there are once a record has brought its first: what is known of the record
// is so from then on. If it brings none, hush is called.
func (in *Inspector) told() int32 { return in.now() + 1 }

// hush says that the record which was told of brought no event: what it brought was there before.
func (k *known) hush(told int32) {
	for _, at := range []*int32{&k.since, &k.status} {
		if *at == told {
			*at--
		}
	}
	if n := len(k.asked) - 1; n >= 0 && k.asked[n].events == told {
		size := k.asked[n].size
		k.asked = k.asked[:n]
		k.ask(told-1, size)
	}
}

// now is how many events there are.
func (in *Inspector) now() int32 { return int32(in.Timeline.Len()) }

// At is the view of the moment at which there were n events, 0 ≤ n ≤ Events of what there is now. It
// stays there while more is written. What its methods return is valid until it walks on or the next
// record is written.
func (v *View) At(n int) *View {
	then := &View{in: v.in, past: &past{events: v.clamp(n)}}
	then.past.session = v.in.Timeline.At(then.past.events)
	return then
}

// Walk has a view of the past be one of another moment. A few events further on its session is the
// same one, to which these were added; otherwise it is another one.
func (v *View) Walk(n int) {
	before, events := v.past.session, v.past.events
	v.past.events = v.clamp(n)
	if v.past.session = v.in.Timeline.Walk(before, v.past.events); v.past.session != before || v.past.events != events {
		v.past.exchanges = nil
	}
}

func (v *View) clamp(n int) int { return min(max(n, 0), v.in.Timeline.Len()) }

// past is what a view of the past has.
type past struct {
	events    int
	session   *stream.Session
	exchanges map[int]*Exchange // as they were, where that is not as they are
}

// then is an exchange as it was, nil where it had not begun.
func (p *past) then(x *Exchange, s *stream.Session) *Exchange {
	n := int32(p.events)
	switch {
	case x == nil || x.known.since > n:
		return nil
	case x.Ended && x.known.end <= n && x.known.askedAt(n) == x.known.askedAt(x.in.now()):
		return x
	}
	if then := p.exchanges[x.Number]; then != nil {
		return then
	}
	then := x.before(n, s)
	if p.exchanges == nil {
		p.exchanges = map[int]*Exchange{}
	}
	p.exchanges[x.Number] = then
	return then
}

// before is the exchange as it was when there were n events, and s was the session.
func (x *Exchange) before(n int32, s *stream.Session) *Exchange {
	then := *x
	then.turns, then.Response = nil, x.responseIn(s)
	for _, number := range x.turns {
		if s.Turn(number) != nil {
			then.turns = append(then.turns, number)
		}
	}
	if x.Sent.Size() > 0 && then.Response.Size() < x.Response.Size() {
		then.Sent = stream.Wire{} // which of them had come is not known
	}
	if size := x.known.askedAt(n); size < x.Request.Size() {
		then.Request = x.Request.Upto(size)
		then.past.read, then.past.messages, then.past.names, then.past.namesRead = 0, nil, nil, 0
	}
	if x.known.status > n {
		then.Head.Status, then.Head.Header, then.headAt = 0, nil, stream.NoTime
	}
	if !x.Ended || x.known.end > n {
		then.Ended, then.own, then.why, then.by = false, false, "", 0
	}
	if last := x.lastIn(s); last != nil {
		if e := x.in.Timeline.Begin(lastBefore(x.in, last, n), 0); e.At != stream.NoTime {
			then.at = e.At
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
		return x.Response.Upto(0)
	case told == all, int(told) >= x.Response.Frames():
		return x.Response.Upto(x.Response.Size())
	}
	_, end := x.Response.FrameSpan(told)
	return x.Response.Upto(end)
}
