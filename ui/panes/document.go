package panes

import (
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// Document is the pane of one call's arguments, as they grow: indented and highlighted by token, or
// raw with the boundaries of its deltas.
type Document struct {
	screen.Window
	Call   *stream.Call // as it is now; of says which it is
	of     stream.Ref
	drawer display.Drawer
	Raw    bool
	json   *layout.JSON // one of these is in use
	Text   *layout.Text
	laid   int  // deltas whose boundaries are marked in text
	made   int  // the call's Rewrites when the layout was begun
	tok    int  // selected token, by number
	Light  Span // bytes the wire pane points at
	Hits   Hits
	Marks  []Span // values that are not the same elsewhere, in order
	caret  caret
	When   func(event int32) display.Text // time of an event within its turn; "" when unknown
}

// Span is a range of argument bytes.
type Span struct{ Start, End int }

func (s Span) Has(off int) bool { return s.Start <= off && off < s.End }

// Hits are the places a search found in the document.
type Hits struct {
	at     []int // offsets, ascending
	length int
}

// Show takes the call as it is now. For another one, or another width, the layout is made anew.
func (d *Document) Show(c *stream.Call, width int, draw display.Drawer) {
	of := Choice{Call: c}.ref()
	same := of == d.of && (c == nil) == (d.Call == nil)
	if same {
		d.Call = c
	}
	w := 0
	switch {
	case d.json != nil:
		w = d.json.Width()
	case d.Text != nil:
		w = d.Text.Width()
	}
	plainText := d.Raw || c != nil && c.Syntax() == stream.SyntaxFreeform
	if same && w == width && plainText == (d.Text != nil) && (c == nil || c.Rewrites == d.made && d.settled() <= len(c.Args())) {
		return
	}
	off := d.Offset()
	d.json, d.Text, d.laid, d.drawer = nil, nil, 0, draw
	if plainText {
		d.Text = layout.NewText(width, draw)
	} else {
		d.json = layout.NewJSON(width, draw)
	}
	if c != nil {
		d.made = c.Rewrites
	}
	if !same {
		d.Call, d.of, d.tok, d.Light, d.Hits, d.caret = c, of, 0, Span{}, Hits{}, caret{}
		d.Window = screen.Window{Stick: c != nil && c.Arriving()}
		return
	}
	d.Extend(d.Height)
	if !d.Stick {
		d.GoTo(off)
	}
}

// Extend lays out what arrived.
func (d *Document) Extend(height int) {
	if d.Call == nil {
		return
	}
	if d.json != nil {
		d.json.Extend(d.Call.Args(), d.Call.Lexer(), !d.Call.Arriving())
	} else {
		for ; d.laid < d.Call.Deltas(); d.laid++ {
			if d.laid == 0 {
				continue
			}
			if _, end := d.Call.DeltaSpan(d.laid - 1); end > 0 {
				d.Text.Mark(end)
			}
		}
		d.Text.Extend(d.Call.Args(), !d.Call.Arriving())
	}
	d.Beyond = len(d.ghosts())
	d.Resize(len(d.rows())+d.extraRows(), height)
	if d.Stick {
		d.tok = d.Call.Lexer().Tokens().Len() - 1
	}
}

func (d *Document) rows() []layout.Row {
	switch {
	case d.json != nil:
		return d.json.Rows()
	case d.Text != nil:
		return d.Text.Rows()
	}
	return nil
}

func (d *Document) rowAt(off int) int {
	if d.json != nil {
		return d.json.RowAt(off)
	}
	return d.Text.RowAt(off)
}

// extraRows are those that show no text: the caret under the first wrong byte and the closers that
// have not arrived.
func (d *Document) extraRows() int {
	return len(d.ghosts()) + len(d.caretRows())
}

// wrong is the first byte that cannot be right, if there is one. Where bytes of the call were not
// seen, that what is left does not parse is nobody's mistake.
func (d *Document) wrong() *stream.SyntaxError {
	if d.Call.Status() == stream.Unseen {
		return nil
	}
	return d.Call.Lexer().Err()
}

// caretAfter is the row with the first wrong byte, or -1.
func (d *Document) caretAfter() int {
	if err := d.wrong(); err != nil && d.json != nil && len(d.rows()) > 0 {
		return d.rowAt(err.Offset)
	}
	return -1
}

// mostGhosts is how many missing closers are shown; more would push out what is there.
const mostGhosts = 8

// ghosts are the closers that have not arrived, innermost first.
func (d *Document) ghosts() []byte {
	lex := d.Call.Lexer()
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
func (d *Document) textRow(n int) int {
	if d.Call == nil {
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
func (d *Document) displayRow(n int) int {
	if after := d.caretAfter(); after >= 0 && n > after {
		return n + len(d.caretRows())
	}
	return n
}

// tokens are the call's tokens; free text has none.
func (d *Document) tokens() stream.TokenList {
	if d.Call == nil {
		return stream.TokenList{}
	}
	return d.Call.Lexer().Tokens()
}

// TokenSpan is the bytes of token n.
func TokenSpan(toks stream.TokenList, n int) Span {
	if n < 0 || n >= toks.Len() {
		return Span{}
	}
	return Span{toks.Start(n), int(toks.At(n).End)}
}

// Chosen is the bytes of the selected token; in free text, of the row.
func (d *Document) Chosen() Span {
	if toks := d.tokens(); toks.Len() > 0 {
		return TokenSpan(toks, d.tok)
	}
	if n := d.textRow(d.At); n >= 0 {
		return Span{int(d.rows()[n].Start), int(d.rows()[n].End)}
	}
	return Span{}
}

// Offset is the byte the cursor is at.
func (d *Document) Offset() int {
	if d.Call == nil {
		return 0
	}
	s := d.Chosen()
	if n := d.textRow(d.At); n >= 0 {
		if row := d.rows()[n]; s.Start < int(row.Start) || s.Start >= int(row.End) {
			return int(row.Start)
		}
	}
	return s.Start
}

// GoTo puts the cursor on the byte at off.
func (d *Document) GoTo(off int) {
	if d.Call == nil || len(d.rows()) == 0 {
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
func tokenAt(toks stream.TokenList, off int) int {
	lo, hi := 0, toks.Len()
	for lo < hi {
		if mid := (lo + hi) / 2; int(toks.At(mid).End) > off {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return max(0, min(lo, toks.Len()-1))
}

// MoveRow moves the cursor to another display row and onto a token there.
func (d *Document) MoveRow(row int) {
	d.MoveTo(row)
	n := d.textRow(d.At)
	toks := d.tokens()
	if n < 0 || toks.Len() == 0 {
		return
	}
	d.tok = tokenAt(toks, int(d.rows()[n].Start))
	for d.tok+1 < toks.Len() && toks.At(d.tok).Kind == stream.Space && TokenSpan(toks, d.tok).End < int(d.rows()[n].End) {
		d.tok++
	}
}

// MoveToken moves to the token n further that is not white space or punctuation between; it reports
// whether there was one.
func (d *Document) MoveToken(step int) bool {
	toks := d.tokens()
	for n := d.tok + step; n >= 0 && n < toks.Len(); n += step {
		switch toks.At(n).Kind {
		case stream.Space, stream.Colon, stream.Comma:
			continue
		}
		d.GoTo(TokenSpan(toks, n).Start)
		return true
	}
	return false
}

// Point lights bytes of the arguments, and goes to the first.
func (d *Document) Point(s Span) {
	if d.Light = s; s.End > s.Start {
		d.GoTo(s.Start)
	}
}

// Follow keeps the end in view. When it no longer does, the cursor was on the last row, which may
// be one that shows what has not come.
func (d *Document) Follow(on bool) {
	if !on && d.Stick && len(d.rows()) > 0 {
		d.MoveTo(d.displayRow(len(d.rows()) - 1))
	}
	d.Stick = on
}

// FullHeight is how many rows a document has on a page of its own.
func (d *Document) FullHeight() int { return max(1, len(d.rows())+d.extraRows()) }

// Margin is how many cells are left free beside a document.
const Margin = 2
