package cli

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"github.com/charmbracelet/x/ansi"
)

// cellDiffWriter is the terminal as the screen is written to it. Bubble Tea writes a row anew when anything in
// it is another: most often that is one pane of several, or a number. Of a row that is known to stand
// there, only what lies between the first and the last cell that changed is passed on.
//
// What is known is only what whole frames said: whatever else is written, and a frame that begins
// anew, has everything written again.
type cellDiffWriter struct {
	stdStream
	on      [][]byte // the terminal; nil where it is not known
	out     []byte
	written atomic.Int64
}

// Write passes on what a frame changes, and anything else as it is.
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

// frame is one of Bubble Tea's: rows that are empty stay as they are.
type frame struct {
	anew bool // nothing of what stands there is known
	rows [][]byte
	last []byte // where the cursor goes in the end
}

// cutFrame takes a frame apart, if that is one.
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

// diffFrame is what is written of a frame.
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

// appendChange appends what makes a row of one that stands there, with the cursor at its start: the
// whole of it, unless less does.
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

// plainRow reports whether a row is text and paints, and nothing else that a terminal acts on.
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

// paintLen is how long the paint is that b begins with, 0 where it begins with another sequence.
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

// commonStart is how many bytes rows begin with alike, up to where a cell begins in both.
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

// commonEnd is from where rows end alike, behind from: text that begins with a cell, and in the same
// paint in both.
func commonEnd(was, row []byte, from int) (to, end int) {
	n := 0 // bytes
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

// cellAt reports whether a cell begins at a byte for sure, or a paint, or the row ends: not within a
// paint, nor where what stands before or behind may belong together.
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

// paintAt are the paints that are on at a byte.
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
