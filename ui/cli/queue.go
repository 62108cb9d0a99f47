package cli

import (
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
)

// queue prints turns in the order they end, and what later requests made of their calls as they
// tell it. It looks once at each event, so what it costs to print does not grow with what was
// printed.
type queue struct {
	in        *providers.Inspector
	path      string
	to        printer
	events    int            // that were looked at
	turns     int            // that were looked at
	unprinted []*stream.Turn // of those, in their order
	waiting   []returned     // calls sent back, of turns that were not printed
	known     bool           // a turn was printed that is of a known protocol, or says why it is not
}

// returned is a call that a later request has in its history.
type returned struct {
	file string
	turn *stream.Turn
	call *stream.Call
	stream.Return
	findings []stream.Finding // what the request made known of the call
}

func newQueue(in *providers.Inspector, path string, to printer) *queue {
	q := &queue{in: in, path: path, to: to}
	in.Keep(providers.Keep{Bytes: printedBytes, Rows: printedRows, Pin: q.waits, ReadOnce: true})
	return q
}

// What is kept of what was printed, to say what later requests made of it: a program that prints
// runs for days.
const (
	printedBytes = 16 << 20
	printedRows  = 1 << 10
)

// print prints the turns that have ended, or all.
func (q *queue) print(all bool) error {
	ended := q.look() || all
	q.printReturns() // before the turn that the request led to
	if ended {
		q.unprinted = slices.DeleteFunc(q.unprinted, func(t *stream.Turn) bool {
			done := t.Closed() || all
			if done {
				q.known = q.known || recognised(t)
				q.to.turn(q.file(t), q.in.Exchange(t.Exchange), t)
			}
			return done
		})
		q.printReturns()
	}
	q.in.MakeRoom()
	return q.to.flush()
}

// waits reports whether something of an exchange was not printed yet.
func (q *queue) waits(exchange int) bool {
	return slices.ContainsFunc(q.unprinted, func(t *stream.Turn) bool { return t.Exchange == exchange })
}

// file is where a turn came from.
func (q *queue) file(t *stream.Turn) string { return fileOf(q.path, q.in.Exchange(t.Exchange)) }

// look looks through what is new for turns, for calls that were sent back, and for turns that ended,
// which it reports.
func (q *queue) look() (ended bool) {
	for ; q.events < q.in.Timeline.Len(); q.events++ {
		switch e, _ := q.in.Timeline.Event(q.events); {
		case e.Turn == stream.NoTurn:
		case e.Kind == stream.TurnClose:
			ended = true
		case e.Kind == stream.SentBack:
			q.findReturns(q.in.Session().Turn(e.Turn))
		}
	}
	s := q.in.Session()
	q.unprinted = append(q.unprinted, s.Turns[q.turns-s.Gone():]...)
	q.turns = s.Gone() + len(s.Turns)
	return ended
}

// findReturns finds the calls of a turn that the event being looked at tells of.
func (q *queue) findReturns(t *stream.Turn) {
	for _, c := range t.Calls {
		for _, r := range c.SentBack {
			if r.Event == q.events {
				q.waiting = append(q.waiting, returned{q.file(t), t, c, r, foundBy(c, r.Event)})
			}
		}
	}
}

// foundBy is what an event made known of a call.
func foundBy(c *stream.Call, event int) (found []stream.Finding) {
	for _, f := range c.Findings {
		if f.Event == event {
			found = append(found, f)
		}
	}
	return found
}

// printReturns prints those whose turns have been printed.
func (q *queue) printReturns() {
	var now []returned
	q.waiting = slices.DeleteFunc(q.waiting, func(r returned) bool {
		printed := !slices.Contains(q.unprinted, r.turn)
		if printed {
			now = append(now, r)
		}
		return printed
	})
	if len(now) > 0 {
		q.to.sentBack(now)
	}
}

// policies are the names of those that treat the call the same way.
func (r returned) policies() []string {
	return strings.FieldsFunc(r.Policies, func(c rune) bool { return c == ',' || c == ' ' })
}

// result says whether the request has a result of the call.
func (r returned) result() string {
	switch r.Result {
	case stream.AnswerOK:
		return "ok"
	case stream.AnswerFailed:
		return "failed"
	}
	return "none"
}

// words say it for people.
func (r returned) words() string {
	words := r.As
	if p := r.policies(); len(p) > 0 {
		words += " as " + strings.Join(p, " or ") + " does"
	}
	return words + ", result " + r.result()
}

// wireCalls are a turn's calls, and what the model wrote as calls and the provider threw away.
func wireCalls(t *stream.Turn) (calls, thrown []*stream.Call) {
	for _, c := range t.Calls {
		if c.Attempt {
			thrown = append(thrown, c)
		} else {
			calls = append(calls, c)
		}
	}
	return calls, thrown
}
