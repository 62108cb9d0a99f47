package formats

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
)

// recordedExchange is a request and its answer, as a container of recorded HTTP keeps them: whole, with
// times for the most. What the container does not tell is its zero.
type recordedExchange struct {
	layers []string
	lacks  []capture.Lack

	method, url   string
	requestHeader http.Header
	request       []byte
	began         time.Time // the request

	status         int
	responseHeader http.Header
	response       []byte
	first          time.Time // the answer began
	ended          time.Time

	pieces []timedBytes // timed data: messages of a WebSocket, or a body whose chunks have times
	cut    bool         // the answer was not complete
	why    string       // what the container says of that
	by     capture.Party
}

// timedBytes is something that came at once.
type timedBytes struct {
	side capture.Side
	at   time.Time
	data []byte
}

// addLack says that the source cannot tell something, once.
func (x *recordedExchange) addLack(l capture.Lack) {
	if !slices.Contains(x.lacks, l) {
		x.lacks = append(x.lacks, l)
	}
}

// recordWriter is what a reader of such a container writes its records with.
type recordWriter struct {
	in      *capture.Input
	recs    []capture.Record
	current int // the latest exchange
	bare    int // exchanges of a model whose answer was not kept
	entries *capture.Entries
}

// newRereadWriter is the output of who reads one entry again. What it notes is of no exchange.
func newRereadWriter(in *capture.Input) recordWriter { return recordWriter{in: in, current: 1} }

func (o *recordWriter) writeRecord(r capture.Record) {
	r.Exchange = o.current
	o.recs = append(o.recs, r)
}

// writeFor writes a record of some exchange.
func (o *recordWriter) writeFor(exchange int, r capture.Record) {
	o.current = exchange
	o.writeRecord(r)
}

// writeExchange writes the records of one exchange. The bytes of a whole body have no time: that of its
// first byte and that of its end are all that is known.
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

// close tells what can be told only at the end, and is what was written, behind recs.
func (o *recordWriter) close(recs []capture.Record) []capture.Record {
	if o.bare > 0 {
		o.addNote(false, "a model was called %s, but its response was not recorded", count.Of(o.bare, "time"))
	}
	return o.takeWritten(recs)
}

// addNote says something of the source itself.
func (o *recordWriter) addNote(damaged bool, format string, args ...any) {
	if o.current == 0 {
		o.current = o.in.NextExchange()
	}
	o.writeRecord(capture.Record{At: capture.NoTime, Note: fmt.Sprintf(format, args...), Damaged: damaged})
}

// takeWritten is what was written since it was last asked, behind recs.
func (o *recordWriter) takeWritten(recs []capture.Record) []capture.Record {
	recs = append(recs, o.recs...)
	clear(o.recs)
	o.recs = o.recs[:0]
	return recs
}

// withoutCoding is a header without what says that the body is coded, for a body that is not any more.
func withoutCoding(h http.Header) http.Header {
	h.Del("Content-Encoding")
	h.Del("Transfer-Encoding")
	return h
}

// parseISOTime reads a time as JavaScript and others write it, the zero time where there is none.
func parseISOTime(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}

// unixTime is a time as a number of seconds since 1970, the zero time where there is none.
func unixTime(s float64) time.Time {
	if s <= 0 || s > 1e11 {
		return time.Time{}
	}
	return time.UnixMicro(int64(s * 1e6)).UTC()
}

// addMillis is a time so many milliseconds later, where both are known.
func addMillis(t time.Time, ms float64) time.Time {
	if t.IsZero() || ms < 0 || ms > 1e12 {
		return t
	}
	return t.Add(time.Duration(ms * float64(time.Millisecond)))
}

// sseEvent is an event as its stream had it, but for what every reader of one takes away.
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
