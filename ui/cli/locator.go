package cli

import (
	"bufio"
	"cmp"
	"io"
	"math"
	"os"
	"slices"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/ui/ask"
	"toolscope/ui/report"
)

// locator finds the places of response bytes in a file. It can do so if the file is a body, or if records are
// lines in the file.
type locator struct {
	path    string
	of      map[int]*byteMap
	several bool   // the source has several files, so bytes have no places
	damaged string // description of the first damage
}

// byteMap maps the bytes of one response to the file.
type byteMap struct {
	size  int64        // number of bytes so far
	body  bool         // the file is the body
	lost  bool         // some bytes have no place
	marks []recordMark // records that are lines in the file
}

// recordMark is the end of a record's bytes in the response, and the record's range in the file.
type recordMark struct{ to, start, end int64 }

// addRecord adds the place of a record of the source.
func (p *locator) addRecord(r *capture.Record) {
	if r.Damaged {
		p.damaged = cmp.Or(p.damaged, r.Note, "some of it can't be read")
	}
	if r.Side != capture.Response || len(r.Data) == 0 || p.several {
		return
	}
	t := p.of[r.Exchange]
	if t == nil {
		t = &byteMap{body: true}
		p.of[r.Exchange] = t
	}
	t.size += int64(len(r.Data))
	from := r.Location
	switch {
	case from.File == nil, from.Entries != nil: // an entry may have thousands of lines
		t.lost = true
	case from.Lines != nil:
		t.body = false
		t.marks = append(t.marks, recordMark{t.size, from.Line[0], from.Line[1]})
	case from.Start == 0 && from.End == t.size && t.body: // up to here, the file is the body
	case from.Start > 0:
		t.body = false
		t.marks = append(t.marks, recordMark{t.size, from.Start, from.End})
	default:
		t.lost = true
	}
}

// find returns the place of an event's frame, or the zero Location if it is unknown.
func (p *locator) find(in *providers.Inspector, event int) (at report.Location) {
	e, kept := in.Timeline.Event(event)
	turn := in.Session().Turn(e.Turn)
	if !kept || turn == nil {
		return at
	}
	x, t := in.Exchange(turn.Exchange), p.of[turn.Exchange]
	if x == nil || t == nil || t.lost || x.Coding != "" || e.Frame < 0 || int(e.Frame) >= x.Response.Frames() {
		return at
	}
	start, end := x.Response.FrameSpan(e.Frame)
	if t.body {
		return report.Location{Start: start, End: end}
	}
	first, ok := t.markAt(start)
	last, also := t.markAt(end - 1)
	if !ok || !also {
		return at
	}
	return report.Location{Start: first.start, End: last.end}
}

// markAt returns the record that contains a byte of the response. The second result is false if the byte is
// after the last record.
func (t *byteMap) markAt(off int64) (recordMark, bool) {
	i, found := slices.BinarySearchFunc(t.marks, off, func(m recordMark, off int64) int { return cmp.Compare(m.to, off) })
	if found {
		i++
	}
	if i >= len(t.marks) {
		return recordMark{}, false
	}
	return t.marks[i], true
}

// resolveLines adds line numbers to the places of findings. If it can't read the file again, it removes the places.
func (p *locator) resolveLines(found []report.Finding) {
	var offsets []int64
	for i := range found {
		if at := found[i].Place; at.End > at.Start {
			offsets = append(offsets, at.Start, at.End-1)
		}
	}
	if len(offsets) == 0 {
		return
	}
	slices.Sort(offsets)
	lines := linesAt(p.path, slices.Compact(offsets))
	for i := range found {
		at := &found[i].Place
		first, known := lines[at.Start]
		last, also := lines[at.End-1]
		if !known || !also {
			*at = report.Location{}
			continue
		}
		at.Line, at.Last = first, last
	}
}

// linesAt returns the line number, counted from 1, for each offset that exists in a file. The offsets must be
// sorted.
func linesAt(path string, offsets []int64) map[int64]int {
	at := map[int64]int{}
	f, err := os.Open(path)
	if err != nil {
		return at
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return at
	}
	r := bufio.NewReaderSize(f, 64<<10)
	line, pos := 1, int64(0)
	for _, off := range offsets {
		for ; pos < off; pos++ {
			c, err := r.ReadByte()
			if err != nil {
				return at
			}
			if c == '\n' {
				line++
			}
		}
		if _, err := r.Peek(1); err == io.EOF {
			return at
		}
		at[off] = line
	}
	return at
}

// lineStarts returns the offsets at which the lines of a file start, or nil if the file can't be opened.
func lineStarts(path string) []int64 {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	starts, pos := []int64{0}, int64(0)
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		for i, c := range buf[:n] {
			if c == '\n' {
				starts = append(starts, pos+int64(i)+1)
			}
		}
		if pos += int64(n); err != nil {
			return starts
		}
	}
}

// lineOfOffset returns the number of the line that contains an offset, counted from 1. If starts is empty, it returns
// 0.
func lineOfOffset(starts []int64, off int64) int {
	i, found := slices.BinarySearch(starts, off)
	if found {
		return i + 1
	}
	return i
}

// recordsNear returns the response data in the lines near a given line.
func (p *locator) recordsNear(in *providers.Inspector, starts []int64, line, around int) (list []ask.RecordLine) {
	if max(line-around, 1) > len(starts) {
		return nil
	}
	first, end := starts[max(line-around, 1)-1], int64(math.MaxInt64)
	if line+around < len(starts) {
		end = starts[line+around]
	}
	for _, x := range in.Exchanges() {
		t := p.of[x.Number]
		if t == nil || t.lost || x.Coding != "" {
			continue
		}
		from := int64(0)
		for _, m := range t.marks {
			if m.start >= first && m.start < end {
				list = append(list, ask.RecordLine{Line: lineOfOffset(starts, m.start), Text: string(x.Response.Bytes(from, m.to))})
			}
			from = m.to
		}
		for n := max(line-around, 1); t.body && n <= min(line+around, len(starts)); n++ {
			end := x.Response.Size()
			if n < len(starts) {
				end = min(end, starts[n])
			}
			if starts[n-1] < end {
				list = append(list, ask.RecordLine{Line: n, Text: string(x.Response.Bytes(starts[n-1], end))})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b ask.RecordLine) int { return a.Line - b.Line })
	return list
}
