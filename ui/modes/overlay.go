package modes

import (
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// OverlayMode is a mode that covers the lower part of what is below it, which is still seen and goes
// on. Its rows are numbered from its first; its hints are in the footer.
type OverlayMode interface {
	Mode
	WantedRows(h int) int // rows, of a body of h
}

// OverlayWidth is how many cells an overlay writes, at most.
const OverlayWidth = 60

// DrawInputRow writes the first row of an overlay in which something is typed: what for, the line, and
// what there is of it.
func DrawInputRow(p *screen.Pen, what display.Text, line *screen.Input, note display.Text) {
	p.Text(screen.Accent, what.Between(" ", " "))
	keep := 0
	if note.Width()+minLine < p.Left {
		keep = note.Width() + 1
	}
	p.Left -= keep
	line.Draw(p)
	p.Left += keep
	p.Right(screen.Muted, screen.Bare, note.Between("", " "))
	p.Fill(screen.Bare)
}

const minLine = 8 // cells of what is typed, or the note goes

// DrawChoiceRow writes a row that can be chosen: what it is, and flush right how to get it otherwise.
func DrawChoiceRow(p *screen.Pen, chosen bool, what, how display.Text) {
	g, mark := screen.Bare, display.Lit(" ")
	if chosen {
		g, mark = screen.Selected, p.Glyph.Mark
	}
	p.TextOn(screen.Accent, g, mark)
	room := p.Left - how.Width() - 1
	if how.Width() > p.Left/2 {
		how = p.Truncate(how, p.Left/2)
		room = p.Left - how.Width() - 1
	}
	p.TextOn(screen.Plain, g, p.Pad(p.Truncate(what, room-1), room))
	p.TextOn(screen.Accent, g, how)
	p.Fill(g)
}
