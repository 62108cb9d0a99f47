package ui

import (
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// turnToKey is what the key of a pane does: it leads there. That of a tab opens it, and closes it again.
func (m *Model) turnToKey(p placed) {
	if t, ok := p.Pane.(panes.Tab); ok && m.focus == t && (m.zoom || len(m.columns()) < 3) {
		m.shut()
		m.keepTabs(p)
		m.refresh()
		return
	}
	m.focusOn(p.Pane)
	if m.focus == m.below {
		m.keepTabs(p)
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
func namesOf(s slot, cells int) (names []tabName, short bool) {
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

// drawTabs writes the row that names the tabs, the open one in brackets, and flush right where that
// is scrolled to.
func (m *Model) drawTabs(p *screen.Pen, s slot) {
	right := m.besideTabs(p, s, p.Left).Between(" ", "")
	names, short := namesOf(s, p.Left-right.Width())
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
			p.Say(r, display.Lit("["))
		}
		p.Say(r, n.text(short))
		if !n.Count.Empty() {
			p.Say(n.Role, n.Count.Between(" ", ""))
		}
		if n.open {
			p.Say(r, display.Lit("]"))
		}
	}
	p.Tail(screen.Muted, screen.Bare, right)
	p.Fill(screen.Bare)
}

// tabAt is the tab that is named in cell x of a row of tabs of so many, nil for none.
func (m *Model) tabAt(s slot, cells, x int) *placed {
	right := m.besideTabs(&m.pen, s, cells).Between(" ", "")
	names, short := namesOf(s, cells-right.Width())
	at := -1 // the first name has a blank less before it
	for _, n := range names {
		if x > at && x <= at+n.width(short) {
			return &m.table[m.index(n.pane)]
		}
		at += n.width(short)
	}
	return nil
}

// docSeen is which part of the document is seen, in as many words as leave the tabs that count something
// where they are.
func (m *Model) docSeen(p *screen.Pen, s slot, room int) display.Text {
	cells := 0
	for _, t := range s.tabs {
		if n := (tabName{t.Pane.(panes.Tab).Label(), t.Pane, false}); !n.Count.Empty() {
			cells += n.width(true)
		}
	}
	for _, seen := range []display.Text{p.Seen(m.doc.Seen()), p.SeenRows(m.doc.Seen())} {
		if cells+1+seen.Width() <= room {
			return seen
		}
	}
	return display.Text{}
}

// besideTabs is how far what is pointed at goes in the open tab, and which part of it is seen; where all
// is, or none is open, that of the document, or the delta that the call grows with.
func (m *Model) besideTabs(p *screen.Pen, s slot, room int) (beside display.Text) {
	if w, ok := s.pane.(panes.Spanning); ok {
		if spans := w.Spans(p); !spans.Empty() {
			beside = spans.Between("", "  ")
		}
	}
	if w, ok := s.pane.(panes.Scrolled); ok {
		if seen := p.Seen(w.Seen()); !seen.Empty() {
			return display.Join(beside, seen)
		}
	}
	c := m.call()
	grows := c != nil && c.Arriving()
	if m.scene.Bare && !m.follow && s.pane == nil { // the document has no title that says it
		if _, last, of := m.doc.Seen(); !grows || last < of {
			return m.docSeen(p, s, room)
		}
	}
	if grows {
		return display.Join(p.Glyph.Change, screen.Count(c.Deltas()))
	}
	return beside
}
