// Package layout turns a growing text into display rows. This part of the screen must not get slower as a
// document grows. The time for each Extend depends only on the new bytes, and drawing reads only the visible
// rows.
//
//	text, tokens ─▶ JSON.Extend ─▶ rows ─▶ the pane draws some of them
//
// A row refers to a span of the text. It contains neither text nor styles.
//
// Invariants:
//   - The rows cover the text without gaps: each begins where the previous one ended.
//   - The rows do not depend on how the text is divided into Extend calls.
//   - A row never changes once another row follows it.
//   - No row is wider than the layout, except for a single wider unit, or a blank at its end.
package layout

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"toolscope/stream/json"
	"toolscope/ui/display"
)

// Row is one line on the screen.
type Row struct {
	Start, End uint32 // the span of the text
	Token      int32  // number of the first token in the row or, for a wrapped row, in the row that it continues; -1 if the text has no tokens
	Parent     int32  // row where the enclosing container opens; -1 at the top
	Index      int32  // position in the enclosing container, or Closer
	Indent     uint16 // blank cells at the start of the row
	Wrapped    bool   // continues the previous row
}

// Closer is the Index of a row that only closes its container.
const Closer = -1

// lineBreaker breaks a line of units into rows of a given width. All layouts use it.
type lineBreaker struct {
	draw   display.Drawer
	width  int
	rows   []Row
	col    int       // cells used in the last row, including the indentation
	last   glyphSize // the last unit, if the next bytes may still join it
	src    []byte    // the text, while it is laid out
	from   int       // start of the text that may be broken: the current token
	breaks breakRule // where the text may be broken
}

// glyphSize is the size of a unit, which is drawn in one step.
type glyphSize struct{ bytes, cells int }

const (
	indentStep    = 2  // cells of indentation for each level
	hangingIndent = 2  // further cells of indentation for a wrapped row
	minRoom       = 12 // cells that indentation always leaves free
)

// indentOf returns the indentation for a level at this width.
func (f *lineBreaker) indentOf(level int) int {
	return max(0, min(level*indentStep, f.width-minRoom))
}

// newRow starts a row at byte off.
func (f *lineBreaker) newRow(off int, r Row, indent int) {
	r.Start, r.End, r.Indent = uint32(off), uint32(off), uint16(indent)
	f.rows = append(f.rows, r)
	f.col, f.last = indent, glyphSize{}
}

// placeBytes places a unit of n bytes at the end of the last row. The parameter cells is the unit's width. If
// the unit doesn't fit, placeBytes wraps the row first.
func (f *lineBreaker) placeBytes(n, cells int) {
	last := &f.rows[len(f.rows)-1]
	for f.col+cells > f.width && last.End > last.Start && !(n == 1 && f.isTrailingBlank(last.End)) {
		f.wrapRow()
		last = &f.rows[len(f.rows)-1]
	}
	last.End += uint32(n)
	f.col += cells
	f.last = glyphSize{n, cells}
}

// maxRetakenBytes limits the work for a unit that grows byte by byte. Longer units consist of combining marks
// that are not drawn.
const maxRetakenBytes = 512

// retakeLast removes the last unit if the bytes at off may join it, as an accent does. It returns the offset
// at which to continue. The unit can only get wider, so only the last row changes.
func (f *lineBreaker) retakeLast(text []byte, off int) int {
	u := f.last
	if u.bytes == 0 || u.bytes > maxRetakenBytes || off == len(text) || text[off] < utf8.RuneSelf {
		return off
	}
	f.rows[len(f.rows)-1].End -= uint32(u.bytes)
	f.col -= u.cells
	f.last = glyphSize{}
	return off - u.bytes
}

// wrapRow breaks the last row at its best break point, and moves the units after it to a new row.
func (f *lineBreaker) wrapRow() {
	n := len(f.rows) - 1
	at, cells := f.bestBreak()
	next := f.rows[n]
	end, indent := next.End, int(next.Indent)
	if !next.Wrapped {
		indent = max(0, min(indent+hangingIndent, f.width-minRoom))
	}
	f.rows[n].End, next.Wrapped = uint32(at), true
	f.newRow(at, next, indent)
	f.rows[n+1].End = end
	f.col += cells
}

// placeText places all of b: ASCII in runs, and other text unit by unit.
func (f *lineBreaker) placeText(b []byte) {
	for len(b) > 0 {
		if n := display.PlainLen(b); n > 0 {
			f.placeASCII(n)
			b = b[n:]
			continue
		}
		n, cells := f.draw.Measure(b)
		f.placeBytes(n, cells)
		b = b[n:]
	}
}

// placeASCII places n bytes of one cell each.
func (f *lineBreaker) placeASCII(n int) {
	for n > 0 {
		room := f.width - f.col
		last := &f.rows[len(f.rows)-1]
		if room <= 0 && last.End > last.Start && !f.isTrailingBlank(last.End) {
			f.wrapRow()
			continue
		}
		k := min(n, max(room, 1))
		f.rows[len(f.rows)-1].End += uint32(k)
		f.col += k
		n -= k
		f.last = glyphSize{1, 1}
	}
}

// Rows returns the rows so far.
func (f *lineBreaker) Rows() []Row { return f.rows }

// RowAt returns the row that shows the byte at off, or the last row before it.
func (f *lineBreaker) RowAt(off int) int {
	n := sort.Search(len(f.rows), func(i int) bool { return int(f.rows[i].Start) > off })
	return max(0, n-1)
}

// breakRule defines where a long row may be broken. Every rule also allows a break after the last unit.
type breakRule uint8

const (
	noBreaks      breakRule = iota
	plainBreaks             // after a blank, or else after a slash or comma
	escapedBreaks           // after a blank, or before the token; or else after an escaped line break
)

// isTrailingBlank reports whether the byte at off is a blank that may be beyond the end of a full row, where
// it need not be visible.
func (f *lineBreaker) isTrailingBlank(off uint32) bool {
	return f.breaks != noBreaks && f.col == f.width && f.src[off] == ' '
}

// bestBreak returns the best break point in the last row, and how many of the row's cells are after it. It
// ignores break points in the first half, because they would leave the row mostly empty. The result does not
// depend on how the text was divided into Extend calls: units are placed one by one, and only placed units
// count.
func (f *lineBreaker) bestBreak() (at, cells int) {
	row := &f.rows[len(f.rows)-1]
	end := int(row.End)
	if f.breaks == noBreaks {
		return end, 0
	}
	from := max(int(row.Start), f.from)
	half := int(row.Indent) + (f.width-int(row.Indent))/2
	if word := lastWord(f.src[from:end]); word < end-from && f.col-word > half {
		return end - word, word // most break points are found without measuring
	}
	w := breakFinder{escaped: f.breaks == escapedBreaks}
	w.scanText(f.draw, f.src[from:end])
	before := f.col - w.cells // cells in the row before the breakable text
	for _, s := range [2]breakPoint{w.blank, w.soft} {
		if s.at > 0 && before+s.cells > half {
			return from + s.at, w.cells - s.cells
		}
	}
	if f.breaks == escapedBreaks && from > int(row.Start) && before > half {
		return from, w.cells
	}
	return end, 0
}

// lastWord returns the number of one-cell bytes after the last blank of text. It returns the length of the text if
// this simple count does not apply.
func lastWord(text []byte) int {
	for n := len(text); n > 0; n-- {
		switch c := text[n-1]; {
		case c == ' ':
			return len(text) - n
		case c < ' ' || c > '~':
			return len(text)
		}
	}
	return len(text)
}

// breakFinder finds the last break point of each kind in a text.
type breakFinder struct {
	escaped     bool
	cells       int
	blank, soft breakPoint
}

// breakPoint is an offset into a text, in bytes and cells.
type breakPoint struct{ at, cells int }

func (w *breakFinder) scanText(draw display.Drawer, text []byte) {
	for at := 0; at < len(text); {
		n := display.PlainLen(text[at:])
		if n == 0 {
			k, cells := draw.Measure(text[at:])
			at, w.cells = at+k, w.cells+cells
			continue
		}
		for end := at + n; at < end; {
			k := 1
			switch c := text[at]; {
			case c == ' ':
				w.blank = breakPoint{at + 1, w.cells + 1}
			case c == '/' || c == ',':
				w.soft = breakPoint{at + 1, w.cells + 1}
			case c == '\\' && w.escaped:
				if k = min(json.EscapeLen(text[at:]), end-at); k == 2 && text[at+1] == 'n' {
					w.soft = breakPoint{at + 2, w.cells + 2}
				}
			}
			at, w.cells = at+k, w.cells+k
		}
	}
}

// FoldedRows maps rows to displayed rows: the rows after a folded row are hidden, and rows may be inserted after a
// row. Its running time depends on the number of row edits, called cuts, and not on the number of rows.
type FoldedRows struct {
	cuts  []RowEdit
	first []int // for each cut: the place of its row on the display
}

// RowEdit inserts Add rows after a row, and hides the next Hide rows.
type RowEdit struct{ Row, Add, Hide int }

// Set replaces the cuts. They must be ordered by row. A cut in hidden rows is dropped.
func (v *FoldedRows) Set(cuts []RowEdit) {
	v.cuts, v.first = v.cuts[:0], v.first[:0]
	shown, next := 0, 0 // row number next is displayed at place shown
	for _, c := range cuts {
		if c.Row < next {
			continue
		}
		shown += c.Row - next
		v.cuts, v.first = append(v.cuts, c), append(v.first, shown)
		shown, next = shown+1+c.Add, c.Row+1+c.Hide
	}
}

// Len returns the number of displayed rows for the given number of rows.
func (v *FoldedRows) Len(rows int) int {
	n := len(v.cuts) - 1
	if n < 0 {
		return rows
	}
	return v.first[n] + 1 + v.cuts[n].Add + max(0, rows-v.cuts[n].Row-1-v.cuts[n].Hide)
}

// At returns the row at a place on the display. The second result is 0 for the row itself, or n for the nth
// row inserted after it.
func (v *FoldedRows) At(place int) (row, behind int) {
	n := sort.Search(len(v.first), func(i int) bool { return v.first[i] > place }) - 1
	if n < 0 {
		return place, 0
	}
	c := v.cuts[n]
	if behind = place - v.first[n]; behind <= c.Add {
		return c.Row, behind
	}
	return c.Row + c.Hide + behind - c.Add, 0
}

// Place returns the place of a row on the display. If the row is hidden, it returns the place of the row that
// hides it.
func (v *FoldedRows) Place(row int) int {
	n := sort.Search(len(v.cuts), func(i int) bool { return v.cuts[i].Row >= row })
	if n < len(v.cuts) && v.cuts[n].Row == row {
		return v.first[n]
	}
	if n--; n < 0 {
		return row
	}
	c := v.cuts[n]
	if row <= c.Row+c.Hide {
		return v.first[n]
	}
	return v.first[n] + row - c.Row - c.Hide + c.Add
}

// Hidden returns the row whose fold hides a row, or -1.
func (v *FoldedRows) Hidden(row int) int {
	n := sort.Search(len(v.cuts), func(i int) bool { return v.cuts[i].Row >= row }) - 1
	if n < 0 || row > v.cuts[n].Row+v.cuts[n].Hide {
		return -1
	}
	return v.cuts[n].Row
}

// Text lays out a growing text without indentation: one row per line, with long lines wrapped. A mark is a
// byte offset, such as the start of a delta. At each mark, one cell is left blank for a sign.
type Text struct {
	lineBreaker
	off   int
	marks []uint32
}

// NewText returns a layout with the given width in cells.
func NewText(width int, draw display.Drawer) *Text {
	return &Text{lineBreaker: lineBreaker{draw: draw, width: max(width, 1)}}
}

// NewProse returns a layout for a text without marks. It breaks rows between words, and line breaks use no
// cells.
func NewProse(width int, draw display.Drawer) *Text {
	return &Text{lineBreaker: lineBreaker{draw: draw, width: max(width, 1), breaks: plainBreaks}}
}

// Width returns the width of the layout in cells.
func (t *Text) Width() int { return t.width }

// Len returns the number of bytes that are laid out.
func (t *Text) Len() int { return t.off }

// Mark adds a mark at off. Marks must be added in order, and before the byte at off is laid out. A mark at 0, or a
// second mark at the same offset, has no effect.
func (t *Text) Mark(off int) {
	if n := len(t.marks); off > 0 && (n == 0 || t.marks[n-1] != uint32(off)) {
		t.marks = append(t.marks, uint32(off))
	}
}

// Marked reports whether there is a mark before the byte at off.
func (t *Text) Marked(off int) bool {
	i := t.nextMark(off)
	return i < len(t.marks) && t.marks[i] == uint32(off)
}

// NextMark returns the first mark after off, or limit if there is none before limit.
func (t *Text) NextMark(off, limit int) int {
	if i := t.nextMark(off + 1); i < len(t.marks) {
		return min(int(t.marks[i]), limit)
	}
	return limit
}

func (t *Text) nextMark(off int) int {
	return sort.Search(len(t.marks), func(i int) bool { return t.marks[i] >= uint32(off) })
}

// Extend lays out the new bytes of text. All marks up to the end of text must be added before the call. A
// character that is cut off at the end is laid out only when it is complete, or if whole is set.
func (t *Text) Extend(text []byte, whole bool) {
	t.src = text
	defer func() { t.src = nil }()
	if !t.Marked(t.off) {
		t.off = t.retakeLast(text, t.off)
	}
	end := len(text)
	if !whole {
		end = t.off + settledChar(text[t.off:])
	}
	for t.off < end {
		if len(t.rows) == 0 {
			t.startLine(0)
		}
		stop, sign := t.NextMark(t.off, end), 0
		if t.Marked(t.off) {
			sign = 1
		}
		t.placeUnmarked(text[t.off:stop], sign)
		t.off = stop
	}
}

// placeUnmarked places text that contains no marks. It leaves sign cells blank before the text, on the same
// row as the text.
func (t *Text) placeUnmarked(b []byte, sign int) {
	for len(b) > 0 {
		if b[0] == '\n' || sign > 0 {
			n, cells := t.draw.Measure(b)
			if t.breaks == plainBreaks {
				cells = 0
			}
			t.placeBytes(n, cells+sign)
			if b[0] == '\n' {
				t.startLine(int(t.rows[len(t.rows)-1].End))
			}
			b, sign = b[n:], 0
			continue
		}
		line, _, _ := bytes.Cut(b, []byte("\n"))
		t.placeText(line)
		b = b[len(line):]
	}
}

func (t *Text) startLine(off int) { t.newRow(off, Row{Token: -1, Parent: -1}, 0) }

// settledChar returns the length of b without an unsettled end. The end is unsettled if it is an incomplete
// character, or a character that the next one may change.
func settledChar(b []byte) int {
	n := len(b)
	for back := 1; back <= 3 && back <= len(b); back++ {
		c := b[len(b)-back]
		if c < utf8.RuneSelf {
			break
		}
		if c >= 0xc0 {
			if c >= 0xf0 && back < 4 || c >= 0xe0 && back < 3 || back < 2 { // the character has 4, 3 or 2 bytes
				n = len(b) - back
			}
			break
		}
	}
	if bytes.HasSuffix(b[:n], joiner) || bytes.HasSuffix(b[:n], selector) {
		return n - 3
	}
	return n
}

// joiner and selector are drawn only inside a well-formed emoji, in which another character must follow them.
var (
	joiner   = []byte("\u200d") // zero width joiner
	selector = []byte("\ufe0f") // variation selector 16
)
