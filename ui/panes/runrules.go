package panes

import (
	"bytes"
	"fmt"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// RunRules is the pane of the run rules: what each rule does with the selected call. When the user opens a
// rule, the pane shows the clients that use the rule, and the arguments that they would have run.
type RunRules struct {
	PaneRows
	lead  func(of stream.Ref, event int)
	view  *providers.View
	of    stream.Ref
	key   runRulesKey
	rules []ruleResult
	all   bool           // all kinds of clients are shown
	heads int            // rows for the column heads
	open  stream.RunRule // the open rule, which has lines below it; noRule if none is open
	lines []runRuleLine
	only  ruleResult // result for a client that runs only complete and valid calls
	worst screen.Role
	times callTimes
}

const noRule = stream.RunRule(stream.NumRunRules)

// runRulesKey identifies the inputs for the lines. The lines are valid until the key changes.
type runRulesKey struct {
	of                  stream.Ref
	width, size, events int
	phase               stream.Phase
	kept                stream.Retention
	closed              bool
	open                stream.RunRule
	shown               bool // all kinds of clients
	got                 int
	all                 int // number of events in all turns, because the pane compares calls; 0 while the pane is hidden
}

// runRuleLine is a display row: a rule, or a line below a rule.
type runRuleLine struct {
	of   stream.RunRule // noRule for the lines after all rules
	head bool
	only bool // the row for a client that runs only complete and valid calls
	role screen.Role
	text display.Text
	call stream.Ref // the call whose times the line shows; its Call is 0 if there is none
}

// NewRunRules returns the pane. The function lead goes to the moment of an event.
func NewRunRules(h Host, lead func(of stream.Ref, event int)) *RunRules {
	x := &RunRules{lead: lead, open: noRule}
	x.PaneRows = NewRows(h, x.rowText)
	return x
}

// Keys returns the keys that move the cursor, open a rule, go to the moment at which the open rule runs the call, and
// show all kinds of clients or only the worst.
func (x *RunRules) Keys() []screen.Binding {
	enter := screen.Key("enter", "which clients", "show clients and arguments; then go to the moment", x.openSelected)
	switch at := x.selectedRule(); {
	case at == noRule && x.At < len(x.lines) && x.lines[x.At].call.Call > 0:
		enter.Hint, enter.Does = "go to call", display.Lit("go to the call of this row")
	case at != noRule && at == x.open:
		enter.Hint = "go to moment"
	}
	show := func(all bool) func() { return func() { x.all = all } }
	more := screen.Key("+", "all kinds", "show all kinds of clients", show(true))
	if x.all {
		more = more.WithoutHint()
	}
	return x.keys([]screen.Binding{enter, more, screen.Key("-", "", "show the worst kinds of clients", show(false))}, x.CursorKeys("", x.MoveTo), x.End, "copy", "zoom", "search", "next")
}

// selectedRule returns the rule at the cursor, or the rule to which the line at the cursor belongs.
func (x *RunRules) selectedRule() stream.RunRule {
	if x.At < len(x.lines) {
		return x.lines[x.At].of
	}
	return noRule
}

// openSelected opens the selected rule. If the rule is already open, it goes to the moment of the rule's run.
func (x *RunRules) openSelected() {
	at := x.selectedRule()
	switch {
	case at == noRule:
		if x.At < len(x.lines) && x.lines[x.At].call.Call > 0 {
			x.host.Choose(x.lines[x.At].call)
		}
	case at != x.open:
		x.open = at
	case x.rules[at].Event == 0:
		x.host.Say(display.Lit("under this rule, a client has not run the call yet"))
	default:
		x.lead(x.of, x.rules[at].Event)
	}
}

// Spot returns a sentence about the selected rule.
func (x *RunRules) Spot() Spot {
	at := x.selectedRule()
	if at == noRule {
		return Spot{}
	}
	t, c := x.view.Find(x.of)
	if c == nil {
		return Spot{}
	}
	return Spot{What: display.Lit("a report on this rule"), Sentence: func() []byte { return []byte(RunReport(x.view, t, c, at)) }}
}

// Back closes the open rule, and reports whether one was open.
func (x *RunRules) Back() (closed bool) {
	closed = x.open != noRule
	x.open = noRule
	return closed
}

// Label returns the pane's name.
func (x *RunRules) Label() Label {
	return Label{Name: display.Lit("Would run"), Short: display.Lit("Runs"), Role: x.worst, Empty: len(x.rules) == 0}
}

// rowText returns the text of a row.
func (x *RunRules) rowText(row int) string {
	line := x.lines[row]
	switch {
	case line.only:
		return onlyKind + " " + x.only.with.String()
	case !line.head:
		return line.text.String()
	}
	r := &x.rules[line.of]
	return ruleKinds[line.of] + " " + line.of.String() + " " + r.Outcome.String() + " " + r.with.String()
}

// Extend updates the pane for the selection.
func (x *RunRules) Extend(s *Context, w, h int) {
	c := s.Of()
	key := runRulesKey{of: c.asRef(), width: w, open: x.open, shown: x.all}
	if c.Turn != nil {
		key.kept, key.closed, key.events = c.Turn.Retention, c.Turn.Closed(), c.Turn.Events
	}
	if c.Call != nil {
		key.size, key.phase, key.got = len(c.Call.Args()), c.Call.Phase(), toolRunsKey(s.View, c.Call)
	}
	if h > titleRow {
		key.all = s.View.Events()
	}
	if s.News.All {
		x.times = callTimes{}
	}
	if key.of != x.of {
		x.Window, x.open, key.open = screen.Window{}, noRule, noRule
	}
	if key != x.key || x.lines == nil || x.view != s.View {
		x.of, x.key, x.view = key.of, key, s.View
		x.buildLines(s, c, w)
	}
	if x.heads = 0; h > minHeadedRows && len(x.rules) > 0 {
		x.heads = 1
	}
	x.Fit(len(x.lines), titleRow+x.heads, h)
}

// minHeadedRows is the height above which the pane has column heads.
const minHeadedRows = 3

// WantedRows returns the number of rows, including the column heads.
func (x *RunRules) WantedRows() int { return x.Rows + min(1, len(x.rules)) }

// maxRuleTokens is the maximum size, in tokens, of a growing call whose rules are shown. The size is limited
// because one rule reads all tokens.
const maxRuleTokens = 4000

// buildLines builds the rules and the lines.
func (x *RunRules) buildLines(s *Context, c Selection, w int) {
	x.rules, x.lines, x.worst = nil, nil, screen.Muted
	if why := whyNoRules(c); !why.Empty() {
		for _, line := range display.Wrap(why, max(w-2, 8)) {
			x.lines = append(x.lines, runRuleLine{of: noRule, role: screen.Muted, text: line})
		}
		return
	}
	for e := range noRule {
		r := ruleOf(s.View, c, e, s.Pen)
		if x.rules = append(x.rules, r); r.alarm == screen.Bad {
			x.worst = screen.Bad
		}
	}
	for _, e := range x.shownKinds() {
		x.lines = append(x.lines, runRuleLine{of: e, head: true})
		if e == x.open {
			x.appendDetail(s, c, e, w)
		}
	}
	x.only = onlyValid(s.View, c, s.Pen)
	x.lines = append(x.lines, runRuleLine{of: noRule, only: true})
	x.appendCareless(s, c, w)
	for i, run := range toolRunLines(s.View, c.Turn, c.Call, s.Pen) {
		if i == 0 {
			x.lines = append(x.lines, runRuleLine{of: noRule}, runRuleLine{of: noRule, role: screen.Muted, text: display.Lit(" TOOL RUNS")})
		}
		for _, line := range display.Wrap(run.text, max(w-4, 8)) {
			x.lines = append(x.lines, runRuleLine{of: noRule, role: screen.SideRoles[run.side], text: line.Between("  ", "")})
		}
	}
	x.lines = append(x.lines, latencyLines(s, c, w)...)
	if x.key.all > 0 {
		x.lines = append(x.lines, x.times.tableLines(s, c, w)...)
	}
}

// Draw draws row y of the pane.
func (x *RunRules) Draw(p *screen.Pen, y int, focused bool) {
	defer p.Fill(screen.Bare)
	row := x.Top + y - titleRow - x.heads
	switch {
	case y == 0:
		return
	case x.heads > 0 && y == titleRow:
		drawRuleHeads(p)
		return
	case row >= len(x.lines):
		return
	}
	line, g := x.lines[row], screen.Bare
	mark := display.Lit(" ")
	if row == x.At && len(x.rules) > 0 {
		mark = p.Glyph.Mark
		if focused {
			g = screen.Selected
		}
	}
	p.TextOn(screen.Accent, g, mark)
	switch {
	case line.only:
		drawRule(p, onlyKind, &x.only, g)
	case line.head:
		drawRule(p, ruleKinds[line.of], &x.rules[line.of], g)
	default:
		p.TextOn(line.role, g, line.text)
	}
	p.Fill(g)
}

// maxArgsShown is the maximum number of argument bytes that are shown for an open rule.
const maxArgsShown = 2 << 10

// appendDetail adds the lines below an open rule: the clients that use the rule, the exact arguments, the place where
// these differ from the final arguments, and a sentence for a report.
func (x *RunRules) appendDetail(s *Context, c Selection, e stream.RunRule, w int) {
	say := func(role screen.Role, text string) {
		for _, line := range display.Wrap(s.Pen.Clean(text), max(w-findingLeft-3, 8)) {
			x.lines = append(x.lines, runRuleLine{of: e, role: role, text: line.Between("     ", "")})
		}
	}
	by := present.RunBy(c.Turn, c.Call, e)
	for _, text := range by {
		say(screen.Plain, text)
	}
	if len(by) == 0 {
		say(screen.Muted, "no known client follows this rule for such a call")
	}
	run := x.rules[e].RuleRun
	if run.Event > 0 && !run.Replaced && run.Bytes > 0 {
		text, how := present.RanArgs(c.Call, run, e)
		say(screen.Muted, fmt.Sprintf("with %s of %s%s:", screen.Bytes(run.Bytes), screen.Bytes(c.Call.ArgsLen()), how))
		say(screen.StringToken, string(text[:min(len(text), maxArgsShown)]))
		if n := len(text) - maxArgsShown; n > 0 {
			say(screen.Muted, screen.Bytes(n).String()+" more")
		}
	}
	if at := differenceText(c.Call, e, run); at != "" {
		say(screen.Caution, at)
	}
	say(screen.Muted, "report: "+RunReport(s.View, c.Turn, c.Call, e))
}

// appendCareless adds the known clients that run the call by one of the marked rules.
func (x *RunRules) appendCareless(s *Context, c Selection, w int) {
	var careless []string
	marked := false
	for e := range noRule {
		if alarmRank(x.rules[e].alarm) < alarmRank(screen.Plain) {
			marked = true
			careless = append(careless, present.CarelessClients(c.Turn, c.Call, e)...)
		}
	}
	switch {
	case !marked:
		return
	case len(careless) == 0:
		careless = []string{"clients of the kinds marked ! or !!; none is known"}
	}
	text := s.Pen.Clean(strings.Join(careless, "; ")).Between("careless: ", "")
	for _, line := range display.Wrap(text, max(w-findingLeft, 8)) {
		x.lines = append(x.lines, runRuleLine{of: noRule, role: screen.Plain, text: line.Between("   ", "")})
	}
}

// ruleWords describe the code that uses each run rule.
var ruleWords = [stream.NumRunRules]string{
	stream.AnyArgs:        "Code that runs a call as soon as it has a name and a byte of arguments",
	stream.Parsable:       "Code that runs a call as soon as its arguments parse as JSON",
	stream.ParsableObject: "Code that runs a call as soon as its arguments parse as an object",
	stream.Repaired:       "Code that repairs unfinished arguments and runs a call as soon as each key has a value",
	stream.NextSlot:       "Code that runs a call as soon as something else arrives in the stream",
	stream.FinishReason:   "Code that runs a call when the finish reason names tools",
	stream.AtSeal:         "Code that runs a call when the protocol marks its arguments as final",
	stream.AtEnd:          "Code that runs a call when the stream ends",
}

// RunReport returns a sentence for a report: what a rule does with the call.
func RunReport(v *providers.View, t *stream.Turn, c *stream.Call, e stream.RunRule) string {
	run, name := t.RuleRun(c, e), screen.ShortName(c.Name)
	if name == "" {
		name = "it"
	}
	text := ruleWords[e]
	switch {
	case run.Event == 0 && run.Outcome == stream.NotYet:
		return text + " has not run " + name + " yet."
	case run.Outcome == stream.Refuses:
		return fmt.Sprintf("%s never runs %s: %s.", text, name, present.NotObjectText(c))
	case run.Event == 0:
		return text + " never runs " + name + "."
	}
	text += " runs " + name
	if n := lastDelta(c, run); n >= 0 {
		text += fmt.Sprintf(" at delta %d", n+1)
	}
	if at := screen.Elapsed(t.OpenedAt, v.EventPrefix(run.Event, 0).At); at >= 0 {
		text += ", " + screen.Time(at).String() + " into the response"
	}
	switch {
	case run.Replaced:
		text += ", with arguments that were replaced later"
	case run.Bytes == 0:
		text += ", without arguments"
	default:
		with, how := present.RanArgs(c, run, e)
		text += fmt.Sprintf(", with %s (%d of %d bytes%s)", stream.Clip(with, 0, 200), run.Bytes, c.ArgsLen(), how)
	}
	if at := differenceText(c, e, run); at != "" {
		text += "; " + at
	}
	return text + verdictEnds[run.Outcome]
}

// verdictEnds are the last words of the sentence that RunReport returns.
var verdictEnds = [...]string{
	stream.Unchanged: "; nothing has changed since, but more may arrive.", stream.Never: ".", stream.RunSafely: ": that is safe.",
	stream.RunEarly: ": too soon, but nothing changed.", stream.RunWrong: ".", stream.RunTwice: ", and then runs it again.",
	stream.RunIncomplete: "; the call was cut short.", stream.RunBroken: ".", stream.Refuses: ".",
}

// differenceText describes where the arguments with which a call was run differ from the final ones. It returns "" if
// they don't differ, if the call was not run, or if the arguments were replaced later.
func differenceText(c *stream.Call, e stream.RunRule, r stream.RuleRun) string {
	switch {
	case r.Event == 0, r.Replaced:
		return ""
	case r.Outcome == stream.RunBroken:
		return "these are " + present.NotObjectText(c)
	case len(bytes.TrimSpace(c.Args()[r.Bytes:])) == 0:
		return ""
	case c.Freeform():
		return fmt.Sprintf("the final text continues after byte %s", screen.Count(r.Bytes))
	case c.Lexer().Err() != nil:
		return "the final arguments are " + present.NotObjectText(c)
	case e == stream.AnyArgs && !json.Valid(c.Args()[:r.Bytes]):
		return "that is text, not JSON; the final arguments differ at $"
	case r.Outcome != stream.RunWrong && r.Outcome != stream.RunIncomplete:
		return ""
	}
	return "the final arguments differ at " + pathAt(c, r.Bytes)
}

// pathAt returns the path of the first key or value that ends after a byte, for example $.edits[0].new, or $
// if there is none.
func pathAt(c *stream.Call, off int) string {
	type box struct {
		array bool
		index int
		key   string
	}
	toks, args := c.Lexer().Tokens(), c.Args()
	var in []box
	for i, t := range toks.All() {
		top := len(in) - 1
		switch t.Kind {
		case json.Comma:
			if top >= 0 {
				in[top].index++
			}
			continue
		case json.Key:
			if top >= 0 {
				in[top].key = "." + Unquoted(args, Span{toks.Start(i), min(int(t.End), toks.Start(i)+screen.MaxNameBytes)})
			}
		case json.ObjectClose, json.ArrayClose:
			in = in[:max(top, 0)]
			continue
		case json.Space, json.Colon:
			continue
		}
		if int(t.End) > off && t.Kind != json.ObjectOpen && t.Kind != json.ArrayOpen {
			path := "$"
			for _, b := range in {
				if b.array {
					path += fmt.Sprintf("[%d]", b.index)
				} else {
					path += b.key
				}
			}
			return path
		}
		if t.Kind == json.ObjectOpen || t.Kind == json.ArrayOpen {
			in = append(in, box{array: t.Kind == json.ArrayOpen})
		}
	}
	return "$"
}

// maxTailTokens is the maximum number of tokens at the end that TailPath reads, because arguments may be long.
const maxTailTokens = 400

// TailPath returns the path at which a call is growing, for example .edits[1].new, from the last tokens of
// its arguments.
func TailPath(c *stream.Call) (path string) {
	toks, args := c.Lexer().Tokens(), c.Args()
	depth, commas, key := 0, 0, ""
	for n := toks.Len() - 1; n >= max(0, toks.Len()-maxTailTokens); n-- {
		switch k := toks.At(n).Kind; {
		case k == json.ObjectClose || k == json.ArrayClose:
			depth++
		case (k == json.ObjectOpen || k == json.ArrayOpen) && depth > 0:
			depth--
		case depth > 0:
		case k == json.Comma:
			commas++
		case k == json.Key && commas == 0 && key == "":
			s := TokenSpan(toks, n)
			s.End = min(s.End, s.Start+screen.MaxNameBytes)
			key = "." + Unquoted(args, s)
		case k == json.ObjectOpen:
			path, commas, key = key+path, 0, ""
		case k == json.ArrayOpen:
			path, commas, key = fmt.Sprintf("[%d]", commas)+path, 0, ""
		}
	}
	return path
}
