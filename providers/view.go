package providers

import (
	"iter"
	"time"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// View is what is looked at: the fold of the events so far, or with At of those before one of them,
// and the exchanges behind it as they were then. What its methods return is valid until the next
// record is written.
type View struct {
	in   *Inspector
	past *pastView // nil of what there is now
}

// View looks at what there is.
func (in *Inspector) View() *View { return &View{in: in} }

// Past reports whether it is the view of a moment, and not of what there is now.
func (v *View) Past() bool { return v.past != nil }

// Session is the fold of the events. Where turns were let go of since the view was made, that of the
// past is another one.
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

// Find is what a Ref names.
func (v *View) Find(r stream.Ref) (*stream.Turn, *stream.Call) { return v.Session().Find(r) }

// Events is how many events there are.
func (v *View) Events() int {
	if v.past != nil {
		return v.past.events + len(v.past.ends)
	}
	return v.in.Timeline.Len()
}

// ArrivedEvents is how many events there are that came: where EndHere was asked for, more follow.
func (v *View) ArrivedEvents() int {
	if v.past != nil {
		return v.past.events
	}
	return v.in.Timeline.Len()
}

// Event is event n; of one that was let go with its turn, what is left.
func (v *View) Event(n int) stream.Event {
	if e, is := v.syntheticEnd(n); is {
		return e
	}
	e, _ := v.in.Timeline.Event(n)
	return e
}

// EventPrefix is event n with so many bytes of its text at most.
func (v *View) EventPrefix(n, most int) stream.Event {
	if e, is := v.syntheticEnd(n); is {
		e.Text = e.Text[:min(len(e.Text), most)]
		return e
	}
	return v.in.Timeline.EventPrefix(n, most)
}

// Subject is of what kind event n is and what it is about.
func (v *View) Subject(n int) (stream.EventKind, stream.Ref) {
	if e, is := v.syntheticEnd(n); is {
		return e.Kind, stream.Ref{Turn: e.Turn}
	}
	return v.in.Timeline.Subject(n)
}

// EventsOf are the events about a turn, from that number on.
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

// EventsBefore are the events about a turn before that number that came, the latest first.
func (v *View) EventsBefore(t *stream.Turn, before int) iter.Seq[int] {
	live := v.in.Session().Turn(t.Number)
	if live == nil {
		return func(func(int) bool) {}
	}
	return v.in.Timeline.EventsBefore(live, min(before, v.ArrivedEvents()))
}

// Others are the lines of the source that are of no exchange. Nobody keeps when they came, so the
// past has none.
func (v *View) Others() OtherLines {
	if v.past != nil {
		return OtherLines{}
	}
	return v.in.Others
}

// Exchanges are all exchanges, in the order they began.
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

// TurnOf is the first turn of an exchange, nil if it has none.
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

// TurnAfter is the turn that a request led to which brought a call back, nil if it has none. An
// exchange that is a WebSocket has many requests.
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

// Result is what a later request has as the result of a call, all of it; ok is false where none has
// any, or that request was let go of.
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

// WallClock is what the clock on the wall said at a time of an exchange; ok is false where nobody knows.
// Exchanges of several captures count their times from several beginnings, by clocks of several
// machines: one whose own beginning was not seen has that of its run, and no other.
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

// LatestOf is the latest turn of an exchange, nil if it has none: a WebSocket has many.
func (v *View) LatestOf(exchange int) *stream.Turn {
	if x := v.Exchange(exchange); x != nil && len(x.turns) > 0 {
		return v.Session().Turn(x.turns[len(x.turns)-1])
	}
	return nil
}

// Exchange is the exchange of that number, or nil.
func (v *View) Exchange(number int) *Exchange {
	x := v.in.Exchange(number)
	if v.past == nil {
		return x
	}
	return v.past.exchangeAsOf(x, v.Session())
}
