package cli

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	units "toolscope/ui/screen"
)

// textPrinter writes turns for people: a line a turn and one of its usage, a line a call, then the
// arguments as they came, and findings in words.
type textPrinter struct {
	lines
	totals
	prices *price.Table
	told   string // of the source of the latest turn
}

func (p *textPrinter) total() { p.linef("%s", &p.totals) }

// source says what a turn was found in, and what that cannot tell, where it is not as it was for
// the turn before.
func (p *textPrinter) source(file string, x *providers.Exchange) {
	if x == nil {
		return
	}
	lacks := strings.Join(x.Head.Lacks, "; ")
	told := strings.Join([]string{file, x.Head.Wrappers, lacks}, "\n")
	if told == p.told {
		return
	}
	p.told = told
	if x.Head.Wrappers != "" {
		p.linef("  found in %s", x.Head.Wrappers)
	}
	if lacks != "" {
		p.prose("  cannot tell: ", lacks)
	}
}

func (p *textPrinter) turn(v *providers.View, file string, t *stream.Turn) {
	x := v.Exchange(t.Exchange)
	p.add(x, t, p.prices)
	if x != nil && panes.IsPlain(t) {
		p.linef("%s  turn %d  %s  %s  %s", file, t.Number+1, joined(t.Dialect, t.Request.Purpose), t.Phase(), joined(panes.TurnTitle(x, t), t.Finish))
		p.findings(t.Findings)
		p.linef("")
		return
	}
	cost := "cost unknown"
	if f := costOf(p.prices, x, t); f.Known() {
		cost = f.String()
	}
	p.linef("%s  turn %d  %s  %s  %s", file, t.Number+1, joined(t.Dialect, t.Model), t.Phase(), joined(panes.FinishText(t), callCount(t), cost))
	if t.Failure != "" {
		p.linef("  error    %s", t.Failure)
	}
	p.source(file, x)
	if told := t.Usage.String(); told != "" {
		p.linef("  usage    %s", told)
	}
	for _, c := range t.Calls {
		p.call(v, t, c)
	}
	p.findings(t.Findings)
	p.linef("")
}

// callCount is how many calls the turn has, and how many of what the model wrote the provider threw
// away.
func callCount(t *stream.Turn) string {
	calls, thrown := wireCalls(t)
	words := count.Of(len(calls), "call")
	if len(thrown) > 0 {
		words += fmt.Sprintf(", %d thrown away", len(thrown))
	}
	return words
}

func (p *textPrinter) call(v *providers.View, t *stream.Turn, c *stream.Call) {
	said := append([]string{c.Phase().String(), c.Syntax().String()}, panes.AboutCall(c)...)
	p.linef("  %-13s %s  %s  %d B in %s  (%s)", c.Status(), callName(c.Name), c.ID, len(c.Args()), count.Of(c.Deltas(), "delta"), strings.Join(said, ", "))
	if len(c.Args()) > 0 {
		p.arguments(c.Args())
	}
	p.latency(v, t, c)
	if r := c.LatestResult(); r != nil {
		p.result(r)
	}
	if phase := t.Phase(); phase == stream.TurnTruncated || phase == stream.TurnAborted {
		for _, x := range []stream.RunRule{stream.AtSeal, stream.AtEnd} {
			for _, who := range panes.RunBy(t, c, x) {
				p.linef("    runs  %s", who)
			}
		}
	}
	p.findings(ownFindings(c))
}

// latency writes how long a call took to become what it is, where the source has times.
func (p *textPrinter) latency(v *providers.View, t *stream.Turn, c *stream.Call) {
	l := v.Latency(t, c)
	if l.From < 0 {
		return
	}
	var words []string
	for _, m := range l.TimePoints() {
		if m.At >= 0 {
			words = append(words, m.Name+" "+units.Time(m.At).String())
		}
	}
	if len(words) > 0 {
		p.linef("    since the %s  %s", either(l.RequestSeen, "request", "response began"), strings.Join(words, ", "))
	}
}

// result writes what a tool gave: of what went well the beginning, of an error all that is kept.
func (p *textPrinter) result(r *stream.SentBackCall) {
	text, most, is := r.Result.Text, 512, "result"
	if r.ResultCode == stream.ResultFailed {
		most, is = stream.MaxResultBytes, "error result"
	}
	size := fmt.Sprintf("%d B", r.Result.Bytes)
	if r.Result.Media > 0 {
		size += " and " + count.Of(r.Result.Media, "piece") + " that are no text"
	}
	if n := min(most, len(text)); n < r.Result.Bytes {
		text = strings.ToValidUTF8(text[:n], "") + "…"
	}
	p.linef("    %s  %s  %s", is, size, text)
}

// arguments writes them in a line of their own. Their beginning is clean only behind the lead where
// it could join that.
func (p *textPrinter) arguments(args []byte) {
	if args = bytes.TrimRight(args, " "); len(args) == 0 || args[0] >= utf8.RuneSelf {
		p.linef("                %s", args)
		return
	}
	p.long(display.Lit("                "), display.CleanParts(args))
}

func (p *textPrinter) findings(list []stream.Finding) {
	for _, f := range list {
		p.linef("    %-5s %s  %s", f.Severity, f.Code, f.Message)
	}
}

// sentBack writes a line a call that a later request has in its history.
func (p *textPrinter) sentBack(calls []returned) {
	for _, r := range calls {
		where := fmt.Sprintf("in request %d", r.Exchange)
		if r.same {
			where = "later in the same exchange"
		}
		p.linef("  %-13s %s  %s  %s  (of turn %d, %s)", "sent back", callName(r.name), r.id, r.words(), r.of.Turn+1, where)
		if r.late {
			p.result(&r.SentBackCall)
		}
		p.findings(r.findings)
	}
	p.linef("")
}

// callName is a call's name, or that it has none.
func callName(name string) string {
	if name == "" {
		return "(no name)"
	}
	return name
}

// others writes how many lines of a log are of no exchange, and the last of them.
func (p *textPrinter) others(file string, lines providers.OtherLines) {
	p.linef("%s  %s", file, count.Of(int(lines.Count), "other line"))
	for _, line := range lastFew(lines) {
		p.linef("  %s", line)
	}
	p.linef("")
}

// lastFew are the last lines of a log that are of no exchange, as many as are printed.
func lastFew(lines providers.OtherLines) [][]byte {
	const few = 5
	return lines.Last[max(0, len(lines.Last)-few):]
}
