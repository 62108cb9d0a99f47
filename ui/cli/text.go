package cli

import (
	"bufio"
	"fmt"
	"strings"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui"
	"toolscope/ui/display"
)

// textPrinter writes turns for people: a line a turn and one of its usage, a
// line a call, then the arguments as they came, and findings in words.
type textPrinter struct {
	w      *bufio.Writer
	prices *price.Table
}

func (p *textPrinter) flush() error { return p.w.Flush() }

func (p *textPrinter) turn(file string, x *providers.Exchange, t *stream.Turn) {
	cost := "cost unknown"
	if f := costOf(p.prices, x, t); f.Known() {
		cost = f.String()
	}
	p.linef("%s  turn %d  %s  %s  %s", file, t.Number+1, joined(t.Dialect, t.Model), t.Phase(), joined(ui.FinishText(t), callCount(t), cost))
	if t.Failure != "" {
		p.linef("  error    %s", t.Failure)
	}
	if told := t.Usage.String(); told != "" {
		p.linef("  usage    %s", told)
	}
	for _, c := range t.Calls {
		p.call(c)
	}
	p.findings(t.Findings)
	p.linef("")
}

// callCount is how many calls the turn has, and how many of what the model wrote
// the provider threw away.
func callCount(t *stream.Turn) string {
	_, thrown := rejectedCalls(t)
	words := plural(len(t.Calls)-thrown, "call")
	if thrown > 0 {
		words += fmt.Sprintf(", %d thrown away", thrown)
	}
	return words
}

func (p *textPrinter) call(c *stream.Call) {
	name := c.Name
	if name == "" {
		name = "(no name)"
	}
	said := append([]string{c.Phase().String(), c.Syntax().String()}, ui.AboutCall(c)...)
	p.linef("  %-13s %s  %s  %d B in %s  (%s)", c.Status(), name, c.ID, len(c.Args()), plural(len(c.Deltas()), "delta"), strings.Join(said, ", "))
	if len(c.Args()) > 0 {
		p.linef("                %s", c.Args())
	}
	p.findings(c.Findings)
}

func (p *textPrinter) findings(list []stream.Finding) {
	for _, f := range list {
		p.linef("    %-5s %s  %s", f.Severity, f.Code, f.Message)
	}
}

// linef writes one clean line.
func (p *textPrinter) linef(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	_, _ = p.w.WriteString(string(display.Clean(text)) + "\n")
}

// joined is the words that are not empty, with a dot between.
func joined(words ...string) string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, " · ")
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
