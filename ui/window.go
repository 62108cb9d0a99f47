package ui

// window is a cursor in a list of rows of which some are visible: the movement
// that all panes share. It holds no rows, so a list may be as long as it likes.
type window struct {
	rows   int  // how many there are
	height int  // how many are visible
	top    int  // first visible row
	at     int  // the cursor
	stick  bool // keep the end in view
}

// resize sets the number of rows there are and that are visible.
func (w *window) resize(rows, height int) {
	w.rows, w.height = rows, max(height, 1)
	if w.stick {
		w.at = rows - 1
	}
	w.settle()
}

// settle keeps the cursor on a row and the row in view.
func (w *window) settle() {
	w.at = max(0, min(w.at, w.rows-1))
	w.top = min(max(w.top, w.at-w.height+1), w.at)
	w.top = max(0, min(w.top, w.rows-w.height))
}

// moveTo puts the cursor on a row.
func (w *window) moveTo(row int) {
	w.stick = false
	w.at = row
	w.settle()
}

// scroll moves the view where there is no cursor to see.
func (w *window) scroll(top int) {
	w.top = max(0, min(top, w.rows-w.height))
	w.at = w.top
}

// pages is the window as movement keys see it when they scroll.
func (w *window) pages() window { return window{at: w.top, rows: w.rows, height: w.height} }

// center puts the cursor on a row and the row in the middle.
func (w *window) center(row int) {
	w.moveTo(row)
	w.top = w.at - w.height/2
	w.settle()
}

func (w *window) end() {
	w.moveTo(w.rows - 1)
	w.stick = true
}
