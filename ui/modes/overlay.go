package modes

import (
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// OverlayMode is a mode that covers only the lower part of the screen. The upper part stays visible and
// keeps updating. Rows of the mode count from its own first row. Its hints are in the footer.
type OverlayMode interface {
	Mode
	WantedRows(h int) int // rows in a body of h rows
}

// OverlayWidth is the maximum width of an overlay, in cells.
const OverlayWidth = 60

// DrawInputRow draws the first row of an overlay with an input: its label, the input, and a note such as
// the number of matches.
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

const minLine = 8 // cells of the input below which the note is dropped

// DrawChoiceRow draws a selectable row: its text, and on the right the key or command with the same
// effect.
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
