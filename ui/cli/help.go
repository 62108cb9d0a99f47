package cli

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolscope/providers"
	"toolscope/providers/dialect"
	"toolscope/providers/host"
	"toolscope/providers/replay"
	"toolscope/themes"
	"toolscope/ui"
)

// page writes a page of help.
func page(write func(lines)) string {
	var text strings.Builder
	w := bufio.NewWriter(&text)
	write(lines{w})
	_ = w.Flush() // into memory
	return strings.TrimSuffix(text.String(), "\n")
}

// targetsHelp is what every target wants.
func targetsHelp() string {
	return page(func(l lines) {
		l.prose("", "Targets: where history goes, as replay --to takes them, and the rules that are kept there. Also: all.")
		for _, t := range providers.Targets() {
			l.linef("")
			l.linef("  %-18s %s", t.Name, t.Title)
			for _, rule := range rules(t) {
				if rule.words != "" {
					l.prose(fmt.Sprintf("    %-16s ", rule.of), rule.words)
				}
			}
		}
	})
}

type rule struct{ of, words string }

func rules(t *dialect.Target) []rule {
	return []rule{
		{"arguments", argumentsRule(t)},
		{"ids", idRule(t.IDs)},
		{"names", nameRule(t.Names)},
		{"numbers", either(t.Doubles, "IEEE 754 doubles", "as they are written")},
		{"reasoning", reasoningRules[t.Reasoning]},
		{"signatures", signatureRule(t)},
		{"results", resultRule(t)},
	}
}

func argumentsRule(t *dialect.Target) string {
	words := []string{map[dialect.Form]string{
		dialect.TextForm: "a string", dialect.ObjectForm: "an object", dialect.PositionalForm: "arrays",
	}[t.Form]}
	if t.JSONOnly {
		words = append(words, "which must hold JSON")
	}
	if t.Freeform {
		words = append(words, "or free text of custom tools")
	}
	if t.Maps {
		words = append(words, "members in no order")
	}
	if t.Depth.Limit > 0 {
		words = append(words, fmt.Sprintf("at most %d objects in one another", t.Depth.Objects()))
	}
	return strings.Join(words, ", ")
}

func idRule(r dialect.IDRule) string {
	words := []string{either(r.Required, "required", "optional")}
	if size := sizeRule(r.Least, r.Most, r.Class); size != "" {
		words = append(words, size)
	}
	if r.Unique {
		words = append(words, "unique")
	}
	return strings.Join(words, ", ")
}

func nameRule(r dialect.NameRule) string {
	words := sizeRule(1, r.Most, r.Class)
	if r.First != "" {
		words += ", the first of [" + r.First + "]"
	}
	return words
}

// sizeRule is so many characters of a class.
func sizeRule(least, most int, class string) string {
	words := ""
	switch {
	case most == 0 && class == "":
		return "any"
	case most == 0:
		words = "any number"
	case least == most:
		words = fmt.Sprint(most)
	default:
		words = fmt.Sprintf("%d to %d", max(least, 1), most)
	}
	if class == "" {
		return words + " bytes"
	}
	return words + " of [" + class + "]"
}

var reasoningRules = [...]string{
	dialect.NoReasoning:     "no place for it",
	dialect.PlainReasoning:  "its text",
	dialect.SignedReasoning: "with its signature",
}

func signatureRule(t *dialect.Target) string {
	switch {
	case !t.Signed:
		return ""
	case t.Sentinel != "":
		return "calls carry them; a fixed word may stand in for one"
	}
	return "calls carry them"
}

func resultRule(t *dialect.Target) string {
	words := []string{either(t.Unpaired, "may be missing", "one for each call")}
	if t.Together {
		words = append(words, "those of a turn together, right after it")
	}
	if t.ErrorFlag {
		words = append(words, "marked when they are errors")
	}
	if t.Media {
		words = append(words, "with images")
	}
	return strings.Join(words, ", ")
}

func either(yes bool, this, that string) string {
	if yes {
		return this
	}
	return that
}

// policiesHelp is what every policy does.
func policiesHelp() string {
	return page(func(l lines) {
		l.prose("", "Policies: how clients treat arguments that are not one JSON object when they send them back, as replay --policy takes them. Also: all.")
		for _, p := range replay.Policies {
			l.linef("")
			l.prose(fmt.Sprintf("  %-15s", p.Name), p.Does)
			l.prose(fmt.Sprintf("  %-15s", ""), "seen in: "+p.Seen)
		}
	})
}

// lossesHelp is every code of a loss, the worst first.
func lossesHelp() string {
	return page(func(l lines) {
		l.prose("", "Losses: what is not there any more when a call is sent back, or not the same. replay --fail-on-loss takes a severity.")
		for _, severity := range slices.Backward(replay.Severities) {
			l.linef("")
			l.linef("%s", severity)
			for _, c := range replay.Kinds {
				if c.Severity == severity {
					l.prose(fmt.Sprintf("  %-24s", c.Code), c.Says)
				}
			}
		}
	})
}

// topics are pages of help that are not commands.
func topics() []*cobra.Command {
	keys := "The keys of the screen:\n"
	group := ""
	for _, k := range ui.Keys() {
		if k.Group != group {
			group = k.Group
			keys += "\n" + group + "\n"
		}
		keys += fmt.Sprintf("  %-10s %s\n", k.Keys, k.Does)
	}
	return []*cobra.Command{
		{Use: "dialects", Short: "The names --dialect takes", Long: "Wire protocols that are read. The bytes tell which; --dialect NAME, or D on the\nscreen, overrules them.\n" + dialectTable()},
		{Use: "hosts", Short: "The providers that connect and proxy know", Long: hostsHelp()},
		{Use: "keys", Short: "The keys of the screen", Long: keys},
		{Use: "themes", Short: "The names --theme takes", Long: "Themes: auto, or\n\n  " + strings.Join(themes.Names(), "\n  ")},
		{Use: "prices", Short: "What turns cost, and prices of your own", Long: pricesHelp},
		{Use: "targets", Short: "The names replay --to takes, and what each provider wants", Long: targetsHelp()},
		{Use: "policies", Short: "The names replay --policy takes, and who does so", Long: policiesHelp()},
		{Use: "findings", Short: "What can be found, and who did it", Long: findingsHelp()},
		{Use: "losses", Short: "What replay can lose, by severity", Long: lossesHelp()},
	}
}

// hostsHelp is a page of all known hosts.
func hostsHelp() string {
	text := "Providers that connect and proxy know. The first key the environment has is used; a\nhost of one's own needs none. --base-url, or the variable, names another address.\n"
	for i := range host.All {
		h := &host.All[i]
		text += "\n  " + h.Name + ": " + h.Title + "\n"
		line := func(what, value string) {
			if value != "" {
				text += fmt.Sprintf("    %-9s %s\n", what, value)
			}
		}
		line("address", h.Address)
		line("variable", h.Variable)
		line("speaks", h.To().Title)
		keys := ""
		for n, k := range h.Keys {
			if n > 0 {
				keys += ", or "
			}
			keys += k.Variable + " as " + k.Header
		}
		if h.Open && keys != "" {
			keys += ", if set"
		}
		line("key", keys)
		line("model", h.Model)
	}
	return text
}

// dialectTable is the dialects that can be forced, a line each.
func dialectTable() (text string) {
	for _, d := range providers.All {
		text += fmt.Sprintf("\n  %-20s %s", d.Name, d.Title)
	}
	return text
}

// findingsHelp is every code there is.
func findingsHelp() string {
	return page(func(l lines) {
		l.prose("", "Findings: what can be found, how bad it is, who did it, and what it means. Losses of replay are found when a later request shows them. explain CODE tells one in full.")
		for _, d := range byCode(providers.Findings()) {
			l.linef("")
			l.linef("  %-26s %-18s %s", d.Code, grades(d), d.By)
			l.prose("    ", d.Means)
		}
	})
}
