package ui

import (
	"slices"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// visibleTab returns the open tab under the document in a column of h rows, or nil.
func (d *paneLayout) visibleTab(h int, tabs []placedPane) panes.Pane {
	byRoom := h >= minRoomForTab && !d.m.context.Bare
	if d.tabs == TabsShut || d.tabs == TabsByRoom && !byRoom {
		return nil
	}
	if hasTab(tabs, d.below) {
		return d.below
	}
	return d.last[panes.Low]
}

func hasTab(tabs []placedPane, pane panes.Pane) bool {
	return slices.ContainsFunc(tabs, func(t placedPane) bool { return t.Pane == pane })
}

// pickTab opens the tab that suits the selection, until the user picks one. It opens the timeline if the
// response stalled, or else the findings if there is a finding above info, or else the frames.
func (d *paneLayout) pickTab() {
	if d.picks || d.focus == d.below {
		return
	}
	tab := panes.Pane(d.m.wire)
	loud := func(f stream.Finding) bool { return f.Severity > stream.Info }
	switch t, c := d.m.selectedTurn(), d.m.selectedCall(); {
	case t == nil:
	case panes.IsStalled(t):
		tab = d.m.time
	case slices.ContainsFunc(t.Findings, loud), c != nil && !c.HasOnlyInfos() && slices.ContainsFunc(c.Findings, loud):
		tab = d.m.findings
	}
	d.below = tab
}

// Numbers of rows for the tabs under the document, including the row of names.
const (
	minRoomForTab = 8  // minimum height of the column for an open tab
	lowTab        = 2  // minimum height of the tabs
	roomyColumn   = 14 // minimum height of the column for tabs of height roomyTab
	roomyTab      = 5
	tallColumn    = 20 // from this height, the document gets at most half of the column if the tabs need the rest
	maxBlankRows  = 6  // if a tab leaves at least this many blank rows, the next tab opens under it
)

// documentColumn returns the slots in the column of the document: the document, and the tabs below it. The
// document is as high as its content; the tabs get the rest. If all tabs are closed, their names are right under the
// document.
func (d *paneLayout) documentColumn(h int, tabs []placedPane) []paneSlot {
	doc, tab := d.last[panes.Main], d.visibleTab(h, tabs)
	switch {
	case h < minTabbedRows && tab != nil && d.focus == tab:
		return []paneSlot{{tab, h, tabs}}
	case h < minTabbedRows, tab == nil && d.m.context.Bare:
		return []paneSlot{{pane: doc, height: h}}
	case tab == nil:
		rows := min(doc.WantedRows(), h-1)
		return []paneSlot{{pane: doc, height: rows}, {nil, h - rows, tabs}}
	}
	low := d.tabHeight(tab, h)
	stack := d.stackTabs(tab, low, tabs)
	hasFocus := func(s paneSlot) bool { return s.pane == d.focus }
	if at := d.index(d.focus); at >= 0 && d.table[at].isTab() && hasTab(tabs, d.focus) && !slices.ContainsFunc(stack, hasFocus) {
		stack = d.stackTabs(d.focus, low, tabs)
	}
	return append([]paneSlot{{pane: doc, height: h - low}}, stack...)
}

// tabHeight returns the height of the open tabs in a column of h rows. In a short column, a focused tab leaves
// two rows for the document.
func (d *paneLayout) tabHeight(tab panes.Pane, h int) int {
	least := lowTab
	switch {
	case d.m.doc.Summary.ShowsRefusal() && d.m.selectedCall() == nil: // the document's sections are the evidence
	case h >= roomyColumn:
		least = roomyTab
	case d.focus == tab:
		least = max(lowTab, min(roomyTab, h/3))
	}
	most := h - least
	if h >= tallColumn {
		most = min(most, max(h/2, h-1-tab.WantedRows()))
	}
	doc := d.last[panes.Main]
	rows := doc.WantedRows()
	if s, ok := doc.(*panes.Subject); ok && rows > most {
		rows = s.RowsWithoutFacts()
	}
	rows = min(rows, most)
	if d.focus == tab && h < shortColumn {
		rows = min(rows, 2)
	}
	low := max(lowTab, h-rows)
	return clampSize(d.sizes.low, low, lowTab, max(h-minPaneRows, low))
}

// shortColumn is the height below which a column is short.
const shortColumn = 10

// stackTabs returns the slots for the open tab and for further tabs under it. It adds tabs until the last one leaves
// few blank rows.
func (d *paneLayout) stackTabs(tab panes.Pane, rows int, tabs []placedPane) []paneSlot {
	slots := []paneSlot{{tab, rows, tabs}}
	for _, next := range tabs {
		last := &slots[len(slots)-1]
		used := 1 + last.pane.WantedRows() + 1 // the row of names, and a blank row
		if last.height-used < maxBlankRows {
			break
		}
		if next.Pane == tab || next.Label().Empty {
			continue
		}
		rest := last.height - used
		last.height = used
		slots = append(slots, paneSlot{next.Pane, rest, []placedPane{next}})
	}
	return slots
}

// isStackedTab reports whether a pane is shown as a tab under the open one.
func (d *paneLayout) isStackedTab(pane panes.Pane) bool {
	if pane == d.below || d.zoom || d.m.w == 0 {
		return false
	}
	return slices.ContainsFunc(d.m.frame.paneColumns(), func(c column) bool {
		return slices.ContainsFunc(c.panes, func(s paneSlot) bool { return s.pane == pane && len(s.tabs) == 1 })
	})
}

// heightOf returns the total height of slots.
func heightOf(slots []paneSlot) (rows int) {
	for _, s := range slots {
		rows += s.height
	}
	return rows
}

// tabName is the name of a tab in the row of tabs. If pane is nil, it is the label of a page that is not a
// tab.
type tabName struct {
	panes.Label
	pane panes.Pane
	open bool
}

// text returns the name of the tab, without the count.
func (n tabName) text(short bool) display.Text {
	if short && !n.Short.Empty() {
		return n.Short
	}
	return n.Name
}

// tabGap is the number of cells between two names, which are separated by a line between blanks.
const tabGap = 3

// width returns the width of the name with its count, brackets and gap.
func (n tabName) width(short bool) int {
	width := n.text(short).Width() + tabGap
	if n.open {
		width += len("[]")
	}
	if !n.Count.Empty() {
		width += 1 + n.Count.Width()
	}
	return width
}

// shortNames is the pane width below which tabs have short names.
const shortNames = 60

// namesOf returns the names of a slot's tabs that fit in the given number of cells, and whether they are
// short names. The last tabs are dropped first, but the open tab is never dropped.
func (pl *paneLayout) namesOf(s paneSlot, cells int, narrow bool) (names []tabName, short bool) {
	long, brief := 0, 0
	add := func(n tabName) {
		names = append(names, n)
		long, brief = long+n.width(false), brief+n.width(true)
	}
	for _, t := range s.tabs {
		if t.key == "" && t.Pane != s.pane {
			continue
		}
		add(tabName{t.Label(), t.Pane, t.Pane == s.pane})
		if t.Pane == pl.m.runs && len(s.tabs) > 1 {
			add(tabName{Label: panes.SentBackLabel(pl.m.selectedCall())})
		}
	}
	if long <= cells && !narrow {
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

// tabsEdge returns the number of cells before the first name. It is one less if the panes have a frame, because the
// frame itself takes a cell.
func (pl *paneLayout) tabsEdge() int {
	if pl.isBoxed(pl.m.w, pl.m.bodyHeight()) {
		return 1
	}
	return 2
}

// drawTabs draws the row of tab names, the open one in brackets, and notes on the right. If the open tab has the
// focus, the row is heavy.
func (pl *paneLayout) drawTabs(p *screen.Pen, s paneSlot, focused bool) {
	role, sign := screen.Muted, p.Glyph.Line
	if focused {
		role, sign = screen.Accent, p.Glyph.Heavy
	}
	right := pl.besideTabs(p, s, p.Left)
	names, short := pl.namesOf(s, p.Left-pl.tabsEdge()-screen.Width(right), p.Left < shortNames)
	p.Text(role, display.Repeat(sign, pl.tabsEdge()))
	for i, n := range names {
		r := screen.Muted
		if i > 0 {
			p.Spaces(screen.Bare, 1)
			p.Text(role, sign)
		}
		p.Spaces(screen.Bare, 1)
		if n.open {
			if r = screen.Plain; focused {
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
	p.Spaces(screen.Bare, 1)
	p.Text(role, display.Repeat(sign, p.Left-screen.Width(right)))
	p.Texts(right)
	p.Fill(screen.Bare)
}

// tabAt returns the tab whose name is at cell x of a row with the given width, or nil.
func (pl *paneLayout) tabAt(s paneSlot, cells, x int) *placedPane {
	names, short := pl.namesOf(s, cells-pl.tabsEdge()-screen.Width(pl.besideTabs(&pl.m.pen, s, cells)), cells < shortNames)
	at := pl.tabsEdge() - tabGap + 1
	for _, n := range names {
		at += tabGap
		end := at + n.width(short) - tabGap
		if x >= at && x < end && n.pane != nil {
			return &pl.table[pl.m.index(n.pane)]
		}
		at = end
	}
	return nil
}

// besideTabs returns the note to the right of the tabs. It is the extent of the highlight in the open tab.
// Without a highlight, and if there is room, it is the tab's scroll position or how far the call has grown.
func (pl *paneLayout) besideTabs(p *screen.Pen, s paneSlot, cells int) []screen.StyledText {
	names, short := pl.namesOf(s, cells-pl.tabsEdge(), cells < shortNames)
	room := cells - pl.tabsEdge()
	for _, n := range names {
		room -= n.width(short)
	}
	if s.pane != nil {
		if spans := s.pane.Spans(p); !spans.Empty() { // the extent may take the place of names
			return []screen.StyledText{{Role: screen.Muted, Text: spans.Between(" ", " ")}}
		}
	}
	for _, text := range pl.seenOf(p, s) {
		if !text.Empty() && text.Width()+2 <= room {
			return []screen.StyledText{{Role: screen.Muted, Text: text.Between(" ", " ")}}
		}
	}
	return nil
}

// seenOf returns the visible range of the open tab, followed by shorter texts for it. If all rows are visible
// or no tab is open, it returns the delta at which the call is now.
func (pl *paneLayout) seenOf(p *screen.Pen, s paneSlot) (longest []display.Text) {
	if s.pane != nil {
		if seen := p.ScrollInfo(s.pane.Visible()); !seen.Empty() {
			return []display.Text{seen, p.ScrollRows(s.pane.Visible()), p.Glyph.Below}
		}
	}
	if c := pl.m.selectedCall(); c != nil && c.MayGrow() && len(s.tabs) > 1 {
		return []display.Text{display.Join(p.Glyph.Change, screen.Count(c.Deltas()))}
	}
	return nil
}
