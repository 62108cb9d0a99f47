package cli

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"slices"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/ui/report"
)

// locator knows where in its file a source's responses stand, as far as that can be told: of bodies
// that are the file, and of records that stand in a line each.
type locator struct {
	path    string
	of      map[int]*byteMap
	several bool   // files: of none it is told
	damaged string // what is said of where it is damaged first
}

// A byteMap is where the bytes of one response stand.
type byteMap struct {
	size  int64        // bytes so far
	body  bool         // they are the file
	lost  bool         // it cannot be told of some
	marks []recordMark // of records in lines of their own
}

// A recordMark is a record: where its bytes end among those of the response, and where it stands.
type recordMark struct{ to, start, end int64 }

// addRecord takes a record of the source.
func (p *locator) addRecord(r *capture.Record) {
	if r.Damaged {
		p.damaged = cmp.Or(p.damaged, r.Note, "some of it cannot be read")
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
	case from.Start == 0 && from.End == t.size && t.body: // so far the file is nothing else
	case from.Start > 0:
		t.body = false
		t.marks = append(t.marks, recordMark{t.size, from.Start, from.End})
	default:
		t.lost = true
	}
}

// forgetExchange lets go of what is known of an exchange that has ended.
func (p *locator) forgetExchange(x *providers.Exchange) {
	if x != nil && x.Ended {
		delete(p.of, x.Number)
	}
}

// find is where the frame stands that an event is of.
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

// markAt is the record that a byte of the response is of.
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

// resolveLines finds the lines of what was found. Where the file cannot be read again no place is known.
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

// linesAt are the lines, from 1, that bytes of a file stand in, as far as there are such bytes. The
// offsets are in order.
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
