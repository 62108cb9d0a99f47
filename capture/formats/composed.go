package formats

import (
	"bytes"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// A composed exchange is put together from pieces of a log that keeps a conversation and not what
// was sent. Pieces stand in it as they stand in the log; what is between them is ours, and says
// nothing.
type composed struct {
	log    *agentLog
	number int
	head   *capture.Head // of the answer, until its first record takes it along
	at     time.Duration // of what came last
	note   string        // to be told as it ends
	ended  bool
}

// agentSource is what every exchange of a log shares.
type agentSource struct {
	layer string
	lacks []capture.Lack
}

// ask begins an exchange with its request.
func (e *agentLog) ask(of *agentSource, head capture.Head, at time.Duration, pieces ...[]byte) *composed {
	x := &composed{log: e, number: e.NextExchange(), head: e.NewHead([]string{of.layer}, of.lacks...), at: at}
	asks := *x.head
	asks.Method, asks.Header, asks.Incremental, asks.Start = "POST", head.Header, head.Incremental, head.Start
	for i, p := range pieces {
		if len(p) == 0 {
			continue
		}
		r := capture.Record{Exchange: x.number, Side: capture.Request, At: at, Data: p}
		if i == 0 {
			r.Head = &asks
		}
		e.recs = append(e.recs, r)
	}
	return x
}

// say adds what is between pieces to the answer.
func (x *composed) say(at time.Duration, text string) {
	x.add(capture.Record{At: at, Data: []byte(text)})
}

// piece adds one of a line to the answer.
func (x *composed) piece(at time.Duration, line, value []byte) {
	r := capture.Record{At: at, Data: value}
	if i := bytes.Index(line, value); i >= 0 {
		r.Before, r.After = line[:i:i], line[i+len(value):]
	}
	x.add(r)
}

// end ends the answer, once.
func (x *composed) end(end capture.End, why string, by capture.Party) {
	if !x.ended {
		x.ended = true
		x.add(capture.Record{At: x.at, End: end, Why: why, By: by, Note: x.note})
	}
}

func (x *composed) add(r capture.Record) {
	r.Exchange, r.Head, x.head = x.number, x.head, nil
	if r.At >= x.at {
		x.at = r.At
	}
	x.log.recs = append(x.log.recs, r)
}

// listed puts commas between values.
func listed(values [][]byte) (pieces [][]byte) {
	for i, v := range values {
		if i > 0 {
			pieces = append(pieces, []byte(","))
		}
		pieces = append(pieces, v)
	}
	return pieces
}

// withMember is a member of an object, or nothing where it has no value.
func withMember(name string, value []byte) []byte {
	if json.IsNull(value) {
		return nil
	}
	return append([]byte(`,"`+name+`":`), value...)
}

// eventHead is the beginning of a server-sent event of a type.
func eventHead(kind string) string { return "event: " + kind + "\ndata: {\"type\":\"" + kind + `"` }

const eventTail = "}\n\n"
