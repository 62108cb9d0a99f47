package cli

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"github.com/charmbracelet/x/ansi"
)

// cellDiffWriter is the terminal that the screen writes to. Bubble Tea rewrites a row if anything in it has
// changed, which is often one pane of several, or a number. For a row with known content, this writer only
// passes on the cells from the first to the last change.
//
// Only complete frames make the content known. After any other write, and after a frame that starts over,
// everything is written again.
type cellDiffWriter struct {
	stdStream
	on      [][]byte // rows on the terminal; nil if unknown
	out     []byte
	written atomic.Int64
}

// Write passes on the changes of a frame, and anything else unchanged.
func (r *cellDiffWriter) Write(p []byte) (int, error) {
	out := p
	if frame, ok := cutFrame(p); ok {
		out = r.diffFrame(frame)
	} else {
		r.on = nil
	}
	n, err := r.stdStream.Write(out)
	r.written.Add(int64(n))
	if err != nil {
		r.on = nil
		return min(n, len(p)), err
	}
	return len(p), nil
}

const toStart = ansi.CursorHomePosition

// frame is one of Bubble Tea's frames. Empty rows are unchanged.
type frame struct {
	anew bool // the frame redraws everything, because the content is unknown
	rows [][]byte
	last []byte // the final move of the cursor
}

// cutFrame splits a frame into rows; ok is false for other output.
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

// diffFrame returns the bytes to write for a frame.
func (r *cellDiffWriter) diffFrame(f frame) []byte {
	if f.anew || len(r.on) != len(f.rows) {
		r.on = make([][]byte, len(f.rows))
	}
	b := append(r.out[:0], toStart...)
	for i, row := range f.rows {
		if i > 0 {
			b = append(b, '\n')
		}
		if len(row) > 0 {
			b = append(appendChange(b, r.on[i], row), '\r')
			r.on[i] = append(r.on[i][:0], row...)
		}
	}
	b = append(b, f.last...)
	r.out = b
	return b
}

// appendChange appends bytes that change the row was into row, with the cursor at its start: the complete
// row, unless a part of it suffices.
func appendChange(b, was, row []byte) []byte {
	if !plainRow(was) || !plainRow(row) {
		return append(b, row...)
	}
	from := commonStart(was, row)
	to, end := commonEnd(was, row, from)
	if ansi.StringWidth(string(was[from:end])) != ansi.StringWidth(string(row[from:to])) {
		to = len(row)
	}
	start := len(b)
	if cells := ansi.StringWidth(string(row[:from])); cells > 0 {
		b = fmt.Appendf(b, "\x1b[%dC", cells)
	}
	b = append(b, paintAt(row, from)...)
	b = append(b, row[from:to]...)
	if to < len(row) && len(paintAt(row, to)) > 0 {
		b = append(b, paintOff...)
	}
	if len(b)-start >= len(row) {
		b = append(b[:start], row...)
	}
	return b
}

const paintOff = "\x1b[0m"

// plainRow reports whether a row has only text and paints, without other control sequences.
func plainRow(row []byte) bool {
	for i, c := range row {
		switch {
		case c == ansi.ESC:
			if paintLen(row[i:]) == 0 {
				return false
			}
		case c < ' ' || c == 0x7F:
			return false
		}
	}
	return len(row) > 0
}

// paintLen returns the length of the paint at the start of b, 0 if b begins with another sequence.
func paintLen(b []byte) int {
	if len(b) < 2 || b[1] != '[' {
		return 0
	}
	for i, c := range b[2:] {
		switch {
		case c == 'm':
			return i + 3
		case (c < '0' || c > '9') && c != ';' && c != ':':
			return 0
		}
	}
	return 0
}

// commonStart returns how many bytes both rows start with, back to where a cell begins in both.
func commonStart(was, row []byte) int {
	n := 0
	for n < min(len(was), len(row)) && was[n] == row[n] {
		n++
	}
	for n > 0 && !(cellAt(was, n) && cellAt(row, n)) {
		n--
	}
	return n
}

// commonEnd returns where the common end of both rows begins, not before from. It begins with a cell, in the
// same paint in both.
func commonEnd(was, row []byte, from int) (to, end int) {
	n := 0 // number of equal bytes
	for n < min(len(was), len(row))-from && was[len(was)-1-n] == row[len(row)-1-n] {
		n++
	}
	for n > 0 {
		to, end = len(row)-n, len(was)-n
		switch {
		case !cellAt(row, to) || !cellAt(was, end):
			n--
		case !bytes.Equal(paintAt(row, to), paintAt(was, end)):
			off := bytes.Index(row[to:], []byte(paintOff))
			if off < 0 {
				return len(row), len(was)
			}
			n -= off + len(paintOff)
		default:
			return to, end
		}
	}
	return len(row), len(was)
}

// cellAt reports whether a cell or a paint surely begins at a byte, or the row ends: not inside a paint, and
// not between bytes that may belong together.
func cellAt(row []byte, n int) bool {
	if n == 0 || n == len(row) {
		return true
	}
	if row[n] >= 0x80 || row[n-1] >= 0x80 {
		return false
	}
	paint := bytes.LastIndexByte(row[:n], ansi.ESC)
	return paint < 0 || paint+paintLen(row[paint:]) <= n
}

// paintAt returns the paints that apply at a byte.
func paintAt(row []byte, n int) []byte {
	row = row[:n]
	if off := bytes.LastIndex(row, []byte(paintOff)); off >= 0 {
		row = row[off+len(paintOff):]
	}
	var on []byte
	for len(row) > 0 {
		at := bytes.IndexByte(row, ansi.ESC)
		if at < 0 {
			break
		}
		size := paintLen(row[at:])
		on = append(on, row[at:at+size]...)
		row = row[at+size:]
	}
	return on
}
