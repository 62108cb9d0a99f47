package display

import "strings"

// Truncate returns t if it is at most so many cells wide. Otherwise it returns the start of t that fits,
// without blanks at its end, and an ellipsis.
func (d Drawer) Truncate(t Text, cells int) Text {
	if cells <= 0 {
		return Text{}
	}
	if t.Width() <= cells {
		return t
	}
	end := d.ellipsisFor(cells)
	at, wide := t.cutAt(cells - cellWidth(end))
	for at > 0 && t.s[at-1] == ' ' {
		at, wide = at-1, wide-1
	}
	return Text{t.s[:at] + end, wide + cellWidth(end)}
}

// Skip returns t without its first units, at least so many cells of them.
func Skip(t Text, cells int) Text {
	if cells <= 0 {
		return t
	}
	at, wide := t.cutAt(cells)
	if wide < cells && at < len(t.s) { // the next unit is wider than the cells left
		n, more := Measure([]byte(t.s[at:]))
		at, wide = at+n, wide+more
	}
	return Text{t.s[at:], t.Width() - wide}
}

// cutAt returns the end of the units that fit into the first so many cells of t, and their width.
func (t Text) cutAt(cells int) (at, wide int) {
	b := []byte(t.s)
	for at < len(b) && wide < cells {
		n := min(PlainLen(b[at:]), cells-wide)
		w := n
		if n == 0 {
			n, w = Measure(b[at:])
		}
		if wide+w > cells {
			break
		}
		at, wide = at+n, wide+w
	}
	return at, wide
}

// Pad returns t cut, or filled with spaces, to exactly so many cells.
func (d Drawer) Pad(t Text, cells int) Text {
	t = d.Truncate(t, cells)
	if n := cells - t.Width(); n > 0 {
		t = Text{t.s + strings.Repeat(" ", n), cells}
	}
	return t
}

// ellipsisFor returns the mark for cut text, at most so many cells wide.
func (d Drawer) ellipsisFor(cells int) string {
	switch {
	case d.ASCII:
		return "..."[:min(3, cells)]
	case cellWidth("…") > cells:
		return ""
	}
	return "…"
}
