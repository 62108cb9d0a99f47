package ui

import (
	"slices"

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
	gap  int // rows from one entry to the next
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

// footRows returns the number of rows below the list.
func (s *summary) footRows(h int) int {
	if h > len(s.rows)+1 {
		return 2
	}
	return 1
}

// Keys returns the keys that go to a scene, restart or leave the demo, and move the cursor.
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

// showSelected shows the selected scene. The tour then waits for the user to continue it.
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

// drawRow draws a scene: its severity, its number, its call's state and name, and its text.
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

// Widths of the summary's columns, the minimum screen width for the state column, and the minimum width left
// in a row before the name of the call is drawn.
const (
	summaryState = 12
	summaryName  = 15
	summaryWide  = 72
	summaryNamed = 40
)
