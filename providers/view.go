package providers

import (
	"errors"
	"iter"
	"slices"
	"time"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// View is the data at a moment: the fold of the events so far, and the exchanges in their state at that moment. A
// view that At returns contains only the events up to its moment. Results of its methods are valid until the next
// record is written.
type View struct {
	in   *Inspector
	past *pastView // nil for the present
}

// View returns a view of the present.
func (in *Inspector) View() *View { return &View{in: in} }

// Past reports whether the view shows a past moment.
func (v *View) Past() bool { return v.past != nil }

// Session returns the fold of the events. If turns were evicted after a past view was made, its session is a
// new one.
func (v *View) Session() *stream.Session {
	if v.past == nil {
		return v.in.Session()
	}
	switch {
	case v.in.Timeline.IsCurrent(v.past.session):
	case v.past.ends != nil:
		v.EndHere()
	default:
		v.MoveTo(v.past.events)
	}
	return v.past.session
}

// Find returns the turn and the call that a Ref refers to.
func (v *View) Find(r stream.Ref) (*stream.Turn, *stream.Call) { return v.Session().Find(r) }

// Events returns the number of events.
func (v *View) Events() int {
	if v.past != nil {
		return v.past.events + len(v.past.ends)
	}
	return v.in.Timeline.Len()
}

// ArrivedEvents returns the number of events that actually arrived. It excludes the events that EndHere
// added.
func (v *View) ArrivedEvents() int {
	if v.past != nil {
		return v.past.events
	}
	return v.in.Timeline.Len()
}

// Event returns event n. If the event was dropped with its turn, Event returns the part of it that is kept.
func (v *View) Event(n int) stream.Event {
	if e := v.syntheticEnd(n); e != nil {
		return *e
	}
	e, _ := v.in.Timeline.Event(n)
	return e
}

// EventPrefix returns event n. If the event's text has more bytes than the limit most, only its beginning is
// returned.
func (v *View) EventPrefix(n, most int) stream.Event {
	if end := v.syntheticEnd(n); end != nil {
		e := *end
		e.Text = e.Text[:min(len(e.Text), most)]
		return e
	}
	return v.in.Timeline.EventPrefix(n, most)
}

// Subject returns the kind of event n, and its turn or call.
func (v *View) Subject(n int) (stream.EventKind, stream.Ref) {
	if e := v.syntheticEnd(n); e != nil {
		return e.Kind, stream.Ref{Turn: e.Turn}
	}
	return v.in.Timeline.Subject(n)
}

// EventsOf iterates over the events of a turn, beginning with the given number.
func (v *View) EventsOf(t *stream.Turn, from int) iter.Seq[int] {
	if v.past == nil {
		return v.in.Timeline.EventsOf(t, from)
	}
	return func(yield func(int) bool) {
		live := v.in.Session().Turn(t.Number)
		if live == nil {
			return
		}
		for n := range v.in.Timeline.EventsOf(live, from) {
			if n >= v.past.events {
				break
			}
			if !yield(n) {
				return
			}
		}
		for i := range v.past.ends {
			if n := v.past.events + i; v.past.ends[i].Turn == t.Number && n >= from && !yield(n) {
				return
			}
		}
	}
}

// EventsBefore iterates backwards over the events of a turn whose numbers are less than the given one. It skips
// events that EndHere added.
func (v *View) EventsBefore(t *stream.Turn, before int) iter.Seq[int] {
	live := v.in.Session().Turn(t.Number)
	if live == nil {
		return func(func(int) bool) {}
	}
	return v.in.Timeline.EventsBefore(live, min(before, v.ArrivedEvents()))
}

// Others returns the lines of the source that are outside exchanges. Their times are not kept, so a past view
// has no such lines.
func (v *View) Others() OtherLines {
	if v.past != nil {
		return OtherLines{}
	}
	return v.in.Others
}

// Exchanges returns all exchanges, in the order in which they began.
func (v *View) Exchanges() []*Exchange {
	if v.past == nil {
		return v.in.Exchanges()
	}
	s := v.Session()
	var all []*Exchange
	for _, x := range v.in.Exchanges() {
		if then := v.past.exchangeAsOf(x, s); then != nil {
			all = append(all, then)
		}
	}
	return all
}

// TurnOf returns the first turn of an exchange, or nil if it has none.
func (v *View) TurnOf(exchange int) *stream.Turn {
	x := v.Exchange(exchange)
	if x == nil {
		return nil
	}
	for _, number := range x.turns {
		if t := v.Session().Turn(number); t != nil {
			return t
		}
	}
	return nil
}

// TurnAfter returns the turn of the request that sent a call back, or nil if the request has none. A
// WebSocket has many requests.
func (v *View) TurnAfter(r *stream.SentBackCall) *stream.Turn {
	if x := v.Exchange(r.Exchange); x != nil {
		for _, number := range x.turns {
			if t := v.Session().Turn(number); t != nil && int(t.OpenedBy) > r.Event {
				return t
			}
		}
	}
	return v.TurnOf(r.Exchange)
}

// Result returns the complete result of a call in a later request. The result ok is false if no request
// contains one, or if that request was evicted.
func (v *View) Result(c *stream.Call) (result protocol.Part, ok bool) {
	r := c.LatestResult()
	if r == nil {
		return result, false
	}
	if x := v.Exchange(r.Exchange); x != nil {
		return x.resultOf(c, r)
	}
	return result, false
}

// WallClock converts a time in an exchange to wall-clock time. The result ok is false if the time or the start
// is unknown. Exchanges in several captures count their times from different starts, and by the clocks of
// different machines. If the start of an exchange was not seen, the start of its run is used, never another
// start.
func (v *View) WallClock(exchange int, at time.Duration) (clock time.Time, ok bool) {
	if v.in.epoch.IsZero() || at < 0 {
		return clock, false
	}
	began := v.in.epoch
	switch x := v.in.Exchange(exchange); {
	case x == nil:
	case x.timed:
		began = began.Add(x.ahead)
	default:
		if began, ok = v.in.began[x.Head.Run]; !ok {
			return clock, false
		}
	}
	return began.Add(at).Local(), true
}

// LatestOf returns the latest turn of an exchange, or nil if it has none. A WebSocket has many turns.
func (v *View) LatestOf(exchange int) *stream.Turn {
	if x := v.Exchange(exchange); x != nil && len(x.turns) > 0 {
		return v.Session().Turn(x.turns[len(x.turns)-1])
	}
	return nil
}

// Exchange returns the exchange with the given number, or nil.
func (v *View) Exchange(number int) *Exchange {
	x := v.in.Exchange(number)
	if v.past == nil {
		return x
	}
	return v.past.exchangeAsOf(x, v.Session())
}

// A moment is the state of the source after a number of events, before the record of the next event arrived.
// Within a record, a moment contains the facts in the events so far. A View of the past shows a moment.
// Invariant: a moment contains no later facts, with these exceptions:
//
//   - The reading of an exchange, which is decided once, before its first turn.
//   - The head of its request and the tools that it declares.
//   - The remains of turns that are not fully kept: see stream.Timeline.At.

// knownSince contains the event counts at which facts about an exchange became known.
type knownSince struct {
	since        int32 // when the exchange began
	status       int32 // when the status of its response arrived
	end          int32 // when the exchange had ended and everything was reported
	requestSizes []sizeAt
}

// sizeAt is the size of the request after a number of events.
type sizeAt struct {
	events int32
	size   int64
}

// noteSize records the size of the request.
func (k *knownSince) noteSize(events int32, size int64) {
	if n := len(k.requestSizes); n > 0 && k.requestSizes[n-1].events == events {
		k.requestSizes[n-1].size = size
		return
	}
	k.requestSizes = append(k.requestSizes, sizeAt{events, size})
}

// requestSizeAt returns the number of request bytes that had arrived at event n.
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

// nextEvent returns the event count after a record's first event. The facts of the record are known from this
// count on. If the record makes no event, retract is called.
func (in *Inspector) nextEvent() int32 { return in.eventCount() + 1 }

// retract dates the facts of a record that made no event one event earlier.
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

// eventCount returns the number of events.
func (in *Inspector) eventCount() int32 { return int32(in.Timeline.Len()) }

// At returns a view of the moment at which there were n events, with 0 ≤ n ≤ Events of the present. The view
// stays at that moment while more records are written. Results of its methods are valid until MoveTo or the
// next Write.
func (v *View) At(n int) *View {
	then := &View{in: v.in, past: &pastView{events: v.clampEvent(n)}}
	then.past.session = v.in.Timeline.At(then.past.events)
	return then
}

// MoveTo moves a past view to another moment, and undoes EndHere. If the moment is only a few events ahead,
// the session stays the same and these events are added to it. Otherwise, the session is a new one.
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

// EndHere ends everything that is open at the moment of a past view, as if toolscope had cut off the source
// at that moment. It adds events that never arrived. MoveTo undoes this.
func (v *View) EndHere() {
	p := v.past
	v.MoveTo(p.events)
	p.session, p.exchanges, p.ends = v.in.Timeline.At(p.events), nil, []stream.Event{}
	for _, t := range p.session.Turns {
		if !t.Closed() && t.Retention == stream.InMemory {
			latest := v.in.Timeline.EventPrefix(lastBefore(v.in, t, int32(p.events)), 0)
			p.ends = append(p.ends, stream.Event{
				Kind: stream.TurnClose, At: latest.At, Turn: t.Number, Frame: t.LastFrame, Code: stream.CloseCut, Text: EndedHere,
				What: &stream.Ending{By: stream.Toolscope},
			})
		}
	}
	for _, e := range p.ends { // before the first event is applied, because that changes the moment
		v.in.Timeline.Detach(p.session, e.Turn)
	}
	for _, e := range p.ends {
		p.session.Apply(e)
	}
}

// EndedHere is the reason for the end of a response that EndHere ended.
const EndedHere = "toolscope ended the response here on request: the rest is left out"

// Ended reports whether EndHere is in effect.
func (v *View) Ended() bool { return v.past != nil && v.past.ends != nil }

// pastView is the state of a past view.
type pastView struct {
	events    int
	session   *stream.Session
	exchanges map[int]*Exchange // past state of exchanges, if it differs from the present state
	ends      []stream.Event    // synthetic events after the real ones; nil without EndHere
}

// syntheticEnd returns event n of a view if EndHere added this event, else nil.
func (v *View) syntheticEnd(n int) *stream.Event {
	if v.past == nil || n < v.past.events || n >= v.past.events+len(v.past.ends) {
		return nil
	}
	return &v.past.ends[n-v.past.events]
}

// exchangeAsOf returns an exchange in its state at the moment, or nil if the exchange had not begun.
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
		then.Ended, then.by, then.EndReason = true, stream.Toolscope, EndedHere
	}
	if p.exchanges == nil {
		p.exchanges = map[int]*Exchange{}
	}
	p.exchanges[x.Number] = then
	return then
}

// asOf returns the exchange in its state when there were n events and s was the session.
func (x *Exchange) asOf(n int32, s *stream.Session) *Exchange {
	then, now := *x, *x.exchangeContent
	then.setContent(&now)
	then.turns, then.Response = nil, x.responseIn(s)
	for _, number := range x.turns {
		if s.Turn(number) != nil {
			then.turns = append(then.turns, number)
		}
	}
	if x.Sent.Size() > 0 && then.Response.Size() < x.Response.Size() {
		then.Sent = stream.Wire{} // the number of sent bytes that had arrived is unknown
	}
	if size := x.known.requestSizeAt(n); size < x.Request.Size() {
		then.Request = x.Request.Prefix(size)
		then.past.read, then.past.messages, then.past.names, then.past.namesRead = 0, nil, nil, 0
	}
	if x.known.status > n {
		head := *x.Head
		head.Status, head.Header = 0, nil
		then.Head, then.HeadAt = &head, stream.NoTime
	}
	if !x.Ended || x.known.end > n {
		then.Ended, then.AnsweredHere, then.EndReason, then.by = false, false, "", 0
	}
	if last := x.lastIn(s); last != nil {
		if at := x.in.Timeline.EventPrefix(lastBefore(x.in, last, n), 0).At; at != stream.NoTime {
			then.at = at
		}
	}
	return &then
}

// lastBefore returns the number of the turn's last event before event n, or of its first event if there is
// none.
func lastBefore(in *Inspector, t *stream.Turn, n int32) int {
	for at := range in.Timeline.EventsBefore(in.Session().Turn(t.Number), int(n)) {
		return at
	}
	return int(t.OpenedBy)
}

// lastIn returns the latest turn of the exchange in a session, or nil if the session contains none.
func (x *Exchange) lastIn(s *stream.Session) *stream.Turn {
	for _, number := range slices.Backward(x.turns) {
		if t := s.Turn(number); t != nil {
			return t
		}
	}
	return nil
}

// responseIn returns the response up to the last frame of a session's turns. If that is the last of all
// frames, it returns the complete response.
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

// An ExchangeOffset is the position of a moment in an exchange. It is the number of bytes of the request and
// of the response, with codings decoded.
type ExchangeOffset struct {
	RequestBytes, ResponseBytes int64
	Answered                    bool // the head of the response had arrived
	Ended                       bool
}

// Offsets returns the offsets of the view's moment, by exchange. Each offset is after the frames of the events so
// far. Exchanges that had not begun are missing.
func (v *View) Offsets() map[int]ExchangeOffset {
	all := map[int]ExchangeOffset{}
	for _, x := range v.Exchanges() {
		all[x.Number] = ExchangeOffset{x.Request.Size(), x.Response.Size(), x.Head.Status != 0 || x.Response.Size() > 0, x.Ended}
	}
	known := int32(v.ArrivedEvents())
	for number, list := range v.in.toolTraffic().stops {
		for _, stop := range slices.Backward(list) {
			if stop.known <= known+1 {
				all[number] = stop.ExchangeOffset
				break
			}
		}
	}
	return all
}

var errRecordsDropped = errors.New("turns were evicted from memory: use toolscope cut, which reads the file again")

// EachRecord passes each record to a function, in order. It fails if any records were evicted or dropped.
func (v *View) EachRecord(to func(stream.Record)) error {
	if v.in.log.closed {
		return errRecordsDropped
	}
	v.in.log.eachRecord(v.in, to)
	return nil
}

// EventsAt returns the number of events in all turns up to the last event of t that is not later than the given time.
// It includes at least the first event of t.
func (v *View) EventsAt(t *stream.Turn, at time.Duration) int {
	n := int(t.OpenedBy) + 1
	for e := range v.EventsOf(t, int(t.OpenedBy)) {
		if v.EventPrefix(e, 0).At > at {
			break
		}
		n = e + 1
	}
	return n
}

// AfterEvent returns the number of events up to event n, including the findings that directly follow it.
func (v *View) AfterEvent(n int) int {
	e := v.EventPrefix(n, 0)
	for n++; n < v.ArrivedEvents(); n++ {
		if next := v.EventPrefix(n, 0); next.Kind != stream.Found || next.Turn != e.Turn || next.Frame != e.Frame {
			break
		}
	}
	return n
}
