package capture

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// maxPartialLine is how much is kept of a line whose beginning may be missing.
const maxPartialLine = 1 << 20

// Feeds are captures that are read at the same time, each as its bytes come from elsewhere. Their
// exchanges have numbers that differ.
type Feeds struct {
	numbers exchangeNumbers
	n       int
	room    lineBuffer
}

// Feed is one capture of those. What is missing of it is said at its place; what comes behind that
// is read from the next line that is whole.
type Feed struct {
	c     *captureReader
	run   string // that nothing but this capture is of
	of    *Machine
	torn  bool // something is missing: exchanges may begin in their midst
	begun map[int]bool
	ended recentExchanges // of those
	cut   map[int]string  // why exchanges of the capture were cut, as Cut did, of which nothing came since
	over  bool            // the only exchange that is read has ended
	skips bool            // what comes first is the rest of a line, unless its checksum says that it is whole
	held  []byte          // of that
	lost  int64           // bytes that are missing before what comes next
	since int64           // those of them that are missing since Cut
}

// recentExchanges is what came last of many.
type recentExchanges struct {
	all []int
	n   int
}

// maxRecentExchanges is how many those are. What comes of an exchange behind its end comes soon.
const maxRecentExchanges = 64

// push adds one, and returns the one that has to go for it.
func (l *recentExchanges) push(x int) (old int, ok bool) {
	switch {
	case l == nil:
		return 0, false
	case len(l.all) < maxRecentExchanges:
		l.all = append(l.all, x)
		return 0, false
	}
	old, l.all[l.n] = l.all[l.n], x
	l.n = (l.n + 1) % maxRecentExchanges
	return old, true
}

// Open begins to read a capture of another machine.
func (f *Feeds) Open(of Machine) *Feed {
	f.n++
	return f.OpenAt(of, fmt.Sprintf("%s/%s %d", of.Host, of.Agent, f.n), 0)
}

// OpenAt begins to read a capture of another machine from an offset, where a line begins. run is what all
// of that capture has in common, and no other.
func (f *Feeds) OpenAt(of Machine, run string, offset int64) *Feed {
	c := newCaptureReader(of.Host+"/"+of.Agent, &f.numbers)
	c.room, c.ended = &f.room, new(recentExchanges)
	if offset > 0 { // the header is behind us
		c.number, c.offset, c.summed, c.header = 1, offset, true, lineStart{1, 0}
	}
	return &Feed{c: c, run: run, of: &of, begun: map[int]bool{}, torn: offset > 0}
}

// OpenExchange begins to read one exchange alone, of that number in a capture of another machine, from where its
// first line begins.
func (f *Feeds) OpenExchange(of Machine, run string, exchange int, offset int64) *Feed {
	one := f.OpenAt(of, run, offset)
	one.torn = false
	unique := f.numbers.claimNumber(f.numbers.last + 1)
	c := one.c
	c.number, c.summed, c.header, c.current = 1, true, lineStart{1, 0}, unique
	c.wanted, c.names.known[exchange] = &exchangeFilter{exchange: unique, number: exchange}, unique
	return one
}

// CountOpen is how many exchanges have begun and not ended.
func (f *Feed) CountOpen() int { return len(f.c.open) }

// Idle reports whether nothing has begun that has not ended, not even a line: who reads on may do so with
// another Feed, from where this one is.
func (f *Feed) Idle() bool {
	return len(f.c.open) == 0 && len(f.c.line) == 0 && f.c.cut == 0 && !f.skips
}

// Done reports whether the only exchange that is read has ended.
func (f *Feed) Done() bool { return f.over }

// Write adds the records of the next bytes. After an error nothing of the capture can be read.
func (f *Feed) Write(recs []Record, p []byte) ([]Record, error) {
	if f.skips {
		p = f.joinLine(p)
	}
	n := len(recs)
	recs, err := f.c.Write(recs, p, NoTime)
	if f.torn {
		recs = f.markMidway(recs[:n:n], recs[n:])
	}
	for i := range recs[n:] {
		r := &recs[n+i]
		if r.Head != nil { // what it was followed as there is a name of that machine's, which two of them may have
			r.Head.File, r.Head.Run, r.Head.Origin = f.c.file, f.run, f.of
		}
		if r.OfSource() && r.Note != "" {
			r.Note = f.c.file + ": " + r.Note
		}
		if f.over = f.over || f.c.wanted != nil && r.End != ""; r.End == "" || !f.torn {
			continue
		}
		if old, ok := f.ended.push(r.Exchange); ok {
			delete(f.begun, old)
		}
	}
	if len(f.c.line) == 0 && cap(f.c.line) > chunkSize {
		f.c.line = nil // there may be thousands of these
	}
	return recs, err
}

// joinLine is p from where a line begins, with that line before it if all of it is there.
func (f *Feed) joinLine(p []byte) []byte {
	line, rest, finished := bytes.Cut(p, []byte("\n"))
	if room := maxPartialLine - len(f.held); room > 0 {
		f.held = append(f.held, line[:min(room, len(line))]...)
	}
	if !finished {
		return nil
	}
	line = f.held
	f.skips, f.held = false, nil
	if there, right := verifyChecksum(line); there && right {
		return append(append(line, '\n'), rest...)
	}
	f.c.offset += int64(len(line)) + 1
	return rest
}

// markMidway says of each exchange whose beginning is missing that it is joined midway, and of each that was
// cut that it goes on.
func (f *Feed) markMidway(recs, more []Record) []Record {
	for _, r := range more {
		if !r.OfSource() && !f.begun[r.Exchange] {
			f.begun[r.Exchange] = true
			note, lost := "joined midway: what came before is not there any more", max(1, f.lost)
			if why := f.cutBefore(r.Exchange); why != "" {
				note, lost = "goes on; it was cut above, as "+why, max(1, f.since)
			}
			if r.Head == nil {
				recs = append(recs, Record{Exchange: r.Exchange, Side: r.Side, At: r.At, Lost: lost, Head: &Head{File: f.c.file}, Note: note})
			}
		}
		recs = append(recs, r)
	}
	return recs
}

// cutBefore is why an exchange was cut that goes on under another number, "" for one that was not.
func (f *Feed) cutBefore(unique int) string {
	for x, why := range f.cut {
		if f.c.names.known[x] == unique {
			delete(f.cut, x)
			return why
		}
	}
	return ""
}

// AddGap says that so many bytes of the capture are missing here; why is the reason, in words. Nobody
// knows what they held: whatever was open may have been in it. What is missing before the first
// byte is no gap: the capture is joined midway then.
func (f *Feed) AddGap(recs []Record, n int64, why string) []Record {
	c := f.c
	if c.number == 0 { // the header is behind us
		c.number = 1
	}
	c.summed, c.header = true, lineStart{1, 0}
	c.offset += int64(len(c.line)) + c.cut + n
	c.line, c.cut = c.line[:0], 0
	f.expectMidway()
	f.skips, f.held, f.lost = true, nil, n
	f.since = n
	for _, x := range slices.Sorted(maps.Keys(c.open)) {
		note := fmt.Sprintf("gap: %d bytes of the capture %s", n, why)
		recs = append(recs, Record{Exchange: x, At: NoTime, Lost: n, Note: note}, Record{Exchange: x, Side: Request, At: NoTime, Lost: n})
	}
	return recs
}

// Cut ends what is open because of why. What comes later all the same is an exchange of its own.
func (f *Feed) Cut(recs []Record, why string) []Record {
	f.expectMidway()
	if f.since = 0; f.cut == nil {
		f.cut = map[int]string{}
	}
	for x, unique := range f.c.names.known {
		if f.c.open[unique] {
			f.cut[x] = why
			delete(f.c.names.known, x)
			delete(f.begun, unique)
		}
	}
	return f.c.closeAll(recs, why)
}

// expectMidway has exchanges be looked at from here on that come without their beginning. Of those that are known
// it was there, or was missed before.
func (f *Feed) expectMidway() {
	if !f.torn {
		for _, unique := range f.c.names.known {
			f.begun[unique] = true
		}
	}
	f.torn = true
}

// Close ends what is open because the capture comes to its end.
func (f *Feed) Close(recs []Record) []Record { return f.c.Close(recs, EndEOF, "", NoTime) }
