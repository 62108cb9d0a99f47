package panes

import (
	"slices"

	"toolscope/providers"
	"toolscope/providers/schema"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// ruleResult is the outcome of one run rule.
type ruleResult struct {
	stream.RuleRun
	sign  display.Text
	role  screen.Role // role of the verdict; alarm is the role of the sign
	alarm screen.Role
	delta int          // the delta at which the rule runs the call, or -1
	at    display.Text // when the rule runs the call
	with  display.Text // the arguments with which the rule runs the call, or why it doesn't run the call
}

// whyNoRules returns the reason why no rules are shown, or an empty text if they are shown.
func whyNoRules(c Selection) display.Text {
	switch {
	case c.Call == nil:
		return display.Lit("no call selected")
	case c.Call.RunByProvider:
		return display.Lit("the provider runs the call: no client decides when to run it")
	case c.Call.Discarded:
		return display.Lit("the provider discarded the call: no client runs it")
	case c.Call.Status() == stream.Unseen:
		return display.Lit("unknown: toolscope missed bytes of the call")
	case c.Turn.Retention == stream.Dropped:
		return display.Lit("not kept")
	case c.Call.ArgsLen() != len(c.Call.Args()):
		return display.Lit("reloading the arguments")
	case c.Call.MayGrow() && c.Call.Lexer().Tokens().Len() > maxRuleTokens:
		return display.Lit("a long call: shown when it ends")
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
	case run.Outcome >= stream.RunWrong && run.Outcome <= stream.RunBroken && present.VerdictOfCall(c.Call).Harm >= present.HarmUnseen:
		r.role = screen.Plain // a healthy call is not blamed for careless clients
	case run.Outcome == stream.RunWrong && (e == stream.AnyArgs || e == stream.Repaired):
		r.sign, r.alarm, r.role = p.Glyph.Severity[stream.Warn], screen.Caution, screen.Caution
	case run.Outcome == stream.RunBroken:
		r.sign, r.alarm, r.role = p.Glyph.Severity[stream.Warn], screen.Caution, screen.Caution
	case run.Outcome >= stream.RunWrong && run.Outcome < stream.RunBroken:
		r.sign, r.alarm = p.Glyph.Severity[stream.Error], screen.Bad
	}
	if run.Event > 0 {
		r.delta = lastDelta(c.Call, run)
	}
	r.at = ranAt(v, c, run, e, p)
	r.with = ranWith(c.Call, run, e, p)
	return r
}

// ranAt returns when a rule runs a call: at a delta, with the number of bytes that were still missing, or at
// a time.
func ranAt(v *providers.View, c Selection, run stream.RuleRun, e stream.RunRule, p *screen.Pen) display.Text {
	switch {
	case run.Event == 0 && run.Outcome == stream.NotYet:
		return display.Lit("not yet")
	case run.Event == 0:
		return display.Lit("never")
	}
	if n := lastDelta(c.Call, run); n >= 0 && e < stream.NextSlot {
		at := screen.Count(n+1).Between("delta ", "")
		if rest := c.Call.ArgsLen() - run.Bytes; rest > 0 && run.Outcome >= stream.RunWrong {
			at = display.Join(at, screen.Bytes(rest).Between(", ", " too soon"))
		}
		return at
	}
	if at := screen.Time(screen.Elapsed(c.Turn.OpenedAt, v.EventPrefix(run.Event, 0).At)); !at.Empty() {
		return at.Between("+", "")
	}
	return display.Lit("end")
}

// ruleKinds describe when the clients of each rule run a call.
var ruleKinds = [stream.NumRunRules]string{
	stream.AnyArgs: "at the first byte", stream.Parsable: "as soon as it is JSON", stream.ParsableObject: "as soon as it parses",
	stream.Repaired: "after adding missing braces", stream.NextSlot: "when something else follows",
	stream.FinishReason: "when the provider finishes", stream.AtSeal: "when arguments are final", stream.AtEnd: "when the response ends",
}

// onlyKind is the text for a client that runs only complete and valid calls.
const onlyKind = "only if complete and valid"

// kindGroups are the rules in three groups: rules that check the arguments, rules that repair them, and rules that
// wait for the provider. The rules of a group are in display order.
var kindGroups = [][]stream.RunRule{
	{stream.ParsableObject, stream.Parsable, stream.AnyArgs}, {stream.Repaired},
	{stream.FinishReason, stream.AtEnd, stream.AtSeal, stream.NextSlot},
}

// shownKinds returns the rules that are shown, the worst first. Unless all rules are shown, it returns one rule from
// each group: the open rule if the group has it, or else the worst.
func (x *RunRules) shownKinds() (kinds []stream.RunRule) {
	worse := func(a, b stream.RunRule) int { return alarmRank(x.rules[a].alarm) - alarmRank(x.rules[b].alarm) }
	for _, group := range kindGroups {
		group = slices.Clone(group)
		slices.SortStableFunc(group, worse)
		if at := slices.Index(group, x.open); at > 0 && !x.all {
			group = group[at:]
		}
		if !x.all {
			group = group[:1]
		}
		kinds = append(kinds, group...)
	}
	slices.SortStableFunc(kinds, worse)
	return kinds
}

func alarmRank(r screen.Role) int {
	return slices.Index([]screen.Role{screen.Bad, screen.Caution, r}, r)
}

// onlyValid returns the result for a client that runs a call only if the call is complete and matches its
// schema.
func onlyValid(v *providers.View, c Selection, p *screen.Pen) ruleResult {
	r := ruleResult{sign: display.Lit("  "), role: screen.Good, delta: -1, with: display.Lit("nothing"), at: display.Lit("never")}
	st := c.Call.Status()
	bad := !c.Call.HasOnlyInfos() && slices.ContainsFunc(c.Call.Findings, func(f stream.Finding) bool {
		return f.Severity > stream.Info && slices.Contains(schema.Findings, f.Base())
	})
	switch {
	case c.Call.MayGrow():
		r.at, r.role = display.Lit("not yet"), screen.Muted
	case !bad && (st == stream.Complete || st == stream.NoArguments):
		run := c.Turn.RuleRun(c.Call, stream.AtSeal)
		if run.Event == 0 {
			run = c.Turn.RuleRun(c.Call, stream.AtEnd)
		}
		r.RuleRun, r.with, r.at = run, ranWith(c.Call, run, stream.AtSeal, p), ranAt(v, c, run, stream.AtSeal, p)
	}
	return r
}

// verdictRoles are the roles of the verdicts. A safe run is Plain, not Good, because a run in which no fault
// was seen proves nothing.
var verdictRoles = [...]screen.Role{
	stream.NotYet: screen.Muted, stream.Unchanged: screen.Plain, stream.Never: screen.Muted, stream.RunSafely: screen.Plain, stream.RunEarly: screen.Plain,
	stream.RunWrong: screen.Bad, stream.RunTwice: screen.Bad, stream.RunIncomplete: screen.Bad, stream.RunBroken: screen.Bad, stream.Refuses: screen.Muted,
}

// lastDelta returns the last delta that arrived before a call was run. It returns -1 if there is none, or if
// the arguments were replaced later.
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
		return display.Lit("nothing")
	case r.Replaced:
		return display.Lit("text that was replaced later")
	case r.Outcome == stream.RunBroken && c.Lexer().Err() != nil:
		return display.Lit("not JSON: it fails")
	case r.Outcome == stream.RunBroken:
		return p.Clean(present.NotObjectText(c))
	case r.Bytes == 0:
		return display.Lit("no arguments")
	}
	args, _ := present.RanArgs(c, r, e)
	return p.CleanBytes(args[:min(len(args), screen.MaxNameBytes)])
}

// ruleColumns returns the widths of the columns in a table of the given width: kind of client, arguments and
// moment.
func ruleColumns(cells int) (kind, with, at int) {
	kind = min(maxKindCells, cells/2)
	at = min(maxMomentCells, max((cells-kind)/2, cells-kind-usualArgsCells))
	return kind, max(0, cells-kind-at-2), at
}

// Maximum widths of the columns.
const (
	maxKindCells   = 27
	maxMomentCells = 24

	usualArgsCells = 15 // cells left for the arguments and the gaps, unless the moment would then have less than half of the space
)

// drawRuleHeads draws the column heads.
func drawRuleHeads(p *screen.Pen) {
	p.Spaces(screen.Bare, findingLeft)
	kind, with, _ := ruleColumns(p.Left)
	would := display.Lit("WOULD HAVE RUN")
	if would.Width() > with {
		would = display.Lit("WOULD RUN")
	}
	for _, h := range []struct {
		text  display.Text
		cells int
	}{{p.Clean("A CLIENT THAT RUNS A CALL…"), kind + 1}, {would, with + 1}, {display.Lit("WHEN"), p.Left}} {
		p.Text(screen.Muted, p.Pad(p.Truncate(h.text, max(0, h.cells-1)), min(h.cells, p.Left)))
	}
}

// drawRule draws the row for a kind of client: the severity, the kind, the arguments with which this client runs a
// call, and the moment when it does so.
func drawRule(p *screen.Pen, of string, r *ruleResult, g screen.Surface) {
	p.TextOn(r.alarm, g, r.sign.Between("", " "))
	kind, with, at := ruleColumns(p.Left)
	p.TextOn(screen.Plain, g, p.Pad(p.Truncate(p.Clean(of), kind), kind+1))
	p.TextOn(r.role, g, p.Pad(p.Truncate(r.with, with), with+1))
	p.TextOn(screen.Plain, g, p.Truncate(r.at, at))
}
