package panes

import "toolscope/stream"

// GoTo puts the cursor on the byte at off. What hides it is unfolded.
func (d *Document) GoTo(off int) {
	if d.Call == nil || len(d.layoutRows()) == 0 {
		return
	}
	row := d.rowAt(off)
	d.revealRow(row)
	d.tok = tokenAt(d.callTokens(), off)
	if place := d.view.Place(row); place < d.Top || place >= d.Top+d.Height {
		d.Center(place)
	} else {
		d.MoveTo(place)
	}
}

// MoveRow moves the cursor to another place and onto a token there.
func (d *Document) MoveRow(place int) {
	d.MoveTo(place)
	n := d.textRow(d.At)
	toks := d.callTokens()
	if n < 0 || toks.Len() == 0 {
		return
	}
	d.tok = tokenAt(toks, int(d.layoutRows()[n].Start))
	for d.tok+1 < toks.Len() && toks.At(d.tok).Kind == stream.Space && TokenSpan(toks, d.tok).End < int(d.layoutRows()[n].End) {
		d.tok++
	}
}

// MoveToken moves to the token n further that is not white space or punctuation between, nor
// folded; it reports whether there was one.
func (d *Document) MoveToken(step int) bool {
	toks := d.callTokens()
	for n := d.tok + step; n >= 0 && n < toks.Len(); n += step {
		switch toks.At(n).Kind {
		case stream.Space, stream.Colon, stream.Comma:
			continue
		}
		if box := d.hidingBox(d.rowAt(toks.Start(n))); box != nil {
			if n = int(box.Last); step < 0 {
				n = int(box.Token) + 1
			}
			continue
		}
		d.GoTo(toks.Start(n))
		return true
	}
	return false
}

// Point lights bytes of the arguments, and goes to the first. Of a screenful and more only those of
// their first row are lit.
func (d *Document) Point(s Span) {
	if d.Light = s; s.End <= s.Start {
		return
	}
	d.GoTo(s.Start)
	if rows := d.layoutRows(); d.Call != nil && len(rows) > 0 {
		if first := d.rowAt(s.Start); d.rowAt(s.End-1)-first >= d.Height {
			d.Light.End = min(s.End, int(rows[first].End))
		}
	}
}

// Follow keeps the end in view. When it no longer does, the cursor was on the last row, which may
// be one that shows what has not come.
func (d *Document) Follow(on bool) {
	if !on && d.Stick && len(d.layoutRows()) > 0 {
		d.MoveTo(d.view.Place(len(d.layoutRows()) - 1))
	}
	d.Stick = on
}
