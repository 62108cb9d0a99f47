package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

const (
	maxLineBytes   = maxEventBytes // a longer line counts as damaged
	giantLine      = 1 << 20       // a longer line gets its own buffer
	maxDamageShown = 4 << 10       // maximum number of bytes of a damaged line that its note shows
)

// captureReader reads toolscope's own format. It joins the parts of a line. An unreadable line becomes a note
// with its number, its offset and its text, and reading continues after the line.
type captureReader struct {
	file    string
	names   numberMap    // makes the file's exchange numbers unique in the source
	line    []byte       // the unfinished line
	cut     int64        // number of bytes of the unfinished line that are not in line, because it is too long or not wanted
	number  int          // number of finished lines
	offset  int64        // number of finished bytes
	summed  bool         // the lines have checksums
	header  lineStart    // the line that decided the value of summed
	open    map[int]bool // exchanges that have begun and not ended
	current int          // exchange of the latest record
	from    *File        // nil if the input can't be read again
	before  int64        // number of bytes of the file before offset 0
	here    Location     // location of the current line
	room    *lineBuffer  // nil until it is needed
	heads   headCache
	wanted  *exchangeFilter  // the only exchange to be read; nil for all exchanges
	ended   *recentExchanges // exchanges whose numbers may soon be dropped; nil if all numbers are kept
}

// lineBuffer holds the data of a line until its size is known. Readers in the same goroutine share one.
type lineBuffer struct {
	bytes []byte
	block *dataBlock  // the block that short copies fill; nil before the first one
	spare chan []byte // released blocks; nil if records have no Release
}

// dataBlock is memory that the data of several records shares.
type dataBlock struct {
	data    []byte
	holders atomic.Int32 // number of records that were not released, plus 1 while the block is filled
	release func()       // the Release of the records; nil if they have none
}

// copyBlock is the size of a block that short copies share. A copy keeps its block in memory, so longer copies have
// memory of their own.
const copyBlock = 16 << 10

// ownData replaces the data of a record by a copy. The data of requests isn't released, so it doesn't share a block with
// data that is.
func (b *lineBuffer) ownData(r *Record) {
	p := r.Data
	if len(p) == 0 || len(p) > copyBlock/8 || b.spare != nil && r.Side == Request {
		r.Data = bytes.Clone(p)
		return
	}
	if b.block == nil || cap(b.block.data)-len(b.block.data) < len(p) {
		b.beginBlock()
	}
	from := len(b.block.data)
	b.block.data = append(b.block.data, p...)
	r.Data = b.block.data[from:len(b.block.data):len(b.block.data)]
	if r.Release = b.block.release; r.Release != nil {
		b.block.holders.Add(1)
	}
}

// beginBlock begins the next block of data, in a released block if there is one.
func (b *lineBuffer) beginBlock() {
	if full := b.block; full != nil && full.release != nil {
		full.release()
	}
	next := new(dataBlock)
	select {
	case next.data = <-b.spare:
	default:
		next.data = make([]byte, 0, copyBlock)
	}
	if spare := b.spare; spare != nil {
		next.holders.Store(1)
		next.release = func() {
			if next.holders.Add(-1) > 0 {
				return
			}
			select {
			case spare <- next.data[:0]:
			default:
			}
		}
	}
	b.block = next
}

// lineStart is the position of a line: its number, from 1, and the offset of its first byte.
type lineStart struct {
	line   int
	offset int64
}

func newCaptureReader(file string, n *exchangeNumbers) *captureReader {
	return &captureReader{file: file, names: n.newMap(), open: map[int]bool{}, heads: headCache{}}
}

// Write ignores at: a capture's records have their own times.
func (c *captureReader) Write(recs []Record, p []byte, _ time.Duration) ([]Record, error) {
	for len(p) > 0 {
		line, rest, finished := bytes.Cut(p, []byte("\n"))
		if p = rest; !finished || len(c.line) > 0 {
			// Append to the unfinished line, up to maxLineBytes. Keep no more bytes of a line that is not wanted.
			room := max(0, maxLineBytes-len(c.line))
			if c.summed && c.passesOver(c.line) {
				room = 0
			}
			kept := line[:min(room, len(line))]
			c.line = append(c.line, kept...)
			c.cut += int64(len(line) - len(kept))
			line = c.line
		}
		if !finished {
			break
		}
		var err error
		if recs, err = c.finishLine(recs, line, 1); err != nil {
			return recs, err
		}
	}
	return recs, nil
}

// Close ends the open exchanges of the capture with EndCut. They were cut off by toolscope, which wrote the
// capture, or by the program that cut the file, but never by the provider.
func (c *captureReader) Close(recs []Record, end End, why string, _ time.Duration) []Record {
	recs = c.readLastLine(recs)
	switch {
	case end == EndEOF:
		why = "the capture ends before the response does"
		c.setPosition(c.offset, c.offset+1)
	case len(c.open) == 0 && c.current != 0:
		return append(recs, c.newNote(why))
	default:
		c.here = Location{} // in a later read, the exchange may end differently
	}
	return c.closeAll(recs, why)
}

// leaveOpen marks the open exchanges of a capture to which a program is still recording. If there are none, it marks
// the latest exchange. The last line is not read if it has no line break: the rest of it will follow.
func (c *captureReader) leaveOpen(recs []Record) []Record {
	open := slices.Sorted(maps.Keys(c.open))
	if len(open) == 0 && c.current != 0 {
		open = []int{c.current}
	}
	for _, x := range open {
		recs = append(recs, Record{Exchange: x, At: NoTime, Open: true, Location: c.here})
	}
	return recs
}

// readLastLine reads the last line, which has no line break.
func (c *captureReader) readLastLine(recs []Record) []Record {
	if len(c.line) > 0 {
		recs, _ = c.finishLine(recs, c.line, 0) // a version error is harmless: no line follows that could be misread
	}
	return recs
}

func (c *captureReader) closeAll(recs []Record, why string) []Record {
	for _, x := range slices.Sorted(maps.Keys(c.open)) {
		recs = append(recs, Record{Exchange: x, At: NoTime, End: EndCut, Why: why, By: Toolscope, Location: c.here})
	}
	clear(c.open)
	return recs
}

// setPosition sets the location of the current line.
func (c *captureReader) setPosition(start, end int64) {
	if c.from != nil {
		c.here = Location{File: c.from, Start: c.before + start, End: c.before + end}
	}
}

// finishLine reads a complete line; lineBreak is the length of its line break.
func (c *captureReader) finishLine(recs []Record, text []byte, lineBreak int) ([]Record, error) {
	size, start := int64(len(text))+c.cut, c.offset
	c.offset += size + int64(lineBreak)
	c.number++
	c.line, c.cut = c.line[:0], 0
	if cap(c.line) > giantLine {
		c.line = nil // frees its memory
	}
	c.setPosition(start, c.offset)
	if c.passesOver(text) || len(bytes.TrimSpace(text)) == 0 && c.number > 1 {
		return recs, nil
	}
	err := errTooLong
	if size <= maxLineBytes {
		var more []Record
		if more, err = c.readLine(recs, text); err == nil {
			return more, nil
		}
	}
	if bad := (*versionError)(nil); errors.As(err, &bad) {
		return recs, fmt.Errorf("read %s: line %d: %w", c.file, c.number, err)
	}
	if lineBreak == 0 && !errors.Is(err, errChecksum) {
		err = fmt.Errorf("the file ends inside the line: %w", err)
	}
	shown := text[:min(len(text), maxDamageShown)]
	note := fmt.Sprintf("damaged line %d at byte %d (%v): %s", c.number, start, err, shown)
	if int64(len(shown)) < size {
		note += fmt.Sprintf("… (%d of %d bytes)", len(shown), size)
	}
	return append(recs, c.damageNote(note)), nil
}

var (
	errTooLong  = errors.New("too long")
	errChecksum = errors.New("the checksum is wrong")
	errUnsummed = errors.New("the checksum is missing")
)

// readLine appends the record of a line to recs.
func (c *captureReader) readLine(recs []Record, text []byte) ([]Record, error) {
	there, right := verifyChecksum(text)
	if there && !right {
		c.summed = true // even a wrong checksum shows that lines have checksums
		return nil, errChecksum
	}
	if c.number == 1 {
		c.summed, c.header = there, lineStart{1, 0}
		return recs, checkHeader(text)
	}
	var r Record
	err := c.decodeLine(&r, text)
	if errors.Is(err, errHeader) { // two captures, one appended to the other
		if err := checkHeader(text); err != nil {
			return nil, err
		}
		c.summed, c.header = there, lineStart{c.number, c.offset - int64(len(text)) - 1}
		c.names = c.names.numbers.newMap()
		return c.closeAll(recs, "another capture begins"), nil
	}
	switch {
	case err != nil:
		return nil, err
	case c.summed && !there:
		return nil, errUnsummed
	case !c.wanted.matches(r.Exchange, c.names):
		c.summed = there || c.summed
		return recs, nil
	}
	number := r.Exchange
	if _, known := c.names.known[number]; !known && c.ended != nil && c.current != 0 && r.OfSource() {
		r.Exchange = c.current // a note about the source names an exchange that may have ended long ago
	} else {
		r.Exchange = c.names.numberOf(number)
	}
	if r.Head != nil && r.Head.File == "" {
		r.Head.File = c.file
	}
	r.ofRun(c.file)                                 // all records of a capture have one clock, whatever file each was first read from
	if c.current = r.Exchange; there && !c.summed { // a program that writes one checksum writes all of them
		c.summed = true
		recs = append(recs, c.damageNote(fmt.Sprintf("damaged line %d at byte %d (%v)", c.header.line, c.header.offset, errUnsummed)))
	}
	switch {
	case r.End != "":
		delete(c.open, r.Exchange)
		if old, ok := c.ended.push(number); ok && !c.open[c.names.known[old]] {
			delete(c.names.known, old)
		}
	case r.Data != nil || r.Head != nil:
		c.open[r.Exchange] = true
	}
	return append(recs, r), nil
}

// decodeLine decodes a line that is not the first into r, which must be the zero Record. It also sets the location.
func (c *captureReader) decodeLine(r *Record, text []byte) (err error) {
	if c.room == nil {
		c.room = new(lineBuffer)
	}
	space := c.room.bytes
	if cap(space) < len(text) {
		space = make([]byte, 0, max(chunkSize, len(text)))
	}
	if !quickRecord(r, text, space, c.heads) {
		*r, err = decodeRecord(text)
		if _, x, _ := linePrefix(text); x == 0 || x == r.Exchange { // else passesOver would skip the line in a later read
			r.Location = c.here
		}
		return err
	}
	r.Location = c.here
	if len(text) <= giantLine {
		c.room.bytes = space
		c.room.ownData(r)
	}
	return nil
}

func (c *captureReader) newNote(text string) Record {
	if c.current == 0 {
		c.current = c.names.numberOf(1)
	}
	return Record{Exchange: c.current, At: NoTime, Note: text}
}

// damageNote returns a note about a line that is unreadable or untrusted.
func (c *captureReader) damageNote(text string) Record {
	r := c.newNote(text)
	r.Damaged = true
	return r
}

// versionError is the error for an undamaged capture with another format version.
type versionError struct{ version string }

func (e *versionError) Error() string {
	return fmt.Sprintf("capture format version %s; this toolscope reads version %d", e.version, formatVersion)
}

func checkHeader(text []byte) error {
	var header struct {
		Version json.RawMessage `json:"toolscope"`
	}
	if err := json.Unmarshal(text, &header); err != nil {
		return err
	}
	if header.Version == nil {
		return errors.New("no version")
	}
	if version := string(header.Version); version != fmt.Sprint(formatVersion) {
		return &versionError{version}
	}
	return nil
}

// Location is the position of a record in a file that can be read again. The zero Location means that the
// record can't be read again.
//
// A record of a capture or a log has the location of its line. A record from an entry of a HAR file, or of
// another HTTP log, has the location of the complete entry. A body or a curl dump is one exchange and is read
// again from its start, so the location of each record covers everything read so far. Records made at the end
// of a file are located after its last byte.
type Location struct {
	File       *File
	Start, End int64
	Bare       bool     // the file is the body of one response and nothing else
	Lines      *Lines   // the lines of the exchange, if the file is a log
	Line       [2]int64 // start and end of the record's own line in the file
	Entries    *Entries // the entries of the file, if the exchange is one of them
}

// File is a file that can be read again, exchange by exchange. It keeps nothing open. It is safe for
// concurrent use.
type File struct {
	path  string
	info  fs.FileInfo  // state of the file when it was first opened
	last  []byte       // last bytes of the file at that time
	ended atomic.Int64 // offset at which the first read ended; MaxInt64 until then
}

// Path returns the path with which the file was opened.
func (f *File) Path() string { return f.path }

// newFile returns the File of a file that was just opened, or nil if it can't be read again.
func newFile(path string, opened osFile) *File {
	info, err := opened.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f := &File{path: path, info: info, last: make([]byte, min(info.Size(), lastPrint))}
	if _, err := opened.ReadAt(f.last, info.Size()-int64(len(f.last))); err != nil && err != io.EOF {
		return nil
	}
	f.ended.Store(math.MaxInt64)
	return f
}

// finish records that the file was read to its end, at size. It returns the end position for records made there,
// which is one byte after size.
func (f *File) finish(size int64) int64 {
	if f != nil {
		f.ended.Store(size)
	}
	return size + 1
}

// Again yields the records of one exchange in [start,end), as they were first read. It leaves out records
// about the source itself and records that are marked as damaged. The location of the
// exchange's first record begins at start. The records get the number in the parameter exchange, whatever their
// number in the file is.
//
// A missing or changed file is an error. A file that has only grown counts as unchanged. A change that keeps
// size and times is not detected here; callers that must be sure compare the bytes.
func (f *File) Again(ctx context.Context, exchange int, start, end int64) Source {
	return func(yield func(Record, error) bool) {
		opened, err := f.open()
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer opened.Close()
		last := min(end, f.ended.Load())
		in := newInputReader(f.path, &exchangeNumbers{last: exchange - 1})
		in.from, in.read = f, start
		if start > 0 { // only a capture is read from the middle, after its first line
			c := newCaptureReader(f.path, &exchangeNumbers{})
			c.from, c.before, c.number, c.wanted = f, start, 1, &exchangeFilter{exchange: exchange}
			in.reader = c
		}
		deliver := func(r Record, err error) bool { return err == nil && (r.OfSource() || r.Damaged) || yield(r, err) }
		for from := io.NewSectionReader(opened, start, last-start); ctx.Err() == nil; {
			c := in.readChunk(from)
			if c.err == io.EOF && in.read+int64(len(c.data)) < last {
				yield(Record{}, f.changedError())
				return
			}
			if c.err == io.EOF && end == last { // records made at the file's end don't belong to the range
				if lines := in.asCapture(); lines != nil {
					yieldRecords(deliver, lines.readLastLine(nil), nil)
				}
				return
			}
			if !in.deliverChunk(deliver, c) {
				return
			}
		}
	}
}

// Bytes returns the bytes [start,end) of the file. It returns the same errors as Again.
func (f *File) Bytes(start, end int64) ([]byte, error) {
	opened, err := f.open()
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	p := make([]byte, end-start)
	if _, err := opened.ReadAt(p, start); err != nil {
		return nil, f.changedError()
	}
	return p, nil
}

// open opens the file. It fails if the file was replaced or changed.
func (f *File) open() (*os.File, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, openError(f.path, err)
	}
	if !info.Mode().IsRegular() { // opening another kind of file may block
		return nil, f.changedError()
	}
	opened, err := os.Open(f.path)
	if err != nil {
		return nil, openError(f.path, err)
	}
	if !f.isSame(opened) {
		opened.Close()
		return nil, f.changedError()
	}
	return opened, nil
}

func (f *File) changedError() error { return fmt.Errorf("%s changed since it was read", f.path) }

// isSame reports whether an opened file is this file and probably has the same content. If its size is the
// same, its modification time must be the same too. If its size differs, the bytes before the old end must be
// the same.
func (f *File) isSame(opened *os.File) bool {
	info, err := opened.Stat()
	if err != nil || !os.SameFile(info, f.info) {
		return false
	}
	size := f.info.Size()
	if info.Size() == size {
		return info.ModTime().Equal(f.info.ModTime())
	}
	return hasBytesAt(opened, f.last, size-int64(len(f.last)))
}

// exchangeFilter selects the one exchange of a capture that is to be read.
type exchangeFilter struct {
	exchange int // its number among all sources
	number   int // its number in the capture; if 0, set by the first record that is read
}

// matches reports whether a record with this exchange number is to be read. If the filter has no number yet,
// matches sets it to this number.
func (w *exchangeFilter) matches(number int, n numberMap) bool {
	if w == nil {
		return true
	}
	if w.number == 0 {
		w.number = number
		n.known[number] = w.exchange
	}
	return number == w.number
}

// passesOver reports whether a line can be skipped because its beginning shows that it belongs to another exchange.
// The first line with a checksum is not skipped: it makes checksums mandatory for later lines.
func (c *captureReader) passesOver(line []byte) bool {
	if c.wanted == nil || c.wanted.number == 0 || !c.summed && sumStart(line) >= 0 {
		return false
	}
	_, x, _ := linePrefix(line)
	return x != 0 && x != c.wanted.number
}
