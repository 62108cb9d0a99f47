package ui

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// summary is the last page of the demo: a list of its scenes, failures first.
type summary struct {
	screen.Window
	m    *Model
	rows []summaryRow
	gap  int // rows between two entries
}

// summaryRow is a scene in the summary.
type summaryRow struct {
	claim int
	summaryText
	severity stream.Severity
	call     *stream.Call
}

func newSummary(m *Model) *summary { return &summary{m: m} }

// Extend updates the subjects of the scenes.
func (s *summary) Extend(v *providers.View, _, h int) {
	s.rows = s.rows[:0]
	for i, c := range tourScenes {
		if a, ok := c.of.subjectIn(v); ok && c.summary != nil {
			row := summaryRow{claim: i, summaryText: c.summary(a), call: a.call}
			if f := a.findingWithCode(row.found); f != nil {
				row.severity = f.Severity
			}
			s.rows = append(s.rows, row)
		}
	}
	slices.SortStableFunc(s.rows, func(a, b summaryRow) int { return int(b.severity) - int(a.severity) })
	s.gap = 1
	if s.m.large && 2*len(s.rows) < h {
		s.gap = 2
	}
	s.Resize(len(s.rows), max(1, (h-s.footRows(h))/s.gap))
}

// footRows returns how many rows are below the list.
func (s *summary) footRows(h int) int {
	if h > len(s.rows)+1 {
		return 2
	}
	return 1
}

// Keys returns the keys that go back to a scene, or leave the demo.
func (s *summary) Keys() []screen.Binding {
	m := s.m
	keys := append([]screen.Binding{
		screen.Can("help")[0],
		screen.Key("enter", "show scene", "show scene", s.showSelected),
		m.tour.restartKey(),
		screen.Key(":", "commands", "", nil),
		screen.Key("q", "quit", "quit", func() { m.quitOrAsk(tea.Quit) }),
		screen.Key("esc", "explore", "explore the demo", m.tour.exploreDemo),
	}, m.tour.sceneKeys()...)
	return append(keys, s.CursorKeys("", s.MoveTo)...)
}

// showSelected shows the selected scene. The tour continues only when the user presses space.
func (s *summary) showSelected() {
	if s.At < len(s.rows) {
		s.m.tour.waits = true
		s.m.tour.showScene(s.rows[s.At].claim)
	}
}

// Draw draws row y: a scene, or the commands that open the user's own data.
func (s *summary) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	switch h := s.m.bodyHeight(); {
	case y == h-1:
		yours := display.Lit(" Now try: toolscope FILE   toolscope -f LOG   toolscope proxy")
		if yours.Width() > p.Left {
			yours = display.Lit(" Now try: toolscope FILE, or proxy")
		}
		p.Text(screen.Accent, yours)
	case y%s.gap == 0 && y/s.gap < s.Height && s.Top+y/s.gap < len(s.rows):
		row := s.Top + y/s.gap
		s.drawRow(p, s.rows[row], row == s.At)
	}
}

// drawRow draws a scene: its severity, number, the state and name of its call, and its text.
func (s *summary) drawRow(p *screen.Pen, r summaryRow, chosen bool) {
	g, narrow := screen.Bare, p.Left < summaryWide
	if chosen {
		g = screen.Selected
	}
	sign := display.Lit("  ")
	if r.severity > stream.Info {
		sign = p.Glyph.Severity[r.severity]
	}
	p.TextOn(screen.SeverityRoles[r.severity], g, sign)
	p.TextOn(screen.Muted, g, p.Format("%3d  ", r.claim+1))
	glyph, state, role := p.Glyph.Status[r.call.Status()], p.Clean(r.call.Status().String()), screen.CallRole(r.call)
	if !r.state.Empty() {
		glyph, state, role = p.Truncate(p.Glyph.Side[r.side], 2), r.state, screen.SideRoles[r.side]
		if r.severity >= stream.Error {
			role = screen.Bad
		}
	}
	if p.TextOn(role, g, p.Pad(glyph, 2)); !narrow {
		p.TextOn(role, g, p.Pad(state, summaryState))
	}
	name := p.Name(r.call.Name)
	if !r.name.Empty() {
		name = r.name
	}
	if p.Left >= summaryNamed {
		p.TextOn(screen.Plain, g, p.Pad(name, summaryName))
	}
	p.TextOn(screen.Plain, g, r.words)
	p.Fill(g)
}

// Columns of the summary, the minimum width for the state column, and the minimum rest of a row with names.
const (
	summaryState = 12
	summaryName  = 15
	summaryWide  = 72
	summaryNamed = 40
)

// sortedTurns is the mode that lists the shown turns in another order. Later turns are added only when the
// user sorts again.
type sortedTurns struct {
	screen.Window
	m     *Model
	by    sortKey
	turns []stream.Ref
	since int // number of turns at the last sort
}

// sortKey is a sort order of turns, with the greatest first.
type sortKey struct {
	word string
	of   func(*Model, *stream.Turn) float64
}

var orders = []sortKey{
	{"cost", func(m *Model, t *stream.Turn) float64 { return m.bill.CostOf(t).USD }},
	{"took", func(_ *Model, t *stream.Turn) float64 { return float64(screen.Elapsed(t.OpenedAt, t.ClosedAt)) }},
	{"bytes", func(_ *Model, t *stream.Turn) (size float64) {
		for _, c := range t.Calls {
			size += float64(c.ArgsLen())
		}
		return size
	}},
	{"start", func(_ *Model, t *stream.Turn) float64 { return float64(t.OpenedAt) }},
}

// openSorted sorts by arg, or lists the possible orders.
func (m *Model) openSorted(arg string) {
	i := slices.IndexFunc(orders, func(o sortKey) bool { return arg != "" && strings.HasPrefix(o.word, arg) })
	if arg == "" {
		m.showNotice(display.Lit("sort by what? cost, took, bytes or start"))
		return
	}
	if i < 0 {
		m.showNotice(m.draw.Format("sort by %q? cost, took, bytes or start", arg))
		return
	}
	s := &sortedTurns{m: m, by: orders[i]}
	s.sort()
	m.modeStack.pushMode(s)
}

func (s *sortedTurns) sort() {
	type valued struct {
		of stream.Ref
		is float64
	}
	var all []valued
	turns := s.m.view.Session().Turns
	for _, t := range turns {
		if s.m.turnFilter.Shows(t) {
			all = append(all, valued{t.Ref(), s.by.of(s.m, t)})
		}
	}
	slices.SortStableFunc(all, func(a, b valued) int { return cmp.Compare(b.is, a.is) })
	s.turns, s.since = s.turns[:0], s.m.pinned.turnCount()
	for _, v := range all {
		s.turns = append(s.turns, v.of)
	}
}

func (s *sortedTurns) Keys() []screen.Binding {
	return append([]screen.Binding{
		screen.Key("enter", "go there", "go to the turn", s.goToSelected),
		screen.Key("s", "sort again", "sort again with new turns", s.sort),
		screen.Key("esc q", "back", "close", s.m.modeStack.closeTop),
	}, s.CursorKeys("row", s.MoveTo)...)
}

func (s *sortedTurns) goToSelected() {
	if s.At < len(s.turns) {
		s.m.modeStack.closeTop()
		modeHost{s.m}.Choose(s.turns[s.At])
	}
}

func (s *sortedTurns) Extend(_ *providers.View, _, h int) { s.Fit(len(s.turns), 1, h) }

func (s *sortedTurns) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		p.Text(screen.Accent, p.Format(" TURNS %s", screen.Count(len(s.turns))))
		p.Text(screen.Plain, p.Format("  by %s", s.by.word))
		if n := s.m.pinned.turnCount() - s.since; n > 0 {
			p.Text(screen.Muted, p.Format("  %s new: s", screen.Count(n)))
		}
		p.Right(screen.Muted, screen.Bare, display.Lit("a sorted copy: the list keeps its order "))
		return
	}
	if n := s.Top + y - 1; n < len(s.turns) {
		if t, _ := s.m.view.Find(s.turns[n]); t != nil {
			s.m.list.DrawTurn(p, t, n == s.At)
		}
	}
}
