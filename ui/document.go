package ui

import (
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// document is the pane of one call's arguments, as they grow: indented and
// highlighted by token, or raw with the boundaries of its deltas.
type document struct {
	screen.Window
	call   *stream.Call
	drawer display.Drawer
	raw    bool
	json   *layout.JSON // one of these is in use
	text   *layout.Text
	laid   int  // deltas whose boundaries are marked in text
	made   int  // the call's Rewrites when the layout was begun
	tok    int  // selected token, by number
	light  span // bytes the wire pane points at
	hits   hits
	marks  []span // values that are not the same elsewhere, in order
	caret  caret
	when   func(event int32) display.Text // time of an event within its turn; "" when unknown
}

// span is a range of argument bytes.
type span struct{ start, end int }

func (s span) has(off int) bool { return s.start <= off && off < s.end }

// hits are the places a search found in the document.
type hits struct {
	at     []int // offsets, ascending
	length int
}

// show changes to another call, or to another width; the layout is made anew.
func (d *document) show(c *stream.Call, width int, draw display.Drawer) {
	same := c == d.call
	w := 0
	switch {
	case d.json != nil:
		w = d.json.Width()
	case d.text != nil:
		w = d.text.Width()
	}
	plainText := d.raw || c != nil && c.Syntax() == stream.SyntaxFreeform
	if same && w == width && plainText == (d.text != nil) && (c == nil || c.Rewrites == d.made) {
		return
	}
	off := d.offset()
	d.json, d.text, d.laid, d.drawer = nil, nil, 0, draw
	if plainText {
		d.text = layout.NewText(width, draw)
	} else {
		d.json = layout.NewJSON(width, draw)
	}
	if c != nil {
		d.made = c.Rewrites
	}
	if !same {
		d.call, d.tok, d.light, d.hits, d.caret = c, 0, span{}, hits{}, caret{}
		d.Window = screen.Window{Stick: c != nil && c.Arriving()}
		return
	}
	d.extend(d.Height)
	if !d.Stick {
		d.goTo(off)
	}
}

// extend lays out what arrived.
func (d *document) extend(height int) {
	if d.call == nil {
		return
	}
	if d.json != nil {
		d.json.Extend(d.call.Args(), d.call.Lexer(), !d.call.Arriving())
	} else {
		deltas := d.call.Deltas()
		for ; d.laid < len(deltas); d.laid++ {
			if d.laid > 0 && deltas[d.laid-1].End > 0 {
				d.text.Mark(int(deltas[d.laid-1].End))
			}
		}
		d.text.Extend(d.call.Args(), !d.call.Arriving())
	}
	d.Resize(len(d.rows())+d.extraRows(), height)
	if d.Stick {
		d.tok = len(d.call.Lexer().Tokens()) - 1
	}
}

func (d *document) rows() []layout.Row {
	switch {
	case d.json != nil:
		return d.json.Rows()
	case d.text != nil:
		return d.text.Rows()
	}
	return nil
}

func (d *document) rowAt(off int) int {
	if d.json != nil {
		return d.json.RowAt(off)
	}
	return d.text.RowAt(off)
}

// extraRows are those that show no text: the caret under the first wrong byte
// and the closers that have not arrived.
func (d *document) extraRows() int {
	return len(d.ghosts()) + len(d.caretRows())
}

// wrong is the first byte that cannot be right, if there is one. Where bytes of
// the call were not seen, that what is left does not parse is nobody's mistake.
func (d *document) wrong() *stream.SyntaxError {
	if d.call.Status() == stream.Unseen {
		return nil
	}
	return d.call.Lexer().Err()
}

// caretAfter is the row with the first wrong byte, or -1.
func (d *document) caretAfter() int {
	if err := d.wrong(); err != nil && d.json != nil && len(d.rows()) > 0 {
		return d.rowAt(err.Offset)
	}
	return -1
}

// mostGhosts is how many missing closers are shown; more would push out what is there.
const mostGhosts = 8

// ghosts are the closers that have not arrived, innermost first.
func (d *document) ghosts() []byte {
	lex := d.call.Lexer()
	if d.json == nil || lex.Err() != nil {
		return nil
	}
	var closers []byte
	for depth := lex.Depth(); depth > 0 && len(closers) < mostGhosts; depth-- {
		closers = append(closers, lex.Closer(depth))
	}
	return closers
}

// textRow is the layout row on display row n, or -1 for one that shows no text.
func (d *document) textRow(n int) int {
	if d.call == nil {
		return -1
	}
	if after := d.caretAfter(); after >= 0 && n > after {
		if n -= len(d.caretRows()); n <= after {
			return -1
		}
	}
	if n < len(d.rows()) {
		return n
	}
	return -1
}

// displayRow is the display row of a layout row.
func (d *document) displayRow(n int) int {
	if after := d.caretAfter(); after >= 0 && n > after {
		return n + len(d.caretRows())
	}
	return n
}

// tokens are the call's tokens; free text has none.
func (d *document) tokens() []stream.Token {
	if d.call == nil {
		return nil
	}
	return d.call.Lexer().Tokens()
}

// tokenSpan is the bytes of token n.
func tokenSpan(toks []stream.Token, n int) span {
	if n < 0 || n >= len(toks) {
		return span{}
	}
	s := span{0, int(toks[n].End)}
	if n > 0 {
		s.start = int(toks[n-1].End)
	}
	return s
}

// chosen is the bytes of the selected token; in free text, of the row.
func (d *document) chosen() span {
	if toks := d.tokens(); len(toks) > 0 {
		return tokenSpan(toks, d.tok)
	}
	if n := d.textRow(d.At); n >= 0 {
		return span{int(d.rows()[n].Start), int(d.rows()[n].End)}
	}
	return span{}
}

// offset is the byte the cursor is at.
func (d *document) offset() int {
	if d.call == nil {
		return 0
	}
	s := d.chosen()
	if n := d.textRow(d.At); n >= 0 {
		if row := d.rows()[n]; s.start < int(row.Start) || s.start >= int(row.End) {
			return int(row.Start)
		}
	}
	return s.start
}

// goTo puts the cursor on the byte at off.
func (d *document) goTo(off int) {
	if d.call == nil || len(d.rows()) == 0 {
		return
	}
	d.tok = tokenAt(d.tokens(), off)
	if row := d.displayRow(d.rowAt(off)); row < d.Top || row >= d.Top+d.Height {
		d.Center(row)
	} else {
		d.MoveTo(row)
	}
}

// tokenAt is the number of the token with the byte at off.
func tokenAt(toks []stream.Token, off int) int {
	lo, hi := 0, len(toks)
	for lo < hi {
		if mid := (lo + hi) / 2; int(toks[mid].End) > off {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return max(0, min(lo, len(toks)-1))
}

// release no longer keeps the end in view. The cursor was on the last row, which
// may be one that shows what has not come.
func (d *document) release() {
	if d.Stick && len(d.rows()) > 0 {
		d.MoveTo(d.displayRow(len(d.rows()) - 1))
	}
	d.Stick = false
}

// moveRow moves the cursor to another display row and onto a token there.
func (d *document) moveRow(row int) {
	d.MoveTo(row)
	n := d.textRow(d.At)
	toks := d.tokens()
	if n < 0 || len(toks) == 0 {
		return
	}
	d.tok = tokenAt(toks, int(d.rows()[n].Start))
	for d.tok+1 < len(toks) && toks[d.tok].Kind == stream.Space && tokenSpan(toks, d.tok).end < int(d.rows()[n].End) {
		d.tok++
	}
}

// moveToken moves to the token n further that is not white space or punctuation
// between; it reports whether there was one.
func (d *document) moveToken(step int) bool {
	toks := d.tokens()
	for n := d.tok + step; n >= 0 && n < len(toks); n += step {
		switch toks[n].Kind {
		case stream.Space, stream.Colon, stream.Comma:
			continue
		}
		d.goTo(tokenSpan(toks, n).start)
		return true
	}
	return false
}
