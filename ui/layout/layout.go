// Package layout turns a growing text into display rows. It is the part of the screen that must not
// get slower as a document grows: each Extend costs time for the new bytes only, and whoever draws
// looks at the visible rows alone.
//
//	text, tokens ─▶ Document.Extend ─▶ rows ─▶ the pane draws some of them
//
// A row names a span of the text; it holds no text and no styles.
//
// Invariants:
//   - The rows tile the text: each begins where the one before it ended.
//   - However the text is cut into Extends, the rows are the same.
//   - Rows that are followed by another row never change.
//   - No row is wider than the width, but for a single unit that is, or a blank at its end.
package layout

import (
	"sort"
	"unicode/utf8"

	"toolscope/ui/display"
)

// A Row is one line on the screen.
type Row struct {
	Start, End uint32 // the bytes of the text it shows
	Token      int32  // number of its first token, or that of the row it continues; -1 when the text has none
	Parent     int32  // row where the enclosing container opens, -1 at the top
	Index      int32  // position in the enclosing container, or Closer
	Indent     uint16 // cells left free
	Wrapped    bool   // continues the row before
}

// Closer is the Index of a row that only closes its container.
const Closer = -1

// lineBreaker breaks a line of units into rows of a given width. It is what all layouts share.
type lineBreaker struct {
	draw   display.Drawer
	width  int
	rows   []Row
	col    int       // cells used in the last row, indent included
	last   glyphSize // what was placed last and what follows may still join, if anything
	src    []byte    // the text, while it is laid out
	from   int       // where in it what may be broken begins: a token
	breaks breakRule // where that is broken
}

// glyphSize is the size of what is drawn whole.
type glyphSize struct{ bytes, cells int }

const (
	indentStep    = 2  // cells a level is indented by
	hangingIndent = 2  // further cells a wrapped row is indented by
	minRoom       = 12 // cells that indentation always leaves free
)

// indentOf is how far a level is indented at this width.
func (f *lineBreaker) indentOf(level int) int {
	return max(0, min(level*indentStep, f.width-minRoom))
}

// newRow starts a row at byte off.
func (f *lineBreaker) newRow(off int, r Row, indent int) {
	r.Start, r.End, r.Indent = uint32(off), uint32(off), uint16(indent)
	f.rows = append(f.rows, r)
	f.col, f.last = indent, glyphSize{}
}

// placeBytes places n bytes that take so many cells at the end of the last row, or in a new one if they do
// not fit.
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

// maxRetakenBytes bounds the work for a unit that grows byte by byte. Longer ones are made of marks
// that are not drawn.
const maxRetakenBytes = 512

// retakeLast takes the last unit back if what comes at off may be drawn with it, such as an accent, and
// returns where to go on. The unit only gets wider, so no row but the last changes.
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

// wrapRow ends the last row where it is best broken, and begins another with what is behind that.
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

// placeText places all of b, unit by unit, plain ASCII by the run.
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

// Rows are the rows so far.
func (f *lineBreaker) Rows() []Row { return f.rows }

// RowAt is the row that shows the byte at off, or the last one before it.
func (f *lineBreaker) RowAt(off int) int {
	n := sort.Search(len(f.rows), func(i int) bool { return int(f.rows[i].Start) > off })
	return max(0, n-1)
}
