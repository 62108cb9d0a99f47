package stream

import (
	"bytes"
	"sort"

	"toolscope/stream/json"
)

// A RunRule is a rule by which some clients decide to run a call. All except the last two can run a call although
// more of its arguments may follow. The fold records for each rule at which event it would have run each call, and
// with which arguments.
type RunRule uint8

const (
	AnyArgs        RunRule = iota // the call has a name and at least one byte of arguments
	Parsable                      // the arguments parse as JSON
	ParsableObject                // the arguments parse as an object
	Repaired                      // a parser that repairs finds a value for every key
	NextSlot                      // another call or text begins; the finish reason runs the last call
	FinishReason                  // the finish reason is about tools
	AtSeal                        // the protocol says that the arguments are final
	AtEnd                         // the response has ended

	NumRunRules = iota
)

var runRuleWords = [NumRunRules]string{
	"any arguments", "parsable", "parsable object", "repaired", "next call", "finish word", "seal", "end of stream",
}

func (x RunRule) String() string { return runRuleWords[x] }

// RunOutcome is the outcome when a client runs a call by a run rule.
type RunOutcome uint8

const (
	NotYet        RunOutcome = iota // the rule has not run the call, but more data may come
	Unchanged                       // the rule has run the call, and nothing has changed since, but more data may come
	Never                           // the rule never runs the call
	RunSafely                       // the call runs after the last change, and is Complete or NoArguments
	RunEarly                        // too early, but the arguments did not change later
	RunWrong                        // with arguments other than the final ones
	RunTwice                        // once for each object in the arguments
	RunIncomplete                   // the call was cut short, failed or refused
	RunBroken                       // with final arguments that are not a JSON object
	Refuses                         // the rule can't parse the final arguments
)

func (v RunOutcome) String() string {
	return [...]string{
		"not yet", "same so far", "never", "safe", "early", "early wrong", "twice", "cut call", "broken call", "refuses",
	}[v]
}

// A RuleRun describes when a run rule runs a call, and the outcome.
type RuleRun struct {
	Outcome  RunOutcome
	Event    int  // number of the event at which the rule runs the call; 0 if it doesn't
	Bytes    int  // number of argument bytes at that event
	Replaced bool // a Rewrite has replaced those bytes since
}

// ruleRunState records when a run rule would have run a call.
type ruleRunState struct {
	event int32 // 0 if the rule has not run the call: event 0 opens a turn, so it runs no call
	bytes uint32
	docs  uint16
	made  uint16 // Rewrites of the call at that event
}

// noteRuleRun records that a run rule would run the call now, if it has not before.
func (c *Call) noteRuleRun(x RunRule, event int) {
	if r := &c.runs[x]; r.event == 0 && c.Name != "" {
		*r = ruleRunState{int32(event), uint32(len(c.args.s)), uint16(min(c.lex.Docs(), 1<<15)), uint16(c.Rewrites)}
	}
}

// noteArgsRuns applies the run rules that depend on the arguments.
func (c *Call) noteArgsRuns(event int) {
	if len(c.args.s) == 0 {
		return
	}
	c.noteRuleRun(AnyArgs, event)
	switch c.lex.Syntax() {
	case json.SyntaxObject:
		c.noteRuleRun(ParsableObject, event)
		c.noteRuleRun(Parsable, event)
	case json.SyntaxOther:
		c.noteRuleRun(Parsable, event)
	default: // more digits may follow a number, but it parses
		if c.lex.First() == json.Number && c.runs[Parsable].event == 0 && json.Valid(c.args.s) {
			c.noteRuleRun(Parsable, event)
			c.runs[Parsable].docs++ // the number counts, although it may be unfinished
		}
	}
}

// RuleRun describes the run of the call by rule x, as far as it is known. It returns the zero RuleRun while the turn
// is evicted.
func (c *Call) RuleRun(x RunRule) RuleRun {
	if c.evicted != nil {
		return RuleRun{}
	}
	r := c.runs[x]
	if x == Repaired && r.event == 0 {
		r = c.repairedRun()
	}
	out := RuleRun{Event: int(r.event), Bytes: int(r.bytes), Replaced: r.event > 0 && int(r.made) != c.Rewrites}
	switch {
	case r.event == 0 && c.MayGrow():
		out.Outcome = NotYet
	case r.event == 0 && (x == Parsable || x == ParsableObject) && c.brokenFor(x):
		out.Outcome = Refuses
	case r.event == 0:
		out.Outcome = Never
	case c.phase > PhaseEnded:
		out.Outcome = RunIncomplete
	case (x == Parsable || x == ParsableObject) && c.lex.Docs() > int(r.docs):
		out.Outcome = RunTwice
	case out.Replaced, c.changedAfter(r, x):
		out.Outcome = RunWrong
	case c.MayGrow():
		out.Outcome = Unchanged
	default:
		out.Outcome = c.fullArgsOutcome(r, x)
	}
	return out
}

// RuleRun describes the run of a call of the turn by rule x. While the turn is open, a rule that waits for an
// event outside the call may still run it.
func (t *Turn) RuleRun(c *Call, x RunRule) RuleRun {
	r := c.RuleRun(x)
	if waits := x == NextSlot || x == FinishReason || x == AtEnd; waits && r.Outcome == Never && !t.Closed() {
		r.Outcome = NotYet
	}
	return r
}

// brokenFor reports whether the arguments are final and a parsing rule can't use them.
func (c *Call) brokenFor(x RunRule) bool {
	switch c.Status() {
	case Malformed:
		return true
	case NotObject:
		return x == ParsableObject
	}
	return false
}

// changedAfter reports whether the arguments, as rule x sees them, changed after the run.
func (c *Call) changedAfter(r ruleRunState, x RunRule) bool {
	rest := c.args.s[r.bytes:]
	if x == Repaired {
		rest = rest[c.literalRest(int(r.bytes)):] // a parser that repairs also closes open strings and containers
		return len(bytes.Trim(rest, "}] \t\r\n\"")) > 0
	}
	return len(bytes.TrimSpace(rest)) > 0
}

// fullArgsOutcome returns the outcome of a run with all the arguments that ever arrived.
func (c *Call) fullArgsOutcome(r ruleRunState, x RunRule) RunOutcome {
	switch c.Status() {
	case Malformed, NotObject:
		return RunBroken
	case CutShort:
		return RunIncomplete
	case Complete, NoArguments:
		if x >= AtSeal || c.sealEvent > 0 && r.event >= c.sealEvent {
			return RunSafely
		}
	}
	return RunEarly
}

// repairedRun returns the run of a parser that repairs. Such a parser runs the call at the delta that contains the
// start of the last key's value. The required keys of the schema are unknown here, so the keys that arrived are used
// instead. If a Rewrite replaced the arguments, the fold recorded the run earlier.
func (c *Call) repairedRun() (r ruleRunState) {
	if c.lex.First() != json.ObjectOpen || c.freeform {
		return r
	}
	depth, colon, keys := 0, -1, 0
	for i, t := range c.lex.Tokens().All() {
		switch t.Kind {
		case json.ObjectOpen, json.ArrayOpen:
			depth++
		case json.ObjectClose, json.ArrayClose:
			depth--
		}
		if depth == 0 && t.Kind != json.Space {
			break // later bytes are outside the object
		}
		switch {
		case t.Kind == json.Key && depth == 1:
			keys++
		case t.Kind == json.Colon && depth == 1:
			colon = i
		}
	}
	if depth == 0 && keys == 0 { // an empty object is repaired as soon as it opens
		return c.runAt(c.lex.Tokens().Start(0))
	}
	for i := colon + 1; colon >= 0 && i < c.lex.Tokens().Len(); i++ {
		start, end := c.lex.Tokens().Start(i), int(c.lex.Tokens().At(i).End)
		switch c.lex.Tokens().At(i).Kind {
		case json.Space:
			continue
		case json.Number:
			if c.args.s[start] == '-' { // a lone minus sign is not a number
				start++
			}
			if start == end {
				return r
			}
			return c.runAt(start)
		case json.String, json.True, json.False, json.Null, json.ObjectOpen, json.ArrayOpen:
			return c.runAt(start)
		}
		return r // not the start of a value
	}
	return r
}

// runAt returns a run with the arguments up to the end of the delta that contains the byte at off.
func (c *Call) runAt(off int) ruleRunState {
	d := c.DeltaAt(off)
	_, end := c.DeltaSpan(d)
	return ruleRunState{event: c.DeltaEvent(d), bytes: uint32(end), made: uint16(c.Rewrites)}
}

// literalRest returns the number of bytes from off to the end of a literal true, false or null. It returns 0 if
// off is not inside one. A parser that repairs completes such a literal.
func (c *Call) literalRest(off int) int {
	toks := c.lex.Tokens()
	i := sort.Search(toks.Len(), func(i int) bool { return int(toks.At(i).End) > off })
	if i == toks.Len() || toks.Start(i) == off || toks.At(i).Kind < json.True || toks.At(i).Kind > json.Null {
		return 0
	}
	return int(toks.At(i).End) - off
}
