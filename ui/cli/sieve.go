package cli

import (
	"github.com/spf13/pflag"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/filter"
)

// turnFilter is which turns a command tells of: those that a filter means; nil for all.
type turnFilter struct {
	*filter.Filter
	prices *price.Table
}

// addFilterFlag adds the flag; of says what becomes of the other turns.
func (a *app) addFilterFlag(to *pflag.FlagSet, what string) {
	to.StringVar(&a.filter, "filter", "", what+" `FILTER` means, as in 'state:bad tool:run_shell': toolscope help filter")
}

// parseFilter is the filter that was asked for.
func (a *app) parseFilter(prices *price.Table) error {
	f, faults := filter.Parse(a.filter)
	switch {
	case len(faults) > 0:
		return usageErrorf("--filter: %v", faults[0])
	case f.Since() > 0:
		return usageErrorf("--filter since: turns are told of as they come, when all of them are new\na time of day can be asked for, as in since:14:05")
	case !f.Empty():
		a.turnFilter = &turnFilter{f, prices}
	}
	return nil
}

// matches reports whether a turn is told of.
func (o *turnFilter) matches(in *providers.Inspector, t *stream.Turn) bool {
	if o == nil {
		return true
	}
	turns := in.Session().Turns
	cost := func(t *stream.Turn) price.Figure { return costOf(o.prices, in.Exchange(t.Exchange), t) }
	return o.MatchesTurn(&filter.Source{View: in.View(), Cost: cost, Now: turns[len(turns)-1].OpenedAt}, t)
}

// filterHelp is the page about the words of a filter.
func filterHelp(l lineWriter) {
	l.writeWrapped("", "What f on the screen, --filter of print and check, and --break of proxy take. All words must fit; a minus before one turns it round; in quotes it is looked for as words, never as a field. Any other word is looked for in what the row of a turn or call says (a tool, an id, a state, a model, a code), in the arguments of calls and in the text of turns.")
	l.printLine("")
	for _, f := range filter.Fields() {
		l.printLine("  %-28s %s", f.Example, f.Does)
	}
	l.printLine("")
	l.printLine("  state:bad model:sonnet cost>0.01 \"two words\" -tool:notify")
}
