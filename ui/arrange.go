package ui

// paneID names a pane.
type paneID uint8

const (
	listPane paneID = iota
	docPane
	wirePane
	findingsPane
)

// column is a part of the screen from top to bottom: panes one above the other.
type column struct {
	width int
	panes []slot
}

// slot is a pane's place in a column.
type slot struct {
	pane   paneID
	height int
}

// Widths from which the screen is divided, in cells.
const (
	twoColumns   = 72
	threeColumns = 160
	stackHeight  = 14 // rows from which a column holds two panes
)

// arrange divides a body of w × h cells. Between columns one cell is left for
// a rule. With little room, or zoomed, only the focused pane is shown; lower
// is which of wire and findings shares a column with the document.
func arrange(w, h int, focus, lower paneID, zoom bool) []column {
	if w < twoColumns || zoom {
		return []column{{w, []slot{{focus, h}}}}
	}
	list := min(max(w*3/10, 32), 50)
	right := w - list - 1
	columns := []column{{list, []slot{{listPane, h}}}}
	if w < threeColumns {
		return append(columns, column{right, stack(h, docPane, lower, focus)})
	}
	doc := right * 11 / 20
	return append(columns, column{doc, []slot{{docPane, h}}},
		column{right - doc - 1, stack(h, wirePane, findingsPane, focus)})
}

// stack puts two panes above each other, or only one where there is no room
// for both: the focused one, or else the first.
func stack(h int, first, second, focus paneID) []slot {
	if h < stackHeight {
		if focus == second {
			first = second
		}
		return []slot{{first, h}}
	}
	low := max(5, h*3/10)
	return []slot{{first, h - low}, {second, low}}
}

// place is where a pane is: its size, or false if it is not on the screen.
func place(columns []column, pane paneID) (w, h int, shown bool) {
	for _, c := range columns {
		for _, s := range c.panes {
			if s.pane == pane {
				return c.width, s.height, true
			}
		}
	}
	return 0, 0, false
}
