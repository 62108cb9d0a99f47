package ui

import (
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// turnToKey handles the number key of a pane: it focuses a pane, and opens or closes a tab.
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

// tabName is the name of a tab in the row of tabs.
type tabName struct {
	panes.Label
	pane panes.Pane
	open bool
}

// text returns the name of the tab, without the count.
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

// namesOf returns the tabs of a slot that fit in the given number of cells, and whether they use short
// names. The last tabs are dropped first, but never the open one.
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

// drawTabs draws the row of tab names, the open one in brackets, and notes on the right.
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

// tabAt returns the tab whose name is at cell x of a row with the given width, or nil.
func (m *Model) tabAt(s paneSlot, cells, x int) *placedPane {
	names, short := namesOf(s, cells-screen.Width(m.besideTabs(&m.pen, s, cells)))
	at := -1 // the first name has one blank less before it
	for _, n := range names {
		if x > at && x <= at+n.width(short) {
			return &m.table[m.index(n.pane)]
		}
		at += n.width(short)
	}
	return nil
}

// besideTabs returns the notes on the right of the tabs. If there are no titles, bad calls out of view and
// the filter come first. Only the scroll position of the open tab may replace tabs with a count.
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

// seenOf returns the extent of the highlight in the open tab, and its visible range. If all is visible or no
// tab is open, it returns those of a document without a title, or the delta with which the call grows.
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
