package ui

import (
	"slices"

	"toolscope/stream"
	"toolscope/ui/panes"
)

// paneLayout has the panes, the focus, and the open tab.
type paneLayout struct {
	m     *Model
	table []placedPane // in tab order; the first has the key 1
	focus panes.Pane
	last  [panes.Places]panes.Pane // the last focused pane in each area
	below panes.Pane               // the open tab under the document, or nil
	tabs  TabState
	picks bool // the user chose the open tab, so a new selection no longer changes it
	order SplitDirection
	from  *backTarget // the target of esc, or nil
	zoom  bool        // only the focused pane is shown
	sizes paneSizes
	large bool // the large layout: always one pane, with margins
}

// backTarget has the pane and the selection that the user left, and the selection to which the user went. esc goes
// back while that new selection is unchanged.
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

// setPanes sets the panes. The focus stays on the pane with the same number.
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

// turnTo focuses a pane. If the pane is a tab that is not shown, turnTo opens it.
func (d *paneLayout) turnTo(pane panes.Pane) {
	stacked := d.isStackedTab(pane)
	if d.focus, d.from = pane, nil; stacked {
		return
	}
	if d.showPane(pane); d.focus == d.below {
		d.tabs = TabsOpen
	}
}

// column is a vertical part of the screen, with panes stacked from top to bottom.
type column struct {
	width int
	panes []paneSlot
}

// paneSlot is a pane's place in a column. If it has tabs, its first row lists their names, and pane is the
// open tab, or nil.
type paneSlot struct {
	pane   panes.Pane
	height int
	tabs   []placedPane
}

// Minimum widths in cells that decide the columns, and minimum heights, in rows of the body, for additional content.
const (
	twoColumns     = 100
	minBesideWidth = 60 // replaces twoColumns if the user asked for panes side by side
	threeColumns   = 200
	maxListWidth   = 88
	sideColumn     = 74
	minTitledRows  = 14 // from this height, panes have titles
	titleRows      = 2  // the list's edge and column heads
	minPairedRows  = 5  // from this height, a list above other panes shows two calls
	minTabbedRows  = 4  // from this height of the document's column, there are tabs under the document
)

// arrangeBody divides a body of w × h cells into columns, with one cell for a rule between them. When zoomed,
// it has only the focused pane.
func (d *paneLayout) arrangeBody(w, h int) []column {
	switch {
	case d.zoom || d.large:
		slot := paneSlot{pane: d.focus, height: h}
		if d.table[d.index(d.focus)].isTab() {
			slot.tabs = d.panesAt(panes.Side, panes.Low)
		}
		return []column{{w, []paneSlot{slot}}}
	case d.isStacked(w):
		top := d.listRows(h)
		tabs := d.panesAt(panes.Side, panes.Low)
		return []column{{w, append([]paneSlot{{pane: d.last[panes.Left], height: top}}, d.documentColumn(h-top, tabs)...)}}
	}
	// The list, including its frame, has about half of the screen, or a little more if its columns need it.
	usual, most := w*46/100, w*495/1000
	if w > twoColumns {
		usual = (w*460 + (w-twoColumns)*65) / 1000
	}
	if wanted := d.m.list.WantedCells() + 2; wanted <= most { // more width would add no column
		usual = max(usual, wanted)
	}
	left, full := min(usual, most, maxListWidth), w
	if d.isBoxed(w, h) {
		left, w, h = left-2, w-2, h-1
	}
	left = clampSize(d.sizes.list, left, minColumnWidth, w-minColumnWidth-1)
	columns := []column{{left, []paneSlot{{pane: d.last[panes.Left], height: h}}}}
	if full < threeColumns {
		return append(columns, column{w - left - 1, d.documentColumn(h, d.panesAt(panes.Side, panes.Low))})
	}
	side := clampSize(d.sizes.side, sideColumn, minColumnWidth, w-left-minColumnWidth-2)
	third := []paneSlot{{d.last[panes.Side], h, d.panesAt(panes.Side)}}
	return append(columns, column{w - left - side - 2, d.documentColumn(h, d.panesAt(panes.Low))}, column{side, third})
}

// isBoxed reports whether columns have a frame around them. A screen without room for titles has no room for
// a frame.
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

// panesAt returns the panes in the given areas.
func (d *paneLayout) panesAt(places ...panes.Area) (all []placedPane) {
	for _, p := range d.table {
		if slices.Contains(places, p.at) {
			all = append(all, p)
		}
	}
	return all
}

// listRows returns the height of the list above other panes: about a quarter of the screen if the list has an
// edge, and no more than the list needs. Otherwise the list shows at most two calls, or only the selection.
func (d *paneLayout) listRows(h int) int {
	switch {
	case h >= minTitledRows:
		usual := (h+2)/4 + 1
		if d.m.tour.isTourShown() { // the caption is about the document
			usual -= 2
		}
		usual = min(usual, max(minPaneRows, titleRows+d.m.list.WantedRows()))
		return clampSize(d.sizes.above, usual, minPaneRows, h-3*minPaneRows)
	case h >= minPairedRows:
		return min(2, max(1, d.m.list.WantedRows()))
	}
	return 1
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

// paneSizes are the sizes that the user set, 0 for the default: the widths of the first and third columns,
// and the heights of a list above other panes and of the lower tab.
type paneSizes struct{ list, side, above, low int }

// Minimum sizes: the width of a column, and the height of a stacked pane.
const (
	minColumnWidth = 24
	minPaneRows    = 3
)

// clampSize returns the size that the user asked for, within limits, or else the usual size.
func clampSize(asked, usual, least, most int) int {
	if asked == 0 {
		return usual
	}
	return max(min(asked, most), min(least, usual))
}

// resizePane enlarges the focused pane, or shrinks it if by is negative.
func (pl *paneLayout) resizePane(by int) {
	columns := pl.m.frame.paneColumns()
	for at, c := range columns {
		n := slices.IndexFunc(c.panes, func(s paneSlot) bool { return s.pane == pl.focus })
		if n < 0 {
			continue
		}
		tabs := c.panes[slices.IndexFunc(append(c.panes, paneSlot{tabs: pl.table}), func(s paneSlot) bool { return s.tabs != nil }):]
		switch tab := pl.table[pl.index(pl.focus)].isTab(); {
		case pl.zoom, len(tabs) == len(c.panes):
		case tab:
			pl.sizes.low = max(1, heightOf(tabs)+by)
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

// borderAt returns the function that drags the border at a place in the body, or nil.
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

// borderIn is like borderAt, but for borders within a column. Such a border is the first row of a lower pane. The
// document's first row is a border only if all panes are stacked. borderIn returns nil if there is no border in row
// y.
func (pl *paneLayout) borderIn(c column, y int, piled bool, sized func(func(x, y int)) func(x, y int)) func(x, y int) {
	h := pl.m.bodyHeight()
	if pl.isBoxed(pl.m.w, h) {
		h--
	}
	for i, top := 0, 0; i < len(c.panes); i++ {
		s := c.panes[i]
		switch {
		case i == 0 || y != top || s.pane == nil || s.tabs != nil && c.panes[i-1].tabs != nil:
		case s.tabs != nil:
			return sized(func(_, y int) { pl.sizes.low = max(h-y, 1) })
		case piled:
			return sized(func(_, y int) { pl.sizes.above = max(y, 1) })
		}
		top += s.height
	}
	return nil
}

// turnToKey focuses the pane of a number key. If the pane is a tab, turnToKey opens the tab, or closes it if it
// has the focus.
func (pl *paneLayout) turnToKey(p placedPane) {
	pl.picks = pl.picks || p.isTab()
	if p.isTab() && pl.focus == p.Pane && (pl.zoom || len(pl.m.frame.paneColumns()) < 3) {
		pl.tabs, pl.zoom, pl.focus = TabsShut, false, pl.last[panes.Left]
		pl.keepTabs()
		pl.m.refreshPanes()
		return
	}
	pl.m.focusOn(p.Pane)
	if pl.focus == pl.below {
		pl.keepTabs()
	}
}
