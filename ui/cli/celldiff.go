package cli

import (
	"bytes"
	"slices"
	"sync/atomic"

	"github.com/charmbracelet/x/ansi"
)

// cellDiffWriter is the terminal to which the screen writes. Bubble Tea rewrites a row if anything in it has
// changed. Often only one of several panes has changed, or only a number. This writer knows the cells that the
// terminal shows, and writes only the cells that differ. A style is only written where it changes, and blank
// cells are erased or skipped.
//
// The cells are known only after a complete frame. After any other write, and in a frame that redraws everything,
// all cells are written again.
type cellDiffWriter struct {
	stdStream
	on      []*cellRow // rows on the terminal; nil if unknown
	out     []byte
	tries   [4][]byte // the current row, written with each tactic
	same    []bool    // for each column of the current row: the terminal shows it already
	styles  styleTable
	style   *cellStyle // the terminal's current style
	written atomic.Int64
}

// Write writes only the changes of a frame. It writes all other output unchanged.
func (w *cellDiffWriter) Write(p []byte) (int, error) {
	out := p
	if frame, ok := cutFrame(p); ok {
		out = w.diffFrame(frame)
	} else {
		w.on, out = nil, withWheel(p)
	}
	n, err := w.stdStream.Write(out)
	w.written.Add(int64(n))
	if err != nil {
		w.on = nil
		return min(n, len(p)), err
	}
	return len(p), nil
}

// These constants make the mouse wheel work while the mouse is not captured. With alternate scroll, a
// terminal sends wheel movements as arrow keys while it shows the alternate screen. At the end, the
// terminal's previous mode is restored.
const (
	alternateScroll = "\x1b[?1007s\x1b[?1007h"
	restoreScroll   = "\x1b[?1007r"
)

// withWheel enables alternate scroll after the start of the alternate screen, and restores the previous mode
// before its end.
func withWheel(p []byte) []byte {
	switch {
	case bytes.Contains(p, []byte(ansi.SetModeAltScreenSaveCursor)):
		return append(bytes.Clone(p), alternateScroll...)
	case bytes.Contains(p, []byte(ansi.ResetModeAltScreenSaveCursor)):
		return append([]byte(restoreScroll), p...)
	}
	return p
}

const toStart = ansi.CursorHomePosition

// frame is a frame that Bubble Tea writes. Rows that are empty in it have not changed.
type frame struct {
	anew bool // the frame redraws everything, because the content is unknown
	rows [][]byte
	last []byte // the last sequence, which moves the cursor
}

// cutFrame splits a frame into rows. The result ok is false for other output.
func cutFrame(p []byte) (f frame, ok bool) {
	p, ok = bytes.CutPrefix(p, []byte(toStart))
	end := bytes.LastIndexByte(p, ansi.ESC)
	if !ok || end < 0 {
		return f, false
	}
	p, f.last = p[:end], p[end:]
	p, f.anew = bytes.CutPrefix(p, []byte("\r"))
	f.rows = bytes.Split(p, []byte("\n"))
	for i, row := range f.rows {
		f.rows[i] = bytes.TrimSuffix(row, []byte("\r"))
	}
	return f, string(f.last) == ansi.CursorPosition(0, len(f.rows))
}

// diffFrame returns the bytes that must be written for a frame, and keeps the frame's cells for the next comparison.
// The result is valid until the next call.
func (w *cellDiffWriter) diffFrame(f frame) []byte {
	if f.anew || len(w.on) != len(f.rows) {
		w.on = make([]*cellRow, len(f.rows))
	}
	w.style = w.styles.styleOf(nil)
	b := append(w.out[:0], toStart...)
	for i, row := range f.rows {
		if i > 0 {
			b = append(b, '\n')
		}
		if len(row) == 0 || w.on[i] != nil && bytes.Equal(row, w.on[i].text) {
			continue
		}
		now, start := w.styles.parseRow(row), len(b)
		if now == nil { // the row has other sequences
			b = append(w.changeStyle(b, w.styles.styleOf(nil)), row...)
		} else {
			b = w.appendRow(b, w.on[i], now)
		}
		if w.on[i] = now; len(b) > start {
			b = append(b, '\r')
		}
	}
	w.out = append(w.changeStyle(b, w.styles.styleOf(nil)), f.last...)
	return w.out
}

// tactic is a way to write the changes of a row.
type tactic struct {
	erase   bool // the row is erased from its first change on, and only cells that are not blank are written
	grouped bool // cells of the same style are written together, so the cursor moves more often
}

// appendRow appends the bytes that turn the old row, was, into the new one. The old row is nil if it is unknown. The
// cursor must be at the start of the row. The tactic is the one that takes the fewest bytes.
func (w *cellDiffWriter) appendRow(b []byte, was, now *cellRow) []byte {
	style, best, after := w.style, len(w.tries), w.style
	for i, t := range [len(w.tries)]tactic{{}, {erase: true}, {grouped: true}, {erase: true, grouped: true}} {
		if t.grouped && now.certain < len(now.cells) {
			continue
		}
		w.style = style
		w.tries[i] = w.appendChanges(w.tries[i][:0], was, now, t)
		if best == len(w.tries) || len(w.tries[i]) < len(w.tries[best]) {
			best, after = i, w.style
		}
	}
	w.style = after
	return append(b, w.tries[best]...)
}

// appendChanges appends the bytes for the changes of a row with one tactic.
func (w *cellDiffWriter) appendChanges(b []byte, was, now *cellRow, t tactic) []byte {
	w.same = now.compareCells(was, w.same[:0])
	at := 0
	if first := slices.Index(w.same, false); first >= 0 && t.erase {
		b = w.eraseRight(w.moveCursor(b, now, 0, first))
		at, was = first, &cellRow{certain: len(now.cells), erased: true}
		w.same = now.compareCells(was, w.same[:0])
	}
	for left := true; left; {
		b, at, left = w.appendPass(b, now, at, t.grouped)
	}
	if now.erased && (was == nil || !was.erased || len(was.cells) > len(now.cells)) {
		b = w.eraseRight(w.moveCursor(b, now, at, len(now.cells)))
	}
	return b
}

// appendPass appends the cells that differ, from a column on in which the cursor must be. If grouped is true, these
// are only the cells whose style is that of the first one. The result at is the column of the cursor. The result
// left reports whether other cells are left.
func (w *cellDiffWriter) appendPass(b []byte, row *cellRow, from int, grouped bool) (_ []byte, at int, left bool) {
	blank, at := row.blankEnd(), from
	var style *cellStyle
	for x := range row.cells {
		cell := row.cells[x]
		if w.same[x] || cell.width == 0 {
			continue
		}
		if style == nil {
			style = cell.style
		}
		if grouped && cell.style != style {
			left = true
			continue
		}
		if x < at {
			b, at = append(b, '\r'), 0
		}
		b = w.moveCursor(b, row, at, x)
		if !grouped && x >= blank && len(row.cells)-x > len(ansi.EraseLineRight) {
			return w.eraseRight(b), x, false
		}
		b = w.appendCell(b, row, cell)
		at = x + cell.width
		for i := x; i < at; i++ {
			w.same[i] = true
		}
	}
	return b, at, left
}

// moveCursor appends the bytes that move the cursor to the right, over cells that have not changed. It writes these
// cells again if that takes fewer bytes than a sequence for the cursor.
func (w *cellDiffWriter) moveCursor(b []byte, row *cellRow, from, to int) []byte {
	if from == to {
		return b
	}
	start, style := len(b), w.style
	move := ansi.CursorForward(to - from)
	for x := from; x < to; x += max(row.cells[x].width, 1) {
		if b = w.appendCell(b, row, row.cells[x]); len(b)-start > len(move) {
			w.style = style
			return append(b[:start], move...)
		}
	}
	return b
}

// appendCell appends a cell. The style changes before it, unless a blank cell looks the same in the current style.
func (w *cellDiffWriter) appendCell(b []byte, row *cellRow, c rowCell) []byte {
	if !row.isBlank(c) || c.style.onBlank() != w.style.onBlank() {
		b = w.changeStyle(b, c.style)
	}
	return append(b, row.text[c.from:c.to]...)
}

// eraseRight appends the bytes that make the cells from the cursor to the end of the row blank.
func (w *cellDiffWriter) eraseRight(b []byte) []byte {
	if plain := w.styles.styleOf(nil); w.style.onBlank() != plain.onBlank() {
		b = w.changeStyle(b, plain)
	}
	return append(b, ansi.EraseLineRight...)
}

// changeStyle appends the sequence for a style, unless the terminal has it already.
func (w *cellDiffWriter) changeStyle(b []byte, to *cellStyle) []byte {
	if w.style != to {
		pair := [2]*cellStyle{w.style, to}
		if _, known := w.styles.changes[pair]; !known {
			w.styles.changes[pair] = w.style.sequenceTo(to)
		}
		b = append(b, w.styles.changes[pair]...)
		w.style = to
	}
	return b
}

// cellRow is a row of the terminal.
type cellRow struct {
	text    []byte
	cells   []rowCell // one for each column
	certain int       // the number of columns before the first cell whose width depends on the terminal
	erased  bool      // the row is erased after its cells
}

// rowCell is a cell. The second column of a wide character has no text, and its width is 0.
type rowCell struct {
	from, to int // offsets of its text
	width    int
	style    *cellStyle
}

func (r *cellRow) isBlank(c rowCell) bool { return c.to-c.from == 1 && r.text[c.from] == ' ' }

// blankEnd returns the column from which all cells are blank and have no background.
func (r *cellRow) blankEnd() int {
	x := len(r.cells)
	for x > 0 && r.isBlank(r.cells[x-1]) && r.cells[x-1].style.onBlank() == (blankStyle{}) {
		x--
	}
	return x
}

// compareCells appends whether each column already looks as in this row. After the first cell of uncertain width,
// either all columns look the same, or none. Nothing looks the same as an unknown row, which is nil.
func (r *cellRow) compareCells(was *cellRow, same []bool) []bool {
	if was == nil {
		return append(same, make([]bool, len(r.cells))...)
	}
	certain := min(r.certain, was.certain, len(r.cells))
	tail := true
	for x := certain; x < max(len(r.cells), len(was.cells)) && tail; x++ {
		tail = looksAlike(r, was, x)
	}
	for x := range r.cells {
		same = append(same, x < certain && looksAlike(r, was, x) || x >= certain && tail)
	}
	return same
}

// looksAlike reports whether a column looks the same in two rows. Columns after the end of a row are blank.
func looksAlike(r, was *cellRow, x int) bool {
	var a, b rowCell
	var under [2]blankStyle
	blank := [2]bool{true, true}
	for i, row := range []*cellRow{r, was} {
		if x < len(row.cells) {
			c := row.cells[x]
			a, b = b, c
			under[i], blank[i] = c.style.onBlank(), row.isBlank(c)
		}
	}
	if blank[0] || blank[1] {
		return blank[0] && blank[1] && under[0] == under[1]
	}
	return a.style == b.style && a.width == b.width && bytes.Equal(r.text[a.from:a.to], was.text[b.from:b.to])
}
