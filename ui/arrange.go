package ui

import (
	"slices"

	"toolscope/stream"
	"toolscope/ui/panes"
)

// paneLayout is the panes, and which of them the user is at.
type paneLayout struct {
	table []placedPane // in the order of tab; the first has the key 1
	focus panes.Pane
	last  [panes.Places]panes.Pane // of each place, which had the focus last
	below panes.Tab                // the tab that is open under the document, if one is
	tabs  TabState
	order SplitDirection
	from  *backTarget // where esc leads back to, nil where nothing led here
	zoom  bool        // only the focused pane is shown
	sizes paneSizes
	large bool // so it is always, and more room is left
}

// backTarget is where the user was, a pane and what it was about, and what that led to: it leads back as
// long as one is still there.
type backTarget struct {
	pane       panes.Pane
	chosen, to stream.Ref
}

// placedPane is a pane, where it is, and the key that brings it up.
type placedPane struct {
	panes.Pane
	at  panes.Area
	key string
}

// setPanes lays panes on the desk. The focus stays on the pane of that number.
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

// showPane has a pane be the one that is shown in its place.
func (d *paneLayout) showPane(pane panes.Pane) {
	d.last[d.table[d.index(pane)].at] = pane
	if t, ok := pane.(panes.Tab); ok {
		d.below = t
	}
}

// turnTo gives a pane the focus. A tab is open then.
func (d *paneLayout) turnTo(pane panes.Pane) {
	d.focus, d.from = pane, nil
	if d.showPane(pane); d.focus == d.below {
		d.tabs = TabsOpen
	}
}

// openTab opens a tab, and leaves the focus where it is.
func (d *paneLayout) openTab(tab panes.Tab) {
	d.showPane(tab)
	d.tabs = TabsOpen
}

// closeTab closes the tab that is open under the document. Who was at it is at the list.
func (d *paneLayout) closeTab() {
	d.tabs, d.zoom = TabsShut, false
	if d.focus == d.below {
		d.focus = d.last[panes.Left]
	}
}

// visibleTab is the tab that is open under the document on a screen of some width, nil if none is.
func (d *paneLayout) visibleTab(w int) panes.Tab {
	if d.tabs == TabsOpen || d.tabs == TabsByWidth && w >= twoColumns {
		return d.below
	}
	return nil
}

// column is a part of the screen from top to bottom: panes one above the other.
type column struct {
	width int
	panes []paneSlot
}

// paneSlot is a pane's place in a column. Where there are tabs, its first row names them, and the pane is
// the one of them that is open, nil if none is.
type paneSlot struct {
	pane   panes.Pane
	height int
	tabs   []placedPane
}

// Widths from which the screen is divided, in cells, and heights from which there is room for more,
// in rows of the body.
const (
	twoColumns     = 100
	minBesideWidth = 60 // where that was asked for
	threeColumns   = 200
	maxListWidth   = 72
	sideColumn     = 74
	minTitledRows  = 14 // titles
	minPairedRows  = 5  // a turn above its call
	minTabbedRows  = 4  // the tabs, under the document
)

// arrangeBody divides a body of w × h cells. Between columns one cell is left for a rule. Zoomed, only
// the focused pane is shown.
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

// isStacked reports whether panes stand one above the other on a screen of some width.
func (d *paneLayout) isStacked(w int) bool {
	switch d.order {
	case Above:
		return true
	case Beside:
		return w < minBesideWidth
	}
	return w < twoColumns
}

// zoomedSlot is the focused pane on the whole body.
func (d *paneLayout) zoomedSlot(h int) paneSlot {
	if _, ok := d.focus.(panes.Tab); ok {
		return paneSlot{d.focus, h, d.panesAt(panes.Side, panes.Low)}
	}
	return paneSlot{pane: d.focus, height: h}
}

// panesAt is the panes of some places.
func (d *paneLayout) panesAt(places ...panes.Area) (all []placedPane) {
	for _, p := range d.table {
		if slices.Contains(places, p.at) {
			all = append(all, p)
		}
	}
	return all
}

// listRows is how many rows a list has that stands above the others: with its title a quarter of the
// screen; without, a turn and its call; or only what is chosen.
func (d *paneLayout) listRows(h int) int {
	switch {
	case h >= minTitledRows:
		return clampSize(d.sizes.above, (h+2)/4, minPaneRows, h-3*minPaneRows)
	case h >= minPairedRows:
		return 2
	}
	return 1
}

// documentColumn is the document, and under it the tabs. The one that is open is as tall as what is in it, up
// to half of the column.
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

// tabHeight is how many rows an open tab has in a column of so many: all that it needs up to half of them,
// and of a short column as many as leave the document two, if somebody is at it.
func (d *paneLayout) tabHeight(tab panes.Tab, h int) int {
	most := h / 2
	if d.focus == tab && h < shortColumn {
		most = max(most, h-2)
	}
	return clampSize(d.sizes.low, max(2, min(1+tab.WantedRows(), most)), 2, max(h-minPaneRows, most))
}

// shortColumn is below how many rows a column is short.
const shortColumn = 10

// thirdColumn is the third column: two tabs are always open there, one above the other.
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

// paneSize is where a pane is: its size, or false if it is not on the screen.
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

// nextPane is the pane that many steps further, round those that are shown; round all where only one is.
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
