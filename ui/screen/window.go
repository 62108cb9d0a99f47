package screen

import "toolscope/ui/display"

// Window is a cursor in a list of rows of which some are visible: the movement that all panes
// share. It holds no rows, so a list may be as long as it likes.
type Window struct {
	Rows   int  // how many there are
	Height int  // how many are visible
	Top    int  // first visible row
	At     int  // the cursor
	Stick  bool // keep the end in view
	Beyond int  // rows behind the end: with little room few of them are seen, or none
	Head   int  // rows that are drawn above the first that is visible
	adrift bool // the view was rolled: the cursor may be out of sight, until it moves
}

// Fit is Resize for a list that is drawn into h rows, the first of which are no rows of it.
func (w *Window) Fit(rows, head, h int) {
	w.Head = head
	w.Resize(rows, h-head)
}

// Resize sets the number of rows there are and that are visible.
func (w *Window) Resize(rows, height int) {
	w.Rows, w.Height = rows, max(height, 1)
	if w.Stick { // wherever it was before: rows may be gone, as when one walks back in time
		w.At = rows - 1 - max(0, w.Beyond-w.Height/3)
		w.Top, w.adrift = w.At-w.Height+1, false
	}
	w.clampView()
}

// clampView keeps the cursor on a row and the row in view.
func (w *Window) clampView() {
	w.At = max(0, min(w.At, w.Rows-1))
	if !w.adrift {
		w.Top = min(max(w.Top, w.At-w.Height+1), w.At)
	}
	w.Top = max(0, min(w.Top, w.Rows-w.Height))
}

// MoveTo puts the cursor on a row.
func (w *Window) MoveTo(row int) {
	w.Stick, w.adrift = false, w.adrift && row == w.At
	w.At = row
	w.clampView()
}

// RowAt is the row that is drawn in row y, counted with those above the list; -1 for none.
func (w *Window) RowAt(y int) int {
	if y -= w.Head; y < 0 || y >= w.Height || w.Top+y >= w.Rows {
		return -1
	}
	return w.Top + y
}

// Roll moves the view, and not the cursor.
func (w *Window) Roll(rows int) {
	w.Stick, w.adrift = false, true
	w.Top = max(0, min(w.Top+rows, w.Rows-w.Height))
}

// Click puts the cursor on the row that is drawn in row y, and reports whether it was there.
func (w *Window) Click(_, y int) (again bool) {
	row := w.RowAt(y)
	if row < 0 {
		return false
	}
	again = row == w.At
	w.MoveTo(row)
	return again
}

// Scroll moves the view where there is no cursor to see.
func (w *Window) Scroll(top int) {
	w.Stick, w.adrift = false, false
	w.Top = max(0, min(top, w.Rows-w.Height))
	w.At = w.Top
}

// Center puts the cursor on a row and the row in the middle.
func (w *Window) Center(row int) {
	w.MoveTo(row)
	w.Top = w.At - w.Height/2
	w.clampView()
}

func (w *Window) End() {
	w.MoveTo(w.Rows - 1)
	w.Stick = true
}

// Visible is which of the rows are visible, counted from 1, and how many there are.
func (w *Window) Visible() (first, last, of int) {
	return w.Top + 1, min(w.Top+w.Height, w.Rows), w.Rows
}

// ScrollInfo says which rows are visible, and whether more are below; nothing where all are.
func (p *Pen) ScrollInfo(first, last, of int) display.Text {
	return p.scrollText(first, last, of, Count(of).Between(" of ", ""))
}

// ScrollRows is Seen without how many there are.
func (p *Pen) ScrollRows(first, last, of int) display.Text {
	return p.scrollText(first, last, of, display.Text{})
}

func (p *Pen) scrollText(first, last, of int, all display.Text) display.Text {
	switch {
	case first <= 1 && last >= of:
		return display.Text{}
	case last < first:
		last = first
	}
	text := display.Join(Count(first), p.Glyph.Dash, Count(last), all)
	if last < of {
		text = display.Join(text, display.Lit(" "), p.Glyph.Below)
	}
	return text
}
