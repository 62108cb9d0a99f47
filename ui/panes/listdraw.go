package panes

import (
	"slices"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// The grid of the list, in cells. Columns have fixed places that don't depend on the content.
const (
	wideList     = 60 // minimum width for all columns
	tookCells    = 8
	sizeCells    = 8
	wordCells    = 14
	minWords     = 6 // of the prompt, or it is left out
	minTurnCells = 6 // of a turn that costs something
)

// listGrid is the columns of a list.
type listGrid struct {
	number, turn, call int // cells of the number; where text begins
	word               int // cells of a state in words, at least
	took               bool
	gap                display.Text // between the parts of a turn
}

func gridOf(width int) listGrid {
	if width < wideList {
		return listGrid{number: 3, turn: 8, call: 8, gap: display.Lit(" ")}
	}
	return listGrid{number: 4, turn: 10, call: 12, word: wordCells, took: true, gap: display.Lit("  ")}
}

// rightCells returns the width of the columns after the text.
func (g listGrid) rightCells() int {
	if g.took {
		return sizeCells + tookCells
	}
	return sizeCells
}

// stateWidth returns the width of a state in words.
func (g listGrid) stateWidth(word display.Text) int {
	if word.Empty() {
		return 0
	}
	return max(g.word, word.Width()+1)
}

// Draw draws row y of the pane into the field.
func (l *List) Draw(p *screen.Pen, y int, focused bool) {
	if y < l.titleRows() {
		l.drawTitle(p, focused)
		return
	}
	defer p.Fill(screen.Bare)
	row := l.Top + y - l.titleRows()
	if row >= l.Rows {
		return
	}
	v := l.scene.View
	ref := l.RefAt(v.Session(), row)
	if l.stuck && row == l.Top {
		ref.Call = 0
	}
	host, t, _ := l.rows.rowTarget(row)
	var c *stream.Call
	if t != nil {
		t, c = v.Find(ref)
	}
	g, sign := screen.Bare, display.Lit(" ")
	if row == l.At {
		g, sign = screen.Linked, p.Glyph.Mark
		if focused {
			g = screen.Selected
		}
	}
	if slices.Contains(l.scene.Marks, ref) {
		sign = display.Lit("m")
	}
	at := gridOf(p.Left)
	p.TextOn(screen.Accent, g, sign)
	if t == nil && host != nil {
		l.drawMachine(p, host, g)
	} else if c != nil {
		l.drawCall(p, c, g, at)
	} else if t != nil {
		l.drawTurn(p, t, g, at)
	}
	p.Fill(g)
}

// DrawTurn draws the row of a turn outside the list.
func (l *List) DrawTurn(p *screen.Pen, t *stream.Turn, chosen bool) {
	g, sign := screen.Bare, display.Lit(" ")
	if chosen {
		g, sign = screen.Selected, p.Glyph.Mark
	}
	at := gridOf(p.Left)
	p.TextOn(screen.Accent, g, sign)
	l.drawTurn(p, t, g, at)
	p.Fill(g)
}

// drawCall draws a call: its state sign and its name; on the right its state in words if it is bad, its
// size, and its time.
func (l *List) drawCall(p *screen.Pen, c *stream.Call, g screen.Surface, at listGrid) {
	st := c.Status()
	look := screen.CallRole(c)
	if st == stream.Complete {
		look = screen.Muted
	}
	p.Spaces(g, at.number)
	l.drawState(p, g, c.Ref(), c.Findings, st, look, at)
	p.Spaces(g, at.call-at.turn)
	name := p.Name(c.Name)
	if name.Empty() {
		name = display.Lit("(no name)")
	}
	size := display.Text{}
	if c.ArgsLen() > 0 {
		size = screen.Bytes(c.ArgsLen())
	}
	word := p.Clean(st.String())
	always := at.took || st == stream.LooksDone || isBad(st)
	if st == stream.Complete || !always && p.Left-at.rightCells()-at.stateWidth(word) <= name.Width() {
		word = display.Text{}
	}
	took := screen.Time(screen.CallTime(c))
	if c.MayGrow() {
		took = screen.RoughTime(screen.CallTime(c))
	}
	l.drawRow(p, g, at, listRow{text: name, role: screen.Plain, word: word, look: look, size: size, took: took, quiet: isQuiet(l.scene.View.Session().Turn(c.Turn))})
}

// isBad reports whether a state is always shown in words.
func isBad(st stream.Status) bool {
	return st >= stream.CutShort && st <= stream.Rejected
}

// isQuiet reports whether a row is a background request.
func isQuiet(t *stream.Turn) bool { return t != nil && isBackground(t) }

// drawState draws a sign if there are findings above info, and the state.
func (l *List) drawState(p *screen.Pen, g screen.Surface, owner stream.Ref, list []stream.Finding, st stream.Status, look screen.Role, at listGrid) {
	if at.took {
		p.Spaces(g, 1)
	}
	sign, r := display.Lit("  "), screen.Plain
	if severity, above := l.scene.Alarms.Of(owner, list); above {
		sign, r = display.Lit("! "), screen.SeverityRoles[severity]
		if severity == stream.Error {
			sign = display.Lit("!!")
		}
	}
	p.TextOn(r, g, sign)
	p.TextOn(look, g, p.Glyph.Status[st].Between("", " "))
}

// listRow is the content of a row after the state.
type listRow struct {
	text             display.Text
	role             screen.Role
	word, size, took display.Text
	look             screen.Role // of the word
	quiet, fullWidth bool        // of a background request; no columns right of the text
}

// drawRow draws a text and the columns right of it.
func (l *List) drawRow(p *screen.Pen, g screen.Surface, at listGrid, r listRow) {
	right, words := at.rightCells(), at.stateWidth(r.word)
	if cramped := !at.took && words > 0 && r.text.Width() >= p.Left-right-words; cramped || r.fullWidth || p.Left-right-words < minTurnCells {
		right = 0
	}
	figures := screen.Plain
	if r.quiet {
		r.role, figures = screen.Muted, screen.Muted
	}
	room := max(p.Left-right-words, 1)
	p.TextOn(r.role, g, p.Pad(p.Truncate(r.text, room-1), room))
	if words > 0 {
		p.TextOn(r.look, g, p.Pad(p.Truncate(r.word, words), words))
	}
	if right > 0 {
		p.TextOn(figures, g, alignRight(p, r.size, sizeCells))
	}
	if right > sizeCells {
		p.TextOn(screen.Muted, g, alignRight(p, r.took, tookCells))
	}
}

// alignRight aligns a text to the right of a column.
func alignRight(p *screen.Pen, t display.Text, cells int) display.Text {
	t = p.Truncate(t, cells)
	return display.Join(display.Repeat(display.Lit(" "), cells-t.Width()), t)
}
