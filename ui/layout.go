package ui

import (
	"slices"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// paneLayout has the panes, the focus, and the open tab.
type paneLayout struct {
	m     *Model
	table []placedPane // in tab order; the first has the key 1
	focus panes.Pane
	last  [panes.Places]panes.Pane // per area, the last pane that had the focus
	below panes.Pane               // the open tab under the document, or nil
	tabs  TabState
	order SplitDirection
	from  *backTarget // the target of esc, or nil
	zoom  bool        // only the focused pane is shown
	sizes paneSizes
	large bool // the large layout: always one pane, with margins
}

// backTarget is the pane and selection that the user left, and the pane and selection to which that led.
// esc goes back while the user is still at the second.
type backTarget struct {
	pane       panes.Pane
	chosen, to stream.Ref
}

// placedPane is a pane with its area and its key.
type placedPane struct {
	panes.Pane
	at  panes.Area
	key string
}

// isTab reports whether the pane is a tab.
func (p placedPane) isTab() bool { return p.at >= panes.Side }

// setPanes sets the panes. The focus stays on the pane of the same number.
func (d *paneLayout) setPanes(table []placedPane) {
	focused, open := max(0, d.index(d.focus)), max(0, d.index(d.below))
	d.table, d.last = table, [panes.Places]panes.Pane{}
	for _, p := range slices.Backward(table) {
		d.last[p.at] = p.Pane
		if p.isTab() {
			d.below = p.Pane
		}
	}
	if table[open].isTab() {
		d.showPane(table[open].Pane)
	}
	d.focus = table[focused].Pane
	d.last[table[focused].at] = d.focus
}

func (d *paneLayout) index(pane panes.Pane) int {
	return slices.IndexFunc(d.table, func(p placedPane) bool { return p.Pane == pane })
}

// showPane shows a pane in its area.
func (d *paneLayout) showPane(pane panes.Pane) {
	p := d.table[d.index(pane)]
	d.last[p.at] = pane
	if p.isTab() {
		d.below = pane
	}
}

// turnTo focuses a pane; it opens a tab.
func (d *paneLayout) turnTo(pane panes.Pane) {
	d.focus, d.from = pane, nil
	if d.showPane(pane); d.focus == d.below {
		d.tabs = TabsOpen
	}
}

// openTab opens a tab, and keeps the focus.
func (d *paneLayout) openTab(tab panes.Pane) {
	d.showPane(tab)
	d.tabs = TabsOpen
}

// closeTab closes the open tab under the document. If it had the focus, the list gets it.
func (d *paneLayout) closeTab() {
	d.tabs, d.zoom = TabsShut, false
	if d.focus == d.below {
		d.focus = d.last[panes.Left]
	}
}

// visibleTab returns the open tab under the document on a screen of width w, or nil.
func (d *paneLayout) visibleTab(w int) panes.Pane {
	if d.tabs == TabsOpen || d.tabs == TabsByWidth && w >= twoColumns {
		return d.below
	}
	return nil
}

// column is a vertical part of the screen, with panes stacked from top to bottom.
type column struct {
	width int
	panes []paneSlot
}

// paneSlot is a pane's place in a column. If it has tabs, its first row names them, and pane is the open
// one, or nil.
type paneSlot struct {
	pane   panes.Pane
	height int
	tabs   []placedPane
}

// Minimum widths for columns, in cells, and minimum heights for further content, in rows of the body.
const (
	twoColumns     = 100
	minBesideWidth = 60 // if the user asked for it
	threeColumns   = 200
	maxListWidth   = 88
	sideColumn     = 74
	minTitledRows  = 14 // titles
	titleRows      = 2  // the edge and the heads of the list
	minPairedRows  = 5  // two calls
	minTabbedRows  = 4  // the tabs, under the document
)

// arrangeBody divides a body of w × h cells into columns, with one cell for a rule between them. Zoomed, it
// shows only the focused pane.
func (d *paneLayout) arrangeBody(w, h int) []column {
	switch {
	case d.zoom || d.large:
		return []column{{w, []paneSlot{d.zoomedSlot(h)}}}
	case d.isStacked(w):
		top := d.listRows(h)
		return []column{{w, append([]paneSlot{{pane: d.last[panes.Left], height: top}}, d.documentColumn(w, h-top)...)}}
	}
	left, full := d.listCells(w), w
	if d.isBoxed(w, h) {
		left, w, h = left-2, w-2, h-1
	}
	left = clampSize(d.sizes.list, left, minColumnWidth, w-minColumnWidth-1)
	columns := []column{{left, []paneSlot{{pane: d.last[panes.Left], height: h}}}}
	if full < threeColumns {
		return append(columns, column{w - left - 1, d.documentColumn(full, h)})
	}
	side := clampSize(d.sizes.side, sideColumn, minColumnWidth, w-left-minColumnWidth-2)
	return append(columns, column{w - left - side - 2, []paneSlot{{pane: d.last[panes.Main], height: h}}}, column{side, d.thirdColumn(h)})
}

// listCells returns the width of a list next to other panes, with its frame: about half of the screen, and a little more
// if its columns need it.
func (d *paneLayout) listCells(w int) int {
	usual, most := w*46/100, w*495/1000
	if w > twoColumns {
		usual = (w*460 + (w-twoColumns)*65) / 1000
	}
	if wanted := d.m.list.WantedCells() + 2; wanted <= most { // more width adds no column otherwise
		usual = max(usual, wanted)
	}
	return min(usual, most, maxListWidth)
}

// isBoxed reports whether columns have a frame around them. Without titles there is no room for one.
func (d *paneLayout) isBoxed(w, h int) bool {
	return h >= minTitledRows && !d.zoom && !d.large && !d.isStacked(w)
}

// isStacked reports whether all panes are stacked on a screen of width w.
func (d *paneLayout) isStacked(w int) bool {
	switch d.order {
	case Above:
		return true
	case Beside:
		return w < minBesideWidth
	}
	return w < twoColumns
}

// zoomedSlot returns the focused pane on the full body.
func (d *paneLayout) zoomedSlot(h int) paneSlot {
	if d.table[d.index(d.focus)].isTab() {
		return paneSlot{d.focus, h, d.panesAt(panes.Side, panes.Low)}
	}
	return paneSlot{pane: d.focus, height: h}
}

// panesAt returns the panes of some areas.
func (d *paneLayout) panesAt(places ...panes.Area) (all []placedPane) {
	for _, p := range d.table {
		if slices.Contains(places, p.at) {
			all = append(all, p)
		}
	}
	return all
}

// listRows returns the height of the list above other panes: about a quarter of the screen if there is an edge, and no
// more than it needs. Otherwise it shows two calls, or only the selection.
func (d *paneLayout) listRows(h int) int {
	switch {
	case h >= minTitledRows:
		usual := min((h+2)/4+1, max(minPaneRows, titleRows+d.m.list.WantedRows()))
		return clampSize(d.sizes.above, usual, minPaneRows, h-3*minPaneRows)
	case h >= minPairedRows:
		return 2
	}
	return 1
}

// documentColumn returns the column of the document and the tabs below. An open tab has the height of its
// content, up to half of the column.
func (d *paneLayout) documentColumn(w, h int) []paneSlot {
	doc, tab, all := d.last[panes.Main], d.visibleTab(w), d.panesAt(panes.Side, panes.Low)
	switch {
	case h < minTabbedRows && tab != nil && d.focus == tab:
		return []paneSlot{{tab, h, all}}
	case h < minTabbedRows:
		return []paneSlot{{pane: doc, height: h}}
	case tab == nil:
		return []paneSlot{{pane: doc, height: h - 1}, {nil, 1, all}}
	}
	low := d.tabHeight(tab, h)
	return []paneSlot{{pane: doc, height: h - low}, {tab, low, all}}
}

// tabHeight returns the height of an open tab in a column of h rows: what it needs, up to half. In a short
// column, a focused tab leaves two rows for the document.
func (d *paneLayout) tabHeight(tab panes.Pane, h int) int {
	most := h / 2
	if d.focus == tab && h < shortColumn {
		most = max(most, h-2)
	}
	return clampSize(d.sizes.low, max(2, min(1+tab.WantedRows(), most)), 2, max(h-minPaneRows, most))
}

// shortColumn is the height below which a column is short.
const shortColumn = 10

// thirdColumn returns the third column: two open tabs, one above the other.
func (d *paneLayout) thirdColumn(h int) []paneSlot {
	upper, lower := d.last[panes.Side], d.last[panes.Low]
	if h < 2*minTabbedRows {
		shown := d.last[panes.Side]
		if d.focus == lower {
			shown = lower
		}
		return []paneSlot{{shown, h, d.panesAt(panes.Side, panes.Low)}}
	}
	low := d.tabHeight(lower, h)
	return []paneSlot{{upper, h - low, d.panesAt(panes.Side)}, {lower, low, d.panesAt(panes.Low)}}
}

// paneSize returns the size of a pane, and false if it is not on the screen.
func paneSize(columns []column, pane panes.Pane) (w, h int, shown bool) {
	for _, c := range columns {
		for _, s := range c.panes {
			if s.pane == pane {
				return c.width, s.height, true
			}
		}
	}
	return 0, 0, false
}

// nextPane returns the pane that is step places further: among the shown panes, or among all if only one
// is shown.
func (d *paneLayout) nextPane(step int, columns []column) panes.Pane {
	var all []panes.Pane
	for _, c := range columns {
		for _, s := range c.panes {
			if s.pane != nil {
				all = append(all, s.pane)
			}
		}
	}
	if len(all) < 2 {
		all = all[:0]
		for _, p := range d.table {
			all = append(all, p.Pane)
		}
	}
	at := slices.Index(all, d.focus)
	return all[(at+step+len(all))%len(all)]
}

// paneSizes are sizes set by the user, 0 for the default: the width of the first and third column, the height
// of the list above others and of the lower tab.
type paneSizes struct{ list, side, above, low int }

// Minimum sizes: the width of a column, the height of stacked panes.
const (
	minColumnWidth = 24
	minPaneRows    = 3
)

// clampSize returns the wanted or else the usual size, within limits.
func clampSize(asked, usual, least, most int) int {
	if asked == 0 {
		return usual
	}
	return max(min(asked, most), min(least, usual))
}

// resizePane enlarges the focused pane.
func (pl *paneLayout) resizePane(by int) {
	columns := pl.m.frame.paneColumns()
	for at, c := range columns {
		n := slices.IndexFunc(c.panes, func(s paneSlot) bool { return s.pane == pl.focus })
		if n < 0 {
			continue
		}
		tab := pl.table[pl.index(pl.focus)].isTab()
		switch last := len(c.panes) - 1; {
		case pl.zoom:
		case tab && n == last:
			pl.sizes.low = max(1, c.panes[n].height+by)
		case tab:
			pl.sizes.low = max(1, c.panes[last].height-by)
		case at > 0:
			pl.sizes.list = max(1, columns[0].width-2*by)
		case n > 0:
			pl.sizes.above = max(1, c.panes[0].height-by)
		case len(columns) > 1:
			pl.sizes.list = max(1, c.width+2*by)
		default:
			pl.sizes.above = max(1, c.panes[0].height+by)
		}
	}
	pl.m.refreshPanes()
}

// borderAt returns the function that drags the border at a place of the body, or nil.
func (pl *paneLayout) borderAt(x, y int) (drag func(x, y int)) {
	columns := pl.m.frame.paneColumns()
	sized := func(size func(x, y int)) func(x, y int) {
		return func(x, y int) {
			size(x, y-1)
			pl.m.refreshPanes()
		}
	}
	from := 0
	if pl.isBoxed(pl.m.w, pl.m.bodyHeight()) {
		from = 1
	}
	for i, c := range columns {
		switch {
		case i+1 < len(columns) && x == from+c.width && i == 0:
			return sized(func(x, _ int) { pl.sizes.list = max(x-from, 1) })
		case i+1 < len(columns) && x == from+c.width:
			return sized(func(x, _ int) { pl.sizes.side = max(pl.m.w-x-1-from, 1) })
		case x >= from && x < from+c.width:
			return pl.borderIn(c, y, len(columns) == 1, sized)
		}
		from += c.width + 1
	}
	return nil
}

// borderIn is like borderAt, but within a column. There the border is the first row of a lower pane. The
// first row of the document is a border only if all panes are stacked.
func (pl *paneLayout) borderIn(c column, y int, piled bool, sized func(func(x, y int)) func(x, y int)) func(x, y int) {
	h := pl.m.bodyHeight()
	if pl.isBoxed(pl.m.w, h) {
		h--
	}
	for i, top := 0, 0; i < len(c.panes); i++ {
		s := c.panes[i]
		switch {
		case i == 0 || y != top || s.pane == nil:
		case s.tabs != nil:
			return sized(func(_, y int) { pl.sizes.low = max(h-y, 1) })
		case piled:
			return sized(func(_, y int) { pl.sizes.above = max(y, 1) })
		}
		top += s.height
	}
	return nil
}

// turnToKey handles the number key of a pane: it focuses a pane, and opens or closes a tab.
func (pl *paneLayout) turnToKey(p placedPane) {
	if p.isTab() && pl.focus == p.Pane && (pl.zoom || len(pl.m.frame.paneColumns()) < 3) {
		pl.m.closeTab()
		pl.keepTabs()
		pl.m.refreshPanes()
		return
	}
	pl.m.focusOn(p.Pane)
	if pl.focus == pl.below {
		pl.keepTabs()
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
		n := tabName{t.Label(), t.Pane, t.Pane == s.pane}
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
func (pl *paneLayout) drawTabs(p *screen.Pen, s paneSlot) {
	right := pl.besideTabs(p, s, p.Left)
	names, short := namesOf(s, p.Left-screen.Width(right))
	for i, n := range names {
		blanks, r := 2, screen.Muted
		if i == 0 {
			blanks = 1
		}
		p.Spaces(screen.Bare, blanks)
		if n.open {
			r = screen.Plain
			if n.pane == pl.focus {
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
func (pl *paneLayout) tabAt(s paneSlot, cells, x int) *placedPane {
	names, short := namesOf(s, cells-screen.Width(pl.besideTabs(&pl.m.pen, s, cells)))
	at := -1 // the first name has one blank less before it
	for _, n := range names {
		if x > at && x <= at+n.width(short) {
			return &pl.table[pl.m.index(n.pane)]
		}
		at += n.width(short)
	}
	return nil
}

// besideTabs returns the notes on the right of the tabs. If there are no titles, bad calls out of view and
// the filter come first. Only the scroll position of the open tab may replace tabs with a count.
func (pl *paneLayout) besideTabs(p *screen.Pen, s paneSlot, room int) (beside []screen.StyledText) {
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
		if seen := pl.seenOf(p, s)[0]; !seen.Empty() {
			return []screen.StyledText{{Role: screen.Muted, Text: seen.Between(" ", "")}}
		}
	}
	if pl.m.context.Bare {
		if pl.m.turnFilter.Active() {
			count, of := screen.Count(pl.m.turnFilter.Count()), screen.Count(pl.m.pinned.turnCount())
			say(screen.Accent, p.Format("f %s of %s", count, of), p.Format("f %s/%s", count, of))
		}
	}
	say(screen.Muted, pl.seenOf(p, s)...)
	return beside
}

// seenOf returns the extent of the highlight in the open tab, and its visible range. If all is visible or no
// tab is open, it returns those of a document without a title, or the delta with which the call grows.
func (pl *paneLayout) seenOf(p *screen.Pen, s paneSlot) (longest []display.Text) {
	var spans display.Text
	if s.pane != nil {
		spans = s.pane.Spans(p)
		if seen := p.ScrollInfo(s.pane.Visible()); !seen.Empty() {
			if !spans.Empty() {
				seen = display.Join(spans, seen.Between("  ", ""))
			}
			return []display.Text{seen}
		}
	}
	c := pl.m.selectedCall()
	grows := c != nil && c.MayGrow()
	if pl.m.context.Bare && !pl.m.follow && s.pane == nil {
		if _, last, of := pl.m.doc.Visible(); !grows || last < of {
			return []display.Text{p.ScrollInfo(pl.m.doc.Visible()), p.ScrollRows(pl.m.doc.Visible())}
		}
	}
	if grows {
		return []display.Text{display.Join(p.Glyph.Change, screen.Count(c.Deltas()))}
	}
	return []display.Text{spans}
}
