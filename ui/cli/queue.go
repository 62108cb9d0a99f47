package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/providers/toolrun"
	"toolscope/stream"
)

// turnPrinter prints turns in the order they end, and what later requests made of their calls as they
// tell it. It looks once at each event, and at a turn when an event says that it has ended: what it
// costs to print grows neither with what was printed nor with what is open. It keeps names of turns
// and calls, not the things.
type turnPrinter struct {
	in      *providers.Inspector
	path    string
	to      printer
	events  int                      // that were looked at
	turns   int32                    // those of a number below were looked at
	unbegun []int32                  // of those, the ones that no event was about
	open    map[int32]bool           // the others that were not printed: false once they have ended
	ended   []endedTurn              // of those, the ones that wait to be printed, in that order
	weight  int64                    // bytes of these
	patient bool                     // a turn waits for what the tools of its calls gave
	waiting map[int32][]sentBackCall // calls that were sent back, by the turn that was not printed
	run     bool                     // it is several files
	among   bool                     // the file is one of many: what is not recognised is not printed
	only    *turnFilter              // which turns are printed
	hidden  map[int32]bool           // the others, of which nothing is told later either
	known   bool                     // a turn was printed that is of a known protocol, or says why it is not
	asked   requestPrinter           // of MCP servers
	traces  *traceSender             // a collector that is told as well; may be nil
}

// sentBackCall is a call that a later request has in its history.
type sentBackCall struct {
	file     string
	of       stream.Ref
	name, id string // of the call
	stream.SentBackCall
	findings []stream.Finding // what the request made known of the call
	late     bool             // its turn was printed without the result
	same     bool             // the request came on the WebSocket that the call came on
}

func newTurnPrinter(in *providers.Inspector, path string, to printer) *turnPrinter {
	q := &turnPrinter{
		in: in, path: path, to: to, open: map[int32]bool{}, waiting: map[int32][]sentBackCall{},
	}
	in.Keep(providers.Retention{Bytes: maxPrintedBytes, Rows: maxPrintedRows, ReadOnce: true})
	return q
}

// What is kept of what was printed, to say what later requests made of it: a program that prints
// runs for days.
const (
	maxPrintedBytes = 8 << 20
	maxPrintedRows  = 1 << 10
)

// printEnded prints the turns that have ended, or all. What was made of calls comes before the turn that
// the request led to, and those that ended together in the order in which they began. They may be
// let go of then.
func (q *turnPrinter) printEnded(all bool) error {
	now, back := q.findEnded()
	q.printSentBack(back)
	if all {
		now = slices.DeleteFunc(slices.Collect(maps.Keys(q.open)), func(n int32) bool {
			return slices.ContainsFunc(q.ended, func(e endedTurn) bool { return e.turn == n })
		})
	}
	s := q.in.Session()
	slices.SortFunc(now, func(a, b int32) int { return cmp.Compare(s.Turn(a).OpenedBy, s.Turn(b).OpenedBy) })
	for _, n := range now {
		q.addWaiting(n)
	}
	n := q.readyCount(all)
	at := n // how many at a time
	if q.patient {
		at = 1
	}
	for turns := range slices.Chunk(q.ended[:n], max(at, 1)) {
		q.printTurns(turns)
	}
	q.ended = slices.Delete(q.ended, 0, n)
	if to, is := q.to.(toolRunPrinter); is && q.only == nil {
		q.asked.printAnswered(q, to, all)
	}
	return q.to.flush()
}

// printTurns prints turns, and then what was already made of their calls.
func (q *turnPrinter) printTurns(turns []endedTurn) {
	s := q.in.Session()
	var back []sentBackCall
	for i := range turns {
		number := turns[i].turn
		t := s.Turn(number)
		known := isRecognised(q.in.Exchange(t.Exchange), t)
		q.known = q.known || known
		if !q.only.matches(q.in, t) {
			q.skipTurn(number)
		} else if known || !q.among {
			q.to.addTurn(q.in.View(), q.fileOfTurn(t), t)
			q.traces.addTurn(q.in.View(), q.fileOfTurn(t), t)
		}
		back = append(back, q.waiting[number]...)
		delete(q.waiting, number)
		delete(q.open, number)
		q.in.UnpinTurn(number)
	}
	if len(back) > 0 {
		slices.SortFunc(back, func(a, b sentBackCall) int { return cmp.Compare(a.Event, b.Event) })
		for i := range back {
			q.setCallName(&back[i])
		}
		q.printSentBack(back)
	}
}

// skipTurn has nothing be told of a turn.
func (q *turnPrinter) skipTurn(turn int32) {
	if q.hidden == nil {
		q.hidden = map[int32]bool{}
	}
	q.hidden[turn] = true
}

// printSentBack tells what was made of calls of turns that are printed.
func (q *turnPrinter) printSentBack(back []sentBackCall) {
	back = slices.DeleteFunc(back, func(r sentBackCall) bool { return q.hidden[r.of.Turn] })
	if len(back) > 0 {
		q.to.sentBack(back)
	}
}

// setCallName takes what a call is called, as far as that is known now.
func (q *turnPrinter) setCallName(r *sentBackCall) {
	if _, c := q.in.Session().Find(r.of); c != nil {
		r.name, r.id = c.Name, c.ID
	}
}

// fileOfTurn is where a turn came from.
func (q *turnPrinter) fileOfTurn(t *stream.Turn) string {
	if q.run {
		return fileOf("", q.in.Exchange(t.Exchange))
	}
	return fileOf(q.path, q.in.Exchange(t.Exchange))
}

// fileOfAsked is where what was said to a server came from.
func (q *turnPrinter) fileOfAsked(exchange int) string {
	if file := q.in.Executed().FileOf(exchange); file != "" && (q.run || q.path == "" || q.path == "-") {
		return file
	}
	return q.path
}

// findEnded looks through the new events, and returns the turns that ended, each once, and the calls of
// printed turns that were sent back.
func (q *turnPrinter) findEnded() (ended []int32, back []sentBackCall) {
	q.unbegun = slices.DeleteFunc(q.unbegun, q.trackTurn)
	for ; q.events < q.in.Timeline.Len(); q.events++ {
		kind, of := q.in.Timeline.Subject(q.events)
		for ; q.turns <= of.Turn; q.turns++ {
			if !q.trackTurn(q.turns) {
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

// trackTurn takes a turn among those that wait, if it has begun. Its exchange stays until it is printed.
func (q *turnPrinter) trackTurn(number int32) (begun bool) {
	t := q.in.Session().Turn(number)
	if t != nil {
		q.open[number] = true
		q.in.PinTurn(number)
	}
	return t != nil
}

// sentBack adds to a list the call that the event being looked at tells of.
func (q *turnPrinter) sentBack(list []sentBackCall) []sentBackCall {
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
	return append(list, sentBackCall{file: q.fileOfTurn(t), of: c.Ref(), name: c.Name, id: c.ID, SentBackCall: c.SentBack[i], findings: foundBy(c, n), same: t.Exchange == c.SentBack[i].Exchange})
}

// sentBackLate is sentBack of a call that was let go of. Only the event tells what became of it.
func (q *turnPrinter) sentBackLate(list []sentBackCall, t *stream.Turn, e stream.Event) []sentBackCall {
	of := stream.Ref{Turn: e.Turn, Call: e.Slot}
	name, id, ok := q.in.CallName(of)
	if t == nil || !ok {
		return list
	}
	what := stream.PayloadOf[stream.SentBackReport](e)
	r := sentBackCall{file: q.fileOfTurn(t), of: of, name: name, id: id, SentBackCall: stream.SentBackCall{
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
		return slices.Contains(toolrun.Findings, f.Diagnosis) ||
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

// policyNames are the names of those that treat the call the same way.
func (r sentBackCall) policyNames() []string {
	return strings.FieldsFunc(r.Policies, func(c rune) bool { return c == ',' || c == ' ' })
}

// resultWord says whether the request has a result of the call.
func (r sentBackCall) resultWord() string {
	switch r.ResultCode {
	case stream.ResultOK:
		return "ok"
	case stream.ResultFailed:
		return "failed"
	}
	return "none"
}

// sentence say it for people.
func (r sentBackCall) sentence() string {
	words := r.Outcome
	if r.KeptByProvider {
		words += ", kept by the provider"
	}
	if p := r.policyNames(); len(p) > 0 {
		words += " as " + strings.Join(p, " or ") + " does"
	}
	return words + ", result " + r.resultWord()
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
