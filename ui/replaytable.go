package ui

import (
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
)

// outcomeRoles is the colour of each outcome; the glyph and the word say the same.
var outcomeRoles = [...]role{
	replay.Verbatim: good, replay.AssumedEmpty: good, replay.Parsed: good, replay.Reformatted: caution, replay.Wrapped: caution,
	replay.Repaired: caution, replay.Emptied: bad, replay.Dropped: bad, replay.Rejected: bad, replay.Unknown: caution,
}

// Widths of the table's columns, in cells.
const (
	outcomeColumn  = 17 // a glyph and the longest word
	formColumn     = 9
	severityColumn = 10
	mostNameColumn = 22
	countWidth     = 4  // a sign and a number of losses
	leastLosses    = 24 // cells for losses that a column in front of them leaves free
)

// tableColumns are the widths of the columns, 0 for one that is not shown. What
// is left is for losses.
type tableColumns struct{ name, form, severity int }

// columns are those of a table of so many cells.
func (r *replayView) columns(width int) (c tableColumns) {
	for n := range r.rows {
		c.name = max(c.name, display.Clean(r.rowName(n)).Width()+2)
	}
	c.name = min(c.name, mostNameColumn)
	left := width - 2 - c.name - outcomeColumn
	if left < countWidth {
		c.name = max(8, c.name+left-countWidth)
	}
	if left -= formColumn; left >= leastLosses && !r.policies {
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
func (r *replayView) rowName(n int) string {
	if r.policies {
		return replay.Policies[n].Name
	}
	return r.targets[n].Name
}

// drawHeads writes the titles of the columns.
func (r *replayView) drawHeads(p *pen, plan replayPlan) {
	c := r.columns(plan.tableW)
	title := "  target"
	if r.policies {
		title = "  policy"
	}
	p.say(muted, p.draw.Format("%-*s", c.name+2, title))
	if c.form > 0 {
		p.say(muted, p.draw.Format("%-*s", c.form, "sent as"))
	}
	p.say(muted, p.draw.Format("%-*s", outcomeColumn, "outcome"))
	p.say(muted, display.Lit("losses"))
	if r.rows > plan.table {
		p.tail(muted, bare, p.draw.Format(" %d to %d of %d ", r.top+1, min(r.rows, r.top+plan.table), r.rows))
	}
}

// drawRow writes row n of the table.
func (r *replayView) drawRow(p *pen, n int) {
	if n >= r.rows {
		return
	}
	c := r.columns(p.left)
	g, mark := bare, display.Lit("  ")
	if n == r.at {
		g, mark = selected, p.glyph.mark.Between("", " ")
	}
	p.put(accent, g, mark)
	p.put(plain, g, p.draw.Pad(p.draw.Clean(r.rowName(n)), c.name-1).Between("", " "))
	if c.form > 0 {
		p.put(muted, g, p.draw.Format("%-*s", c.form, r.targets[n].Form))
	}
	if v := r.verdict(n); v == nil {
		p.put(muted, g, display.Lit("..."))
	} else {
		word := display.Join(p.glyph.outcome[v.outcome], display.Lit(" "), p.draw.Clean(v.outcome.String()))
		p.put(outcomeRoles[v.outcome], g, p.draw.Pad(word, min(outcomeColumn-1, p.left)))
		p.spaces(g, 1)
		drawLosses(p, g, v, c.severity)
	}
	p.fill(g)
}

// verdict is what is known for row n, nil while it is being made.
func (r *replayView) verdict(n int) *verdict {
	if r.table == nil || !r.table.key.answers(r.rowsWanted) || n >= len(r.table.rows) {
		return nil
	}
	return &r.table.rows[n]
}

// drawLosses writes the worst severity, and as many codes as fit; or else why it
// is refused.
func drawLosses(p *pen, g ground, v *verdict, severity int) {
	losses := v.losses
	switch {
	case len(losses) == 0 && v.refused != "" && p.left >= leastLosses:
		p.put(bad, g, p.draw.Truncate(p.clean(v.refused), p.left-1))
		return
	case len(losses) == 0:
		p.put(muted, g, p.glyph.none)
		return
	}
	worst, word, sign := lossRoles[losses[0].severity], losses[0].severity.String(), p.glyph.severity[lossFindings[losses[0].severity]]
	if v.refused != "" && v.outcome != replay.Rejected { // the calls are fine, the request is not
		worst, word, sign = bad, "refused", p.glyph.outcome[replay.Rejected]
	}
	if p.left < leastLosses {
		drawCount(p, g, len(losses), worst, sign, word)
		return
	}
	if severity > 0 {
		p.put(worst, g, p.draw.Format("%-*s", severity, word))
	}
	for i, l := range losses {
		text, after := p.draw.Clean(l.code), display.Text{}
		if l.times > 1 {
			text = display.Join(text, p.draw.Format(" x%s", commas(l.times)))
		}
		if i > 0 {
			text = display.Join(display.Lit(" "), p.glyph.dot, display.Lit(" "), text)
		}
		if n := len(losses) - i - 1; n > 0 {
			after = p.draw.Format(" +%d", n)
		}
		if display.Join(text, after).Width() > p.left {
			if i > 0 {
				p.put(muted, g, p.draw.Format(" +%d", len(losses)-i))
				return
			}
			text = p.draw.Truncate(text, p.left-after.Width())
		}
		p.put(lossRoles[l.severity], g, text)
	}
}

// drawCount writes how many losses there are where codes have no place.
func drawCount(p *pen, g ground, n int, r role, sign display.Text, word string) {
	text := p.draw.Format("%s %d", sign, n)
	if whole := display.Join(text, display.Lit(" "), p.draw.Clean(word)); whole.Width() <= p.left {
		text = whole
	}
	p.put(r, g, text)
}

// lossFindings is the severity of findings whose sign a loss has.
var lossFindings = [...]stream.Severity{
	replay.Info: stream.Info, replay.Low: stream.Info, replay.Medium: stream.Warn, replay.High: stream.Error, replay.Critical: stream.Error,
}

// drawNote writes row y of what is known to be lost.
func (r *replayView) drawNote(p *pen, plan replayPlan, y int) {
	room := plan.notes
	if room >= noteCaption {
		if y == 0 {
			p.field(plan.tableW)
			drawCaption(p, muted, p.draw.Clean(lostFace.String()))
			return
		}
		y, room = y-1, room-1
	}
	page := r.current()
	switch {
	case page == nil || y >= len(page.notes) || y >= room:
	case y == room-1 && len(page.notes) > room:
		p.say(muted, p.draw.Format(" +%s: enter, then h", plural(len(page.notes)-y, "line")))
	default:
		p.spaces(bare, 1)
		p.put(page.notes[y].role, bare, page.notes[y].text)
	}
}

// current is the page to show, nil while it is being made.
func (r *replayView) current() *page {
	if r.page != nil && r.page.key.answers(r.cellWanted) {
		return r.page
	}
	return nil
}
