package formats

import (
	"bytes"
	"fmt"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// jsonLines splits a text into lines, each of which should be a JSON object. It holds at most one line.
type jsonLines struct {
	held   []byte
	number int   // number of the current line, from 1
	at     int64 // offset of the current line
	size   int64 // number of bytes of the current line read so far
}

// write calls the function give with each complete line, or with nil for a line that is too long to be held.
func (e *jsonLines) write(p []byte, give func(line []byte)) {
	for len(p) > 0 {
		if e.size == 0 {
			e.number++
		}
		n := bytes.IndexByte(p, '\n')
		if n < 0 {
			e.size += int64(len(p))
			if e.size <= json.MaxValueBytes {
				e.held = append(e.held, p...)
			} else {
				e.held = nil
			}
			return
		}
		line := p[:n:n]
		if e.size += int64(n); e.size > json.MaxValueBytes {
			line = nil
		} else if len(e.held) > 0 {
			line = append(e.held, line...)
		}
		give(bytes.TrimPrefix(line, []byte(bom)))
		e.held, e.at, e.size, p = nil, e.at+e.size+1, 0, p[n+1:]
	}
}

// lineNote returns a note about a problem in the current line.
func (e *jsonLines) lineNote(format string, args ...any) capture.Record {
	where := fmt.Sprintf("line %d, byte %d: ", e.number, e.at)
	return capture.Record{At: capture.NoTime, Note: where + fmt.Sprintf(format, args...), Damaged: true}
}

// noteAt returns a note about a problem at an offset of a file.
func noteAt(at int64, format string, args ...any) string {
	return fmt.Sprintf("byte %d: ", at) + fmt.Sprintf(format, args...)
}

// isObject reports whether a line is one object and nothing else. It checks only brackets and strings.
func isObject(line []byte) bool {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return false
	}
	n, done := new(json.ValueScanner).Write(line)
	return done && n == len(line)
}

// entryReader reads a file that has one entry on each line.
type entryReader struct {
	jsonLines
	in    *capture.Input
	last  int  // the exchange of the latest record
	mixed bool // lines that don't begin an object are not damage
	notes int  // number of lines with a problem
	final int  // number of the last line that has a problem but no note of its own
	harm  bool // a line without a note of its own is damaged
	book  interface {
		entry(recs []capture.Record, line []byte) []capture.Record
		close(recs []capture.Record) []capture.Record
	}
}

func (d *entryReader) Write(recs []capture.Record, p []byte, _ time.Duration) ([]capture.Record, error) {
	d.write(p, func(line []byte) { recs = d.takeLine(recs, line) })
	return recs, nil
}

func (d *entryReader) takeLine(recs []capture.Record, line []byte) []capture.Record {
	switch {
	case line == nil:
		recs = d.addLineNote(recs, d.lineNote("the line is longer than %d MiB and is left out", json.MaxValueBytes>>20))
	case len(bytes.TrimSpace(line)) == 0:
	case !isObject(line):
		note := d.lineNote("not a JSON object, left out: %.60q", line)
		note.Damaged = !d.mixed || opensObject(line)
		recs = d.addLineNote(recs, note)
	default:
		before := len(recs)
		recs = d.book.entry(recs, line)
		if len(recs) > before {
			d.last = recs[len(recs)-1].Exchange
		}
	}
	return recs
}

// maxLineNotes is the maximum number of lines with a note of their own. A damaged file may have thousands of damaged
// lines, so one note at the end counts the rest.
const maxLineNotes = 3

// addLineNote adds a note about the current line, unless there are too many notes.
func (d *entryReader) addLineNote(recs []capture.Record, note capture.Record) []capture.Record {
	if d.notes++; d.notes <= maxLineNotes {
		return d.addNote(recs, note)
	}
	d.final, d.harm = d.number, d.harm || note.Damaged
	return recs
}

// addNote adds a note about the source. A note must name an exchange, so it names the latest one, or the first if
// there is none yet.
func (d *entryReader) addNote(recs []capture.Record, note capture.Record) []capture.Record {
	note.Exchange = max(d.last, 1)
	return append(recs, note)
}

func (d *entryReader) Close(recs []capture.Record, _ capture.End, why string, _ time.Duration) []capture.Record {
	recs = d.book.close(d.takeLast(recs))
	if why != "" {
		recs = d.addNote(recs, capture.Record{At: capture.NoTime, Note: why})
	}
	return recs
}

// takeLast reads the last line if it has no line break. It then adds a note about the lines that have no note of
// their own.
func (d *entryReader) takeLast(recs []capture.Record) []capture.Record {
	switch line := bytes.TrimPrefix(d.held, []byte(bom)); {
	case d.size == 0:
	case isObject(line):
		recs = d.takeLine(recs, line)
	default:
		recs = d.addNote(recs, d.lineNote("the file ends inside the line, after %s of it", count.Of(d.size, "byte")))
	}
	if d.final > 0 {
		note := fmt.Sprintf("%s left out, up to line %d", count.Of(d.notes-maxLineNotes, "more line"), d.final)
		recs = d.addNote(recs, capture.Record{At: capture.NoTime, Note: note, Damaged: d.harm})
		d.final = 0
	}
	return recs
}
