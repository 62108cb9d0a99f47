package providers

import (
	"iter"
	"time"

	"toolscope/providers/dialect"
	"toolscope/providers/replay"
	"toolscope/stream"
)

// View is what is looked at: the fold of the events so far, and the exchanges behind it. What its
// methods return is valid until the next record is written.
type View struct{ in *Inspector }

// View looks at what there is.
func (in *Inspector) View() *View { return &View{in} }

// Session is the fold of the events.
func (v *View) Session() *stream.Session { return v.in.Session() }

// Find is what a Ref names.
func (v *View) Find(r stream.Ref) (*stream.Turn, *stream.Call) { return v.in.Session().Find(r) }

// Events is how many events there are.
func (v *View) Events() int { return v.in.Timeline.Len() }

// Event is event n; of one that was let go with its turn, what is left.
func (v *View) Event(n int) stream.Event {
	e, _ := v.in.Timeline.Event(n)
	return e
}

// Begin is event n with so many bytes of its text at most.
func (v *View) Begin(n, most int) stream.Event { return v.in.Timeline.Begin(n, most) }

// About is of what kind event n is and what it is about.
func (v *View) About(n int) (stream.EventKind, stream.Ref) { return v.in.Timeline.About(n) }

// EventsOf are the events about a turn, from that number on.
func (v *View) EventsOf(t *stream.Turn, from int) iter.Seq[int] {
	return v.in.Timeline.EventsOf(t, from)
}

// Others are the lines of the source that are of no exchange.
func (v *View) Others() Others { return v.in.Others }

// Exchanges are all exchanges, in the order they began.
func (v *View) Exchanges() []*Exchange { return v.in.Exchanges() }

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

// TurnAsked is the turn that a request led to which brought a call back, nil if it has none. An
// exchange that is a WebSocket has many requests.
func (v *View) TurnAsked(r *stream.Return) *stream.Turn {
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
func (v *View) Result(c *stream.Call) (dialect.Part, bool) { return v.in.Result(c) }

// Clock is what the clock on the wall said at a time of the source; ok is false where nobody knows.
func (v *View) Clock(at time.Duration) (clock time.Time, ok bool) {
	if v.in.epoch.IsZero() || at < 0 {
		return clock, false
	}
	return v.in.epoch.Add(at).Local(), true
}

// Brought is what a request carries of a call; ok is false where the request cannot be read.
func (v *View) Brought(c *stream.Call, exchange int) (Brought, bool) {
	return v.in.Brought(c, exchange)
}

// Answer is what the provider said to a request that brought a call back.
func (v *View) Answer(r stream.Return) (replay.Verdict, string) { return v.in.Answer(r) }

// Witnesses are the requests that show whether providers take what they carried of a call.
func (v *View) Witnesses(c *stream.Call) []replay.Witness { return v.in.Witnesses(c) }

// LatestOf is the latest turn of an exchange, nil if it has none: a WebSocket has many.
func (v *View) LatestOf(exchange int) *stream.Turn {
	if x := v.Exchange(exchange); x != nil && len(x.turns) > 0 {
		return v.Session().Turn(x.turns[len(x.turns)-1])
	}
	return nil
}

// Exchange is the exchange of that number, or nil.
func (v *View) Exchange(number int) *Exchange { return v.in.Exchange(number) }
