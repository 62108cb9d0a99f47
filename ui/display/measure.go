package display

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width returns the number of cells that t takes on the screen.
func Width(t Text) int {
	if plain(t) {
		return len(t)
	}
	return ansi.StringWidth(string(t))
}

// Truncate returns t if it is at most so many cells wide, and else as much of it as fits with an ellipsis behind it.
func Truncate(t Text, cells int) Text { return Drawer{}.Truncate(t, cells) }

// Truncate is the function [Truncate] with this drawer's ellipsis.
func (d Drawer) Truncate(t Text, cells int) Text {
	if cells <= 0 {
		return ""
	}
	if Width(t) <= cells {
		return t
	}
	end := d.ellipsis(cells)
	room := cells - Width(end)
	b := []byte(t)
	at := 0
	for at < len(b) && room > 0 {
		n := min(PlainLen(b[at:]), room)
		width := n
		if n == 0 {
			n, width = Measure(b[at:])
		}
		if width > room {
			break
		}
		at, room = at+n, room-width
	}
	return t[:at] + end
}

// Pad returns t cut, or filled with spaces, to exactly so many cells.
func (d Drawer) Pad(t Text, cells int) Text {
	t = d.Truncate(t, cells)
	if n := cells - Width(t); n > 0 {
		t += Text(strings.Repeat(" ", n))
	}
	return t
}

// ellipsis is the mark for text that is cut, no wider than cells.
func (d Drawer) ellipsis(cells int) Text {
	switch {
	case d.ASCII:
		return Text("...")[:min(3, cells)]
	case Width("…") > cells:
		return ""
	}
	return "…"
}
