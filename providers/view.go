package providers

import (
	"iter"
	"time"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// View is the data at a moment: the fold of the events so far, or with At of the first ones, and the exchanges
// as they were then. Results of its methods are valid until the next record is written.
type View struct {
	in   *Inspector
	past *pastView // nil for the present
}

// View returns a view of the present.
func (in *Inspector) View() *View { return &View{in: in} }

// Past reports whether the view shows a past moment.
func (v *View) Past() bool { return v.past != nil }

// Session returns the fold of the events. If turns were evicted since the view was made, the session of a
// past view is a new one.
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

// Find returns the turn and call of a Ref.
func (v *View) Find(r stream.Ref) (*stream.Turn, *stream.Call) { return v.Session().Find(r) }

// Events returns the number of events.
func (v *View) Events() int {
	if v.past != nil {
		return v.past.events + len(v.past.ends)
	}
	return v.in.Timeline.Len()
}

// ArrivedEvents returns the number of events that really arrived: EndHere adds more.
func (v *View) ArrivedEvents() int {
	if v.past != nil {
		return v.past.events
	}
	return v.in.Timeline.Len()
}

// Event returns event n, or its remains if it was evicted with its turn.
func (v *View) Event(n int) stream.Event {
	if e, is := v.syntheticEnd(n); is {
		return e
	}
	e, _ := v.in.Timeline.Event(n)
	return e
}

// EventPrefix returns event n with at most that many bytes of its text.
func (v *View) EventPrefix(n, most int) stream.Event {
	if e, is := v.syntheticEnd(n); is {
		e.Text = e.Text[:min(len(e.Text), most)]
		return e
	}
	return v.in.Timeline.EventPrefix(n, most)
}

// Subject returns the kind of event n, and its turn or call.
func (v *View) Subject(n int) (stream.EventKind, stream.Ref) {
	if e, is := v.syntheticEnd(n); is {
		return e.Kind, stream.Ref{Turn: e.Turn}
	}
	return v.in.Timeline.Subject(n)
}

// EventsOf iterates over the events of a turn, from that number on.
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

// EventsBefore iterates over the arrived events of a turn before that number, the latest first.
func (v *View) EventsBefore(t *stream.Turn, before int) iter.Seq[int] {
	live := v.in.Session().Turn(t.Number)
	if live == nil {
		return func(func(int) bool) {}
	}
	return v.in.Timeline.EventsBefore(live, min(before, v.ArrivedEvents()))
}

// Others returns the lines of the source outside of exchanges. Their times are not kept, so the past has
// none.
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

// TurnOf returns the first turn of an exchange, nil if it has none.
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

// TurnAfter returns the turn of the request that sent a call back, nil if it has none. A WebSocket has many
// requests.
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

// Result returns the complete result of a call, as a later request carries it. ok is false if no request has
// one, or if that request was evicted.
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

// WallClock returns the wall-clock time of a time of an exchange. ok is false if it is unknown. Exchanges of
// several captures count their times from different starts, by the clocks of different machines. An exchange
// whose start was not seen uses that of its run, never another.
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

// LatestOf returns the latest turn of an exchange, nil if it has none. A WebSocket has many.
func (v *View) LatestOf(exchange int) *stream.Turn {
	if x := v.Exchange(exchange); x != nil && len(x.turns) > 0 {
		return v.Session().Turn(x.turns[len(x.turns)-1])
	}
	return nil
}

// Exchange returns the exchange with that number, or nil.
func (v *View) Exchange(number int) *Exchange {
	x := v.in.Exchange(number)
	if v.past == nil {
		return x
	}
	return v.past.exchangeAsOf(x, v.Session())
}
