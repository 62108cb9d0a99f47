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
