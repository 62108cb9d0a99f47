package panes

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// RunRules is the pane of the run rules: what each rule does with the selected call. Opening a rule shows
// the clients that use it, and the arguments it would have run.
type RunRules struct {
	screen.Window
	host  Host
	lead  func(of stream.Ref, event int)
	view  *providers.View
	of    stream.Ref
	key   runRulesKey
	rules []ruleResult
	open  stream.RunRule // the open rule, with its lines below, or noRule
	lines []runRuleLine
	worst screen.Role
	times callTimes
}

const noRule = stream.RunRule(stream.NumRunRules)

// runRulesKey identifies the inputs of the lines. While it is equal, they are valid.
type runRulesKey struct {
	of                  stream.Ref
	width, size, events int
	phase               stream.Phase
	kept                stream.Retention
	closed              bool
	open                stream.RunRule
	got                 int
	all                 int // number of events of all turns while the pane is shown, because it compares calls
}

// runRuleLine is a display row: a rule, or a line below one.
type runRuleLine struct {
	of   stream.RunRule // noRule after all rules
	head bool
	role screen.Role
	text display.Text
	call stream.Ref // the call whose times it shows, if its Call is not 0
}

// NewRunRules returns the pane; lead goes to the moment of an event.
func NewRunRules(h Host, lead func(of stream.Ref, event int)) *RunRules {
	return &RunRules{host: h, lead: lead, open: noRule}
}

// Keys returns the keys that move, open a rule, or go to the moment at which the open rule runs.
func (x *RunRules) Keys() []screen.Binding {
	enter := screen.Binding{Keys: []string{"enter"}, Hint: display.Lit("enter open"), Does: display.Lit("show clients and arguments; then go there"), Do: x.openSelected}
	switch at := x.selectedRule(); {
	case at == noRule && x.At < len(x.lines) && x.lines[x.At].call.Call > 0:
		enter.Hint, enter.Does = display.Lit("enter go to call"), display.Lit("go to the call of this row")
	case at != noRule && at == x.open:
		enter.Hint = display.Lit("enter go to moment")
	}
	return append([]screen.Binding{
		helpHint, enter,
		copyHint, zoomHint, findHint, tabHint, backKey(x.host),
	}, cursorKeys(x.host, x.CursorKeys(display.Text{}, x.MoveTo), x.End)...)
}

// selectedRule returns the rule at the cursor, or the one whose lines the cursor is in.
func (x *RunRules) selectedRule() stream.RunRule {
	if x.At < len(x.lines) {
		return x.lines[x.At].of
	}
	return noRule
}

// openSelected opens the selected rule; if it is open, it goes to its moment.
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
		x.host.Say(display.Lit("nothing runs it"))
	default:
		x.lead(x.of, x.rules[at].Event)
	}
}

// Quote returns a sentence about the selected rule, for a report.
func (x *RunRules) Quote() (what display.Text, sentence []byte) {
	t, c := x.view.Find(x.of)
	if at := x.selectedRule(); at != noRule && c != nil {
		return display.Lit("a report on this rule"), []byte(RunReport(x.view, t, c, at))
	}
	return what, nil
}

// Back closes the open rule.
func (x *RunRules) Back() (closed bool) {
	closed = x.open != noRule
	x.open = noRule
	return closed
}

// Label returns the name and the number of rules, in the colour of the worst one, without the warnings
// that every streamed call has.
func (x *RunRules) Label() Label {
	l := Label{Short: display.Lit("WOULD RUN"), Role: x.worst}
	if len(x.rules) > 0 {
		l.Name, l.Count = display.Lit("WHEN CODE WOULD RUN"), screen.Count(len(x.rules))
	}
	return l
}

// WantedRows returns a row for each line.
func (x *RunRules) WantedRows() int { return len(x.lines) }

// GoTo selects a row.
func (x *RunRules) GoTo(row int) { x.MoveTo(row) }

// Find returns the rows that contain query.
func (x *RunRules) Find(query string) (rows []int, cursor int) {
	if query == "" {
		return nil, x.At
	}
	n := newTextQuery(query)
	for row, line := range x.lines {
		text := line.text.String()
		if line.head {
			r := &x.rules[line.of]
			text = line.of.String() + " " + r.Outcome.String() + " " + r.with.String()
		}
		if containsQuery(n, text) {
			rows = append(rows, row)
		}
	}
	return rows, x.At
}

// Extend updates the pane for the selection.
func (x *RunRules) Extend(s *Context, w, h int) {
	c := s.Of()
	key := runRulesKey{of: c.asRef(), width: w, open: x.open}
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
	x.Fit(len(x.lines), titleRow, h)
}

// maxRuleTokens is the maximum size, in tokens, of a growing call whose rules are shown: one rule reads
// all tokens.
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
		x.lines = append(x.lines, runRuleLine{of: e, head: true})
		if e == x.open {
			x.appendDetail(s, c, e, w)
		}
	}
	x.lines = append(x.lines, toolRuleLines(s.View, c.Turn, c.Call, w, s.Pen)...)
	x.lines = append(x.lines, latencyLines(s, c, w)...)
	if x.key.all > 0 {
		x.lines = append(x.lines, x.times.tableLines(s, c, w)...)
	}
}

// Draw draws row y of the pane into the field.
func (x *RunRules) Draw(p *screen.Pen, y int, focused bool) {
	defer p.Fill(screen.Bare)
	row := x.Top + y - titleRow
	if y == 0 || row >= len(x.lines) {
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
	if !line.head {
		p.TextOn(line.role, g, line.text)
		p.Fill(g)
		return
	}
	x.drawRule(p, line.of, g)
	p.Fill(g)
}
