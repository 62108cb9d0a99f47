package panes

import (
	"sort"
	"strings"
	"unicode/utf8"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// Draw draws the row at a place into the field.
func (d *Document) Draw(p *screen.Pen, place int, focused bool) {
	defer p.Fill(screen.Bare)
	if d.Call == nil {
		return
	}
	row, behind := d.rowAtPlace(place)
	switch {
	case row < 0:
		d.drawComing(p, place-d.view.Len(len(d.layoutRows())))
	case behind > 0:
		n := d.noteOf(row)
		if n == nil || behind > len(n.below) {
			return // blank
		}
		p.Spaces(screen.Bare, d.drawSign(p, n, behind == 1, n.below[behind-1].indent))
		p.TextOn(screen.SeverityRoles[n.worst], screen.Bare, n.below[behind-1].text)
	default:
		d.drawRow(p, row, focused && place == d.At)
	}
}

// drawSign draws the gutter, and returns the rest of the indentation after it: a sign may be wider than
// the gutter.
func (d *Document) drawSign(p *screen.Pen, n *findingNote, sign bool, indent int) int {
	if d.Gutter == 0 {
		return indent
	}
	if n == nil || !sign {
		return d.Gutter + indent
	}
	text := display.Clean(strings.TrimSpace(p.Glyph.Severity[n.worst].String()))
	blanks := max(0, min(d.Gutter, 2)-text.Width())
	p.Spaces(screen.Bare, blanks)
	p.Text(screen.SeverityRoles[n.worst], text)
	return max(0, d.Gutter+indent-blanks-text.Width())
}

// drawRow draws a row of the layout, its fold, and its findings.
func (d *Document) drawRow(p *screen.Pen, row int, chosen bool) {
	r, n := d.layoutRows()[row], d.noteOf(row)
	indent := d.drawSign(p, n, n != nil && len(n.below) == 0, int(r.Indent))
	if r.Wrapped && indent >= 2 {
		p.Spaces(screen.Bare, indent-2)
		p.Text(screen.Muted, p.Glyph.Wraps)
		p.Spaces(screen.Bare, 1)
	} else {
		p.Spaces(screen.Bare, indent)
	}
	if d.json == nil {
		d.drawText(p, r, chosen)
	} else {
		d.drawTokens(p, r, chosen)
	}
	if b := d.foldedBox(row); b != nil {
		p.Text(screen.Muted, d.foldText(*b))
		row = int(b.End)
		d.drawTokens(p, d.layoutRows()[row], false)
	}
	if row == len(d.layoutRows())-1 {
		d.drawEnd(p)
	}
	if n != nil && !n.behind.Empty() {
		p.TextOn(screen.SeverityRoles[n.worst], screen.Bare, n.behind.Between("  ", ""))
	}
}

// drawTokens draws the tokens of a row. A token that may grow is underlined on all its rows.
func (d *Document) drawTokens(p *screen.Pen, r layout.Row, chosen bool) {
	toks := d.callTokens()
	text, off := d.Call.Args(), int(r.Start)
	open := -1
	if d.Call.MayGrow() && d.Call.Lexer().Open() {
		open = toks.Len() - 1
	}
	for n := int(r.Token); n < toks.Len() && off < int(r.End); n++ {
		kind, end := toks.At(n).Kind, min(int(toks.At(n).End), int(r.End))
		if end <= off {
			continue
		}
		if kind != stream.Space {
			d.drawSpan(p, d.tokenRole(kind), text[off:end], off, n == open, chosen)
		}
		if kind == stream.Colon {
			p.Spaces(screen.Bare, 1)
		}
		off = end
	}
}

// tokenRole returns the role of a token of arguments. Bytes after a wrong byte are bad, unless the cause
// is only that toolscope missed bytes.
func (d *Document) tokenRole(k stream.TokenKind) screen.Role {
	if k == stream.Junk && d.Call.Status() != stream.Unseen {
		return screen.Bad
	}
	return screen.TokenRoles[k]
}

// drawText draws a row of raw text, with a sign where a delta begins.
func (d *Document) drawText(p *screen.Pen, r layout.Row, chosen bool) {
	toks := d.callTokens()
	text := d.Call.Args()
	for off := int(r.Start); off < int(r.End); {
		if d.Text.Marked(off) {
			p.Text(screen.Muted, p.Glyph.Delta)
		}
		end := d.Text.NextMark(off, int(r.End))
		role := screen.Plain
		if n := tokenAt(toks, off); n < toks.Len() {
			end = off + unitEnd(d.drawer, text[off:end], min(end, int(toks.At(n).End))-off)
			role = d.tokenRole(toks.At(n).Kind)
		}
		d.drawSpan(p, role, text[off:end], off, false, chosen)
		off = end
	}
}

// drawSpan draws bytes of one token, split where the background changes.
func (d *Document) drawSpan(p *screen.Pen, r screen.Role, b []byte, off int, open, chosen bool) {
	for len(b) > 0 && p.Left > 0 {
		g, until := d.groundAt(off, off+len(b), chosen)
		until = off + unitEnd(d.drawer, b, until-off)
		if g == screen.Bare && open {
			g = screen.Growing
		}
		drawEscapes(p, r, g, b[:until-off])
		b = b[until-off:]
		off = until
	}
}

// groundAt returns the background of the byte at off, and where it ends.
func (d *Document) groundAt(off, limit int, chosen bool) (screen.Surface, int) {
	g, until := screen.Bare, limit
	consider := func(s Span, as screen.Surface) {
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
	if chosen {
		consider(d.Chosen(), screen.Selected)
	}
	for _, at := range d.Hits.hitsNear(off, limit) {
		consider(Span{at, at + d.Hits.length}, screen.Match)
	}
	return g, until
}

// hitsNear returns the matches that touch [off, limit): at most the first two matter.
func (h *Hits) hitsNear(off, limit int) []int {
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

// unitEnd returns n, or the end of the unit that n splits. A change of style must not split a unit.
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

// cellsBefore returns how many cells of row r are before the byte at off.
func (d *Document) cellsBefore(r layout.Row, off int) (cells int) {
	toks := d.callTokens()
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
