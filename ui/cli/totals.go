package cli

import (
	"fmt"
	"strconv"
	"strings"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/panes"
)

// summaryTotals are the totals of the printed turns. Calls that the provider discarded count as calls, by
// their state.
type summaryTotals struct {
	turns, calls, beside int // beside counts requests without a model
	states               [stream.NumStatus]int
	cost                 price.Sum
}

// add adds a turn.
func (n *summaryTotals) add(x *providers.Exchange, t *stream.Turn, prices *price.Table) {
	if x != nil && panes.IsPlain(t) {
		n.beside++
		return
	}
	n.turns++
	n.calls += len(t.Calls)
	for _, c := range t.Calls {
		n.states[c.Status()]++
	}
	n.cost.Add(costOf(prices, x, t))
}

// String returns the totals in a line: "2 turns, 3 calls: 2 complete, 1 cut short; ~$0.0123".
func (n *summaryTotals) String() string {
	var states []string
	for s, count := range n.states {
		if count > 0 {
			states = append(states, fmt.Sprintf("%d %s", count, stream.Status(s)))
		}
	}
	text := count.Of(n.turns, "turn") + ", " + count.Of(n.calls, "call")
	if len(states) > 0 {
		text += ": " + strings.Join(states, ", ")
	}
	if n.turns > 0 {
		text += "; " + n.costText()
	}
	return text + textIf(n.beside > 0, "; "+count.Of(n.beside, "request")+" that no model answered")
}

// costText returns the cost of the turns, as far as it is known.
func (n *summaryTotals) costText() string {
	if n.cost.Unknown == n.turns {
		return "cost unknown"
	}
	known := n.cost
	known.Unknown = 0
	return known.String() + textIf(n.cost.Unknown > 0, fmt.Sprintf(" without %s of unknown cost", count.Of(n.cost.Unknown, "turn")))
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
	}
	o.int("cost_unknown", n.cost.Unknown)
	o.int("beside", n.beside)
	return &o
}

// summary prints only the totals.
type summary struct {
	lineWriter
	summaryTotals
	prices *price.Table
	script bool // print a JSON object
}

func (p *summary) addTurn(v *providers.View, _ string, t *stream.Turn) {
	p.add(v.Exchange(t.Exchange), t, p.prices)
}
func (p *summary) sentBack([]sentBackCall) {}

// total writes the totals.
func (p *summary) total() {
	if p.script {
		p.lineWriter.writeObject(p.summaryTotals.asObject())
		return
	}
	p.printLine("%s", &p.summaryTotals)
}

// endPrint writes the totals, if the printer has them. Standard output keeps the error of a failed write.
func endPrint(p printer) {
	if t, is := p.(interface{ total() }); is {
		t.total()
	}
	_ = p.flush()
}
