package panes

import (
	"fmt"
	"sort"
	"unicode/utf8"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// Draw writes display row n of the document into the field.
func (d *Document) Draw(p *screen.Pen, n int, focused bool) {
	defer p.Fill(screen.Bare)
	if d.Call == nil {
		return
	}
	row := d.textRow(n)
	if row < 0 {
		d.drawExtra(p, n)
		return
	}
	r := d.rows()[row]
	p.Spaces(screen.Bare, int(r.Indent))
	if d.json != nil {
		d.drawTokens(p, r, focused)
	} else {
		d.drawText(p, r, focused)
	}
	if row == len(d.rows())-1 {
		d.drawEnd(p)
	}
}

// drawTokens writes the tokens of a row.
func (d *Document) drawTokens(p *screen.Pen, r layout.Row, focused bool) {
	toks := d.tokens()
	text, off := d.Call.Args(), int(r.Start)
	for n := int(r.Token); n < toks.Len() && off < int(r.End); n++ {
		end := min(int(toks.At(n).End), int(r.End))
		if end <= off {
			continue
		}
		if toks.At(n).Kind != stream.Space {
			d.drawSpan(p, screen.TokenRoles[toks.At(n).Kind], text[off:end], off, n == toks.Len()-1 && end == d.settled(), focused)
		}
		if toks.At(n).Kind == stream.Colon {
			p.Spaces(screen.Bare, 1)
		}
		off = end
	}
}

// drawText writes a row of text as it is, with a sign where a delta begins.
func (d *Document) drawText(p *screen.Pen, r layout.Row, focused bool) {
	toks := d.tokens()
	text := d.Call.Args()
	for off := int(r.Start); off < int(r.End); {
		if d.Text.Marked(off) {
			p.Say(screen.Muted, p.Glyph.Delta)
		}
		end := d.Text.NextMark(off, int(r.End))
		role := screen.Plain
		if n := tokenAt(toks, off); n < toks.Len() {
			end = off + unitEnd(d.drawer, text[off:end], min(end, int(toks.At(n).End))-off)
			role = screen.TokenRoles[toks.At(n).Kind]
		}
		d.drawSpan(p, role, text[off:end], off, false, focused)
		off = end
	}
}

// drawSpan writes bytes of one token, cut where what they lie on changes.
func (d *Document) drawSpan(p *screen.Pen, r screen.Role, b []byte, off int, last, focused bool) {
	for len(b) > 0 && p.Left > 0 {
		g, until := d.groundAt(off, off+len(b), focused)
		until = off + unitEnd(d.drawer, b, until-off)
		if g == screen.Bare && last && d.Call.Lexer().Open() && d.Call.Arriving() {
			g = screen.Growing
		}
		drawEscapes(p, r, g, b[:until-off])
		b = b[until-off:]
		off = until
	}
}

// groundAt is what the byte at off lies on, and up to where.
func (d *Document) groundAt(off, limit int, focused bool) (screen.Ground, int) {
	g, until := screen.Bare, limit
	consider := func(s Span, as screen.Ground) {
		switch {
		case s.Has(off):
			g, until = as, min(until, s.End)
		case s.Start > off:
			until = min(until, s.Start)
		}
	}
	if i := sort.Search(len(d.Marks), func(i int) bool { return d.Marks[i].End > off }); i < len(d.Marks) {
		consider(d.Marks[i], screen.Added)
	}
	consider(d.Light, screen.Linked)
	if focused {
		consider(d.Chosen(), screen.Selected)
	}
	for _, at := range d.Hits.near(off, limit) {
		consider(Span{at, at + d.Hits.length}, screen.Match)
	}
	return g, until
}

// near are the hits that touch [off, limit): at most the first two matter.
func (h *Hits) near(off, limit int) []int {
	if len(h.at) == 0 {
		return nil
	}
	lo, hi := 0, len(h.at)
	for lo < hi {
		if mid := (lo + hi) / 2; h.at[mid]+h.length > off {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return h.at[lo:min(lo+2, len(h.at))]
}

// unitEnd is n, or where the unit ends that reaches over n: what is drawn whole is not cut where
// its look changes.
func unitEnd(draw display.Drawer, b []byte, n int) int {
	if n >= len(b) || b[n] < utf8.RuneSelf {
		return n
	}
	at := n - 1
	for at > 0 && b[at] >= utf8.RuneSelf {
		at--
	}
	for at < n {
		k, _ := draw.Measure(b[at:])
		at += k
	}
	return at
}

// drawEnd writes what follows the last settled byte: half an escape or half a character, and the
// cursor of a token that is still growing.
func (d *Document) drawEnd(p *screen.Pen) {
	settled := d.settled()
	if rest := d.Call.Args()[settled:]; len(rest) > 0 {
		p.Raw(screen.Tentative, screen.Growing, rest)
	}
	if d.Call.Arriving() {
		p.Say(screen.Live, p.Glyph.Cursor)
	}
}

func (d *Document) settled() int {
	if d.json != nil {
		return d.json.Len()
	}
	return d.Text.Len()
}

// drawExtra writes a row that shows no text.
func (d *Document) drawExtra(p *screen.Pen, n int) {
	if after := d.caretAfter(); after >= 0 && n > after && n <= after+len(d.caretRows()) {
		row := d.caretRows()[n-after-1]
		p.Spaces(screen.Bare, row.indent)
		p.Put(screen.Bad, screen.Bare, row.text)
		return
	}
	first := len(d.rows())
	ghosts := d.ghosts()
	if n -= first; n < 0 || n >= len(ghosts) {
		if n == 0 && len(d.Call.Args()) == 0 {
			d.drawNothing(p)
		}
		return
	}
	depth := d.Call.Lexer().Depth() - n - 1
	p.Spaces(screen.Bare, max(0, min(depth*2, d.json.Width()-12)))
	p.Say(screen.Tentative, display.Join(p.Glyph.Ghost, p.Clean(string(ghosts[n]))))
	if n == mostGhosts-1 && depth > 0 {
		p.Say(screen.Tentative, p.Format(" and %d more", depth))
	}
}

// drawNothing says why there is nothing to see.
func (d *Document) drawNothing(p *screen.Pen) {
	text := "no argument bytes yet"
	switch {
	case d.Call.Size() > 0:
		text = "they are being read again"
	case !d.Call.Arriving():
		text = "no argument bytes came"
	}
	p.Say(screen.Muted, p.Clean(text))
}

// caret are the rows under the first wrong byte: what was expected there, what came, where, and
// when. They are made once for a byte and a width.
type caret struct {
	of   caretKey
	rows []caretRow
}

type caretKey struct {
	offset, width int
	row           layout.Row
}

type caretRow struct {
	indent int
	text   display.Text
}

// caretRows are the rows to show under the first wrong byte, none without one.
func (d *Document) caretRows() []caretRow {
	err := d.wrong()
	if err == nil || d.json == nil || len(d.rows()) == 0 {
		return nil
	}
	r := d.rows()[d.rowAt(err.Offset)]
	r.End = 0 // what follows the byte does not matter
	if key := (caretKey{err.Offset, d.json.Width(), r}); d.caret.rows == nil || d.caret.of != key {
		d.caret = caret{key, d.makeCaret(err, r)}
	}
	return d.caret.rows
}

// makeCaret puts the sentence beside the caret where it fits, else below it.
func (d *Document) makeCaret(err *stream.SyntaxError, r layout.Row) []caretRow {
	width := d.json.Width()
	col := min(int(r.Indent)+d.column(r, err.Offset), width-1)
	delta := d.Call.DeltaAt(err.Offset)
	where := fmt.Sprintf("byte %s, delta %d", screen.Count(err.Offset), delta+1)
	if d.When != nil && delta < d.Call.Deltas() {
		if t := d.When(d.Call.DeltaEvent(delta)); !t.Empty() {
			where += ", +" + t.String()
		}
	}
	note := d.drawer.Clean(fmt.Sprintf("expected %s, got %s", err.Expected, err.Found()))
	place := d.drawer.Clean(where)
	whole := display.Join(note, display.Lit(" ("), place, display.Lit(")"))
	switch w := whole.Width(); {
	case col+2+w <= width:
		return []caretRow{{col, whole.Between("^ ", "")}}
	case w+1 <= col:
		return []caretRow{{col - w - 1, whole.Between("", " ^")}}
	}
	rows := []caretRow{{col, display.Lit("^")}}
	for _, text := range []display.Text{note, place} {
		for _, line := range display.Wrap(text, width) {
			rows = append(rows, caretRow{max(0, min(col, width-text.Width())), line})
		}
	}
	return rows
}

// column is how many cells of row r are before the byte at off.
func (d *Document) column(r layout.Row, off int) (cells int) {
	toks := d.tokens()
	at := int(r.Start)
	for n := int(r.Token); n < toks.Len() && at < off; n++ {
		end := min(int(toks.At(n).End), off)
		if end <= at {
			continue
		}
		switch toks.At(n).Kind {
		case stream.Space:
		case stream.Colon:
			cells += 2
		default:
			cells += d.drawer.CleanBytes(d.Call.Args()[at:end]).Width()
		}
		at = end
	}
	return cells
}
