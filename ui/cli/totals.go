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

// summaryTotals are what the turns that are printed come to. What a provider threw away is among the
// calls, by its state.
type summaryTotals struct {
	turns, calls, beside int // beside are requests that no model answers
	states               [stream.NumStatus]int
	cost                 price.Sum
}

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

// String is the totals in a line: "2 turns, 3 calls: 2 complete, 1 cut short; ~$0.0123".
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

// costText is what the turns have cost, as far as anybody knows.
func (n *summaryTotals) costText() string {
	if n.cost.Unknown == n.turns {
		return "cost unknown"
	}
	known := n.cost
	known.Unknown = 0
	return known.String() + textIf(n.cost.Unknown > 0, fmt.Sprintf(" without %s of unknown cost", count.Of(n.cost.Unknown, "turn")))
}

// asObject writes the totals for a script.
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

// summary prints only what it all comes to.
type summary struct {
	lineWriter
	summaryTotals
	prices *price.Table
	script bool // as an object
}

func (p *summary) addTurn(v *providers.View, _ string, t *stream.Turn) {
	p.add(v.Exchange(t.Exchange), t, p.prices)
}
func (p *summary) sentBack([]sentBackCall) {}

func (p *summary) total() {
	if p.script {
		p.lineWriter.writeObject(p.summaryTotals.asObject())
		return
	}
	p.printLine("%s", &p.summaryTotals)
}

// endPrint writes what it comes to, where the printer tells that. That it cannot be written, standard
// output knows.
func endPrint(p printer) {
	if t, is := p.(interface{ total() }); is {
		t.total()
	}
	_ = p.flush()
}
