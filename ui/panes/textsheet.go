package panes

import (
	"bytes"
	"slices"
	"sort"

	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// TextSheet shows several texts, one below the other. They are laid out once and drawn one row at a time.
type TextSheet struct {
	blocks []block
	Rows   int
	Look   int // the block to show first; LookAt is the byte in that block
	LookAt int
}

// block is one text of a sheet.
type block struct {
	caption display.Text // above the text; "" if there is none
	text    []byte
	toks    json.TokenList
	rows    []layout.Row
	pretty  bool   // indented by structure; white space between tokens is not shown
	marks   []Span // marked spans, in order
	first   int    // display row of the caption or, without a caption, of the first row of the text
}

// NewBlock lays out a text, indented or raw.
func NewBlock(caption display.Text, text []byte, raw bool, marks []Span, width int, draw display.Drawer) block {
	b := block{caption: caption, text: text, pretty: !raw, marks: marks}
	var lex json.Lexer
	lex.Write(text)
	lex.Close()
	if b.toks = lex.Tokens(); b.toks.Len() > 0 && b.toks.At(0).Kind == json.Junk {
		b.toks = json.TokenList{} // free text
	}
	if b.pretty {
		l := layout.NewJSON(width, draw)
		l.Extend(text, &lex, true)
		b.rows = l.Rows()
		return b
	}
	l := layout.NewText(width, draw)
	l.Extend(text, true)
	b.rows = l.Rows()
	return b
}

// captionRows returns the height of the caption.
func (b *block) captionRows() int {
	if b.caption.Empty() {
		return 0
	}
	return 1
}

// Add appends a block.
func (s *TextSheet) Add(b block) {
	b.first = s.Rows
	s.Rows += b.captionRows() + len(b.rows)
	s.blocks = append(s.blocks, b)
}

// LookRow returns the row of the byte that is shown first.
func (s *TextSheet) LookRow() int {
	if s.Look >= len(s.blocks) {
		return 0
	}
	b := &s.blocks[s.Look]
	n := sort.Search(len(b.rows), func(i int) bool { return int(b.rows[i].End) > s.LookAt })
	return b.first + b.captionRows() + min(n, max(0, len(b.rows)-1))
}

// Shows returns the text of a row, or nil for a caption.
func (s *TextSheet) Shows(row int) (text []byte) {
	n := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].first > row }) - 1
	if n < 0 || row >= s.Rows {
		return nil
	}
	b := &s.blocks[n]
	if row -= b.first + b.captionRows(); row < 0 {
		return nil
	}
	return b.text[b.rows[row].Start:b.rows[row].End]
}

// Marked reports whether a row shows marked bytes.
func (s *TextSheet) Marked(row int) bool {
	n := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].first > row }) - 1
	if n < 0 || row >= s.Rows {
		return false
	}
	b := &s.blocks[n]
	if row -= b.first + b.captionRows(); row < 0 {
		return false
	}
	r := b.rows[row]
	return slices.ContainsFunc(b.marks, func(m Span) bool { return m.Start < int(r.End) && int(r.Start) < m.End })
}

// Draw draws a row of the sheet. The parameter marked is the background for marked bytes.
func (s *TextSheet) Draw(p *screen.Pen, row int, marked screen.Surface) {
	n := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].first > row }) - 1
	if n < 0 || row >= s.Rows {
		return
	}
	b := &s.blocks[n]
	row -= b.first
	if row < b.captionRows() {
		p.Caption(screen.Muted, b.caption)
		return
	}
	b.draw(p, b.rows[row-b.captionRows()], marked)
}

// draw draws a row of the text, token by token.
func (b *block) draw(p *screen.Pen, r layout.Row, marked screen.Surface) {
	p.Spaces(screen.Bare, int(r.Indent))
	end := int(r.End)
	for off := int(r.Start); off < end && p.Left > 0; {
		until, role := end, screen.Plain
		n := tokenAt(b.toks, off)
		if n < b.toks.Len() && int(b.toks.At(n).End) > off {
			until, role = min(end, int(b.toks.At(n).End)), screen.TokenRoles[b.toks.At(n).Kind]
			if b.pretty && b.toks.At(n).Kind == json.Space {
				off = until
				continue
			}
		}
		if !b.pretty {
			until = off + unitEnd(p.Drawer, b.text[off:end], until-off)
		}
		b.drawMarked(p, role, off, until, marked)
		if b.pretty && n < b.toks.Len() && b.toks.At(n).Kind == json.Colon {
			p.Spaces(screen.Bare, 1)
		}
		off = until
	}
}

// drawMarked draws bytes of one token, split where marks begin and end.
func (b *block) drawMarked(p *screen.Pen, r screen.Role, off, end int, marked screen.Surface) {
	for off < end && p.Left > 0 {
		g, until := screen.Bare, end
		n := sort.Search(len(b.marks), func(i int) bool { return b.marks[i].End > off })
		if n < len(b.marks) {
			if m := b.marks[n]; m.Start <= off {
				g, until = marked, min(end, m.End)
			} else {
				until = min(end, m.Start)
			}
		}
		until = off + unitEnd(p.Drawer, b.text[off:end], until-off)
		drawEscapes(p, r, g, b.text[off:until])
		off = until
	}
}

// drawEscapes draws part of a token. Escapes in strings have their own colour.
func drawEscapes(p *screen.Pen, r screen.Role, g screen.Surface, b []byte) {
	if r != screen.StringToken && r != screen.KeyToken {
		p.Bytes(r, g, b)
		return
	}
	for len(b) > 0 && p.Left > 0 {
		n, as := bytes.IndexByte(b, '\\'), r
		switch {
		case n < 0:
			n = len(b)
		case n == 0:
			n, as = unitEnd(p.Drawer, b, json.EscapeLen(b)), screen.EscapeToken
		}
		p.Bytes(as, g, b[:n])
		b = b[n:]
	}
}
