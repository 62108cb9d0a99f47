package formats

import (
	"bytes"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// agentLog reads a session file whose entries become exchanges as they are.
type agentLog struct {
	entryReader
	name  string                 // of the format
	lacks []capture.Lack         // of each exchange
	read  func(line []byte) bool // reads an entry; false for an object that is not one

	recs []capture.Record // records so far
}

func (e *agentLog) entry(recs []capture.Record, line []byte) []capture.Record {
	e.recs = recs
	if line = bytes.TrimSpace(line); !e.read(line) {
		note := e.lineNote("not an entry of a session, left out: %.60q", line)
		note.Damaged = false
		e.recs = e.addNote(e.recs, note)
	}
	return e.recs
}

func (*agentLog) close(recs []capture.Record) []capture.Record { return recs }

const byteOrderMark = "\ufeff"

// eachFirstLine calls look with each line that first bytes have, and with what there is of the last
// one, until it knows.
func eachFirstLine(first []byte, whole bool, look func(line []byte, ended bool) capture.SniffResult) capture.SniffResult {
	first = bytes.TrimPrefix(first, []byte(byteOrderMark))
	for len(first) > 0 {
		line, rest, ended := bytes.Cut(first, []byte("\n"))
		if line = line[json.SpaceLen(line):]; len(line) > 0 {
			if s := look(line, ended || whole); s.Is != capture.Maybe {
				return s
			}
		}
		first = rest
	}
	return capture.SniffResult{Is: capture.Maybe}
}

// entryExchange is an exchange made of entries of a session: the entries before a response are its request.
type entryExchange struct {
	log    *agentLog
	number int
	head   *capture.Head // of the response, until its first record
	at     time.Duration // of the latest entry
	note   string        // for the last record
}

// beginExchange begins an exchange with the entries of its request. head has the facts that entries of the
// response don't repeat.
func (e *agentLog) beginExchange(head capture.Head, at time.Duration, request ...[]byte) *entryExchange {
	asks := e.in.NewHead([]string{e.name}, append(slices.Clip(head.Lacks), e.lacks...)...)
	answers := *asks
	asks.Method, asks.Header, asks.Incremental, asks.Start = "POST", head.Header, head.Incremental, head.Start
	x := &entryExchange{log: e, number: e.in.NextExchange(), head: asks, at: at}
	for _, line := range request {
		if len(line) > 0 {
			x.write(capture.Record{Side: capture.Request, At: at, Data: endLine(line)})
		}
	}
	if x.head != nil {
		x.write(capture.Record{Side: capture.Request, At: at})
	}
	x.head = &answers
	return x
}

// add adds an entry of the response.
func (x *entryExchange) add(at time.Duration, line []byte) {
	x.at = max(x.at, at)
	x.write(capture.Record{At: at, Data: endLine(line)})
}

// end ends the exchange.
func (x *entryExchange) end(end capture.End, why string, by capture.Party) {
	x.write(capture.Record{At: x.at, End: end, Why: why, By: by, Note: x.note})
}

func (x *entryExchange) write(r capture.Record) {
	r.Exchange, r.Head, x.head = x.number, x.head, nil
	x.log.recs = append(x.log.recs, r)
}

// endLine returns a line with its end.
func endLine(line []byte) []byte { return append(slices.Clip(line), '\n') }

// parseStamp returns a time as the logs of agents write it.
func (e *agentLog) parseStamp(value []byte) (at time.Duration, clock time.Time) {
	clock = parseLogTime(value)
	return e.in.RecordTime(clock), clock
}
