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
	lineLimit    = 256 << 20 // a longer line is damaged
	damagedLimit = 4 << 10   // bytes of a damaged line that its note shows
)

// captureReader reads toolscope's own format. It joins lines; a line that cannot be read becomes a
// note with its number, its place and its text, and reading goes on behind it.
type captureReader struct {
	file    string
	names   names        // exchange numbers of the file, made unique in the source
	line    []byte       // the unfinished line
	cut     int64        // bytes of it that are not in line, being over lineLimit
	number  int          // lines finished
	offset  int64        // bytes finished
	summed  bool         // the lines have checksums
	header  place        // of the line that told so
	open    map[int]bool // exchanges that have begun and not ended
	current int          // exchange of the latest record
}

// place is where a line begins: its number, from 1, and its offset in bytes.
type place struct {
	line   int
	offset int64
}

func newCaptureReader(file string, n *numbers) *captureReader {
	return &captureReader{file: file, names: n.names(), open: map[int]bool{}}
}

// write ignores when the bytes of the file came: its records carry their own times.
func (c *captureReader) write(p []byte, _ time.Duration) ([]Record, error) {
	var recs []Record
	for len(p) > 0 {
		head, rest, finished := bytes.Cut(p, []byte("\n"))
		room := max(0, lineLimit-len(c.line))
		c.line = append(c.line, head[:min(room, len(head))]...)
		c.cut += int64(len(head) - min(room, len(head)))
		p = rest
		if !finished {
			break
		}
		more, err := c.finish(1)
		recs = append(recs, more...)
		if err != nil {
			return recs, err
		}
	}
	return recs, nil
}

// close ends the exchanges that the capture leaves open: it was cut itself, so more may have been
// meant to come. That was toolscope's doing, which wrote it, or whoever cut its file; never the
// provider's.
func (c *captureReader) close(end End, why string, _ time.Duration) []Record {
	var recs []Record
	if len(c.line) > 0 {
		recs, _ = c.finish(0) // a version in the very last line has nothing behind it to misread
	}
	if end == EndEOF {
		why = "the capture ends before the response does"
	}
	if len(c.open) == 0 && c.current != 0 && end == EndCut {
		return append(recs, c.note(why))
	}
	return append(recs, c.closeAll(why)...)
}

func (c *captureReader) closeAll(why string) []Record {
	var recs []Record
	for _, x := range slices.Sorted(maps.Keys(c.open)) {
		recs = append(recs, Record{Exchange: x, At: NoTime, End: EndCut, Why: why, By: Toolscope})
	}
	clear(c.open)
	return recs
}

// finish reads the line that is complete now, with so many bytes of line break.
func (c *captureReader) finish(lineBreak int) ([]Record, error) {
	text, offset := c.line, c.offset
	size := int64(len(text)) + c.cut
	c.offset += size + int64(lineBreak)
	c.number++
	c.line, c.cut = c.line[:0], 0
	if cap(c.line) > 16*chunkSize {
		c.line = nil // one giant line must not stay in memory
	}
	if len(bytes.TrimSpace(text)) == 0 && c.number > 1 {
		return nil, nil
	}
	err := errors.New("too long")
	if size <= lineLimit {
		var recs []Record
		if recs, err = c.read(text); err == nil {
			return recs, nil
		}
	}
	if bad := (*versionError)(nil); errors.As(err, &bad) {
		return nil, fmt.Errorf("read %s: line %d: %w", c.file, c.number, err)
	}
	if lineBreak == 0 && !errors.Is(err, errChecksum) {
		err = fmt.Errorf("the file ends inside it: %w", err)
	}
	shown := text[:min(len(text), damagedLimit)]
	note := fmt.Sprintf("damaged line %d at byte %d (%v): %s", c.number, offset, err, shown)
	if int64(len(shown)) < size {
		note += fmt.Sprintf("… (%d of %d bytes)", len(shown), size)
	}
	return []Record{c.damage(note)}, nil
}

var (
	errChecksum = errors.New("its checksum is wrong")
	errUnsummed = errors.New("its checksum is missing")
)

func (c *captureReader) read(text []byte) ([]Record, error) {
	there, right := checksum(text)
	if there && !right {
		c.summed = true // a line that is not right says that much
		return nil, errChecksum
	}
	if c.number == 1 {
		c.summed, c.header = there, place{1, 0}
		return nil, checkHeader(text)
	}
	r, err := decodeRecord(text)
	if errors.Is(err, errHeader) { // two captures, one written behind the other
		if err := checkHeader(text); err != nil {
			return nil, err
		}
		c.summed, c.header = there, place{c.number, c.offset - int64(len(text)) - 1}
		c.names = c.names.numbers.names()
		return c.closeAll("another capture begins"), nil
	}
	switch {
	case err != nil:
		return nil, err
	case c.summed && !there:
		return nil, errUnsummed
	}
	r.Exchange = c.names.of(r.Exchange)
	if r.Head != nil && r.Head.File == "" {
		r.Head.File = c.file
	}
	var recs []Record
	if c.current = r.Exchange; there && !c.summed { // and a program that writes one writes the other
		c.summed = true
		recs = append(recs, c.damage(fmt.Sprintf("damaged line %d at byte %d (%v)", c.header.line, c.header.offset, errUnsummed)))
	}
	switch {
	case r.End != "":
		delete(c.open, r.Exchange)
	case r.Data != nil || r.Head != nil:
		c.open[r.Exchange] = true
	}
	return append(recs, r), nil
}

func (c *captureReader) note(text string) Record {
	if c.current == 0 {
		c.current = c.names.of(1)
	}
	return Record{Exchange: c.current, At: NoTime, Note: text}
}

// damage is the note of a line that could not be read, or not be trusted.
func (c *captureReader) damage(text string) Record {
	r := c.note(text)
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
