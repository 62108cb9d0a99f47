package capture

import (
	"bytes"
	"fmt"
)

// heldLine is how much is kept of a line whose beginning may be missing.
const heldLine = 1 << 20

// Feeds are captures that are read at the same time, each as its bytes come from elsewhere. Their
// exchanges have numbers that differ.
type Feeds struct {
	numbers numbers
	n       int
}

// Feed is one capture of those. What is missing of it is said at its place; what comes behind that
// is read from the next line that is whole.
type Feed struct {
	c     *captureReader
	run   string // that nothing but this capture is of
	of    *Machine
	torn  bool // something is missing: exchanges may begin in their midst
	begun map[int]bool
	skips bool   // what comes first is the rest of a line, unless its checksum says that it is whole
	held  []byte // of that
	lost  int64  // bytes that are missing before what comes next
}

// New begins to read a capture of another machine.
func (f *Feeds) New(of Machine) *Feed {
	f.n++
	name := of.Host + "/" + of.Agent
	return &Feed{c: newCaptureReader(name, &f.numbers), run: fmt.Sprintf("%s %d", name, f.n), of: &of, begun: map[int]bool{}}
}

// One begins to read one exchange alone, of that number in a capture of another machine, from where its
// first line begins.
func (f *Feeds) One(of Machine, exchange int, offset int64) *Feed {
	one := f.New(of)
	unique := f.numbers.claim(f.numbers.last + 1)
	c := one.c
	c.number, c.offset, c.summed, c.header, c.current = 1, offset, true, lineStart{1, 0}, unique // the header is behind us
	c.wanted, c.names.known[exchange] = &wanted{exchange: unique, number: exchange}, unique
	return one
}

// Open is how many exchanges have begun and not ended.
func (f *Feed) Open() int { return len(f.c.open) }

// Write adds the records of the next bytes. After an error nothing of the capture can be read.
func (f *Feed) Write(recs []Record, p []byte) ([]Record, error) {
	if f.skips {
		p = f.whole(p)
	}
	n := len(recs)
	recs, err := f.c.Write(recs, p, NoTime)
	if f.torn {
		recs = f.midway(recs[:n:n], recs[n:])
	}
	for i := range recs[n:] {
		if head := recs[n+i].Head; head != nil {
			head.Run, head.Origin = f.run, f.of
		}
	}
	return recs, err
}

// whole is p from where a line begins, with that line before it if all of it is there.
func (f *Feed) whole(p []byte) []byte {
	line, rest, finished := bytes.Cut(p, []byte("\n"))
	if room := heldLine - len(f.held); room > 0 {
		f.held = append(f.held, line[:min(room, len(line))]...)
	}
	if !finished {
		return nil
	}
	line = f.held
	f.skips, f.held = false, nil
	if there, right := checksum(line); there && right {
		return append(append(line, '\n'), rest...)
	}
	f.c.offset += int64(len(line)) + 1
	return rest
}

// midway says of each exchange whose beginning is missing that it is joined midway.
func (f *Feed) midway(recs, more []Record) []Record {
	for _, r := range more {
		if !r.OfSource() && !f.begun[r.Exchange] {
			f.begun[r.Exchange] = true
			if r.Head == nil {
				recs = append(recs, Record{
					Exchange: r.Exchange, Side: r.Side, At: r.At, Lost: max(1, f.lost), Head: &Head{File: f.c.file},
					Note: "joined midway: what came before is not there any more",
				})
			}
		}
		recs = append(recs, r)
	}
	return recs
}

// Miss says that so many bytes of the capture are missing here; why is the reason, in words. Nobody
// knows what they held: whatever was open may have been in it. What is missing before the first
// byte is no gap: the capture is joined midway then.
func (f *Feed) Miss(recs []Record, n int64, why string) []Record {
	c := f.c
	if c.number == 0 { // the header is behind us
		c.number = 1
	}
	c.summed, c.header = true, lineStart{1, 0}
	c.offset += int64(len(c.line)) + c.cut + n
	c.line, c.cut = c.line[:0], 0
	if !f.torn {
		for x := range c.open {
			f.begun[x] = true
		}
	}
	f.torn, f.skips, f.held, f.lost = true, true, nil, n
	for x := range c.open {
		note := fmt.Sprintf("gap: %d bytes of the capture %s", n, why)
		recs = append(recs, Record{Exchange: x, At: NoTime, Lost: n, Note: note}, Record{Exchange: x, Side: Request, At: NoTime, Lost: n})
	}
	return recs
}

// Cut ends what is open because of why. What comes later all the same is an exchange of its own.
func (f *Feed) Cut(recs []Record, why string) []Record {
	for x, unique := range f.c.names.known {
		if f.c.open[unique] {
			delete(f.c.names.known, x)
		}
	}
	f.torn, f.lost = true, f.c.offset
	return f.c.closeAll(recs, why)
}

// Close ends what is open because the capture comes to its end.
func (f *Feed) Close(recs []Record) []Record { return f.c.Close(recs, EndEOF, "", NoTime) }
