package replay

import (
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// pageSection is one text of a page.
type pageSection uint8

const (
	sentSection pageSection = iota
	wroteSection
	lossSection
	numSections
)

func (f pageSection) String() string {
	return [numSections]string{"would be sent", "the model wrote", "what is lost"}[f]
}

// drawPanes writes row y of the two panes: the body that would be sent, and the arguments that the model
// wrote.
func (m *replayMode) drawPanes(p *screen.Pen, plan bodyLayout, y int) {
	for i, f := range []pageSection{sentSection, wroteSection} {
		if i > 0 {
			p.Field(1)
			rule := p.Glyph.Rule
			if y == 0 {
				rule = p.Glyph.Tee
			}
			p.Text(screen.Muted, rule)
		}
		width := [...]int{plan.sentW, plan.wroteW}[i]
		p.Field(width)
		if y == 0 {
			p.Caption(screen.Accent, m.sectionCaption(f), m.sectionSizes(f)...)
			continue
		}
		m.drawSheet(p, f, y-1, plan.panes-1)
		p.Fill(screen.Bare)
	}
}

// sectionCaption returns the title of a section.
func (m *replayMode) sectionCaption(f pageSection) display.Text {
	if f != sentSection {
		return display.Clean(f.String())
	}
	return m.draw.Format("sent to %s", m.targets[m.to].Name)
}

// sectionSizes describes the size of a section, the longest form first.
func (m *replayMode) sectionSizes(f pageSection) []display.Text {
	page := m.currentPage()
	if page == nil || f == lossSection {
		return nil
	}
	if f == sentSection && page.body == nil {
		return []display.Text{page.noBodyText()}
	}
	if f == wroteSection {
		all := screen.Bytes(page.size)
		switch {
		case page.unsent == 0:
			return []display.Text{all}
		case page.unsent == page.size:
			return []display.Text{all.Between("", ", none sent"), all}
		}
		gone := screen.Bytes(page.unsent)
		return []display.Text{display.Format("%s, %s changed or not sent", all, gone), display.Format("%s, %s changed", all, gone), all}
	}
	all, added := screen.Bytes(len(page.body)), screen.Bytes(page.added)
	long := display.Join(all, display.Lit(" in "), screen.Plural(page.messages, "message"))
	if page.added == 0 {
		return []display.Text{long, all}
	}
	return []display.Text{display.Format("%s, %s new or moved", long, added), display.Format("%s, %s new", all, added), all}
}

// resizeSections sets the sizes of the visible sections. A section that was not shown before is scrolled
// to its first difference.
func (m *replayMode) resizeSections() {
	plan := m.layoutBody()
	m.Fit(m.Rows, plan.head+plan.heads, plan.head+plan.heads+plan.table)
	page := m.currentPage()
	if page == nil {
		return
	}
	shown, h := []pageSection{sentSection, wroteSection}, plan.panes-1
	switch {
	case m.full:
		shown, h = []pageSection{m.section}, m.h-sectionHeadRows
	case plan.panes == 0:
		return
	}
	for _, f := range shown {
		w, rows, look := &m.sections[f], len(page.notes), 0
		if s := page.sectionSheet(f); s != nil {
			rows, look = s.Rows, s.LookRow()
		}
		if w.Height == 0 && look >= h-1 {
			w.Top = look - h/3
		}
		w.Rows, w.Height = rows, h
		w.Scroll(w.Top)
	}
}

// sectionSheet returns the text of a section, nil for the losses.
func (p *page) sectionSheet(f pageSection) *panes.TextSheet {
	return [numSections]*panes.TextSheet{sentSection: &p.sent, wroteSection: &p.wrote}[f]
}

// drawSheet writes row y of h of the body or of the arguments. The first and the last row count the lines
// that are out of view.
func (m *replayMode) drawSheet(p *screen.Pen, f pageSection, y, h int) {
	page := m.currentPage()
	p.Spaces(screen.Bare, 1)
	if page == nil {
		if y == 0 {
			p.Text(screen.Muted, display.Lit("..."))
		}
		return
	}
	s, marked := page.sectionSheet(f), [...]screen.Surface{sentSection: screen.Added, wroteSection: screen.Removed}[f]
	if s.Rows == 0 && y == 0 {
		p.TextOn(screen.Muted, screen.Bare, [...]display.Text{sentSection: page.noBodyText(), wroteSection: display.Lit("no argument bytes")}[f])
	}
	above := m.sections[f].Top
	below := s.Rows - above - h
	switch {
	case m.full, y > 0 && y < h-1, y == 0 && above == 0, y == h-1 && below <= 0:
		s.Draw(p, above+y, marked)
	case y == 0:
		p.Text(screen.Muted, p.Format("(%s above)", screen.Plural(above+1, "line")))
	default:
		p.Text(screen.Muted, p.Format("(%s below)", screen.Plural(below+1, "line")))
	}
}

// sectionHeadRows is the number of rows above a section that fills the screen.
const sectionHeadRows = 2

// drawFull writes row y of the section that fills the screen.
func (m *replayMode) drawFull(p *screen.Pen, y int) {
	switch {
	case y == 0:
		m.drawSectionTitles(p)
	case y == 1:
		m.drawWhat(p)
	case m.section == lossSection:
		m.drawNotes(p, y-sectionHeadRows)
	default:
		m.drawSheet(p, m.section, y-sectionHeadRows, m.h-sectionHeadRows)
	}
}

// drawSectionTitles writes the titles of all sections, or only of the shown one if the others don't fit.
func (m *replayMode) drawSectionTitles(p *screen.Pen) {
	w := m.sections[m.section]
	right := p.Format(" %s to %s of %s ", screen.Count(min(w.Top+1, w.Rows)), screen.Count(min(w.Rows, w.Top+w.Height)), screen.Count(w.Rows))
	all := p.Left > 64+right.Width()
	for f := range numSections {
		if f == m.section {
			p.Text(screen.Accent, display.Join(display.Lit(" "), p.Glyph.Mark, p.Clean(f.String()), display.Lit("  ")))
		} else if all {
			p.Text(screen.Muted, p.Clean(f.String()).Between("  ", "  "))
		}
	}
	if w.Rows > w.Height {
		p.Right(screen.Muted, screen.Bare, right)
	}
}

// drawWhat writes the target, the policy and the size of the section.
func (m *replayMode) drawWhat(p *screen.Pen) {
	p.TextOn(screen.Plain, screen.Bare, p.Truncate(p.Format("  to %s, as %s", m.targets[m.to].Name, m.policyName()), p.Left))
	for _, size := range m.sectionSizes(m.section) {
		if size.Width()+3 < p.Left {
			p.TextOn(screen.Muted, screen.Bare, size.Between("   ", ""))
			break
		}
	}
}

// drawNotes writes row y of all losses.
func (m *replayMode) drawNotes(p *screen.Pen, y int) {
	page := m.currentPage()
	if page == nil {
		return
	}
	if n := m.sections[lossSection].Top + y; n < len(page.notes) {
		p.Spaces(screen.Bare, 1)
		p.TextOn(page.notes[n].Role, screen.Bare, page.notes[n].Text)
	}
}
