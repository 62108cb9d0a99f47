package panes

import (
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// drawEnd draws the end of the text: an incomplete escape or character, and the sign of how it ended.
func (d *Document) drawEnd(p *screen.Pen) {
	settled := d.settledLen()
	if rest := d.Call.Args()[settled:]; len(rest) > 0 {
		p.Bytes(screen.Tentative, screen.Growing, rest)
	}
	r := screen.Live
	if !d.Call.MayGrow() {
		r = screen.CallRole(d.Call)
	}
	p.Text(r, d.endSign())
}

// endSign returns the sign after the last byte: that more may arrive, or why no more arrived.
func (d *Document) endSign() display.Text {
	g, c := d.glyphSet(), d.Call
	switch st := c.Status(); {
	case c.MayGrow():
		return g.Cursor
	case st == stream.CutShort, st == stream.Aborted, st == stream.Unseen, st == stream.Rejected && c.Syntax() == stream.SyntaxPrefix:
		return g.Status[st]
	}
	return display.Text{}
}

// maxClosers is the maximum number of missing closers that are shown. More would leave no room for the
// text.
const maxClosers = 8

// missingClosers returns the closers that have not arrived, innermost first.
func (d *Document) missingClosers() []byte {
	lex := d.Call.Lexer()
	if d.json == nil || lex.Err() != nil {
		return nil
	}
	var closers []byte
	for depth := lex.Depth(); depth > 0 && len(closers) < maxClosers; depth-- {
		closers = append(closers, lex.Closer(depth))
	}
	return closers
}

// closerRows returns the number of rows for missing closers: one each, or one for all on a small screen.
func (d *Document) closerRows() int {
	if d.Call == nil {
		return 0
	}
	n := len(d.missingClosers())
	if n > 1 && d.Height < 4*n {
		return 1
	}
	return n
}

// drawComing draws row n of the missing closers.
func (d *Document) drawComing(p *screen.Pen, n int) {
	ghosts, rows := d.missingClosers(), d.closerRows()
	if n < 0 || n >= rows {
		if n == 0 && len(d.Call.Args()) == 0 {
			p.Spaces(screen.Bare, d.Gutter)
			d.drawNothing(p)
		}
		return
	}
	depth := d.Call.Lexer().Depth() - n - 1
	p.Spaces(screen.Bare, d.Gutter+max(0, min(depth*2, d.json.Width()-12)))
	closers := ghosts[n : n+1]
	if rows == 1 {
		closers, depth = ghosts, d.Call.Lexer().Depth()-len(ghosts)
	}
	p.Text(screen.Tentative, display.Join(p.Glyph.Ghost, p.Clean(string(closers))))
	if n == rows-1 && depth > 0 {
		p.Text(screen.Tentative, p.Format(" and %d more", depth))
	}
}

// drawNothing says why there are no arguments.
func (d *Document) drawNothing(p *screen.Pen) {
	text := "no argument bytes yet"
	switch {
	case d.Call.ArgsLen() > 0:
		text = "reloading the arguments"
	case !d.Call.MayGrow():
		text = "no argument bytes"
	}
	p.Text(screen.Muted, p.Clean(text))
	if d.Wants != "" && d.Call.MayGrow() {
		p.TextOn(screen.Muted, screen.Bare, p.Truncate(p.Name(d.Wants).Between("; the schema needs ", ""), p.Left))
	}
}
