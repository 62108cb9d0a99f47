package cli

import (
	"github.com/spf13/pflag"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/filter"
)

// turnFilter selects the turns that a command reports; nil selects all.
type turnFilter struct {
	*filter.Filter
	prices *price.Table
}

// addFilterFlag adds the flag --filter.
func (a *app) addFilterFlag(to *pflag.FlagSet) {
	to.StringVar(&a.filter, "filter", "", "")
}

// parseFilter parses the filter of the flag.
func (a *app) parseFilter(prices *price.Table) error {
	f, faults := filter.Parse(a.filter)
	switch {
	case len(faults) > 0:
		return usageErrorf("--filter: %v", faults[0])
	case f.Since() > 0:
		return usageErrorf("--filter since: turns are printed as they arrive, when all of them are new\nuse a time of day, e.g. since:14:05")
	case !f.Empty():
		a.turnFilter = &turnFilter{f, prices}
	}
	return nil
}

// matches reports whether a turn is selected.
func (o *turnFilter) matches(in *providers.Inspector, t *stream.Turn) bool {
	if o == nil {
		return true
	}
	turns := in.Session().Turns
	cost := func(t *stream.Turn) price.Figure { return costOf(o.prices, in.Exchange(t.Exchange), t) }
	return o.MatchesTurn(&filter.Source{View: in.View(), Cost: cost, Now: turns[len(turns)-1].OpenedAt}, t)
}

// filterHelp writes the page about the filter syntax.
func filterHelp(l lineWriter) {
	l.writeWrapped("", "The filter of f on the screen, of --filter (print, check) and of --break (proxy, run). A turn matches if all words match. A minus in front of a word negates it. A word in quotes is searched as text and is never a field. Words that are not fields are searched in the row of a turn or call (a tool, an id, a state, a model, a code), in the arguments of calls and in the text of turns.")
	l.printLine("")
	for _, f := range filter.Fields() {
		l.printLine("  %-28s %s", f.Example, f.Does)
	}
	l.printLine("")
	l.printLine("  state:bad model:sonnet cost>0.01 \"two words\" -tool:notify")
}
