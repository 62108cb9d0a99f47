package record

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
)

// checkEvery is the interval at which the file of a capture is checked while it is being written.
const checkEvery = time.Second

// maxNewFiles is the maximum number of names that are tried for a new file.
const maxNewFiles = 100

// captureFile is the file that a recorder writes to.
type captureFile struct {
	*os.File
	path     string // path of this file
	first    string // path of the recorder's first file
	makesDir bool   // a missing directory is created
	created  time.Time
	by       string
	dir      string // working folder; empty if unknown
}

// open creates the file at a path, and writes the capture's header to it.
func (c *captureFile) open(path string) (*writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow|atEnd, 0o600)
	if errors.Is(err, fs.ErrExist) && isLocked(path) {
		return nil, fmt.Errorf("create %s: another program records to this file: %w", path, fs.ErrExist)
	}
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, capture.WithoutPath(err))
	}
	w, err := openCapture(f, c)
	if err != nil {
		f.Close()
		os.Remove(path)
		return nil, fmt.Errorf("create %s: %w", path, capture.WithoutPath(err))
	}
	c.File, c.path = f, path
	return w, nil
}

// openNext creates the file that replaces a damaged one: with the same name if no file has it, otherwise with
// a number after the name.
func (c *captureFile) openNext() (*writer, error) {
	if c.makesDir {
		if _, err := makeDir(filepath.Dir(c.first)); err != nil {
			return nil, err
		}
	}
	path, ext := c.first, filepath.Ext(c.first)
	for n := 2; ; n++ {
		w, err := c.open(path)
		if !errors.Is(err, fs.ErrExist) || n > maxNewFiles {
			return w, err
		}
		path = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(c.first, ext), n, ext)
	}
}

// findDamage describes the damage that another program did to the file. It returns "" if there is no damage.
// The parameter size is the number of written bytes. A file that was only renamed is undamaged.
func (c *captureFile) findDamage(size int64) string {
	info, err := c.Stat()
	if err != nil {
		return "" // the error shows nothing about the file
	}
	named, err := os.Stat(c.path)
	switch {
	case err == nil && !os.SameFile(info, named):
		return c.path + " was replaced by another file"
	case hasNoName(info):
		return c.path + " was removed"
	case info.Size() < size:
		return c.path + " was truncated"
	}
	return ""
}

// fileContent describes the content of a file. If another program damages the file, this content is lost.
type fileContent struct {
	open  map[int]*openContent
	bytes int64 // number of bytes of all bodies in the file
	last  capture.Record
}

type openContent struct {
	heads []capture.Record // records with a head, without their bytes
	bytes map[capture.Side]int64
}

func (c *fileContent) add(rec capture.Record) {
	c.bytes += int64(len(rec.Data))
	c.last = capture.Record{Exchange: rec.Exchange, At: rec.At}
	x := c.open[rec.Exchange]
	switch {
	case rec.OfSource():
		return
	case rec.End != "":
		delete(c.open, rec.Exchange)
		return
	case x == nil:
		x = &openContent{bytes: map[capture.Side]int64{}}
		c.open[rec.Exchange] = x
	}
	if x.bytes[rec.Side] += int64(len(rec.Data)); rec.Head != nil {
		head, _ := withoutBytes(rec)
		x.heads = append(x.heads, head)
	}
}

// moveTo moves the content to a gap. The parameter why is the cause of the gap.
func (c *fileContent) moveTo(g *gap, why string) {
	c.last.Exchange = max(1, c.last.Exchange)
	c.last.Note = fmt.Sprintf("gap: %s while toolscope was recording to it; the file contained %s of bodies", why, count.Of(c.bytes, "byte"))
	g.add(c.last, why)
	for _, number := range slices.Sorted(maps.Keys(c.open)) {
		x := c.open[number]
		for _, head := range x.heads {
			g.add(head, why)
		}
		for _, side := range []capture.Side{capture.Request, capture.Response} {
			if n := x.bytes[side]; n > 0 {
				g.countLost(capture.Stream{Exchange: number, Side: side}, n)
			}
		}
	}
	*c = fileContent{open: map[int]*openContent{}}
}

// checkFile continues in a new file if another program has damaged the file. While there is no new file, the
// records go to the gap.
func (r *Recorder) checkFile(failed *gap) {
	if r.file == nil {
		return
	}
	noteLoss := func(*State) {}
	if r.w.damaged == nil {
		why := r.file.findDamage(r.w.size)
		if why == "" {
			return
		}
		r.w.damaged = errors.New(why)
		r.file.Close()
		lost := r.content.bytes
		r.content.moveTo(failed, why)
		noteLoss = func(s *State) { s.Lost, s.Bytes, s.Records, s.Damage = s.Lost+lost, 0, 0, why }
	}
	before := r.file.path
	w, err := r.file.openNext()
	if err != nil {
		r.setState(func(s *State) {
			noteLoss(s)
			s.Trouble = fmt.Sprintf("%v, and there is no new file: %v", r.w.damaged, err)
		})
		return
	}
	place, trouble := r.file.path, ""
	if place == before {
		place = "a new file with that name"
	}
	r.w = w
	if err := r.writeGap(failed); err != nil {
		trouble = capture.WithoutPath(err).Error()
	}
	r.setState(func(s *State) {
		noteLoss(s)
		s.Damage += "; recording continues in " + place
		s.Path, s.Trouble = r.file.path, trouble
	})
}

func (r *Recorder) setState(change func(*State)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.state)
}

// The limits of a gap's memory.
const (
	maxKeptBytes = 4 << 20 // maximum cost of heads, ends and notes
	maxLossSides = 1 << 16 // maximum number of sides of exchanges
)

// gap holds the records that could not be written. The zero value is empty.
type gap struct {
	why   string
	at    time.Duration
	lost  []loss                 // one for each side that lost bytes
	sides map[capture.Stream]int // index in lost
	kept  []capture.Record       // records without their data: heads, ends and notes, up to maxKeptBytes
	size  int                    // cost of kept
}

type loss struct {
	of    capture.Stream
	bytes int64
}

func (g *gap) isOpen() bool { return g.why != "" }

// add adds a record to the gap, and returns the number of bytes that are lost with it.
func (g *gap) add(rec capture.Record, why string) int64 {
	if !g.isOpen() {
		g.at, g.sides = rec.At, map[capture.Stream]int{}
	}
	g.why = why
	n := lostWith(rec)
	if n > 0 {
		g.countLost(rec.Stream(), n)
	}
	if kept, worth := withoutBytes(rec); worth && g.size+RecordCost(kept) <= maxKeptBytes {
		g.kept = append(g.kept, kept)
		g.size += RecordCost(kept)
	}
	return n
}

func (g *gap) countLost(s capture.Stream, n int64) {
	i, known := g.sides[s]
	switch {
	case known:
		g.lost[i].bytes += n
	case len(g.lost) < maxLossSides:
		g.sides[s] = len(g.lost)
		g.lost = append(g.lost, loss{of: s, bytes: n})
	}
}

// gapRecords yields the records that report the gap: the kept records and, for each side, a record with the number of
// missing bytes. That record comes before the end of its exchange. Each record must be dropped before the next one. The
// records are made one by one, because a full disk refuses the first one each time that a record arrives.
func (g *gap) gapRecords() iter.Seq[capture.Record] {
	return func(yield func(capture.Record) bool) {
		report := func(l *loss) bool {
			return l.bytes == 0 || yield(capture.Record{
				Exchange: l.of.Exchange, Side: l.of.Side, At: g.at, Lost: l.bytes,
				Note: fmt.Sprintf("gap: %d bytes of exchange %d were not recorded: %s", l.bytes, l.of.Exchange, g.why),
			})
		}
		for _, rec := range g.kept {
			for _, s := range []capture.Side{capture.Request, capture.Response} {
				if i, known := g.sides[capture.Stream{Exchange: rec.Exchange, Side: s}]; known && rec.End != "" && !report(&g.lost[i]) {
					return
				}
			}
			if !yield(rec) {
				return
			}
		}
		for i := range g.lost {
			if !report(&g.lost[i]) {
				return
			}
		}
	}
}

// dropRecord removes the record that gapRecords yielded.
func (g *gap) dropRecord(rec capture.Record) {
	if rec.Lost > 0 {
		g.lost[g.sides[rec.Stream()]].bytes = 0
		return
	}
	g.kept, g.size = g.kept[1:], g.size-RecordCost(rec)
}
