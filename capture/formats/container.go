package formats

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// recordedExchange is a request and its response, as containers of recorded HTTP store them: complete and
// usually with times. Unknown facts have the zero value.
type recordedExchange struct {
	layers []string
	lacks  []capture.Lack

	method, url   string
	requestHeader http.Header
	request       []byte
	began         time.Time // when the request began

	status         int
	responseHeader http.Header
	response       []byte
	first          time.Time // when the response began
	ended          time.Time

	pieces []timedBytes // messages of a WebSocket, or a body whose chunks have times
	cut    bool         // the response was incomplete
	why    string       // why it was incomplete, as the container reports it
	by     capture.Party
}

// timedBytes is a chunk with its side and its time.
type timedBytes struct {
	side capture.Side
	at   time.Time
	data []byte
}

// addLack adds a fact that the source can't show, unless it was added before.
func (x *recordedExchange) addLack(l capture.Lack) {
	if !slices.Contains(x.lacks, l) {
		x.lacks = append(x.lacks, l)
	}
}

// recordWriter writes the records of a container's reader.
type recordWriter struct {
	in      *capture.Input
	recs    []capture.Record
	current int // the latest exchange
	bare    int // number of exchanges with a model that have no response
	entries *capture.Entries
}

// newRereadWriter returns the writer for reading one entry again. Its notes don't begin an exchange.
func newRereadWriter(in *capture.Input) recordWriter { return recordWriter{in: in, current: 1} }

func (o *recordWriter) writeRecord(r capture.Record) {
	r.Exchange = o.current
	o.recs = append(o.recs, r)
}

// writeFor writes a record of an exchange.
func (o *recordWriter) writeFor(exchange int, r capture.Record) {
	o.current = exchange
	o.writeRecord(r)
}

// writeExchange writes the records of an exchange. The bytes of a complete body have no time of their own: only the
// times of its first byte and of its end are known.
func (o *recordWriter) writeExchange(x *recordedExchange) {
	o.current = o.in.NextExchange()
	head := o.in.NewHead(x.layers, x.lacks...)
	head.Method, head.URL, head.Header, head.Start = x.method, x.url, x.requestHeader, x.began
	o.writeRecord(capture.Record{Side: capture.Request, At: o.in.RecordTime(x.began), Head: head, Data: x.request})
	if x.status != 0 || len(x.responseHeader) > 0 {
		answer := &capture.Head{Status: x.status, Header: x.responseHeader, Start: x.first}
		o.writeRecord(capture.Record{At: o.in.RecordTime(x.first), Head: answer})
	}
	if len(x.response) > 0 {
		o.writeRecord(capture.Record{At: capture.NoTime, Data: x.response})
	}
	for _, p := range x.pieces {
		o.writeRecord(capture.Record{Side: p.side, At: o.in.RecordTime(p.at), Data: p.data})
	}
	end := capture.Record{At: o.in.RecordTime(x.ended), End: capture.EndEOF, Why: x.why, By: x.by}
	if x.cut {
		end.End = capture.EndCut
	}
	o.writeRecord(end)
	if len(x.response)+len(x.pieces) == 0 && slices.Contains(x.lacks, capture.NoBody) && o.in.GuessPayload(x.request) == capture.Ask {
		o.bare++
	}
}

// close writes the note for the end of the file, and appends all new records to recs.
func (o *recordWriter) close(recs []capture.Record) []capture.Record {
	if o.bare > 0 {
		o.addNote(false, "a model was called %s, but no response was recorded", count.Of(o.bare, "time"))
	}
	return o.takeWritten(recs)
}

// addNote adds a note about the source.
func (o *recordWriter) addNote(damaged bool, format string, args ...any) {
	if o.current == 0 {
		o.current = o.in.NextExchange()
	}
	o.writeRecord(capture.Record{At: capture.NoTime, Note: fmt.Sprintf(format, args...), Damaged: damaged})
}

// takeWritten appends the new records to recs and removes them from the writer.
func (o *recordWriter) takeWritten(recs []capture.Record) []capture.Record {
	recs = append(recs, o.recs...)
	clear(o.recs)
	o.recs = o.recs[:0]
	return recs
}

// withoutCoding deletes the fields for the coding of the body from a header, and returns the header. The body
// is already decoded.
func withoutCoding(h http.Header) http.Header {
	h.Del("Content-Encoding")
	h.Del("Transfer-Encoding")
	return h
}

// parseISOTime parses a time as JavaScript and other languages write it. It returns the zero time for any
// other text.
func parseISOTime(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}

// unixTime returns the time for a number of seconds since 1970. It returns the zero time if the number is not
// plausible.
func unixTime(s float64) time.Time {
	if s <= 0 || s > 1e11 {
		return time.Time{}
	}
	return time.UnixMicro(int64(s * 1e6)).UTC()
}

// addMillis adds milliseconds to a time if both are known.
func addMillis(t time.Time, ms float64) time.Time {
	if t.IsZero() || ms < 0 || ms > 1e12 {
		return t
	}
	return t.Add(time.Duration(ms * float64(time.Millisecond)))
}

// sseEvent returns an event as it was in its stream, apart from details that every reader ignores.
func sseEvent(name, id string, data []byte) []byte {
	var event []byte
	if name != "" && name != "message" {
		event = append(append(append(event, "event: "...), name...), '\n')
	}
	if id != "" {
		event = append(append(append(event, "id: "...), id...), '\n')
	}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		event = append(append(append(event, "data: "...), line...), '\n')
	}
	return append(event, '\n')
}

// valuesReader reads values of a JSON text, one at a time.
type valuesReader struct {
	recordWriter
	walk json.Walk
	what string // name of a value in notes: "entry"
	n    int    // number of the latest value, from 1
	at   int64  // its offset
	read func(r *valuesReader, object []byte, cut bool)
	done func(r *valuesReader) // called at the end; may be nil
}

// newEntries is like newValues, for objects that can be read again one at a time.
func newEntries(in *capture.Input, what string, read func(r *valuesReader, object []byte, cut bool), paths ...[]string) *valuesReader {
	r := newValues(in, what, read, paths...)
	r.entries = in.Entries(func(in *capture.Input, object []byte) []capture.Record {
		if !isObject(object) {
			return nil
		}
		again := &valuesReader{recordWriter: newRereadWriter(in)}
		read(again, object, false)
		return again.recs
	})
	return r
}

func newValues(in *capture.Input, what string, read func(r *valuesReader, object []byte, cut bool), paths ...[]string) *valuesReader {
	return &valuesReader{recordWriter: recordWriter{in: in}, walk: json.Walk{Paths: paths}, what: what, read: read}
}

func (r *valuesReader) Write(recs []capture.Record, p []byte, _ time.Duration) ([]capture.Record, error) {
	r.walk.Write(p, r.takeValue)
	return r.takeWritten(recs), nil
}

func (r *valuesReader) Close(recs []capture.Record, _ capture.End, _ string, _ time.Duration) []capture.Record {
	open := r.walk.Open()
	r.walk.Close(r.takeValue)
	if open {
		r.addNote(true, "the file is cut off after %s %d", r.what, r.n)
	}
	if r.walk.Stray > 0 {
		r.addNote(true, "not JSON: %s from byte %d on", count.Of(r.walk.Stray, "byte"), r.walk.StrayAt)
	}
	if r.done != nil {
		r.done(r)
	}
	return r.close(recs)
}

func (r *valuesReader) takeValue(f json.FoundValue) {
	r.n++
	r.at = f.At
	switch {
	case f.Long:
		r.addNote(true, "%s %d, at byte %d, is %d bytes long: values longer than %d bytes are not read", r.what, r.n, f.At, f.Size, json.MaxValueBytes)
	case f.Raw[0] != '{':
		r.addNote(true, "%s %d, at byte %d, is not an object", r.what, r.n, f.At)
	default:
		before := len(r.recs)
		if r.read(r, f.Raw, f.Cut); !f.Cut {
			r.entries.SetLocation(r.recs[before:], f.At, f.Size)
		}
	}
}

// noteUnexpected adds a note that a value has unexpected content.
func (r *valuesReader) noteUnexpected(what string) {
	r.addNote(true, "%s %d, at byte %d, has %s", r.what, r.n, r.at, what)
}

const bom = "\ufeff"

// objectText returns the text after white space and a byte order mark. The result ok reports whether the text begins
// an object, or is too short to show that.
func objectText(first []byte) (text []byte, ok bool) {
	if len(first) < len(bom) && strings.HasPrefix(bom, string(first)) {
		return nil, true
	}
	text = afterSpace(bytes.TrimPrefix(first, []byte(bom)))
	return text, len(text) == 0 || text[0] == '{'
}

// sniffMaybe returns Maybe if more bytes can follow, otherwise No.
func sniffMaybe(whole bool) capture.SniffResult {
	if whole {
		return capture.SniffResult{}
	}
	return capture.SniffResult{Is: capture.Maybe}
}

// sniffObject detects a format by the fields of the object that an input begins with. It calls the function judge
// with each field, in order, until judge returns a result other than Maybe.
func sniffObject(first []byte, whole bool, judge func(key string, value []byte) capture.SniffResult) capture.SniffResult {
	text, ok := objectText(first)
	if !ok {
		return capture.SniffResult{}
	}
	for key, value := range json.Members(text) {
		if s := judge(key, value); s.Is != capture.Maybe {
			return s
		}
	}
	if isWhole(text) {
		return capture.SniffResult{}
	}
	return sniffMaybe(whole)
}

// jsonDocument reads a format that has either one entry per line or one object over many lines. The first line shows
// which. In one object over many lines, it reads the values at the paths of walk, and holds one value at a time.
type jsonDocument struct {
	entryReader
	walk    json.Walk
	found   func(recs []capture.Record, path int, value []byte) []capture.Record
	first   []byte // the bytes read before the layout is decided
	decided bool
	one     bool // the input is one object
}

func (d *jsonDocument) Write(recs []capture.Record, p []byte, at time.Duration) ([]capture.Record, error) {
	if !d.decided {
		d.first = append(d.first, p...)
		if bytes.IndexByte(p, '\n') < 0 && len(d.first) < json.MaxValueBytes {
			return recs, nil
		}
		recs, p = d.chooseLayout(recs), nil
	}
	if !d.one {
		return d.entryReader.Write(recs, p, at)
	}
	d.walk.Write(p, func(f json.FoundValue) { recs = d.takeValue(recs, f) })
	return recs, nil
}

// chooseLayout decides the layout, and reads the held bytes.
func (d *jsonDocument) chooseLayout(recs []capture.Record) []capture.Record {
	d.decided = true
	first, _, _ := bytes.Cut(d.first, []byte("\n"))
	d.one = !isObject(first)
	p := d.first
	d.first = nil
	recs, _ = d.Write(recs, p, capture.NoTime)
	return recs
}

func (d *jsonDocument) takeValue(recs []capture.Record, f json.FoundValue) []capture.Record {
	switch {
	case f.Long:
		recs = d.addNote(recs, capture.Record{At: capture.NoTime, Damaged: true, Note: noteAt(f.At, "a value is longer than %d MiB and is left out", json.MaxValueBytes>>20)})
	case f.Cut:
		recs = d.addNote(recs, capture.Record{At: capture.NoTime, Damaged: true, Note: noteAt(f.At, "the file ends inside a value, after %s of it", count.Of(f.Size, "byte"))})
	default:
		before := len(recs)
		if recs = d.found(recs, f.Path, f.Raw); len(recs) > before {
			d.last = recs[len(recs)-1].Exchange
		}
	}
	return recs
}

func (d *jsonDocument) Close(recs []capture.Record, end capture.End, why string, at time.Duration) []capture.Record {
	if !d.decided {
		recs = d.chooseLayout(recs)
	}
	if d.one {
		open := d.walk.Open()
		d.walk.Close(func(f json.FoundValue) { open, recs = false, d.takeValue(recs, f) })
		switch {
		case open:
			recs = d.addNote(recs, capture.Record{At: capture.NoTime, Damaged: true, Note: noteAt(d.walk.Len(), "the file ends before its last bracket")})
		case d.walk.Stray > 0:
			recs = d.addNote(recs, capture.Record{At: capture.NoTime, Damaged: true, Note: noteAt(d.walk.StrayAt, "%s that JSON doesn't allow there", count.Of(d.walk.Stray, "byte"))})
		}
	}
	return d.entryReader.Close(recs, end, why, at)
}

// jsonValues reads values that follow each other, or the elements of one array. The first byte shows which of the two
// the input has.
type jsonValues struct {
	jsonDocument
	known bool
}

func (l *jsonValues) Write(recs []capture.Record, p []byte, at time.Duration) ([]capture.Record, error) {
	if begin := afterSpace(p); !l.known && len(begin) > 0 {
		l.known, l.walk.Paths = true, [][]string{{}}
		if begin[0] == '[' {
			l.walk.Paths = [][]string{{"*"}}
		}
	}
	return l.jsonDocument.Write(recs, p, at)
}

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
