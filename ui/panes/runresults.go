package panes

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// ruleResult is the outcome of one run rule.
type ruleResult struct {
	stream.RuleRun
	sign  display.Text
	role  screen.Role // of the verdict; the sign has the role of the severity
	alarm screen.Role
	delta int // the delta at which it runs the call, or -1
	at    display.Text
	with  display.Text // the arguments with which it runs the call, or why it doesn't
}

// whyNoRules returns the reason why no rules are shown, empty if they are.
func whyNoRules(c Selection) display.Text {
	switch {
	case c.Call == nil:
		return display.Lit("no call selected")
	case c.Call.RunByProvider:
		return display.Lit("the provider runs it: no client decides when")
	case c.Call.Discarded:
		return display.Lit("discarded by the provider: not run")
	case c.Call.Status() == stream.Unseen:
		return display.Lit("unknown: some bytes were missed")
	case c.Turn.Retention == stream.Dropped:
		return display.Lit("not kept")
	case c.Call.ArgsLen() != len(c.Call.Args()):
		return display.Lit("reloading its arguments")
	case c.Call.MayGrow() && c.Call.Lexer().Tokens().Len() > maxRuleTokens:
		return display.Lit("long: shown when it ends")
	}
	return display.Text{}
}

// ruleOf returns the outcome of one run rule.
func ruleOf(v *providers.View, c Selection, e stream.RunRule, p *screen.Pen) ruleResult {
	run := c.Turn.RuleRun(c.Call, e)
	r := ruleResult{RuleRun: run, sign: display.Lit("  "), role: verdictRoles[run.Outcome], delta: -1}
	switch {
	case c.Call.StoppedByClient():
		r.role = screen.Muted
	case run.Outcome == stream.RunWrong && (e == stream.AnyArgs || e == stream.Repaired):
		// every streamed call has this outcome
		r.sign, r.alarm, r.role = p.Glyph.Severity[stream.Warn], screen.Caution, screen.Plain
	case run.Outcome >= stream.RunWrong && run.Outcome <= stream.RunBroken:
		r.sign, r.alarm = p.Glyph.Severity[stream.Error], screen.Bad
	}
	if run.Event > 0 {
		r.delta = lastDelta(c.Call, run)
		if at := screen.Time(screen.Elapsed(c.Turn.OpenedAt, v.EventPrefix(run.Event, 0).At)); !at.Empty() {
			r.at = at.Between("+", "")
		}
	}
	r.with = ranWith(c.Call, run, e, p)
	return r
}

// verdictRoles are the roles of the verdicts. A safe run is Plain, not Good, because a run without
// observed faults proves nothing.
var verdictRoles = [...]screen.Role{
	stream.NotYet: screen.Muted, stream.Unchanged: screen.Plain, stream.Never: screen.Muted, stream.RunSafely: screen.Plain, stream.RunEarly: screen.Plain,
	stream.RunWrong: screen.Bad, stream.RunTwice: screen.Bad, stream.RunIncomplete: screen.Bad, stream.RunBroken: screen.Bad, stream.Refuses: screen.Muted,
}

// lastDelta returns the last delta before a call was run, or -1.
func lastDelta(c *stream.Call, r stream.RuleRun) int {
	if r.Bytes == 0 || r.Replaced || c.Deltas() == 0 {
		return -1
	}
	return min(c.DeltaAt(r.Bytes-1), c.Deltas()-1)
}

// ranWith returns the arguments with which a call was run, or what is wrong with them.
func ranWith(c *stream.Call, r stream.RuleRun, e stream.RunRule, p *screen.Pen) display.Text {
	switch {
	case r.Outcome == stream.Refuses:
		return p.Clean(present.NotObjectText(c))
	case r.Event == 0:
		return display.Text{}
	case r.Replaced:
		return display.Lit("text that was replaced later")
	case r.Outcome == stream.RunBroken:
		return p.Format("%s, %s", screen.Bytes(r.Bytes), present.NotObjectText(c))
	case r.Bytes == 0:
		return display.Lit("no arguments")
	}
	args, _ := present.RanArgs(c, r, e)
	return p.CleanBytes(args[:min(len(args), screen.MaxNameBytes)])
}

// Columns of a rule.
const (
	ruleName    = 15
	ruleVerdict = 12
	ruleDelta   = 4
	ruleTime    = 7
)

// drawRule draws a rule: its severity, name, verdict, delta, time, and arguments.
func (x *RunRules) drawRule(p *screen.Pen, e stream.RunRule, g screen.Surface) {
	r, narrow := &x.rules[e], p.Left < 59
	p.TextOn(r.alarm, g, r.sign.Between("", " "))
	p.TextOn(screen.Plain, g, p.Pad(p.Clean(e.String()), ruleName).Between("", "  "))
	verdict, delta := p.Clean(r.Outcome.String()), display.Text{}
	if r.delta >= 0 {
		delta = deltaName(p.Drawer, r.delta)
	}
	if narrow {
		p.TextOn(r.role, g, p.Pad(verdict, ruleVerdict))
		p.TextOn(screen.Muted, g, delta.Between("", " "))
	} else {
		p.TextOn(r.role, g, p.Pad(verdict, ruleVerdict).Between("", "  "))
		p.TextOn(screen.Muted, g, p.Format("%s  %s  ", p.Pad(delta, ruleDelta), p.Pad(r.at, ruleTime)))
	}
	p.TextOn(screen.StringToken, g, r.with)
}
