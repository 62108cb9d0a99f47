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
		return usageErrorf("--filter since: a time span has no meaning here, because turns are printed as they arrive\nuse a time of day, e.g. since:14:05")
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
	l.writeWrapped("", "The key f on the screen, --filter (print, check) and --break (proxy, run) use this filter. A turn matches if all words match. A minus in front of a word negates it. A word in quotes is text, never a field. A word without a field is searched in the row of a turn or call (tool, id, state, model, code), in the arguments of calls and in the text of turns.")
	l.printLine("")
	for _, f := range filter.Fields() {
		l.printLine("  %-28s %s", f.Example, f.Does)
	}
	l.printLine("")
	l.printLine("  state:bad model:sonnet cost>0.01 \"two words\" -tool:notify")
}
