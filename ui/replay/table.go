package replay

import (
	"toolscope/providers/replay"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Widths of the table's columns, in cells. The gutter comes before them.
const (
	gutter      = 4
	formColumn  = 8
	knownColumn = 12
	minOutcome  = 13 // a sign and "verbatim"
	proofColumn = 15 // "accepted rule"
	wordColumn  = 10 // "accepted"
	maxName     = 20
	minName     = 15
	minLosses   = 13
)

// tableColumns are the widths of the columns, 0 for a hidden one. The losses get the remaining width.
type tableColumns struct{ name, as, goes, taken, lost int }

// columnWidths returns the widths for a table with the given width. If there is too little room, the form
// of the arguments is hidden first, then the losses. The losses of the cursor's row are also below the
// table.
func (m *replayMode) columnWidths(width int) (c tableColumns) {
	for n := range m.Rows {
		c.name = max(c.name, display.Clean(m.rowName(n)).Width()+2)
		if v := m.rowVerdict(n); v != nil {
			c.goes = max(c.goes, len(v.outcomeWord())+5)
		}
	}
	c.name, c.goes, c.taken = min(c.name, maxName), max(c.goes, minOutcome), proofColumn
	if c.as = formColumn; m.policies {
		c.as = knownColumn
	}
	left := width - gutter - c.name - c.goes - c.taken
	if c.lost = left - c.as; c.lost < minLosses+minLosses/2 {
		c.as, c.lost = 0, left
	}
	if c.lost < minLosses {
		c.name = max(min(c.name, minName), c.name+c.lost-minLosses)
		c.lost = width - gutter - c.name - c.goes - c.taken
	}
	if c.lost < minLosses/2 {
		c.lost, c.taken = 0, wordColumn
		c.name = max(8, min(c.name, width-gutter-c.goes-c.taken))
	}
	return c
}

// rowName returns the name of a row's target or policy, which is always ASCII.
func (m *replayMode) rowName(n int) string {
	if m.policies {
		return replay.Policies[n].Name
	}
	return m.targets[n].Name
}

// asWord returns the form of arguments of a row's target, or how the effect of its policy is known.
func (m *replayMode) asWord(n int) string {
	if !m.policies {
		return m.targets[n].Form.String()
	}
	if p := &replay.Policies[n]; p.Client != nil {
		return knownWords[p.Known]
	}
	return "behaviour"
}

// knownWords say how the effect of a client is known.
var knownWords = [...]string{"ran", "read", "documented"}

// drawHeads writes the titles of the columns.
func (m *replayMode) drawHeads(p *screen.Pen, plan bodyLayout) {
	c := m.columnWidths(plan.tableW)
	title, as, goes := "target", "args", "outcome"
	if m.policies {
		title, as = "client", "known"
	}
	if c.as == 0 {
		goes = "outcome"
	}
	p.Spaces(screen.Bare, gutter)
	for _, head := range []struct {
		word  string
		cells int
	}{{title, c.name}, {as, c.as}, {goes, c.goes}, {"provider", c.taken}, {"lost", c.lost}} {
		if head.cells > 0 {
			p.Text(screen.Muted, p.Pad(display.Clean(head.word), min(head.cells, p.Left)))
		}
	}
}

// drawRow writes row n of the table.
func (m *replayMode) drawRow(p *screen.Pen, n int) {
	if n >= m.Rows {
		return
	}
	c, g, v := m.columnWidths(p.Left), screen.Bare, m.rowVerdict(n)
	if n == m.At {
		g = screen.Selected
	}
	worst := noSeverity
	if v != nil {
		worst = v.worst
	}
	drawGutter(p, g, n == m.At, worst)
	p.TextOn(screen.Plain, g, p.Pad(p.Truncate(p.Clean(m.rowName(n)), c.name-1), c.name))
	if c.as > 0 {
		p.TextOn(screen.Muted, g, p.Pad(p.Clean(m.asWord(n)), c.as))
	}
	if v == nil {
		p.TextOn(screen.Muted, g, display.Lit("..."))
		p.Fill(g)
		return
	}
	p.TextOn(screen.SideRoles[v.side], g, p.Pad(display.Join(p.Glyph.Side[v.side], display.Lit(" "), p.Clean(v.outcomeWord())), min(c.goes, p.Left)))
	taken := takenWords(p, v.taken, c.taken)
	if v.mute {
		taken = display.Lit("not used")
	}
	p.TextOn(screen.VerdictRoles[v.taken.Verdict], g, p.Pad(taken, min(c.taken, p.Left)))
	if c.lost > 0 {
		drawLosses(p, g, v)
	}
	p.Fill(g)
}

// takenWords says whether the provider accepts the request and, if there is room, how that is known.
func takenWords(p *screen.Pen, a replay.Acceptance, cells int) display.Text {
	if cells < proofColumn || a.By == replay.NoProof {
		return p.Clean(a.Verdict.String())
	}
	return p.Format("%-8s %s", a.Verdict, a.By)
}

// drawGutter writes the cursor and the sign of the row's severity.
func drawGutter(p *screen.Pen, g screen.Surface, cursor bool, worst rowSeverity) {
	mark := display.Lit(" ")
	if cursor {
		mark = p.Glyph.Mark
	}
	p.TextOn(screen.Accent, g, mark)
	p.TextOn(worst.role(), g, p.Clean(worst.sign()).Between("", " "))
}

// drawLosses writes the reason of a refusal, or the worst loss if its severity is high or critical. It
// also counts the other losses.
func drawLosses(p *screen.Pen, g screen.Surface, v *verdict) {
	switch {
	case v.refused != "" && (len(v.losses) == 0 || v.losses[0].severity < replay.High):
		p.TextOn(screen.Bad, g, p.Truncate(p.Name(v.refused).Between(`"`, `"`), p.Left-1))
		return
	case len(v.losses) == 0:
		p.TextOn(screen.Muted, g, p.Glyph.None)
		return
	}
	worst, after := v.losses[0], display.Text{}
	text := p.Clean(worst.code)
	if worst.other != "" {
		text = display.Join(text, display.Lit(" "), p.Clean(worst.other))
	}
	if worst.times > 1 {
		text = display.Join(text, p.Format(" x%s", screen.Count(worst.times)))
	}
	if n := len(v.losses) - 1; n > 0 {
		after = p.Format(" +%d", n)
	}
	p.TextOn(screen.LossRoles[worst.severity], g, display.Join(p.Truncate(text, max(p.Left-after.Width(), 0)), after))
}

// rowVerdict returns the preview of row n, nil until it is made.
func (m *replayMode) rowVerdict(n int) *verdict {
	if m.table == nil || !m.table.key.canShowFor(m.rowsWanted) || n >= len(m.table.rows) {
		return nil
	}
	return &m.table.rows[n]
}

// currentPage returns the page to show, nil until it is made.
func (m *replayMode) currentPage() *page {
	if m.page != nil && m.page.key.canShowFor(m.cellWanted) {
		return m.page
	}
	return nil
}
