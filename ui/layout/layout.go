// Package layout turns a growing text into display rows. This part of the screen must not get slower as
// a document grows: each Extend takes time for the new bytes only, and drawing reads only the visible
// rows.
//
//	text, tokens ─▶ Document.Extend ─▶ rows ─▶ the pane draws some of them
//
// A row names a span of the text; it holds no text and no styles.
//
// Invariants:
//   - The rows tile the text: each begins where the previous one ended.
//   - However the text is cut into Extends, the rows are the same.
//   - A row never changes once another row follows it.
//   - No row is wider than the width, except for one wider unit, or for a blank at its end.
package layout

import (
	"sort"
	"unicode/utf8"

	"toolscope/ui/display"
)

// A Row is one line on the screen.
type Row struct {
	Start, End uint32 // the span of the text
	Token      int32  // number of its first token, or of the row it continues; -1 if the text has no tokens
	Parent     int32  // row where the enclosing container opens; -1 at the top
	Index      int32  // position in the enclosing container, or Closer
	Indent     uint16 // cells left blank at the start of the row
	Wrapped    bool   // continues the previous row
}

// Closer is the Index of a row that only closes its container.
const Closer = -1

// lineBreaker breaks a line of units into rows of a given width. All layouts share it.
type lineBreaker struct {
	draw   display.Drawer
	width  int
	rows   []Row
	col    int       // cells used in the last row, indent included
	last   glyphSize // the last unit, if the next bytes may still join it
	src    []byte    // the text, while it is laid out
	from   int       // start of the breakable text: a token
	breaks breakRule // where it may be broken
}

// glyphSize is the size of a unit, which is drawn in one step.
type glyphSize struct{ bytes, cells int }

const (
	indentStep    = 2  // cells a level is indented by
	hangingIndent = 2  // further cells a wrapped row is indented by
	minRoom       = 12 // cells that indentation always leaves free
)

// indentOf returns the indentation of a level at this width.
func (f *lineBreaker) indentOf(level int) int {
	return max(0, min(level*indentStep, f.width-minRoom))
}

// newRow starts a row at byte off.
func (f *lineBreaker) newRow(off int, r Row, indent int) {
	r.Start, r.End, r.Indent = uint32(off), uint32(off), uint16(indent)
	f.rows = append(f.rows, r)
	f.col, f.last = indent, glyphSize{}
}

// placeBytes places n bytes that take the given cells at the end of the last row, or in a new row if they
// don't fit.
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

// maxRetakenBytes limits the work for a unit that grows byte by byte. Longer units consist of marks that
// are not drawn.
const maxRetakenBytes = 512

// retakeLast removes the last unit if the bytes at off may join it, such as an accent, and returns where
// to continue. The unit only gets wider, so only the last row changes.
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

// wrapRow breaks the last row at its best break, and moves the remaining units to a new row.
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

// placeText places all of b, unit by unit; ASCII in runs.
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
