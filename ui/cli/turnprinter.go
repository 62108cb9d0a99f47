package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/present"
	units "toolscope/ui/screen"
)

// turnPrinter prints turns in the order in which they end, and the calls that later requests send back. It examines
// each event once, and a turn only when an event ends that turn. So the cost of printing does not grow with the
// number of printed or open turns. It keeps the numbers of turns and calls, not pointers to them.
type turnPrinter struct {
	in      *providers.Inspector
	path    string
	to      printer
	events  int                      // number of examined events
	turns   int32                    // turns below this number have been examined
	unbegun []int32                  // turns without an event yet, below turns that have events
	open    map[int32]bool           // other turns that have not been printed; the value is false if the turn has ended
	ended   []endedTurn              // turns that wait to be printed, in printing order
	weight  int64                    // size of the ended turns in memory, in bytes
	patient bool                     // turns wait for the results of their calls, and for retries
	buffers bool                     // output is written when the buffer is full, not after each turn
	waiting map[int32][]sentBackCall // sent-back calls of turns that have not been printed yet, by turn
	run     bool                     // the source has several files
	among   bool                     // the file is one of many, so unrecognised turns are not printed
	only    *turnFilter              // selects the turns to print
	hidden  map[int32]bool           // turns that the filter doesn't select
	known   bool                     // a recognised turn has been printed
	asked   requestPrinter           // prints the requests to MCP servers
	traces  *traceSender             // collector that receives the turns as well; may be nil
}

// sentBackCall is a call in a later request's history.
type sentBackCall struct {
	file     string
	of       stream.Ref
	name, id string // name and id of the call
	stream.SentBackCall
	findings []stream.Finding // findings about the call in the later request
	late     bool             // the call's turn was printed without the result
	same     bool             // the request is on the same WebSocket as the call
}

// newTurnPrinter returns a turnPrinter for the turns of in.
func newTurnPrinter(in *providers.Inspector, path string, to printer) *turnPrinter {
	q := &turnPrinter{
		in: in, path: path, to: to, open: map[int32]bool{}, waiting: map[int32][]sentBackCall{},
	}
	in.Keep(providers.Retention{Bytes: maxPrintedBytes, Rows: maxPrintedRows, ReadOnce: true})
	return q
}

// These constants limit how many printed turns are kept, because a program that prints may run for days. Printed
// turns are kept in order to report the calls that later requests send back.
const (
	maxPrintedBytes = 8 << 20
	maxPrintedRows  = 1 << 10
)

// printEnded prints the turns that have ended, or all turns if all is true. Calls that a request sends back are
// printed before the turn of that request. Turns that end together are printed in the order of their start. Printed
// turns may be evicted.
func (q *turnPrinter) printEnded(all bool) error {
	now, back, onlyDeltas := q.findEnded()
	q.printSentBack(back)
	if all {
		now = slices.DeleteFunc(slices.Collect(maps.Keys(q.open)), func(n int32) bool {
			return slices.ContainsFunc(q.ended, func(e endedTurn) bool { return e.turn == n })
		})
	}
	s := q.in.Session()
	slices.SortFunc(now, func(a, b int32) int { return cmp.Compare(s.Turn(a).OpenedBy, s.Turn(b).OpenedBy) })
	for _, n := range now {
		t := q.in.Session().Turn(n)
		e := endedTurn{n, int64(t.Memory())}
		if x := q.in.Exchange(t.Exchange); x != nil {
			e.bytes += x.Request.Size()
		}
		q.weight += e.bytes
		q.ended = append(q.ended, e)
	}
	n := 0
	if !onlyDeltas || all { // deltas make no waiting turn ready
		n = q.readyCount(all)
	}
	at := n // number of turns per batch
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
	if q.buffers && !all {
		return nil
	}
	return q.to.flush()
}

// printTurns prints the turns that match the filter. It then prints the calls in them that have already been
// sent back.
func (q *turnPrinter) printTurns(turns []endedTurn) {
	s := q.in.Session()
	var back []sentBackCall
	for i := range turns {
		number := turns[i].turn
		t := s.Turn(number)
		known := isRecognised(q.in.Exchange(t.Exchange), t)
		q.known = q.known || known
		if !q.only.matches(q.in, t) {
			if q.hidden == nil {
				q.hidden = map[int32]bool{}
			}
			q.hidden[number] = true
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
			r := &back[i]
			if _, c := q.in.Session().Find(r.of); c != nil {
				r.name, r.id = c.Name, c.ID
			}
		}
		q.printSentBack(back)
	}
}

// printSentBack prints sent-back calls from printed turns.
func (q *turnPrinter) printSentBack(back []sentBackCall) {
	back = slices.DeleteFunc(back, func(r sentBackCall) bool { return q.hidden[r.of.Turn] })
	if len(back) > 0 {
		q.to.sentBack(back)
	}
}

// fileOfTurn returns the file of a turn.
func (q *turnPrinter) fileOfTurn(t *stream.Turn) string {
	if q.run {
		return fileOf("", q.in.Exchange(t.Exchange))
	}
	return fileOf(q.path, q.in.Exchange(t.Exchange))
}

// fileOfAsked returns the file of an exchange with a server.
func (q *turnPrinter) fileOfAsked(exchange int) string {
	if file := q.in.Executed().FileOf(exchange); file != "" && (q.run || q.path == "" || q.path == "-") {
		return file
	}
	return q.path
}

// findEnded examines the new events. It returns the turns that have ended, each of them once, and the calls in
// printed turns that were sent back. The result onlyDeltas reports whether there are new events and all are deltas.
func (q *turnPrinter) findEnded() (ended []int32, back []sentBackCall, onlyDeltas bool) {
	onlyDeltas = q.events < q.in.Timeline.Len()
	q.unbegun = slices.DeleteFunc(q.unbegun, q.trackTurn)
	for ; q.events < q.in.Timeline.Len(); q.events++ {
		kind, of := q.in.Timeline.Subject(q.events)
		for ; q.turns <= of.Turn; q.turns++ {
			if !q.trackTurn(q.turns) {
				q.unbegun = append(q.unbegun, q.turns)
			}
		}
		switch kind {
		case stream.Args, stream.TextDelta, stream.ThinkDelta:
			continue
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
		case stream.Found:
			if _, waits := q.open[of.Turn]; !waits && len(back) > 0 {
				q.addLateFinding(back, of.Turn)
			}
		}
		onlyDeltas = false
	}
	return ended, back, onlyDeltas
}

// trackTurn adds a turn to the open turns if it has begun, and reports whether it has. The exchange of the turn
// stays in memory until the turn is printed.
func (q *turnPrinter) trackTurn(number int32) (begun bool) {
	t := q.in.Session().Turn(number)
	if t != nil {
		q.open[number] = true
		q.in.PinTurn(number)
	}
	return t != nil
}

// sentBack appends the call that the current event sends back.
func (q *turnPrinter) sentBack(list []sentBackCall) []sentBackCall {
	n := q.events
	e, _ := q.in.Timeline.Event(n)
	t, c := q.in.Session().Find(stream.Ref{Turn: e.Turn, Call: e.Slot})
	if c == nil {
		// The call was evicted. Only the event has the facts.
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
	i := slices.IndexFunc(c.SentBack, func(r stream.SentBackCall) bool { return r.Event == n })
	if i < 0 {
		return list
	}
	return append(list, sentBackCall{file: q.fileOfTurn(t), of: c.Ref(), name: c.Name, id: c.ID, SentBackCall: c.SentBack[i], findings: foundBy(c, n), same: t.Exchange == c.SentBack[i].Exchange})
}

// addLateFinding adds the current event's finding about a printed call, e.g. a loop, to the last entry about that
// call in the list.
func (q *turnPrinter) addLateFinding(list []sentBackCall, turn int32) {
	e, _ := q.in.Timeline.Event(q.events)
	for i := range slices.Backward(list) {
		_, c := q.in.Session().Find(list[i].of)
		if list[i].of.Turn == turn && c != nil && c.Slot == e.Slot {
			list[i].findings = append(list[i].findings, foundBy(c, q.events)...)
			return
		}
	}
}

// foundBy returns the findings about a call that one event produced.
func foundBy(c *stream.Call, event int) (found []stream.Finding) {
	for _, f := range c.Findings {
		if f.Event == event {
			found = append(found, f)
		}
	}
	return found
}

// policyNames returns the names of the policies that would send the call back in the same way.
func (r sentBackCall) policyNames() []string {
	return strings.FieldsFunc(r.Policies, func(c rune) bool { return c == ',' || c == ' ' })
}

// resultWord returns the state of the call's result in the request.
func (r sentBackCall) resultWord() string {
	switch r.ResultCode {
	case stream.ResultOK:
		return "ok"
	case stream.ResultFailed:
		return "failed"
	}
	return "none"
}

// sentence describes how the call was sent back.
func (r sentBackCall) sentence() string {
	words := r.Outcome
	for _, part := range [][2]string{{"reasoning", r.Reasoning}, {"signature", r.Signature}} {
		if part[1] != "" && part[1] != "not needed" {
			words = "arguments " + strings.TrimPrefix(words, "arguments ") + ", " + part[0] + " " + part[1]
		}
	}
	if r.KeptByProvider {
		words += ", kept by the provider"
	}
	if p := r.policyNames(); len(p) > 0 {
		words += " as " + strings.Join(p, " or ") + " does"
	}
	return words + ", result " + r.resultWord()
}

// The rest of this file makes turns wait until the results of their calls, or their retries, are known.

// endedTurn is a turn that has ended, with its size in memory.
type endedTurn struct {
	turn  int32
	bytes int64
}

// These constants limit the number and the size of the turns that wait to be printed. The turns after a waiting
// turn count as well.
const (
	maxWaitingTurns = 1 << 7
	maxWaitingBytes = 16 << 20
)

// readyCount returns the number of waiting turns that can be printed now. It subtracts their bytes from q.weight.
func (q *turnPrinter) readyCount(all bool) (n int) {
	for n < len(q.ended) {
		turn, full := q.ended[n].turn, len(q.ended)-n > maxWaitingTurns || q.weight > maxWaitingBytes
		if !all && !full && (q.hasActiveFault(turn) || q.patient && q.awaitsMore(turn)) {
			break
		}
		q.weight -= q.ended[n].bytes
		n++
	}
	return n
}

// hasActiveFault reports whether toolscope is still injecting a fault into the turn's exchange. The note about the
// bytes that the client received arrives at the end of the exchange, shortly after the end of the turn.
func (q *turnPrinter) hasActiveFault(turn int32) bool {
	t := q.in.Session().Turn(turn)
	if !slices.ContainsFunc(t.Findings, func(f stream.Finding) bool { return f.Code == "BENT" }) {
		return false
	}
	x := q.in.Exchange(t.Exchange)
	return x != nil && !x.Ended && x.Head.Status != http.StatusSwitchingProtocols
}

// awaitsMore reports whether the result of one of the turn's calls, or the retry of a failed turn, is missing and
// may still arrive.
func (q *turnPrinter) awaitsMore(turn int32) bool {
	t := q.in.Session().Turn(turn)
	return q.in.AwaitsRetry(t) || t.Phase() != stream.TurnAborted && slices.ContainsFunc(t.Calls, func(c *stream.Call) bool {
		return !c.RunByProvider && !c.Discarded && c.LatestResult() == nil
	})
}

func (a *app) pricesFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.pricesFile, "prices", "", "")
	asPaths(cmd.Flags(), "prices")
}

// pricesPath returns the path of the file with the user's prices. The file may be missing unless --prices names it.
// It returns "" if there is no folder for such a file.
func (a *app) pricesPath() string {
	if a.pricesFile != "" {
		return a.pricesFile
	}
	path, _ := inConfigFolder("prices.json")
	return path
}

// loadPrices returns the built-in price table, overridden by the user's prices. The user's prices are in the file
// that the setting names, or else in a file in the configuration folder.
func (a *app) loadPrices() (*price.Table, error) {
	table := price.Embedded()
	// Turns with an unknown date get the day in SOURCE_DATE_EPOCH if that is set, or else today.
	at := time.Now()
	if seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		at = time.Unix(seconds, 0)
	}
	table.Today = at.UTC().Format(time.DateOnly)
	path, optional := a.pricesPath(), a.pricesFile == ""
	if path == "" {
		return table, nil // without a home folder, there is no configuration
	}
	name := path
	if !optional {
		name = a.origin["prices"].describeValue("prices", path)
	}
	text, err := readFile(path)
	switch {
	case optional && errors.Is(err, fs.ErrNotExist):
		return table, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w\nuse a JSON price list: see 'toolscope help prices'", name, err)
	}
	written := time.Now() // the date for prices that have no date
	if info, err := os.Stat(path); err == nil {
		written = info.ModTime()
	}
	rows, err := price.Read(text, written.UTC().Format(time.DateOnly))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return table.With(rows), nil
}

// summaryTotals has the totals for the printed turns. Calls that the provider discarded are counted too, by their
// state.
type summaryTotals struct {
	turns, calls, beside int // beside is the number of requests without a model
	states               [stream.NumStatus]int
	cost                 price.Sum
}

// add adds a turn and its calls to the totals. A turn without a model is only counted.
func (n *summaryTotals) add(x *providers.Exchange, t *stream.Turn, prices *price.Table) {
	if x != nil && present.IsPlain(t) {
		n.beside++
		return
	}
	n.turns++
	n.calls += len(t.Calls)
	for _, c := range t.Calls {
		n.states[c.Status()]++
	}
	n.cost.Add(present.CostOf(prices, x, t))
}

// addTotals adds the totals of other turns.
func (n *summaryTotals) addTotals(other *summaryTotals) {
	n.turns, n.calls, n.beside = n.turns+other.turns, n.calls+other.calls, n.beside+other.beside
	for s, count := range other.states {
		n.states[s] += count
	}
	n.cost.AddSum(other.cost)
}

// inPieces returns the pieces of a line with the totals, e.g. "2 turns, 3 calls: 2 complete, 1 cut short;
// ~$0.0123".
func (n *summaryTotals) inPieces() []any {
	text := []any{inBold(count.Of(n.turns, "turn") + ", " + count.Of(n.calls, "call"))}
	sep := ": "
	for s, count := range n.states {
		if count > 0 {
			role := units.StatusRoles[s]
			if s := stream.Status(s); s == stream.Complete || s == stream.NoArguments { // not a problem
				role = units.Muted
			}
			text = append(text, sep, ofRole(role, fmt.Sprintf("%d %s", count, stream.Status(s))))
			sep = ", "
		}
	}
	if n.turns > 0 {
		text = append(text, inMuted("; "+present.CostOfTurns(n.cost, n.turns)))
	}
	return append(text, inMuted(textIf(n.beside > 0, "; "+count.Of(n.beside, "request")+" without a model's response")))
}

// asObject returns the totals as a JSON object.
func (n *summaryTotals) asObject() *jsonObject {
	var o, states jsonObject
	o.text("type", "summary")
	o.int("turns", n.turns)
	o.int("calls", n.calls)
	for s, count := range n.states {
		if count > 0 {
			states.int(stream.Status(s).String(), count)
		}
	}
	o.raw("states", states.end())
	if n.cost.Unknown < n.turns {
		o.raw("cost_usd", strconv.AppendFloat(nil, n.cost.USD, 'f', -1, 64))
		o.flagIf("cost_approximate", n.cost.Approximate)
		o.optionalText("prices_date", n.cost.AsOf)
	}
	o.int("cost_unknown", n.cost.Unknown)
	o.int("beside", n.beside)
	return &o
}

// summary is a printer that prints only the totals.
type summary struct {
	lineWriter
	summaryTotals
	prices *price.Table
	script bool // print the totals as a JSON object
}

func (p *summary) addTurn(v *providers.View, _ string, t *stream.Turn) {
	p.add(v.Exchange(t.Exchange), t, p.prices)
}
func (p *summary) sentBack([]sentBackCall) {}

// total writes the totals, as text or as a JSON object.
func (p *summary) total() {
	if p.script {
		p.lineWriter.writeObject(p.summaryTotals.asObject())
		return
	}
	p.printPieces(p.summaryTotals.inPieces())
}

// endPrint writes the totals if the printer has any. Standard output keeps the error of a failed write.
func endPrint(p printer) {
	if t, is := p.(interface{ total() }); is {
		t.total()
	}
	_ = p.flush()
}

// turnCounter counts turns instead of printing them.
type turnCounter struct{ turns, calls, bad int }

// addTurn counts a turn and its calls.
func (n *turnCounter) addTurn(_ *providers.View, _ string, t *stream.Turn) {
	if t.Model == "" && len(t.Calls) == 0 { // not a response from a model
		return
	}
	n.turns++
	for _, c := range t.Calls {
		n.calls++
		switch c.Status() {
		case stream.Complete, stream.NoArguments:
		default:
			n.bad++
		}
	}
}

func (n *turnCounter) sentBack([]sentBackCall) {}
func (n *turnCounter) flush() error            { return nil }
