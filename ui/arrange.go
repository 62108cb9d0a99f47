package ui

import (
	"slices"

	"toolscope/ui/panes"
)

// desk is the panes, and which of them the user is at.
type desk struct {
	table []placed // in the order of tab; the first has the key 1
	focus panes.Pane
	last  [panes.Places]panes.Pane // of each place, which had the focus last
	zoom  bool                     // only the focused pane is shown
}

// placed is a pane and where it is.
type placed struct {
	panes.Pane
	at  panes.Place
	key string // that brings it up, "" for its number among those that have none
}

// lay lays panes on the desk. The focus stays on the pane of that number.
func (d *desk) lay(table []placed) {
	focused := max(0, d.index(d.focus))
	d.table, d.last = table, [panes.Places]panes.Pane{}
	for _, p := range slices.Backward(table) {
		d.last[p.at] = p.Pane
	}
	d.turnTo(table[focused].Pane)
}

func (d *desk) index(pane panes.Pane) int {
	return slices.IndexFunc(d.table, func(p placed) bool { return p.Pane == pane })
}

// bring has a pane be the one that is shown in its place.
func (d *desk) bring(pane panes.Pane) { d.last[d.table[d.index(pane)].at] = pane }

// turnTo gives a pane the focus.
func (d *desk) turnTo(pane panes.Pane) {
	d.focus = pane
	d.bring(pane)
}

// beside is the pane of a place that shares its column with the first, nil if the first is alone.
func (d *desk) beside(first panes.Pane, at panes.Place) panes.Pane {
	if d.last[at] != first {
		return d.last[at]
	}
	for _, p := range d.table {
		if p.at == at && p.Pane != first {
			return p.Pane
		}
	}
	return nil
}

// column is a part of the screen from top to bottom: panes one above the other.
type column struct {
	width int
	panes []slot
}

// slot is a pane's place in a column.
type slot struct {
	pane   panes.Pane
	height int
}

// Widths from which the screen is divided, in cells.
const (
	twoColumns   = 72 // or one of all panes, up to besideFrom
	besideFrom   = 100
	threeColumns = 160
	stackHeight  = 14 // rows from which a column holds two panes
)

// arrange divides a body of w × h cells. Between columns one cell is left for a rule. With little
// room, or zoomed, only the focused pane is shown.
func (d *desk) arrange(w, h int) []column {
	if w < twoColumns || d.zoom {
		return []column{{w, []slot{{d.focus, h}}}}
	}
	if w < besideFrom {
		return []column{{w, d.pile(h)}}
	}
	left := min(max(w*44/100, 32), 72)
	right := w - left - 1
	columns := []column{{left, []slot{{d.last[panes.Left], h}}}}
	if w < threeColumns {
		return append(columns, column{right, d.stack(h, d.last[panes.Main], d.last[panes.Side])})
	}
	main := right * 11 / 20
	first := d.table[slices.IndexFunc(d.table, func(p placed) bool { return p.at == panes.Side })].Pane
	return append(columns, column{main, []slot{{d.last[panes.Main], h}}},
		column{right - main - 1, d.stack(h, first, d.beside(first, panes.Side))})
}

// pile puts the list above the others.
func (d *desk) pile(h int) []slot {
	if h < stackHeight {
		if d.focus == d.last[panes.Left] {
			return []slot{{d.focus, h}}
		}
		return d.stack(h, d.last[panes.Main], d.last[panes.Side])
	}
	top := max(h/4+1, 4)
	return append([]slot{{d.last[panes.Left], top}}, d.stack(h-top, d.last[panes.Main], d.last[panes.Side])...)
}

// stack puts two panes above each other, or only one where there is no room for both: the focused
// one, or else the first.
func (d *desk) stack(h int, first, second panes.Pane) []slot {
	if h < stackHeight || second == nil {
		if second != nil && d.focus == second {
			first = second
		}
		return []slot{{first, h}}
	}
	low := max(5, h*3/10)
	return []slot{{first, h - low}, {second, low}}
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

// next is the pane that many steps further. In two columns it goes round the three that are shown,
// and otherwise, when not all fit, round all panes.
func (d *desk) next(step int, columns []column) panes.Pane {
	all := d.table
	shown := 0
	for _, c := range columns[:min(len(columns), 2)] {
		shown += len(c.panes)
	}
	if shown == 3 && len(columns) < 3 {
		all = []placed{{Pane: d.last[panes.Left]}, {Pane: d.last[panes.Main]}, {Pane: d.last[panes.Side]}}
	}
	at := slices.IndexFunc(all, func(p placed) bool { return p.Pane == d.focus })
	return all[(at+step+len(all))%len(all)].Pane
}
