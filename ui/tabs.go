package ui

import (
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// turnToKey is what the key of a pane does: it leads there. That of a tab opens it, and closes it again.
func (m *Model) turnToKey(p placedPane) {
	if t, ok := p.Pane.(panes.Tab); ok && m.focus == t && (m.zoom || len(m.paneColumns()) < 3) {
		m.closeTab()
		m.keepTabs()
		m.refreshPanes()
		return
	}
	m.focusOn(p.Pane)
	if m.focus == m.below {
		m.keepTabs()
	}
}

// tabName is a tab as the row of tabs names it.
type tabName struct {
	panes.Label
	pane panes.Pane
	open bool
}

// text is the name of the tab, without the count.
func (n tabName) text(short bool) display.Text {
	if n.Name.Empty() || short && !n.Short.Empty() {
		return n.Short
	}
	return n.Name
}

func (n tabName) width(short bool) int {
	width := n.text(short).Width() + 2
	if n.open {
		width++ // two brackets, and one blank before them
	}
	if !n.Count.Empty() {
		width += 1 + n.Count.Width()
	}
	return width
}

// namesOf are the tabs of a slot that are named in so many cells, and whether in short. The last go
// first, the open one never.
func namesOf(s paneSlot, cells int) (names []tabName, short bool) {
	long, brief := 0, 0
	for _, t := range s.tabs {
		n := tabName{t.Pane.(panes.Tab).Label(), t.Pane, t.Pane == s.pane}
		if n.Name.Empty() && !n.open {
			continue
		}
		names = append(names, n)
		long, brief = long+n.width(false), brief+n.width(true)
	}
	if long <= cells {
		return names, false
	}
	for i := len(names) - 1; i >= 0 && brief > cells; i-- {
		if !names[i].open {
			brief -= names[i].width(true)
			names = append(names[:i], names[i+1:]...)
		}
	}
	return names, true
}

// drawTabs writes the row that names the tabs, the open one in brackets, and flush right what there is
// to say besides.
func (m *Model) drawTabs(p *screen.Pen, s paneSlot) {
	right := m.besideTabs(p, s, p.Left)
	names, short := namesOf(s, p.Left-screen.Width(right))
	for i, n := range names {
		blanks, r := 2, screen.Muted
		if i == 0 {
			blanks = 1
		}
		p.Spaces(screen.Bare, blanks)
		if n.open {
			r = screen.Plain
			if n.pane == m.focus {
				r = screen.Accent
			}
			p.Text(r, display.Lit("["))
		}
		p.Text(r, n.text(short))
		if !n.Count.Empty() {
			p.Text(n.Role, n.Count.Between(" ", ""))
		}
		if n.open {
			p.Text(r, display.Lit("]"))
		}
	}
	p.Spaces(screen.Bare, p.Left-screen.Width(right))
	p.Texts(right)
	p.Fill(screen.Bare)
}

// tabAt is the tab that is named in cell x of a row of tabs of so many, nil for none.
func (m *Model) tabAt(s paneSlot, cells, x int) *placedPane {
	names, short := namesOf(s, cells-screen.Width(m.besideTabs(&m.pen, s, cells)))
	at := -1 // the first name has a blank less before it
	for _, n := range names {
		if x > at && x <= at+n.width(short) {
			return &m.table[m.index(n.pane)]
		}
		at += n.width(short)
	}
	return nil
}

// besideTabs is what stands flush right of the tabs. Where there are no titles it is first what they
// would say and nothing else does: what went wrong out of sight, and that there is a filter. Only how far
// the open tab is scrolled drives out tabs that count something.
func (m *Model) besideTabs(p *screen.Pen, s paneSlot, room int) (beside []screen.StyledText) {
	names, _ := namesOf(s, room)
	for _, n := range names {
		if !n.Count.Empty() || n.open {
			room -= n.width(true)
		}
	}
	say := func(role screen.Role, texts ...display.Text) {
		for _, text := range texts {
			if gap := 1 + min(len(beside), 1); !text.Empty() && text.Width()+gap <= room {
				room -= text.Width() + gap
				beside = append(beside, screen.StyledText{Role: role, Text: display.Join(display.Repeat(display.Lit(" "), gap), text)})
				return
			}
		}
	}
	if s.pane != nil {
		if seen := m.seenOf(p, s)[0]; !seen.Empty() {
			return []screen.StyledText{{Role: screen.Muted, Text: seen.Between(" ", "")}}
		}
	}
	if m.context.Bare {
		say(screen.Bad, m.list.HiddenTrouble(p)...)
		if m.turnFilter.Active() {
			count, of := screen.Count(m.turnFilter.Count()), screen.Count(m.turnCount())
			say(screen.Accent, p.Format("f %s of %s", count, of), p.Format("f %s/%s", count, of))
		}
	}
	say(screen.Muted, m.seenOf(p, s)...)
	return beside
}

// seenOf is how far what is pointed at goes in the open tab, and which part of it is seen; where all is,
// or none is open, that of the document if it has no title, or the delta that the call grows with.
func (m *Model) seenOf(p *screen.Pen, s paneSlot) (longest []display.Text) {
	var spans display.Text
	if w, ok := s.pane.(panes.SpanPane); ok {
		spans = w.Spans(p)
	}
	if w, ok := s.pane.(panes.Scroller); ok {
		if seen := p.ScrollInfo(w.Visible()); !seen.Empty() {
			if !spans.Empty() {
				seen = display.Join(spans, seen.Between("  ", ""))
			}
			return []display.Text{seen}
		}
	}
	c := m.selectedCall()
	grows := c != nil && c.MayGrow()
	if m.context.Bare && !m.follow && s.pane == nil {
		if _, last, of := m.doc.Visible(); !grows || last < of {
			return []display.Text{p.ScrollInfo(m.doc.Visible()), p.ScrollRows(m.doc.Visible())}
		}
	}
	if grows {
		return []display.Text{display.Join(p.Glyph.Change, screen.Count(c.Deltas()))}
	}
	return []display.Text{spans}
}
