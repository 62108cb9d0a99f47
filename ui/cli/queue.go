package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/providers/executed"
	"toolscope/stream"
)

// queue prints turns in the order they end, and what later requests made of their calls as they
// tell it. It looks once at each event, and at a turn when an event says that it has ended: what it
// costs to print grows neither with what was printed nor with what is open. It keeps names of turns
// and calls, not the things.
type queue struct {
	in      *providers.Inspector
	path    string
	to      printer
	events  int                  // that were looked at
	turns   int32                // those of a number below were looked at
	unbegun []int32              // of those, the ones that no event was about
	open    map[int32]bool       // the others that were not printed: false once they have ended
	ended   []ended              // of those, the ones that wait to be printed, in that order
	weight  int64                // bytes of these
	patient bool                 // a turn waits for what the tools of its calls gave
	waiting map[int32][]returned // calls that were sent back, by the turn that was not printed
	run     bool                 // it is several files
	among   bool                 // the file is one of many: what is not recognised is not printed
	only    *sieve               // which turns are printed
	hidden  map[int32]bool       // the others, of which nothing is told later either
	known   bool                 // a turn was printed that is of a known protocol, or says why it is not
	asked   servings             // of MCP servers
	traces  *tracing             // a collector that is told as well; may be nil
}

// returned is a call that a later request has in its history.
type returned struct {
	file     string
	of       stream.Ref
	name, id string // of the call
	stream.SentBackCall
	findings []stream.Finding // what the request made known of the call
	late     bool             // its turn was printed without the result
	same     bool             // the request came on the WebSocket that the call came on
}

func newQueue(in *providers.Inspector, path string, to printer) *queue {
	q := &queue{
		in: in, path: path, to: to, open: map[int32]bool{}, waiting: map[int32][]returned{},
	}
	in.Keep(providers.Retention{Bytes: printedBytes, Rows: printedRows, ReadOnce: true})
	return q
}

// What is kept of what was printed, to say what later requests made of it: a program that prints
// runs for days.
const (
	printedBytes = 8 << 20
	printedRows  = 1 << 10
)

// print prints the turns that have ended, or all. What was made of calls comes before the turn that
// the request led to, and those that ended together in the order in which they began. They may be
// let go of then.
func (q *queue) print(all bool) error {
	now, back := q.look()
	q.tell(back)
	if all {
		now = slices.DeleteFunc(slices.Collect(maps.Keys(q.open)), func(n int32) bool {
			return slices.ContainsFunc(q.ended, func(e ended) bool { return e.turn == n })
		})
	}
	s := q.in.Session()
	slices.SortFunc(now, func(a, b int32) int { return cmp.Compare(s.Turn(a).OpenedBy, s.Turn(b).OpenedBy) })
	for _, n := range now {
		q.wait(n)
	}
	n := q.ready(all)
	at := n // how many at a time
	if q.patient {
		at = 1
	}
	for turns := range slices.Chunk(q.ended[:n], max(at, 1)) {
		q.printTurns(turns)
	}
	q.ended = slices.Delete(q.ended, 0, n)
	if to, is := q.to.(executedPrinter); is && q.only == nil {
		q.asked.print(q, to, all)
	}
	return q.to.flush()
}

// printTurns prints turns, and then what was already made of their calls.
func (q *queue) printTurns(turns []ended) {
	s := q.in.Session()
	var back []returned
	for i := range turns {
		number := turns[i].turn
		t := s.Turn(number)
		known := recognised(q.in.Exchange(t.Exchange), t)
		q.known = q.known || known
		if !q.only.means(q.in, t) {
			q.hide(number)
		} else if known || !q.among {
			q.to.turn(q.in.View(), q.file(t), t)
			q.traces.turn(q.in.View(), q.file(t), t)
		}
		back = append(back, q.waiting[number]...)
		delete(q.waiting, number)
		delete(q.open, number)
		q.in.UnpinTurn(number)
	}
	if len(back) > 0 {
		slices.SortFunc(back, func(a, b returned) int { return cmp.Compare(a.Event, b.Event) })
		for i := range back {
			q.name(&back[i])
		}
		q.tell(back)
	}
}

// hide has nothing be told of a turn.
func (q *queue) hide(turn int32) {
	if q.hidden == nil {
		q.hidden = map[int32]bool{}
	}
	q.hidden[turn] = true
}

// tell tells what was made of calls of turns that are printed.
func (q *queue) tell(back []returned) {
	back = slices.DeleteFunc(back, func(r returned) bool { return q.hidden[r.of.Turn] })
	if len(back) > 0 {
		q.to.sentBack(back)
	}
}

// name takes what a call is called, as far as that is known now.
func (q *queue) name(r *returned) {
	if _, c := q.in.Session().Find(r.of); c != nil {
		r.name, r.id = c.Name, c.ID
	}
}

// file is where a turn came from.
func (q *queue) file(t *stream.Turn) string {
	if q.run {
		return fileOf("", q.in.Exchange(t.Exchange))
	}
	return fileOf(q.path, q.in.Exchange(t.Exchange))
}

// fileOfAsked is where what was said to a server came from.
func (q *queue) fileOfAsked(exchange int) string {
	if file := q.in.Executed().FileOf(exchange); file != "" && (q.run || q.path == "" || q.path == "-") {
		return file
	}
	return q.path
}

// look looks through the new events, and returns the turns that ended, each once, and the calls of
// printed turns that were sent back.
func (q *queue) look() (ended []int32, back []returned) {
	q.unbegun = slices.DeleteFunc(q.unbegun, q.begin)
	for ; q.events < q.in.Timeline.Len(); q.events++ {
		kind, of := q.in.Timeline.Subject(q.events)
		for ; q.turns <= of.Turn; q.turns++ {
			if !q.begin(q.turns) {
				q.unbegun = append(q.unbegun, q.turns)
			}
		}
		switch kind {
		case stream.TurnClose:
			if q.open[of.Turn] {
				q.open[of.Turn] = false
				ended = append(ended, of.Turn)
			}
		case stream.SentBack:
			if _, waits := q.open[of.Turn]; waits {
				q.waiting[of.Turn] = q.sentBack(q.waiting[of.Turn])
			} else {
				n := len(back)
				back = q.sentBack(back)
				for i := range back[n:] {
					back[n+i].late = back[n+i].ResultCode != 0
				}
			}
		}
	}
	return ended, back
}

// begin takes a turn among those that wait, if it has begun. Its exchange stays until it is printed.
func (q *queue) begin(number int32) (begun bool) {
	t := q.in.Session().Turn(number)
	if t != nil {
		q.open[number] = true
		q.in.PinTurn(number)
	}
	return t != nil
}

// sentBack adds to a list the call that the event being looked at tells of.
func (q *queue) sentBack(list []returned) []returned {
	n := q.events
	e, _ := q.in.Timeline.Event(n)
	t, c := q.in.Session().Find(stream.Ref{Turn: e.Turn, Call: e.Slot})
	if c == nil {
		return q.sentBackLate(list, t, e)
	}
	i := slices.IndexFunc(c.SentBack, func(r stream.SentBackCall) bool { return r.Event == n })
	if i < 0 {
		return list
	}
	return append(list, returned{file: q.file(t), of: c.Ref(), name: c.Name, id: c.ID, SentBackCall: c.SentBack[i], findings: foundBy(c, n), same: t.Exchange == c.SentBack[i].Exchange})
}

// sentBackLate is sentBack of a call that was let go of. Only the event tells what became of it.
func (q *queue) sentBackLate(list []returned, t *stream.Turn, e stream.Event) []returned {
	of := stream.Ref{Turn: e.Turn, Call: e.Slot}
	name, id, ok := q.in.CallName(of)
	if t == nil || !ok {
		return list
	}
	what := stream.PayloadOf[stream.SentBackReport](e)
	r := returned{file: q.file(t), of: of, name: name, id: id, SentBackCall: stream.SentBackCall{
		Exchange: what.Exchange, ID: what.ID, Outcome: e.Text, Policies: what.Policies, ResultCode: e.Code, Event: q.events,
		KeptByProvider: what.KeptByProvider, Result: what.Result,
	}, same: t.Exchange == what.Exchange}
	if f := what.Finding; f.Diagnosis != nil {
		f.Event = q.events
		r.findings = []stream.Finding{f}
	}
	return append(list, r)
}

// ownFindings are those of a call but what later requests made known of it, and what its tool's server
// did: their lines have that.
func ownFindings(c *stream.Call) []stream.Finding {
	if len(c.Findings) == 0 {
		return c.Findings
	}
	return slices.DeleteFunc(slices.Clone(c.Findings), func(f stream.Finding) bool {
		return slices.Contains(executed.Findings, f.Diagnosis) ||
			slices.ContainsFunc(c.SentBack, func(r stream.SentBackCall) bool { return r.Event == f.Event })
	})
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

// policies are the names of those that treat the call the same way.
func (r returned) policies() []string {
	return strings.FieldsFunc(r.Policies, func(c rune) bool { return c == ',' || c == ' ' })
}

// result says whether the request has a result of the call.
func (r returned) result() string {
	switch r.ResultCode {
	case stream.ResultOK:
		return "ok"
	case stream.ResultFailed:
		return "failed"
	}
	return "none"
}

// words say it for people.
func (r returned) words() string {
	words := r.Outcome
	if r.KeptByProvider {
		words += ", kept by the provider"
	}
	if p := r.policies(); len(p) > 0 {
		words += " as " + strings.Join(p, " or ") + " does"
	}
	return words + ", result " + r.result()
}

// wireCalls are a turn's calls, and what the model wrote as calls and the provider threw away.
func wireCalls(t *stream.Turn) (calls, thrown []*stream.Call) {
	for _, c := range t.Calls {
		if c.Discarded {
			thrown = append(thrown, c)
		} else {
			calls = append(calls, c)
		}
	}
	return calls, thrown
}
