package panes

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// RunRules is the pane of the rules by which code decides to run a call: what comes of each for the
// chosen one. A rule is opened for who decides so, and for what it would have run.
type RunRules struct {
	screen.Window
	host  Host
	lead  func(of stream.Ref, event int)
	view  *providers.View
	of    stream.Ref
	key   runRulesKey
	rules []ruleResult
	open  stream.RunRule // with its lines below it, or noRule
	lines []runRuleLine
	worst screen.Role
	times callTimes
}

const noRule = stream.RunRule(stream.NumRunRules)

// runRulesKey says what the lines were made from; while it is the same they stand.
type runRulesKey struct {
	of                  stream.Ref
	width, size, events int
	phase               stream.Phase
	kept                stream.Retention
	closed              bool
	open                stream.RunRule
	got                 int
	all                 int // events of all turns, while the pane is shown: it compares calls
}

// runRuleLine is a display row: of a rule, or one of those below it.
type runRuleLine struct {
	of   stream.RunRule // noRule behind all
	head bool
	role screen.Role
	text display.Text
	call stream.Ref // whose times it tells, if its Call is not 0
}

// NewRunRules makes the pane; lead goes to the moment of an event.
func NewRunRules(h Host, lead func(of stream.Ref, event int)) *RunRules {
	return &RunRules{host: h, lead: lead, open: noRule}
}

// Keys are those that move, and open a rule, or lead to the moment at which one that is open runs.
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

// selectedRule is the executor that the cursor is at, or in whose lines it is.
func (x *RunRules) selectedRule() stream.RunRule {
	if x.At < len(x.lines) {
		return x.lines[x.At].of
	}
	return noRule
}

// openSelected opens a rule; from one that is open it leads to its moment.
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

// Quote is what is to be said of a rule, in a sentence.
func (x *RunRules) Quote() (what display.Text, sentence []byte) {
	t, c := x.view.Find(x.of)
	if at := x.selectedRule(); at != noRule && c != nil {
		return display.Lit("a report on this rule"), []byte(RunReport(x.view, t, c, at))
	}
	return what, nil
}

// Back closes the rule that is open.
func (x *RunRules) Back() (closed bool) {
	closed = x.open != noRule
	x.open = noRule
	return closed
}

// Label is the name, and how many rules there are, in the colour of the gravest that not every call
// has which comes in pieces.
func (x *RunRules) Label() Label {
	l := Label{Short: display.Lit("WOULD RUN"), Role: x.worst}
	if len(x.rules) > 0 {
		l.Name, l.Count = display.Lit("WHEN CODE WOULD RUN"), screen.Count(len(x.rules))
	}
	return l
}

// WantedRows is a row for each line.
func (x *RunRules) WantedRows() int { return len(x.lines) }

// GoTo selects a row.
func (x *RunRules) GoTo(row int) { x.MoveTo(row) }

// Find are the rows that hold query.
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

// Extend takes what is new for the choice.
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

// maxRuleTokens is how many tokens a call may have for its executors to be shown while it grows: one
// of them looks at all.
const maxRuleTokens = 4000

// buildLines makes the rules and the lines.
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

// Draw writes row y of the pane into the field.
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
