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

// flow breaks a line of units into rows of a given width. It is what all layouts share.
type flow struct {
	draw  display.Drawer
	width int
	rows  []Row
	col   int    // cells used in the last row, indent included
	last  unit   // what was placed last and what follows may still join, if anything
	src   []byte // the text, while it is laid out
	from  int    // where in it what may be broken begins: a token
	seams seams  // where that is broken
}

// unit is the size of what is drawn whole.
type unit struct{ bytes, cells int }

const (
	step      = 2  // cells a level is indented by
	hanging   = 2  // further cells a wrapped row is indented by
	leastRoom = 12 // cells that indentation always leaves free
)

// indent is how far a level is indented at this width.
func (f *flow) indent(level int) int {
	return max(0, min(level*step, f.width-leastRoom))
}

// newRow starts a row at byte off.
func (f *flow) newRow(off int, r Row, indent int) {
	r.Start, r.End, r.Indent = uint32(off), uint32(off), uint16(indent)
	f.rows = append(f.rows, r)
	f.col, f.last = indent, unit{}
}

// put places n bytes that take so many cells at the end of the last row, or in a new one if they do
// not fit.
func (f *flow) put(n, cells int) {
	last := &f.rows[len(f.rows)-1]
	for f.col+cells > f.width && last.End > last.Start && !(n == 1 && f.hangs(last.End)) {
		f.wrap()
		last = &f.rows[len(f.rows)-1]
	}
	last.End += uint32(n)
	f.col += cells
	f.last = unit{n, cells}
}

// mostReopened bounds the work for a unit that grows byte by byte. Longer ones are made of marks
// that are not drawn.
const mostReopened = 512

// reopen takes the last unit back if what comes at off may be drawn with it, such as an accent, and
// returns where to go on. The unit only gets wider, so no row but the last changes.
func (f *flow) reopen(text []byte, off int) int {
	u := f.last
	if u.bytes == 0 || u.bytes > mostReopened || off == len(text) || text[off] < utf8.RuneSelf {
		return off
	}
	f.rows[len(f.rows)-1].End -= uint32(u.bytes)
	f.col -= u.cells
	f.last = unit{}
	return off - u.bytes
}

// wrap ends the last row where it is best broken, and begins another with what is behind that.
func (f *flow) wrap() {
	n := len(f.rows) - 1
	at, cells := f.seam()
	next := f.rows[n]
	end, indent := next.End, int(next.Indent)
	if !next.Wrapped {
		indent = max(0, min(indent+hanging, f.width-leastRoom))
	}
	f.rows[n].End, next.Wrapped = uint32(at), true
	f.newRow(at, next, indent)
	f.rows[n+1].End = end
	f.col += cells
}

// text places all of b, unit by unit, plain ASCII by the run.
func (f *flow) text(b []byte) {
	for len(b) > 0 {
		if n := display.PlainLen(b); n > 0 {
			f.plain(n)
			b = b[n:]
			continue
		}
		n, cells := f.draw.Measure(b)
		f.put(n, cells)
		b = b[n:]
	}
}

// plain places n bytes of one cell each.
func (f *flow) plain(n int) {
	for n > 0 {
		room := f.width - f.col
		last := &f.rows[len(f.rows)-1]
		if room <= 0 && last.End > last.Start && !f.hangs(last.End) {
			f.wrap()
			continue
		}
		k := min(n, max(room, 1))
		f.rows[len(f.rows)-1].End += uint32(k)
		f.col += k
		n -= k
		f.last = unit{1, 1}
	}
}

// Rows are the rows so far.
func (f *flow) Rows() []Row { return f.rows }

// RowAt is the row that shows the byte at off, or the last one before it.
func (f *flow) RowAt(off int) int {
	n := sort.Search(len(f.rows), func(i int) bool { return int(f.rows[i].Start) > off })
	return max(0, n-1)
}
