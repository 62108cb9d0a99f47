package capture

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// maxPartialLine is the maximum number of bytes that are kept of a line whose beginning may be missing.
const maxPartialLine = 1 << 20

// Feeds reads several captures at the same time, as their bytes arrive from elsewhere. It gives all their exchanges
// different numbers.
type Feeds struct {
	numbers exchangeNumbers
	n       int
	room    lineBuffer
}

// Feed reads one of the captures of a Feeds. It reports missing bytes at the place where they are missing.
// Reading continues with the next complete line.
type Feed struct {
	c     *captureReader
	run   string // unique to this capture
	of    *Machine
	torn  bool // bytes are missing, so the beginnings of exchanges may be missing too
	begun map[int]bool
	ended recentExchanges // the last exchanges that ended while torn was set
	cut   map[int]string  // by exchange number in the capture: the reasons why Cut ended exchanges that have had no records since
	over  bool            // the only exchange to be read has ended
	skips bool            // the next bytes are the rest of a line that is skipped, unless its checksum shows that it is complete
	held  []byte          // bytes of that line
	lost  int64           // number of bytes missing before the next ones
	since int64           // number of bytes missing since Cut
}

// recentExchanges holds the last few exchange numbers.
type recentExchanges struct {
	all []int
	n   int
}

// maxRecentExchanges is the size of recentExchanges. A small size is enough, because records after the end of an
// exchange arrive soon after it.
const maxRecentExchanges = 64

// push adds a number and returns the number that it replaces. The result ok is false if it replaces none.
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

// OpenAt begins to read a capture of another machine from an offset at which a line begins. The parameter run
// must be unique to the capture.
func (f *Feeds) OpenAt(of Machine, run string, offset int64) *Feed {
	c := newCaptureReader(of.Host+"/"+of.Agent, &f.numbers)
	c.room, c.ended = &f.room, new(recentExchanges)
	if offset > 0 { // the header was before the offset
		c.number, c.offset, c.summed, c.header = 1, offset, true, lineStart{1, 0}
	}
	return &Feed{c: c, run: run, of: &of, begun: map[int]bool{}, torn: offset > 0}
}

// OpenExchange begins to read a single exchange in a capture of another machine. The parameters exchange and
// offset are the exchange's number in the capture and the start of its first line.
func (f *Feeds) OpenExchange(of Machine, run string, exchange int, offset int64) *Feed {
	one := f.OpenAt(of, run, offset)
	one.torn = false
	unique := f.numbers.claimNumber(f.numbers.last + 1)
	c := one.c
	c.number, c.summed, c.header, c.current = 1, true, lineStart{1, 0}, unique
	c.wanted, c.names.known[exchange] = &exchangeFilter{exchange: unique, number: exchange}, unique
	return one
}

// CountOpen returns the number of exchanges that have begun and not ended.
func (f *Feed) CountOpen() int { return len(f.c.open) }

// Idle reports whether no exchange and no line is open, so that another Feed can continue from this one's offset.
func (f *Feed) Idle() bool {
	return len(f.c.open) == 0 && len(f.c.line) == 0 && f.c.cut == 0 && !f.skips
}

// Done reports whether the only exchange to be read has ended.
func (f *Feed) Done() bool { return f.over }

// Write appends the records of the next bytes to recs. After an error, nothing more of the capture can be
// read.
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
		if r.Head != nil { // the file has this name on the other machine; two machines may have files of the same name
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
		f.c.line = nil // don't keep a large buffer: there may be thousands of Feeds
	}
	return recs, err
}

// joinLine adds p, up to its first line end, to the held partial line. It returns nil if p has no line end.
// Otherwise it returns the rest of p, preceded by the joined line if its checksum proves that it is complete.
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

// markMidway adds a note to each exchange whose beginning is missing, and to each that continues after
// Cut.
func (f *Feed) markMidway(recs, more []Record) []Record {
	for _, r := range more {
		if !r.OfSource() && !f.begun[r.Exchange] {
			f.begun[r.Exchange] = true
			note, lost := "joined midway: earlier bytes are missing", max(1, f.lost)
			if why := f.cutBefore(r.Exchange); why != "" {
				note, lost = "continues an exchange that was cut off above: "+why, max(1, f.since)
			}
			if r.Head == nil {
				recs = append(recs, Record{Exchange: r.Exchange, Side: r.Side, At: r.At, Lost: lost, Head: &Head{File: f.c.file}, Note: note})
			}
		}
		recs = append(recs, r)
	}
	return recs
}

// cutBefore returns the reason why an exchange that continues under another number was cut, or "" if it wasn't
// cut. It returns each reason only once.
func (f *Feed) cutBefore(unique int) string {
	for x, why := range f.cut {
		if f.c.names.known[x] == unique {
			delete(f.cut, x)
			return why
		}
	}
	return ""
}

// AddGap appends to recs, for each side of each open exchange, a record with the note that n bytes of the
// capture are missing here. Any open exchange may have lost them, because their content is unknown. The
// parameter why is the reason in words. If the first bytes of the capture are missing, no exchange is open, and
// later ones are joined midway.
func (f *Feed) AddGap(recs []Record, n int64, why string) []Record {
	c := f.c
	if c.number == 0 { // the header is among the missing bytes
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

// Cut ends all open exchanges. The parameter why is the reason in words. Later records of these exchanges form new
// exchanges.
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

// expectMidway makes markMidway look for exchanges without a beginning from now on. The exchanges known so far are
// exempt: their beginning was read, or was already reported as missing.
func (f *Feed) expectMidway() {
	if !f.torn {
		for _, unique := range f.c.names.known {
			f.begun[unique] = true
		}
	}
	f.torn = true
}

// Close ends all open exchanges because the capture ends.
func (f *Feed) Close(recs []Record) []Record { return f.c.Close(recs, EndEOF, "", NoTime) }
