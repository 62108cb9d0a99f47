package panes

import (
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// paneEdge is the top edge of a pane: its title, and a right-aligned text. The focused pane has a heavy edge.
type paneEdge struct {
	title   display.Text
	beside  display.Text // muted; cut before any other text
	key     display.Text // the key that changes the text on the right
	right   display.Text
	focused bool
	stacked bool // the edge spans the width of the screen
}

// draw draws the edge across the rest of the row. If the title leaves too little room, the key and the right
// text are left out.
func (e paneEdge) draw(p *screen.Pen) {
	line, role, title := p.Glyph.Line, screen.Frame, screen.Plain
	if e.focused {
		line, role, title = p.Glyph.Heavy, screen.Accent, screen.Accent
	}
	end := 1
	if e.stacked {
		end = 2
	}
	right := display.Join(e.key.Between("", " "), e.right)
	if e.key.Empty() {
		right = e.right
	}
	room := p.Left - 2*end - 4
	if right.Width()+e.title.Width() > room {
		e.key, e.right, right = display.Text{}, display.Text{}, display.Text{}
	}
	p.Text(role, display.Repeat(line, end))
	p.Spaces(screen.Bare, 1)
	p.Text(title, p.Truncate(e.title, max(1, room)))
	if left := room - right.Width() - e.title.Width() - 2; !e.beside.Empty() && left >= minWords {
		p.Text(screen.Muted, p.Truncate(e.beside, left).Between("  ", ""))
	}
	p.Spaces(screen.Bare, 1)
	after := end
	if !right.Empty() {
		after += right.Width() + 2
	}
	p.Text(role, display.Repeat(line, max(0, p.Left-after)))
	if !right.Empty() {
		p.Spaces(screen.Bare, 1)
		p.Text(screen.Accent, e.key)
		if !e.key.Empty() {
			p.Spaces(screen.Bare, 1)
		}
		p.Text(screen.Plain, e.right)
		p.Spaces(screen.Bare, 1)
	}
	p.Text(role, display.Repeat(line, p.Left))
}
