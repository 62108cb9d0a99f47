package panes

import (
	"toolscope/stream"
	"toolscope/ui/layout"
)

// Roll scrolls the shown content.
func (s *Subject) Roll(rows int) {
	switch {
	case s.string != nil:
		s.string.Roll(rows)
	case s.currentSelection().Call == nil:
		s.Summary.Roll(rows)
	default:
		s.Document.Roll(rows)
	}
}

// Click moves the cursor to the clicked row. In the summary of a turn it selects the call of that row.
func (s *Subject) Click(x, y int) (again bool) {
	if s.string != nil {
		s.string.Click(x, y)
		return false
	}
	if s.currentSelection().Call != nil {
		return s.Document.Click(x, y)
	}
	if c := s.Summary.callAt(y); c != nil {
		s.host.Choose(c.Ref())
	}
	return false
}

// Click moves the cursor to the clicked token, or to its row.
func (d *Document) Click(x, y int) (again bool) {
	place := d.RowAt(y)
	if place < 0 || d.Call == nil {
		return false
	}
	at, tok := d.At, d.tok
	d.MoveRow(place)
	if n := d.textRow(place); n >= 0 {
		d.selectAt(d.layoutRows()[n], x-d.Gutter-int(d.layoutRows()[n].Indent))
	}
	return d.At == at && d.tok == tok
}

// selectAt selects the token at a cell of a row, unless it is punctuation.
func (d *Document) selectAt(r layout.Row, x int) {
	toks := d.callTokens()
	for off := int(r.Start); off < int(r.End) && x >= 0 && toks.Len() > 0; {
		n := tokenAt(toks, off)
		kind, end := toks.At(n).Kind, min(int(r.End), int(toks.At(n).End))
		if end <= off {
			return
		}
		between := kind == stream.Space || kind == stream.Colon || kind == stream.Comma
		if cells := d.tokenCells(off, end, kind); x >= cells {
			x, off = x-cells, end
			continue
		}
		if !between {
			d.tok = n
		}
		return
	}
}

// tokenCells returns the width of bytes of one token in a row.
func (d *Document) tokenCells(off, end int, kind stream.TokenKind) (cells int) {
	if d.json != nil && kind == stream.Space {
		return 0
	}
	for text := d.Call.Args(); off < end; {
		if d.Text != nil && d.Text.Marked(off) {
			cells++
		}
		n, wide := d.drawer.Measure(text[off:end])
		off, cells = off+n, cells+wide
	}
	if d.json != nil && kind == stream.Colon {
		cells++
	}
	return cells
}
