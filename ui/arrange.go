package ui

import (
	"slices"

	"toolscope/stream"
	"toolscope/ui/panes"
)

// paneLayout has the panes, the focus, and the open tab.
type paneLayout struct {
	table []placedPane // in tab order; the first has the key 1
	focus panes.Pane
	last  [panes.Places]panes.Pane // per area, the last pane that had the focus
	below panes.Tab                // the open tab under the document, or nil
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

// setPanes sets the panes. The focus stays on the pane of the same number.
func (d *paneLayout) setPanes(table []placedPane) {
	focused, open := max(0, d.index(d.focus)), max(0, d.index(d.below))
	d.table, d.last = table, [panes.Places]panes.Pane{}
	for _, p := range slices.Backward(table) {
		d.last[p.at] = p.Pane
		if t, ok := p.Pane.(panes.Tab); ok {
			d.below = t
		}
	}
	if t, ok := table[open].Pane.(panes.Tab); ok {
		d.showPane(t)
	}
	d.focus = table[focused].Pane
	d.last[table[focused].at] = d.focus
}

func (d *paneLayout) index(pane panes.Pane) int {
	return slices.IndexFunc(d.table, func(p placedPane) bool { return p.Pane == pane })
}

// showPane shows a pane in its area.
func (d *paneLayout) showPane(pane panes.Pane) {
	d.last[d.table[d.index(pane)].at] = pane
	if t, ok := pane.(panes.Tab); ok {
		d.below = t
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
func (d *paneLayout) openTab(tab panes.Tab) {
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
func (d *paneLayout) visibleTab(w int) panes.Tab {
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
	maxListWidth   = 72
	sideColumn     = 74
	minTitledRows  = 14 // titles
	minPairedRows  = 5  // a turn above its call
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
	left := clampSize(d.sizes.list, min(w*44/100, maxListWidth), minColumnWidth, w-minColumnWidth-1)
	columns := []column{{left, []paneSlot{{pane: d.last[panes.Left], height: h}}}}
	if w < threeColumns {
		return append(columns, column{w - left - 1, d.documentColumn(w, h)})
	}
	side := clampSize(d.sizes.side, sideColumn, minColumnWidth, w-left-minColumnWidth-2)
	return append(columns, column{w - left - side - 2, []paneSlot{{pane: d.last[panes.Main], height: h}}}, column{side, d.thirdColumn(h)})
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
	if _, ok := d.focus.(panes.Tab); ok {
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

// listRows returns the height of the list above other panes: a quarter of the screen if there is a title.
// Otherwise it shows a turn and its call, or only the selection.
func (d *paneLayout) listRows(h int) int {
	switch {
	case h >= minTitledRows:
		return clampSize(d.sizes.above, (h+2)/4, minPaneRows, h-3*minPaneRows)
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
func (d *paneLayout) tabHeight(tab panes.Tab, h int) int {
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
	upper, lower := d.last[panes.Side], d.last[panes.Low].(panes.Tab)
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
