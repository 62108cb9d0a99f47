package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/present"
	units "toolscope/ui/screen"
)

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
