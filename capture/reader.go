package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	maxLineBytes   = maxEventBytes // a longer line is damaged
	giantLine      = 1 << 20       // a longer line gets room of its own
	maxDamageShown = 4 << 10       // bytes of a damaged line that its note shows
)

// captureReader reads toolscope's own format. It joins lines; a line that cannot be read becomes a
// note with its number, its place and its text, and reading goes on behind it.
type captureReader struct {
	file    string
	names   numberMap        // exchange numbers of the file, made unique in the source
	line    []byte           // the unfinished line
	cut     int64            // bytes of it that are not in line, being over lineLimit
	number  int              // lines finished
	offset  int64            // bytes finished
	summed  bool             // the lines have checksums
	header  lineStart        // of the line that told so
	open    map[int]bool     // exchanges that have begun and not ended
	current int              // exchange of the latest record
	from    *File            // nil where it cannot be read again
	before  int64            // bytes of the file that stand before those that offset counts
	here    Location         // of the line being read
	room    *lineBuffer      // nil until it is needed
	wanted  *exchangeFilter  // the only exchange to be read; nil: all are
	ended   *recentExchanges // exchanges whose numbers are not needed much longer; nil: all are kept
}

// lineBuffer is for the data of a line, until it is known how much that is. Readers that run in one goroutine
// share one.
type lineBuffer struct{ bytes []byte }

// lineStart is where a line begins: its number, from 1, and its offset in bytes.
type lineStart struct {
	line   int
	offset int64
}

func newCaptureReader(file string, n *exchangeNumbers) *captureReader {
	return &captureReader{file: file, names: n.newMap(), open: map[int]bool{}}
}

// Write ignores when the bytes of the file came: its records carry their own times.
func (c *captureReader) Write(recs []Record, p []byte, _ time.Duration) ([]Record, error) {
	for len(p) > 0 {
		line, rest, finished := bytes.Cut(p, []byte("\n"))
		if p = rest; !finished || len(c.line) > 0 {
			line = c.extendLine(line)
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

// extendLine is the unfinished line with p behind it, as far as it is kept.
func (c *captureReader) extendLine(p []byte) []byte {
	room := max(0, maxLineBytes-len(c.line))
	if c.summed && c.passesOver(c.line) {
		room = 0
	}
	kept := p[:min(room, len(p))]
	c.line = append(c.line, kept...)
	c.cut += int64(len(p) - len(kept))
	return c.line
}

// Close ends the exchanges that the capture leaves open: it was cut itself, so more may have been
// meant to come. That was toolscope's doing, which wrote it, or whoever cut its file; never the
// provider's.
func (c *captureReader) Close(recs []Record, end End, why string, _ time.Duration) []Record {
	recs = c.readLastLine(recs)
	switch {
	case end == EndEOF:
		why = "the capture ends before the response does"
		c.setPosition(c.offset, c.offset+1)
	case len(c.open) == 0 && c.current != 0:
		return append(recs, c.newNote(why))
	default:
		c.here = Location{} // if it is read again it may well end in another way
	}
	return c.closeAll(recs, why)
}

// readLastLine reads the last line, which has no line break.
func (c *captureReader) readLastLine(recs []Record) []Record {
	if len(c.line) > 0 {
		recs, _ = c.finishLine(recs, c.line, 0) // a version in it has nothing behind it to misread
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

// setPosition says where in the capture the reader is.
func (c *captureReader) setPosition(start, end int64) {
	if c.from != nil {
		c.here = Location{File: c.from, Start: c.before + start, End: c.before + end}
	}
}

// finishLine reads a line that is complete, with so many bytes of line break.
func (c *captureReader) finishLine(recs []Record, text []byte, lineBreak int) ([]Record, error) {
	size, start := int64(len(text))+c.cut, c.offset
	c.offset += size + int64(lineBreak)
	c.number++
	c.line, c.cut = c.line[:0], 0
	if cap(c.line) > giantLine {
		c.line = nil // it must not stay in memory
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
		err = fmt.Errorf("the file ends inside it: %w", err)
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
	errChecksum = errors.New("its checksum is wrong")
	errUnsummed = errors.New("its checksum is missing")
)

// readLine adds what a line says.
func (c *captureReader) readLine(recs []Record, text []byte) ([]Record, error) {
	there, right := verifyChecksum(text)
	if there && !right {
		c.summed = true // a line that is not right says that much
		return nil, errChecksum
	}
	if c.number == 1 {
		c.summed, c.header = there, lineStart{1, 0}
		return recs, checkHeader(text)
	}
	r, err := c.decodeLine(text)
	if errors.Is(err, errHeader) { // two captures, one written behind the other
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
	if _, x, _ := linePrefix(text); x == 0 || x == r.Exchange {
		r.Location = c.here
	}
	number := r.Exchange
	if _, known := c.names.known[number]; !known && c.ended != nil && c.current != 0 && r.OfSource() {
		r.Exchange = c.current // a note of the source is of an exchange that may have ended long ago
	} else {
		r.Exchange = c.names.numberOf(number)
	}
	if r.Head != nil && r.Head.File == "" {
		r.Head.File = c.file
	}
	r.ofRun(c.file)                                 // all of a capture has one clock, whatever file each was read from at first
	if c.current = r.Exchange; there && !c.summed { // and a program that writes one writes the other
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

// decodeLine reads a line that is not the first.
func (c *captureReader) decodeLine(text []byte) (Record, error) {
	if c.room == nil {
		c.room = new(lineBuffer)
	}
	space := c.room.bytes
	if cap(space) < len(text) {
		space = make([]byte, 0, max(chunkSize, len(text)))
	}
	r, ok := quickRecord(text, space)
	switch {
	case !ok:
		return decodeRecord(text)
	case len(text) <= giantLine:
		c.room.bytes, r.Data = space, bytes.Clone(r.Data)
	}
	return r, nil
}

func (c *captureReader) newNote(text string) Record {
	if c.current == 0 {
		c.current = c.names.numberOf(1)
	}
	return Record{Exchange: c.current, At: NoTime, Note: text}
}

// damageNote is the note of a line that could not be read, or not be trusted.
func (c *captureReader) damageNote(text string) Record {
	r := c.newNote(text)
	r.Damaged = true
	return r
}

// versionError is a capture that is sound but that this program cannot read.
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
