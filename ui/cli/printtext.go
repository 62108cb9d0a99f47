package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
	"toolscope/ui/present"
	units "toolscope/ui/screen"
)

// textPrinter writes turns for people: a line per turn and a line for its usage, a line per call, the arguments as
// they arrived, and findings in words.
type textPrinter struct {
	lineWriter
	summaryTotals
	prices *price.Table
	source string // source of the last turn
}

// total writes the totals on one line.
func (p *textPrinter) total() { p.printPieces(p.summaryTotals.inPieces()) }

// writeSource writes a turn's wrapper and the facts that are missing from its source. It writes them only if
// they differ from those for the last turn.
func (p *textPrinter) writeSource(file string, x *providers.Exchange) {
	if x == nil {
		return
	}
	lacks := strings.Join(present.UnknownFacts(x), "; ")
	told := strings.Join([]string{file, x.Head.Wrappers, lacks}, "\n")
	if told == p.source {
		return
	}
	p.source = told
	if x.Head.Wrappers != "" {
		p.printLine("  %s %s", inMuted("found in"), x.Head.Wrappers)
	}
	if lacks != "" {
		p.writeWrapped("  unknown: ", lacks)
	}
}

// addTurn writes a turn and its calls.
func (p *textPrinter) addTurn(v *providers.View, file string, t *stream.Turn) {
	x := v.Exchange(t.Exchange)
	p.add(x, t, p.prices)
	if x != nil && present.IsPlain(t) {
		p.printLine("%s  %s  %s  %s  %s", file, inBold(turnNumber(t)), inMuted(joinDots(t.Protocol, t.Request.Purpose)), turnPhase(x, t), inMuted(joinDots(present.TurnTitle(x, t), t.Finish)))
		p.writeFindings(present.WithCosts(v, p.prices, t, t.Findings))
		p.printLine("")
		return
	}
	cost := cmp.Or(present.CostOf(p.prices, x, t).String(), "cost unknown")
	p.printLine("%s  %s  %s  %s  %s", file, inBold(turnNumber(t)), inMuted(joinDots(t.Protocol, t.Model)), turnPhase(x, t), inMuted(joinDots(present.FinishText(t), present.CallCount(t), cost)))
	if t.Failure != "" {
		p.printLine("  %s    %s", inInk(badInk, "error"), t.Failure)
	}
	for _, f := range present.RetryFacts(v, t) {
		if f.Word != "" {
			p.printLine("  %s  %s", inMuted(f.Word), f.Text)
		}
	}
	p.writeSource(file, x)
	if told := t.Usage.String(); told != "" {
		p.printLine("  %s", inMuted("usage    "+told))
	}
	for _, c := range t.Calls {
		p.writeCall(v, t, c)
	}
	p.writeFindings(present.WithCosts(v, p.prices, t, t.Findings))
	p.printLine("")
}

// writeCall writes a call: its state, arguments, times, latest result and findings.
func (p *textPrinter) writeCall(v *providers.View, t *stream.Turn, c *stream.Call) {
	said := append([]string{c.Phase().String(), c.Syntax().String()}, present.AboutCall(c)...)
	about := fmt.Sprintf("%d B in %s  (%s)", len(c.Args()), count.Of(c.Deltas(), "delta"), strings.Join(said, ", "))
	p.printLine("  %s %s  %s  %s", p.callState(c), inBold(present.CallName(c.Name)), inMuted(c.ID), inMuted(about))
	if len(c.Args()) > 0 {
		// Arguments that begin with a non-ASCII byte are sanitised together with the lead, because their first
		// character could combine with it.
		args := bytes.TrimRight(c.Args(), " ")
		switch {
		case len(args) == 0, args[0] >= utf8.RuneSelf:
			p.printLine("%s%s", argsIndent, args)
		case p.pen != nil:
			p.writeInkedArgs(c, args)
		default:
			p.writeLongLine(argsIndent, display.CleanParts(args))
		}
	}
	p.writeLatency(v, t, c)
	if r := c.LatestResult(); r != nil {
		p.writeResult(r)
	}
	if phase := t.Phase(); phase == stream.TurnTruncated || phase == stream.TurnAborted {
		for _, x := range []stream.RunRule{stream.AtSeal, stream.AtEnd} {
			for _, who := range present.RunBy(t, c, x) {
				p.printLine("    %s  %s", inMuted("runs"), who)
			}
		}
	}
	p.writeFindings(present.WithCosts(v, p.prices, t, present.OwnFindings(c)))
}

// writeLatency writes the times at which a call reached each phase, if the source has times.
func (p *textPrinter) writeLatency(v *providers.View, t *stream.Turn, c *stream.Call) {
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
		p.printLine("    %s", inMuted("since the "+ifElse(l.RequestSeen, "request", "response began")+"  "+strings.Join(words, ", ")))
	}
}

// writeResult writes the beginning of a call's result. For an error result, it writes all text that was kept.
func (p *textPrinter) writeResult(r *stream.SentBackCall) {
	text, most, is := r.Result.Text, 512, inMuted("result")
	if r.ResultCode == stream.ResultFailed {
		most, is = stream.MaxResultBytes, ofRole(units.Caution, "error result")
	}
	size := fmt.Sprintf("%d B", r.Result.Bytes)
	if r.Result.Media > 0 {
		size += " and " + count.Of(r.Result.Media, "part") + " without text"
	}
	if n := min(most, len(text)); n < r.Result.Bytes {
		text = strings.ToValidUTF8(text[:n], "") + "…"
	}
	p.printLine("    %s  %s  %s", is, inMuted(size), text)
}

// writeFindings writes one line per finding.
func (p *textPrinter) writeFindings(list []stream.Finding) {
	const severity = 4 + 5 + 1 // in cells
	for _, f := range list {
		p.withHang(severity).printLine("    %-5s %s  %s", ofSeverity(f.Severity, f.Severity), ofCode(f.Severity, f.Code), f.Message)
	}
}

// ofCode makes the code of a finding bold, unless the finding's severity is info.
func ofCode(s stream.Severity, code string) any {
	return inInk(ifElse(s > stream.Info, boldInk, plainInk), code)
}

// turnNumber returns the number of a turn in words.
func turnNumber(t *stream.Turn) string { return fmt.Sprintf("turn %d", t.Number+1) }

// turnPhase returns a turn's phase in the colour for its verdict.
func turnPhase(x *providers.Exchange, t *stream.Turn) any {
	return ofRole(present.VerdictOfTurn(x, t).Role, t.Phase())
}

// sentBack writes a line for each call that a later request carries.
func (p *textPrinter) sentBack(calls []sentBackCall) {
	for _, r := range calls {
		where := fmt.Sprintf("in request %d", r.Exchange)
		if r.same {
			where = "later in the same exchange"
		}
		p.printLine("  %-13s %s  %s  %s  %s", inMuted("sent back"), inBold(present.CallName(r.name)), inMuted(r.id), ofRole(outcomeRole(r.Outcome), r.sentence()), inMuted(fmt.Sprintf("(turn %d, %s)", r.of.Turn+1, where)))
		if r.late {
			p.writeResult(&r.SentBackCall)
		}
		p.writeFindings(r.findings)
	}
	p.printLine("")
}

// others writes the number of log lines that belong to no exchange, and the last of these lines.
func (p *textPrinter) others(file string, lines providers.OtherLines) {
	p.printLine("%s  %s", file, count.Of(int(lines.Count), "other line"))
	for _, line := range lastFew(lines) {
		p.printLine("  %s", inMuted(line))
	}
	p.printLine("")
}

// lastFew returns the last of the lines, at most five.
func lastFew(lines providers.OtherLines) [][]byte {
	const few = 5
	return lines.Last[max(0, len(lines.Last)-few):]
}
