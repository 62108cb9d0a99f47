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

// exchange is a request and its answer, as a container of recorded HTTP keeps them: whole, with
// times for the most. What the container does not tell is its zero.
type exchange struct {
	layers []string
	lacks  []capture.Lack

	method, url string
	asked       http.Header
	request     []byte
	began       time.Time // the request

	status   int
	answered http.Header
	response []byte
	first    time.Time // the answer began
	ended    time.Time

	pieces []piece // what came bit by bit: messages of a WebSocket, or a body whose pieces have times
	cut    bool    // the answer was not complete
	why    string  // what the container says of that
	by     capture.Party
}

// piece is something that came at once.
type piece struct {
	side capture.Side
	at   time.Time
	data []byte
}

// lack says that the source cannot tell something, once.
func (x *exchange) lack(l capture.Lack) {
	if !slices.Contains(x.lacks, l) {
		x.lacks = append(x.lacks, l)
	}
}

// output is what a reader of such a container writes its records with.
type output struct {
	in      *capture.Input
	recs    []capture.Record
	current int // the latest exchange
	bare    int // exchanges of a model whose answer was not kept
	entries *capture.Entries
}

// alone is the output of who reads one entry again. What it notes is of no exchange.
func alone(in *capture.Input) output { return output{in: in, current: 1} }

func (o *output) put(r capture.Record) {
	r.Exchange = o.current
	o.recs = append(o.recs, r)
}

// on writes a record of some exchange.
func (o *output) on(exchange int, r capture.Record) {
	o.current = exchange
	o.put(r)
}

// exchange writes the records of one exchange. The bytes of a whole body have no time: that of its
// first byte and that of its end are all that is known.
func (o *output) exchange(x *exchange) {
	o.current = o.in.NextExchange()
	head := o.in.NewHead(x.layers, x.lacks...)
	head.Method, head.URL, head.Header, head.Start = x.method, x.url, x.asked, x.began
	o.put(capture.Record{Side: capture.Request, At: o.in.RecordTime(x.began), Head: head, Data: x.request})
	if x.status != 0 || len(x.answered) > 0 {
		answer := &capture.Head{Status: x.status, Header: x.answered, Start: x.first}
		o.put(capture.Record{At: o.in.RecordTime(x.first), Head: answer})
	}
	if len(x.response) > 0 {
		o.put(capture.Record{At: capture.NoTime, Data: x.response})
	}
	for _, p := range x.pieces {
		o.put(capture.Record{Side: p.side, At: o.in.RecordTime(p.at), Data: p.data})
	}
	end := capture.Record{At: o.in.RecordTime(x.ended), End: capture.EndEOF, Why: x.why, By: x.by}
	if x.cut {
		end.End = capture.EndCut
	}
	o.put(end)
	if len(x.response)+len(x.pieces) == 0 && slices.Contains(x.lacks, capture.NoBody) && o.in.GuessPayload(x.request) == capture.Ask {
		o.bare++
	}
}

// close tells what can be told only at the end, and is what was written, behind recs.
func (o *output) close(recs []capture.Record) []capture.Record {
	if o.bare > 0 {
		o.note(false, "a model was asked %s and its answer was not kept", count.Of(o.bare, "time"))
	}
	return o.over(recs)
}

// note says something of the source itself.
func (o *output) note(damaged bool, format string, args ...any) {
	if o.current == 0 {
		o.current = o.in.NextExchange()
	}
	o.put(capture.Record{At: capture.NoTime, Note: fmt.Sprintf(format, args...), Damaged: damaged})
}

// over is what was written since it was last asked, behind recs.
func (o *output) over(recs []capture.Record) []capture.Record {
	recs = append(recs, o.recs...)
	clear(o.recs)
	o.recs = o.recs[:0]
	return recs
}

// decoded is a header without what says that the body is coded, for a body that is not any more.
func decoded(h http.Header) http.Header {
	h.Del("Content-Encoding")
	h.Del("Transfer-Encoding")
	return h
}

// stamp reads a time as JavaScript and others write it, the zero time where there is none.
func stamp(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}

// seconds is a time as a number of seconds since 1970, the zero time where there is none.
func seconds(s float64) time.Time {
	if s <= 0 || s > 1e11 {
		return time.Time{}
	}
	return time.UnixMicro(int64(s * 1e6)).UTC()
}

// after is a time so many milliseconds later, where both are known.
func after(t time.Time, ms float64) time.Time {
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
