package panes

import (
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/screen"
)

// Document shows the growing arguments of one call: indented and highlighted by token, or raw with the
// boundaries of its deltas. Findings are marked at their place.
//
// It keeps the Ref of the call. The next call may be longer, shorter or a different one, e.g. of the past.
// The layout stays valid while its bytes are a prefix of the arguments.
//
//	bytes, tokens ─▶ layout: rows ─▶ layout.FoldedRows: folded and inserted rows ─▶ a row is drawn
type Document struct {
	screen.Window
	Call   *stream.Call // as it is now; of is its Ref
	of     stream.Ref
	drawer display.Drawer
	Raw    bool
	Spaced bool         // blank rows between fields, unless there are very many
	Gutter int          // cells before each row, for the sign of its findings
	Wants  string       // fields of the tool's schema, shown while there are no arguments
	json   *layout.JSON // one of these is in use
	Text   *layout.Text
	laid   cachedLayout
	tok    int  // selected token, by number
	Light  Span // bytes that another pane points at
	Hits   Hits
	Marks  []Span // values that differ elsewhere, in order
	view   layout.FoldedRows
	folds  folds
	notes  []findingNote                  // by row
	noted  notesKey                       // inputs of the notes
	When   func(event int32) display.Text // time of an event within its turn; "" when unknown
}

// cachedLayout is the current layout.
type cachedLayout struct {
	deltas   int  // number of deltas whose boundaries are marked in text
	rewrites int  // rewrites of the call at the time of the layout
	complete bool // there is no incomplete escape or character at the end
}

// Span is a range of argument bytes.
type Span struct{ Start, End int }

// Has reports whether the span contains an offset.
func (s Span) Has(off int) bool { return s.Start <= off && off < s.End }

// Hits are the matches of a search in the document.
type Hits struct {
	at     []int // offsets, ascending
	length int
}

// Show sets the call in its current state. If the layout is not a prefix of its arguments, or has another
// width, the layout starts again.
func (d *Document) Show(c *stream.Call, width int, draw display.Drawer) {
	of := Selection{Call: c}.asRef()
	same := of == d.of && (c == nil) == (d.Call == nil)
	if !same {
		*d = Document{of: of, Raw: d.Raw, Spaced: d.Spaced, Gutter: d.Gutter, Wants: d.Wants, When: d.When, Marks: d.Marks, Window: screen.Window{Stick: c != nil && c.MayGrow()}}
	}
	d.Call = c
	if same && d.isLayoutValid(width) {
		return
	}
	off := d.Offset()
	d.json, d.Text, d.laid, d.drawer = nil, nil, cachedLayout{}, draw
	if d.plainText() {
		d.Text = layout.NewText(width, draw)
	} else {
		d.json = layout.NewJSON(width, draw)
	}
	if c != nil {
		if d.laid.rewrites = c.Rewrites; d.folds.rewrites != c.Rewrites {
			d.folds = folds{rewrites: c.Rewrites}
		}
	}
	d.folds.resolved, d.noted = false, notesKey{}
	if same {
		d.Extend(d.Height)
		if !d.Stick {
			d.GoTo(off)
		}
	}
}

// plainText reports whether the arguments are shown raw.
func (d *Document) plainText() bool {
	return d.Raw || d.Call != nil && d.Call.Syntax() == stream.SyntaxFreeform
}

// isLayoutValid reports whether the layout is a prefix of the arguments.
func (d *Document) isLayoutValid(width int) bool {
	if d.json == nil && d.Text == nil || d.plainText() != (d.Text != nil) || d.layoutWidth() != width {
		return false
	}
	c := d.Call
	return c == nil || c.Rewrites == d.laid.rewrites && d.settledLen() <= len(c.Args()) && !(d.laid.complete && c.MayGrow())
}

func (d *Document) layoutWidth() int {
	switch {
	case d.json != nil:
		return d.json.Width()
	case d.Text != nil:
		return d.Text.Width()
	}
	return 0
}

// Extend lays out the new bytes.
func (d *Document) Extend(height int) {
	if d.Call == nil {
		return
	}
	d.laid.complete = !d.Call.MayGrow()
	if d.json != nil {
		d.json.Extend(d.Call.Args(), d.Call.Lexer(), d.laid.complete)
	} else {
		for ; d.laid.deltas < d.Call.Deltas(); d.laid.deltas++ {
			if d.laid.deltas == 0 {
				continue
			}
			if _, end := d.Call.DeltaSpan(d.laid.deltas - 1); end > 0 {
				d.Text.Mark(end)
			}
		}
		d.Text.Extend(d.Call.Args(), d.laid.complete)
	}
	d.Height = max(height, 1)
	d.refreshRows()
	d.tok = min(d.tok, max(0, d.callTokens().Len()-1))
	if d.Stick {
		d.tok = d.callTokens().Len() - 1
	}
}

// refreshRows updates folds and notes for the layout.
func (d *Document) refreshRows() {
	d.updateNotes()
	d.Beyond = d.closerRows()
	d.Resize(d.FullHeight(), d.Height)
}

// FullHeight returns the number of rows of the document.
func (d *Document) FullHeight() int {
	return max(1, d.view.Len(len(d.layoutRows()))+d.closerRows())
}

func (d *Document) layoutRows() []layout.Row {
	switch {
	case d.json != nil:
		return d.json.Rows()
	case d.Text != nil:
		return d.Text.Rows()
	}
	return nil
}

// rowAt returns the layout row with the byte at off, or the last row before it.
func (d *Document) rowAt(off int) int {
	if d.json != nil {
		return d.json.RowAt(off)
	}
	return d.Text.RowAt(off)
}

func (d *Document) settledLen() int {
	if d.json != nil {
		return d.json.Len()
	}
	return d.Text.Len()
}

// rowAtPlace returns the layout row at a place; behind counts the rows added after it, 0 for the row
// itself. A place of missing closers has row -1.
func (d *Document) rowAtPlace(place int) (row, behind int) {
	if row, behind = d.view.At(place); d.Call == nil || row >= len(d.layoutRows()) {
		return -1, 0
	}
	return row, behind
}

// textRow returns the layout row at a place, or -1 if no text is there.
func (d *Document) textRow(place int) int {
	if row, behind := d.rowAtPlace(place); behind == 0 {
		return row
	}
	return -1
}

// callTokens returns the call's tokens; free text has none.
func (d *Document) callTokens() stream.TokenList {
	if d.Call == nil {
		return stream.TokenList{}
	}
	return d.Call.Lexer().Tokens()
}

// TokenSpan returns the bytes of token n.
func TokenSpan(toks stream.TokenList, n int) Span {
	if n < 0 || n >= toks.Len() {
		return Span{}
	}
	return Span{toks.Start(n), int(toks.At(n).End)}
}

// tokenAt returns the number of the token with the byte at off.
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

// Chosen returns the bytes of the selected token on the cursor's row, or the bytes of the row in free
// text. For a string that is longer than the screen, these are never all of its bytes.
func (d *Document) Chosen() Span {
	s, n := TokenSpan(d.callTokens(), d.tok), d.textRow(d.At)
	if n < 0 {
		return s
	}
	row := Span{int(d.layoutRows()[n].Start), int(d.layoutRows()[n].End)}
	if d.callTokens().Len() == 0 {
		return row
	}
	if part := (Span{max(s.Start, row.Start), min(s.End, row.End)}); part.Start < part.End {
		return part
	}
	return s
}

// Offset returns the byte offset of the cursor.
func (d *Document) Offset() int {
	if d.Call == nil {
		return 0
	}
	s := d.Chosen()
	if n := d.textRow(d.At); n >= 0 {
		if row := d.layoutRows()[n]; s.Start < int(row.Start) || s.Start >= int(row.End) {
			return int(row.Start)
		}
	}
	return s.Start
}

// Margin is the number of cells that stay blank next to a document.
const Margin = 2
