package panes

import "toolscope/stream"

// GoTo moves the cursor to the byte at off, and unfolds the containers that hide it.
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

// MoveToken moves by step tokens, and skips white space, punctuation and folded tokens. It reports whether
// there was a token to move to.
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

// Point highlights bytes of the arguments and scrolls to the first. If they take more than a screen, it
// highlights only their first row.
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

// Follow keeps the end in view, or stops following. When following stops, the cursor moves from a row of
// missing closers to the last text row.
func (d *Document) Follow(on bool) {
	if !on && d.Stick && len(d.layoutRows()) > 0 {
		d.MoveTo(d.view.Place(len(d.layoutRows()) - 1))
	}
	d.Stick = on
}
