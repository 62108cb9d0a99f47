package replay

import (
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// Widths of the table's columns, in cells.
const (
	outcomeColumn  = 17 // a glyph and the longest word
	formColumn     = 9
	severityColumn = 10
	mostNameColumn = 22
	countWidth     = 4  // a sign and a number of losses
	leastLosses    = 24 // cells for losses that a column in front of them leaves free
)

// tableColumns are the widths of the columns, 0 for one that is not shown. What is left is for
// losses.
type tableColumns struct{ name, form, severity int }

// columns are those of a table of so many cells.
func (m *mode) columns(width int) (c tableColumns) {
	for n := range m.Rows {
		c.name = max(c.name, display.Clean(m.rowName(n)).Width()+2)
	}
	c.name = min(c.name, mostNameColumn)
	left := width - 2 - c.name - outcomeColumn
	if left < countWidth {
		c.name = max(8, c.name+left-countWidth)
	}
	if left -= formColumn; left >= leastLosses && !m.policies {
		c.form = formColumn
	} else {
		left += formColumn
	}
	if left -= severityColumn; left >= leastLosses {
		c.severity = severityColumn
	}
	return c
}

// rowName is the target or policy of a row: names of ours, all ASCII.
func (m *mode) rowName(n int) string {
	if m.policies {
		return replay.Policies[n].Name
	}
	return m.targets[n].Name
}

// drawHeads writes the titles of the columns.
func (m *mode) drawHeads(p *screen.Pen, plan plan) {
	c := m.columns(plan.tableW)
	title := "  target"
	if m.policies {
		title = "  policy"
	}
	p.Say(screen.Muted, p.Format("%-*s", c.name+2, title))
	if c.form > 0 {
		p.Say(screen.Muted, p.Format("%-*s", c.form, "sent as"))
	}
	p.Say(screen.Muted, p.Format("%-*s", outcomeColumn, "outcome"))
	p.Say(screen.Muted, display.Lit("losses"))
	if m.Rows > plan.table {
		p.Tail(screen.Muted, screen.Bare, p.Format(" %d to %d of %d ", m.Top+1, min(m.Rows, m.Top+plan.table), m.Rows))
	}
}

// drawRow writes row n of the table.
func (m *mode) drawRow(p *screen.Pen, n int) {
	if n >= m.Rows {
		return
	}
	c := m.columns(p.Left)
	g, mark := screen.Bare, display.Lit("  ")
	if n == m.At {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	p.Put(screen.Accent, g, mark)
	p.Put(screen.Plain, g, p.Pad(p.Clean(m.rowName(n)), c.name-1).Between("", " "))
	if c.form > 0 {
		p.Put(screen.Muted, g, p.Format("%-*s", c.form, m.targets[n].Form))
	}
	if v := m.verdict(n); v == nil {
		p.Put(screen.Muted, g, display.Lit("..."))
	} else {
		side := screen.OutcomeSides[v.outcome]
		word := display.Join(p.Glyph.Side[side], p.Clean(v.outcome.String()))
		p.Put(screen.SideRoles[side], g, p.Pad(word, min(outcomeColumn-1, p.Left)))
		p.Spaces(g, 1)
		drawLosses(p, g, v, c.severity)
	}
	p.Fill(g)
}

// verdict is what is known for row n, nil while it is being made.
func (m *mode) verdict(n int) *verdict {
	if m.table == nil || !m.table.key.answers(m.rowsWanted) || n >= len(m.table.rows) {
		return nil
	}
	return &m.table.rows[n]
}

// drawLosses writes the worst severity, and as many codes as fit; or else why it is refused.
func drawLosses(p *screen.Pen, g screen.Ground, v *verdict, severity int) {
	losses := v.losses
	switch {
	case len(losses) == 0 && v.refused != "" && p.Left >= leastLosses:
		p.Put(screen.Bad, g, p.Truncate(p.Name(v.refused), p.Left-1))
		return
	case len(losses) == 0:
		p.Put(screen.Muted, g, p.Glyph.None)
		return
	}
	worst, word, sign := screen.LossRoles[losses[0].severity], losses[0].severity.String(), p.Glyph.Severity[screen.LossFindings[losses[0].severity]]
	if v.refused != "" {
		worst, word, sign = screen.Bad, "refused", p.Glyph.Status[stream.Rejected]
	}
	if p.Left < leastLosses {
		drawCount(p, g, len(losses), worst, sign, word)
		return
	}
	if severity > 0 {
		p.Put(worst, g, p.Format("%-*s", severity, word))
	}
	for i, l := range losses {
		text, after := p.Clean(l.code), display.Text{}
		if l.times > 1 {
			text = display.Join(text, p.Format(" x%s", screen.Count(l.times)))
		}
		if i > 0 {
			text = display.Join(display.Lit(" "), p.Glyph.Dot, display.Lit(" "), text)
		}
		if n := len(losses) - i - 1; n > 0 {
			after = p.Format(" +%d", n)
		}
		if display.Join(text, after).Width() > p.Left {
			if i > 0 {
				p.Put(screen.Muted, g, p.Format(" +%d", len(losses)-i))
				return
			}
			text = p.Truncate(text, p.Left-after.Width())
		}
		p.Put(screen.LossRoles[l.severity], g, text)
	}
}

// drawCount writes how many losses there are where codes have no place.
func drawCount(p *screen.Pen, g screen.Ground, n int, r screen.Role, sign display.Text, word string) {
	text := p.Format("%s %d", sign, n)
	if whole := display.Join(text, display.Lit(" "), p.Clean(word)); whole.Width() <= p.Left {
		text = whole
	}
	p.Put(r, g, text)
}

// drawNote writes row y of what is known to be lost.
func (m *mode) drawNote(p *screen.Pen, plan plan, y int) {
	var notes []panes.Note
	if page := m.current(); page != nil {
		notes = page.notes
	}
	panes.DrawNotes(p, notes, y, plan.notes, display.Lit(": enter, then h"))
}

// current is the page to show, nil while it is being made.
func (m *mode) current() *page {
	if m.page != nil && m.page.key.answers(m.cellWanted) {
		return m.page
	}
	return nil
}
