package ui

import (
	"slices"

	"toolscope/stream"
	"toolscope/ui/panes"
)

// desk is the panes, and which of them the user is at.
type desk struct {
	table []placed // in the order of tab; the first has the key 1
	focus panes.Pane
	last  [panes.Places]panes.Pane // of each place, which had the focus last
	below panes.Tab                // the tab that is open under the document, if one is
	tabs  TabsAre
	order Order
	from  *spot // where esc leads back to, nil where nothing led here
	zoom  bool  // only the focused pane is shown
	sizes extents
	large bool // so it is always, and more room is left
}

// spot is where the user was, a pane and what it was about, and what that led to: it leads back as
// long as one is still there.
type spot struct {
	pane       panes.Pane
	chosen, to stream.Ref
}

// placed is a pane, where it is, and the key that brings it up.
type placed struct {
	panes.Pane
	at  panes.Area
	key string
}

// lay lays panes on the desk. The focus stays on the pane of that number.
func (d *desk) lay(table []placed) {
	focused, open := max(0, d.index(d.focus)), max(0, d.index(d.below))
	d.table, d.last = table, [panes.Places]panes.Pane{}
	for _, p := range slices.Backward(table) {
		d.last[p.at] = p.Pane
		if t, ok := p.Pane.(panes.Tab); ok {
			d.below = t
		}
	}
	if t, ok := table[open].Pane.(panes.Tab); ok {
		d.bring(t)
	}
	d.focus = table[focused].Pane
	d.last[table[focused].at] = d.focus
}

func (d *desk) index(pane panes.Pane) int {
	return slices.IndexFunc(d.table, func(p placed) bool { return p.Pane == pane })
}

// bring has a pane be the one that is shown in its place.
func (d *desk) bring(pane panes.Pane) {
	d.last[d.table[d.index(pane)].at] = pane
	if t, ok := pane.(panes.Tab); ok {
		d.below = t
	}
}

// turnTo gives a pane the focus. A tab is open then.
func (d *desk) turnTo(pane panes.Pane) {
	d.focus, d.from = pane, nil
	if d.bring(pane); d.focus == d.below {
		d.tabs = TabsOpen
	}
}

// show opens a tab, and leaves the focus where it is.
func (d *desk) show(tab panes.Tab) {
	d.bring(tab)
	d.tabs = TabsOpen
}

// shut closes the tab that is open under the document. Who was at it is at the list.
func (d *desk) shut() {
	d.tabs, d.zoom = TabsShut, false
	if d.focus == d.below {
		d.focus = d.last[panes.Left]
	}
}

// open is the tab that is open under the document on a screen of some width, nil if none is.
func (d *desk) open(w int) panes.Tab {
	if d.tabs == TabsOpen || d.tabs == TabsByWidth && w >= twoColumns {
		return d.below
	}
	return nil
}

// column is a part of the screen from top to bottom: panes one above the other.
type column struct {
	width int
	panes []slot
}

// slot is a pane's place in a column. Where there are tabs, its first row names them, and the pane is
// the one of them that is open, nil if none is.
type slot struct {
	pane   panes.Pane
	height int
	tabs   []placed
}

// Widths from which the screen is divided, in cells, and heights from which there is room for more,
// in rows of the body.
const (
	twoColumns   = 100
	leastBeside  = 60 // where that was asked for
	threeColumns = 200
	mostOfList   = 72
	sideColumn   = 74
	titled       = 14 // titles
	paired       = 5  // a turn above its call
	tabbed       = 4  // the tabs, under the document
)

// arrange divides a body of w × h cells. Between columns one cell is left for a rule. Zoomed, only
// the focused pane is shown.
func (d *desk) arrange(w, h int) []column {
	switch {
	case d.zoom || d.large:
		return []column{{w, []slot{d.alone(h)}}}
	case d.piled(w):
		top := d.listRows(h)
		return []column{{w, append([]slot{{pane: d.last[panes.Left], height: top}}, d.stack(w, h-top)...)}}
	}
	left := within(d.sizes.list, min(w*44/100, mostOfList), leastColumn, w-leastColumn-1)
	columns := []column{{left, []slot{{pane: d.last[panes.Left], height: h}}}}
	if w < threeColumns {
		return append(columns, column{w - left - 1, d.stack(w, h)})
	}
	side := within(d.sizes.side, sideColumn, leastColumn, w-left-leastColumn-2)
	return append(columns, column{w - left - side - 2, []slot{{pane: d.last[panes.Main], height: h}}}, column{side, d.side(h)})
}

// piled reports whether panes stand one above the other on a screen of some width.
func (d *desk) piled(w int) bool {
	switch d.order {
	case Above:
		return true
	case Beside:
		return w < leastBeside
	}
	return w < twoColumns
}

// alone is the focused pane on the whole body.
func (d *desk) alone(h int) slot {
	if _, ok := d.focus.(panes.Tab); ok {
		return slot{d.focus, h, d.at(panes.Side, panes.Low)}
	}
	return slot{pane: d.focus, height: h}
}

// at is the panes of some places.
func (d *desk) at(places ...panes.Area) (all []placed) {
	for _, p := range d.table {
		if slices.Contains(places, p.at) {
			all = append(all, p)
		}
	}
	return all
}

// listRows is how many rows a list has that stands above the others: with its title a quarter of the
// screen; without, a turn and its call; or only what is chosen.
func (d *desk) listRows(h int) int {
	switch {
	case h >= titled:
		return within(d.sizes.above, (h+2)/4, leastRows, h-3*leastRows)
	case h >= paired:
		return 2
	}
	return 1
}

// stack is the document, and under it the tabs. The one that is open is as tall as what is in it, up
// to half of the column.
func (d *desk) stack(w, h int) []slot {
	doc, tab, all := d.last[panes.Main], d.open(w), d.at(panes.Side, panes.Low)
	switch {
	case h < tabbed && tab != nil && d.focus == tab:
		return []slot{{tab, h, all}}
	case h < tabbed:
		return []slot{{pane: doc, height: h}}
	case tab == nil:
		return []slot{{pane: doc, height: h - 1}, {nil, 1, all}}
	}
	low := d.wants(tab, h)
	return []slot{{pane: doc, height: h - low}, {tab, low, all}}
}

// wants is how many rows an open tab has in a column of so many: all that it needs up to half of them,
// and of a short column as many as leave the document two, if somebody is at it.
func (d *desk) wants(tab panes.Tab, h int) int {
	most := h / 2
	if d.focus == tab && h < shortColumn {
		most = max(most, h-2)
	}
	return within(d.sizes.low, max(2, min(1+tab.WantedRows(), most)), 2, max(h-leastRows, most))
}

// shortColumn is below how many rows a column is short.
const shortColumn = 10

// side is the third column: two tabs are always open there, one above the other.
func (d *desk) side(h int) []slot {
	upper, lower := d.last[panes.Side], d.last[panes.Low].(panes.Tab)
	if h < 2*tabbed {
		shown := d.last[panes.Side]
		if d.focus == lower {
			shown = lower
		}
		return []slot{{shown, h, d.at(panes.Side, panes.Low)}}
	}
	low := d.wants(lower, h)
	return []slot{{upper, h - low, d.at(panes.Side)}, {lower, low, d.at(panes.Low)}}
}

// place is where a pane is: its size, or false if it is not on the screen.
func place(columns []column, pane panes.Pane) (w, h int, shown bool) {
	for _, c := range columns {
		for _, s := range c.panes {
			if s.pane == pane {
				return c.width, s.height, true
			}
		}
	}
	return 0, 0, false
}

// next is the pane that many steps further, round those that are shown; round all where only one is.
func (d *desk) next(step int, columns []column) panes.Pane {
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
