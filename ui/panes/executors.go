package panes

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Executors is the pane of the rules by which code decides to run a call: what comes of each for the
// chosen one. A rule is opened for who decides so, and for what it would have run.
type Executors struct {
	screen.Window
	host  Host
	lead  func(of stream.Ref, event int)
	view  *providers.View
	of    stream.Ref
	key   executorsKey
	rules []rule
	open  stream.Executor // with its lines below it, or noRule
	lines []ruleLine
	worst screen.Role
}

const noRule = stream.Executor(stream.NumExecutors)

// executorsKey says what the lines were made from; while it is the same they stand.
type executorsKey struct {
	of                  stream.Ref
	width, size, events int
	phase               stream.Phase
	kept                stream.Keeping
	closed              bool
	open                stream.Executor
}

// rule is what comes of one executor.
type rule struct {
	stream.Run
	sign  display.Text
	role  screen.Role // of the verdict's word; the sign has that of how grave it is
	alarm screen.Role
	delta int // that made it run, -1 if none did
	at    display.Text
	with  display.Text // what it ran with, or why it did not
}

// ruleLine is a display row: of a rule, or one of those below it.
type ruleLine struct {
	of   stream.Executor // noRule behind all
	head bool
	role screen.Role
	text display.Text
}

// NewExecutors makes the pane; lead goes to the moment of an event.
func NewExecutors(h Host, lead func(of stream.Ref, event int)) *Executors {
	return &Executors{host: h, lead: lead, open: noRule}
}

// Keys are those that move, and open a rule, or lead to the moment at which one that is open runs.
func (x *Executors) Keys() []screen.Binding {
	enter := screen.Binding{Keys: []string{"enter"}, Hint: display.Lit("enter open"), Does: display.Lit("who runs so, and with what; then: go there"), Do: x.enter}
	if x.open != noRule && x.rule() == x.open {
		enter.Hint = display.Lit("enter to that moment")
	}
	return append([]screen.Binding{
		helpHint, enter,
		copyHint, zoomHint, findHint, tabHint, back(x.host),
	}, moves(x.host, x.Steps(display.Text{}, x.MoveTo), x.End)...)
}

// rule is the executor that the cursor is at, or in whose lines it is.
func (x *Executors) rule() stream.Executor {
	if x.At < len(x.lines) {
		return x.lines[x.At].of
	}
	return noRule
}

// enter opens a rule; from one that is open it leads to its moment.
func (x *Executors) enter() {
	at := x.rule()
	switch {
	case at == noRule:
	case at != x.open:
		x.open = at
	case x.rules[at].Event == 0:
		x.host.Say(display.Lit("nothing makes it run: there is no such moment"))
	default:
		x.lead(x.of, x.rules[at].Event)
	}
}

// Told is what is to be said of a rule, in a sentence.
func (x *Executors) Told() (what display.Text, sentence []byte) {
	t, c := x.view.Find(x.of)
	if at := x.rule(); at != noRule && c != nil {
		return display.Lit("a sentence on this rule"), []byte(RunReport(x.view, t, c, at))
	}
	return what, nil
}

// Back closes the rule that is open.
func (x *Executors) Back() (closed bool) {
	closed = x.open != noRule
	x.open = noRule
	return closed
}

// Label is the name, and how many rules there are, in the colour of the gravest that not every call
// has which comes in pieces.
func (x *Executors) Label() Label {
	l := Label{Short: display.Lit("RUNS"), Role: x.worst}
	if len(x.rules) > 0 {
		l.Name, l.Count = display.Lit("WHEN CODE WOULD RUN"), screen.Count(len(x.rules))
	}
	return l
}

// Needs is a row for each line.
func (x *Executors) Needs() int { return len(x.lines) }

// GoTo selects a row.
func (x *Executors) GoTo(row int) { x.MoveTo(row) }

// Find are the rows that hold query.
func (x *Executors) Find(query string) (rows []int, cursor int) {
	if query == "" {
		return nil, x.At
	}
	n := newNeedle(query)
	for row, line := range x.lines {
		text := line.text.String()
		if line.head {
			r := &x.rules[line.of]
			text = line.of.String() + " " + r.Verdict.String() + " " + r.with.String()
		}
		if holds(n, text) {
			rows = append(rows, row)
		}
	}
	return rows, x.At
}

// Extend takes what is new for the choice.
func (x *Executors) Extend(s *Scene, w, h int) {
	c := s.Of()
	key := executorsKey{of: c.ref(), width: w, open: x.open}
	if c.Turn != nil {
		key.kept, key.closed, key.events = c.Turn.Kept, c.Turn.Closed(), c.Turn.Events
	}
	if c.Call != nil {
		key.size, key.phase = len(c.Call.Args()), c.Call.Phase()
	}
	if key.of != x.of {
		x.Window, x.open, key.open = screen.Window{}, noRule, noRule
	}
	if key != x.key || x.lines == nil || x.view != s.View {
		x.of, x.key, x.view = key.of, key, s.View
		x.make(s, c, w)
	}
	x.Fit(len(x.lines), titleRow, h)
}

// mostExecuted is how many tokens a call may have for its executors to be shown while it grows: one
// of them looks at all.
const mostExecuted = 4000

// make makes the rules and the lines.
func (x *Executors) make(s *Scene, c Choice, w int) {
	x.rules, x.lines, x.worst = nil, nil, screen.Muted
	if why := unruled(c); !why.Empty() {
		for _, line := range display.Wrap(why, max(w-2, 8)) {
			x.lines = append(x.lines, ruleLine{of: noRule, role: screen.Muted, text: line})
		}
		return
	}
	for e := range noRule {
		r := ruleOf(s.View, c, e, s.Pen)
		if x.rules = append(x.rules, r); r.alarm == screen.Bad {
			x.worst = screen.Bad
		}
		x.lines = append(x.lines, ruleLine{of: e, head: true})
		if e == x.open {
			x.detail(s, c, e, w)
		}
	}
	x.lines = append(x.lines, latencyLines(s, c, w)...)
}

// unruled says why no rule is shown, "" where all are.
func unruled(c Choice) display.Text {
	switch {
	case c.Call == nil:
		return display.Lit("no call is chosen")
	case c.Call.Server:
		return display.Lit("the provider runs it: no client decides when")
	case c.Call.Attempt:
		return display.Lit("the provider threw it away: nobody runs it")
	case c.Call.Status() == stream.Unseen:
		return display.Lit("not known: bytes of it were not seen")
	case c.Turn.Kept == stream.Dropped:
		return display.Lit("not kept")
	case c.Call.Size() != len(c.Call.Args()):
		return display.Lit("its arguments are being read again")
	case c.Call.Arriving() && c.Call.Lexer().Tokens().Len() > mostExecuted:
		return display.Lit("shown when it has ended: it is long")
	}
	return display.Text{}
}

// ruleOf is what comes of one executor.
func ruleOf(v *providers.View, c Choice, e stream.Executor, p *screen.Pen) rule {
	run := c.Call.Run(e)
	r := rule{Run: run, sign: display.Lit("  "), role: verdictRoles[run.Verdict], delta: -1}
	switch {
	case c.Call.Stopped():
		r.role = screen.Muted
	case run.Verdict == stream.RunWrong && (e == stream.AnyArgs || e == stream.Repaired):
		// so it is with every call that comes in pieces
		r.sign, r.alarm, r.role = p.Glyph.Severity[stream.Warn], screen.Caution, screen.Plain
	case run.Verdict >= stream.RunWrong && run.Verdict <= stream.RunBroken:
		r.sign, r.alarm = p.Glyph.Severity[stream.Error], screen.Bad
	}
	if run.Event > 0 {
		r.delta = lastDelta(c.Call, run)
		if at := screen.Time(screen.Since(c.Turn.OpenedAt, v.Begin(run.Event, 0).At)); !at.Empty() {
			r.at = at.Between("+", "")
		}
	}
	r.with = ranWith(c.Call, run, p)
	return r
}

// verdictRoles colour the words of verdicts; only what is safe to run is quiet, and not good: that
// nobody was tried with it proves nothing.
var verdictRoles = [...]screen.Role{
	stream.NotYet: screen.Muted, stream.Never: screen.Muted, stream.RunSafely: screen.Plain, stream.RunEarly: screen.Plain,
	stream.RunWrong: screen.Bad, stream.RunTwice: screen.Bad, stream.RunIncomplete: screen.Bad, stream.RunBroken: screen.Bad, stream.Refuses: screen.Muted,
}

// lastDelta is the last delta that there was when a call was run, -1 if none had brought anything.
func lastDelta(c *stream.Call, r stream.Run) int {
	if r.Bytes == 0 || r.Gone || c.Deltas() == 0 {
		return -1
	}
	return min(c.DeltaAt(r.Bytes-1), c.Deltas()-1)
}

// ranWith is what a call was run with, or what is wrong with that.
func ranWith(c *stream.Call, r stream.Run, p *screen.Pen) display.Text {
	switch {
	case r.Verdict == stream.Refuses:
		return p.Clean(noObject(c))
	case r.Event == 0:
		return display.Text{}
	case r.Gone:
		return display.Lit("a text that was replaced since")
	case r.Verdict == stream.RunBroken:
		return p.Format("%s, %s", screen.Bytes(r.Bytes), noObject(c))
	case r.Bytes == 0:
		return display.Lit("no arguments")
	}
	return p.CleanBytes(c.Args()[:min(r.Bytes, screen.MostName)])
}

// noObject says why arguments are not the object that they should be.
func noObject(c *stream.Call) string {
	switch c.Syntax() {
	case stream.SyntaxDouble:
		return "a string that holds JSON"
	case stream.SyntaxOther:
		return "no object"
	case stream.SyntaxConcat:
		return display.Format("%d objects", c.Lexer().Docs()).String()
	}
	if err := c.Lexer().Err(); err != nil {
		return display.Format("no JSON from byte %s", screen.Count(err.Offset)).String()
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

// Draw writes row y of the pane into the field.
func (x *Executors) Draw(p *screen.Pen, y int, focused bool) {
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
	p.Put(screen.Accent, g, mark)
	if !line.head {
		p.Put(line.role, g, line.text)
		p.Fill(g)
		return
	}
	x.drawRule(p, line.of, g)
	p.Fill(g)
}

// drawRule writes a rule: how grave, its name, what comes of it, when, and with what.
func (x *Executors) drawRule(p *screen.Pen, e stream.Executor, g screen.Ground) {
	r, narrow := &x.rules[e], p.Left < 59
	p.Put(r.alarm, g, r.sign.Between("", " "))
	p.Put(screen.Plain, g, p.Pad(p.Clean(e.String()), ruleName).Between("", "  "))
	verdict, delta := p.Clean(r.Verdict.String()), display.Text{}
	if r.delta >= 0 {
		delta = deltaName(p.Drawer, r.delta)
	}
	if narrow {
		p.Put(r.role, g, p.Pad(verdict, ruleVerdict))
		p.Put(screen.Muted, g, delta.Between("", " "))
	} else {
		p.Put(r.role, g, p.Pad(verdict, ruleVerdict).Between("", "  "))
		p.Put(screen.Muted, g, p.Format("%s  %s  ", p.Pad(delta, ruleDelta), p.Pad(r.at, ruleTime)))
	}
	p.Put(screen.StringToken, g, r.with)
}
