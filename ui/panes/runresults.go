package panes

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/providers/client"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
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
		return p.Clean(noObject(c))
	case r.Event == 0:
		return display.Text{}
	case r.Replaced:
		return display.Lit("text that was replaced later")
	case r.Outcome == stream.RunBroken:
		return p.Format("%s, %s", screen.Bytes(r.Bytes), noObject(c))
	case r.Bytes == 0:
		return display.Lit("no arguments")
	}
	args, _ := ranArgs(c, r, e)
	return p.CleanBytes(args[:min(len(args), screen.MaxNameBytes)])
}

// maxRepairBytes is the maximum size of arguments that are repaired for display.
const maxRepairBytes = 64 << 10

// ranArgs returns the arguments that a call was run with: those that had arrived, or what a repairing
// parser makes of them. how is set if the text was repaired.
func ranArgs(c *stream.Call, r stream.RuleRun, e stream.RunRule) (args []byte, how string) {
	args = c.Args()[:r.Bytes]
	if e == stream.Repaired && len(args) <= maxRepairBytes {
		if mended := replay.RepairPrefix(args); !bytes.Equal(mended, args) {
			return mended, ", repaired"
		}
	}
	return args, ""
}

// noObject says why arguments are not an object.
func noObject(c *stream.Call) string {
	switch c.Syntax() {
	case json.SyntaxDouble:
		return "double-encoded JSON"
	case json.SyntaxOther:
		return "not an object"
	case json.SyntaxConcat:
		return display.Format("%d objects", c.Lexer().Docs()).String()
	}
	if err := c.Lexer().Err(); err != nil {
		return display.Format("not JSON from byte %s", screen.Count(err.Offset)).String()
	}
	return c.Syntax().String()
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

// ending is the way in which a response ended, as far as it decides which clients run its calls.
type ending uint8

const (
	endedWell   ending = iota // with a regular end, or not ended yet
	endedCut                  // by the token limit, or a filter
	endedBroken               // the connection broke
	endedBare                 // it just ended, without a finish reason
	endedOther                // in a way that was tested with no program
)

func endingOf(t *stream.Turn) ending {
	switch t.Phase() {
	case stream.TurnTruncated:
		return endedCut
	case stream.TurnAborted:
		switch {
		case t.Failure != "" || t.EndedBy == stream.Client:
			return endedOther
		case t.EndedBy == stream.Network:
			return endedBroken
		}
		return endedBare
	case stream.TurnRejected:
		return endedOther
	}
	return endedWell
}

// RunBy returns sentences about the programs that run a complete call at rule x, or don't run it. It
// returns nil if they are unknown. If the program that sent the request is known, only that program is
// listed.
func RunBy(t *stream.Turn, c *stream.Call, x stream.RunRule) (say []string) {
	how, run := endingOf(t), t.RuleRun(c, x)
	switch s := c.Syntax(); {
	case x != stream.AtSeal && x != stream.AtEnd, how == endedOther, c.RunByProvider, c.Discarded,
		s != json.SyntaxObject && s != json.SyntaxEmpty && s != json.SyntaxFreeform:
		return nil
	case x == stream.AtSeal && run.Event == 0, x == stream.AtEnd && !t.Closed():
		return nil
	}
	named := ""
	if t.Request != nil {
		named = t.Request.Client
	}
	all, own := client.RunHabitsOf(t.Protocol, named)
	for _, rule := range runRules {
		if rule.at != x || rule.how != how {
			continue
		}
		for known := client.Ran; known <= client.Documented; known++ {
			who := slices.DeleteFunc(slices.Clone(all), func(r client.RunHabit) bool { return r.Known != known || !rule.is(r) })
			if len(who) == 0 {
				continue
			}
			text := programNames(who, own) + " " + rule.sentence(c, run, len(who)) + knownWords[known]
			if rule.runs && own && c.LatestResult() != nil {
				text += "; it did: its result was sent back"
			}
			say = append(say, text)
		}
	}
	return say
}

// runRule is a sentence about programs, for one rule and one ending.
type runRule struct {
	at   stream.RunRule
	how  ending
	is   func(client.RunHabit) bool // selects the programs
	runs bool                       // they run the call
	many string                     // the sentence, in the plural
}

// runRules are all sentences. DELTA is replaced by the delta.
var runRules = []runRule{
	{stream.AtSeal, endedWell, func(r client.RunHabit) bool { return r.When == client.AtBlock }, true, "run it DELTA, while the response goes on"},
	{stream.AtSeal, endedCut, func(r client.RunHabit) bool { return r.When == client.AtBlock && r.Cut == client.Once }, true, "run it DELTA, before the cut"},
	{stream.AtSeal, endedCut, func(r client.RunHabit) bool { return r.When == client.AtBlock && r.Cut == client.Never }, false, "do not run it: the response was cut"},
	{stream.AtSeal, endedBroken, func(r client.RunHabit) bool { return r.When == client.AtBlock && r.Broken == client.Once }, true, "run it DELTA, before the connection broke"},
	{stream.AtSeal, endedBroken, func(r client.RunHabit) bool { return r.When == client.AtBlock && r.Broken == client.Twice }, true,
		"run it DELTA, retry when the connection breaks, and run the new calls too"},
	{stream.AtSeal, endedBare, func(r client.RunHabit) bool { return r.When == client.AtBlock }, true, "run it DELTA, before the response ended"},
	{stream.AtEnd, endedBare, func(r client.RunHabit) bool { return r.Bare == client.Once }, true, "run it at the end, although no finish reason came"},
	{stream.AtEnd, endedBare, func(r client.RunHabit) bool { return r.Bare == client.Never }, false, "do not run it: no finish reason came"},
	{stream.AtEnd, endedWell, func(r client.RunHabit) bool { return r.When == client.AtStop }, true, "run it when the response has ended"},
	{stream.AtEnd, endedCut, func(r client.RunHabit) bool { return r.When == client.AtStop && r.Cut == client.Once }, true, "run it at the end, although the response was cut"},
	{stream.AtEnd, endedCut, func(r client.RunHabit) bool { return r.When == client.AtStop && r.Cut == client.Never }, false, "do not run it: the response was cut"},
	{stream.AtEnd, endedBroken, func(r client.RunHabit) bool { return r.When == client.AtStop && r.Broken == client.Never }, false, "do not run it: the connection broke"},
	{stream.AtEnd, endedWell, func(r client.RunHabit) bool { return r.When == client.ByHand }, false, "run nothing: the code that uses them does"},
}

// ofOne turns the plural into the singular.
var ofOne = strings.NewReplacer("do not run", "does not run", "run nothing: the code that uses them does",
	"runs nothing: the code that uses it does", "retry", "retries", "run it", "runs it", "run the", "runs the")

// sentence returns the sentence for a call and a number of programs.
func (rule *runRule) sentence(c *stream.Call, r stream.RuleRun, programs int) string {
	text := strings.Replace(rule.many, " DELTA", deltaWords(c, r), 1)
	if programs == 1 {
		text = ofOne.Replace(text)
	}
	return text
}

// deltaWords names the delta that completed the arguments, "" if there is none.
func deltaWords(c *stream.Call, r stream.RuleRun) string {
	if r.Event == 0 || r.Bytes == 0 || r.Replaced {
		return ""
	}
	return fmt.Sprintf(" at delta %d", c.DeltaAt(r.Bytes-1)+1)
}

// programNames joins the names of programs. With own, the only program is the one that sent the request.
func programNames(who []client.RunHabit, own bool) string {
	var names []string
	for _, r := range who {
		if title := client.MustFind(r.Client).Title; !slices.Contains(names, title) {
			names = append(names, title)
		}
	}
	switch n := len(names) - 1; {
	case own:
		return "this client, " + names[0] + ","
	case n > 0:
		return strings.Join(names[:n], ", ") + " and " + names[n]
	}
	return names[0]
}

// knownWords say how a habit is known.
var knownWords = [...]string{
	client.Ran: " (seen when run)", client.Read: " (read in its source)", client.Documented: " (documented)",
}
