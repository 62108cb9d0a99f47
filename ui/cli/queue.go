package cli

import (
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
)

// queue prints turns in the order they end, and what later requests made of their calls as they
// tell it.
type queue struct {
	in      *providers.Inspector
	path    string
	to      printer
	first   int // first turn that was not printed
	printed map[*stream.Turn]bool
	events  int          // that were looked at
	waiting []returned   // calls sent back, of turns that were not printed
	begun   int          // exchanges that were looked at
	held    []int        // of those, the ones whose bytes are still held
	shown   map[int]bool // of those, the ones of which a turn was printed
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
	return &queue{in: in, path: path, to: to, printed: map[*stream.Turn]bool{}, shown: map[int]bool{}}
}

// print prints the turns that have ended, or all.
func (q *queue) print(all bool) error {
	q.findReturns()
	q.printReturns() // before the turn that the request led to
	turns := q.in.Session().Turns
	for _, t := range turns[q.first:] {
		if (t.Closed() || all) && !q.printed[t] {
			q.printed[t] = true
			q.shown[t.Exchange] = true
			q.to.turn(q.file(t), q.in.Exchange(t.Exchange), t)
		}
	}
	for q.first < len(turns) && q.printed[turns[q.first]] {
		q.first++
	}
	q.printReturns()
	q.release()
	return q.to.flush()
}

// release lets go of the bytes of exchanges of which everything was printed: a proxy runs for days,
// and each request has all the history.
func (q *queue) release() {
	exchanges := q.in.Exchanges()
	for ; q.begun < len(exchanges); q.begun++ {
		q.held = append(q.held, exchanges[q.begun].Number)
	}
	if len(q.held) == 0 {
		return
	}
	unprinted := map[int]bool{}
	for _, t := range q.in.Session().Turns[q.first:] {
		if !q.printed[t] {
			unprinted[t.Exchange] = true
		}
	}
	q.held = slices.DeleteFunc(q.held, func(number int) bool {
		done := q.in.Exchange(number).Ended && q.shown[number] && !unprinted[number]
		if done {
			q.in.Release(number)
			delete(q.shown, number)
		}
		return done
	})
}

// file is where a turn came from.
func (q *queue) file(t *stream.Turn) string { return fileOf(q.path, q.in.Exchange(t.Exchange)) }

// findReturns looks through the new events for calls that were sent back.
func (q *queue) findReturns() {
	for ; q.events < q.in.Timeline.Len(); q.events++ {
		e := q.in.Timeline.Event(q.events)
		if e.Kind != stream.SentBack || e.Turn == stream.NoTurn {
			continue
		}
		t := q.in.Session().Turn(e.Turn)
		for _, c := range t.Calls {
			for _, r := range c.SentBack {
				if r.Event == q.events {
					q.waiting = append(q.waiting, returned{q.file(t), t, c, r, foundBy(c, r.Event)})
				}
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
		if q.printed[r.turn] {
			now = append(now, r)
		}
		return q.printed[r.turn]
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
