package formats

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// agentLog cuts a log into its entries, each of which is a JSON object in a line of its own. It holds
// no more than the line that is unfinished.
type agentLog struct {
	*capture.Input
	name  string                 // of the format
	lacks []capture.Lack         // of each exchange
	take  func(line []byte) bool // false where the log knows no such entry

	recs []capture.Record // of a write
	rest []byte           // an unfinished line
	line int              // number of the line being read, from 1
	at   int64            // where it begins
	long int64            // of a line that is too long to be held: how long it is so far
}

// Write implements capture.Reader. It ignores when the bytes arrived, which is unrelated to the log's times.
func (e *agentLog) Write(recs []capture.Record, p []byte, _ time.Duration) ([]capture.Record, error) {
	e.recs = recs
	for len(p) > 0 {
		n := bytes.IndexByte(p, '\n') + 1
		if n == 0 {
			e.hold(p)
			break
		}
		e.whole(p[:n-1])
		p = p[n:]
	}
	return e.done(), nil
}

func (e *agentLog) done() []capture.Record {
	recs := e.recs
	e.recs = nil
	return recs
}

// hold keeps an unfinished line, unless it is too long.
func (e *agentLog) hold(p []byte) {
	switch {
	case e.long > 0 || len(e.rest)+len(p) > json.MaxValueBytes:
		e.long += int64(len(e.rest) + len(p))
		e.rest = nil
	case len(e.rest) == 0:
		e.rest = p[:len(p):len(p)]
	default:
		e.rest = append(e.rest, p...)
	}
}

// whole takes the rest of a line.
func (e *agentLog) whole(p []byte) {
	e.line++
	size := int64(len(e.rest) + len(p))
	switch {
	case e.long > 0 || size > json.MaxValueBytes:
		size += e.long
		e.damage("the entry has %d bytes: entries longer than %d bytes are not read", size, json.MaxValueBytes)
	case len(e.rest) > 0:
		e.entry(append(e.rest, p...))
	default:
		e.entry(p)
	}
	e.at += size + 1
	e.rest, e.long = nil, 0
}

// entry takes a line.
func (e *agentLog) entry(line []byte) {
	line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte(byteOrderMark))
	switch {
	case len(line) == 0:
	case line[0] != '{':
		e.note("not a session entry: %s", beginningOf(line))
	case !wholeObject(line):
		e.damage("the entry is cut off: %s", beginningOf(line))
	case !e.take(line):
		e.note("not a session entry: %s", beginningOf(line))
	}
}

// last takes a line that nothing ends.
func (e *agentLog) last() {
	if len(e.rest) > 0 || e.long > 0 {
		e.whole(nil)
	}
}

// damage says that the line being read is not what it should be.
func (e *agentLog) damage(format string, args ...any) {
	e.note(format, args...)
	e.recs[len(e.recs)-1].Damaged = true
}

// note says something of the line being read.
func (e *agentLog) note(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	e.recs = append(e.recs, capture.Record{At: capture.NoTime, Note: fmt.Sprintf("line %d (byte %d): %s", e.line, e.at, what)})
}

// wholeObject reports whether an object ends where the line does.
func wholeObject(line []byte) bool {
	n, done := new(json.ValueScanner).Write(line)
	return done && n == len(line)
}

const byteOrderMark = "\ufeff"

// beginningOf is what a line begins with, to be shown.
func beginningOf(line []byte) string {
	const most = 40
	if len(line) > most {
		return fmt.Sprintf("%q…", line[:most])
	}
	return fmt.Sprintf("%q", line)
}

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
	asks := e.NewHead([]string{e.name}, append(slices.Clip(head.Lacks), e.lacks...)...)
	answers := *asks
	asks.Method, asks.Header, asks.Incremental, asks.Start = "POST", head.Header, head.Incremental, head.Start
	x := &entryExchange{log: e, number: e.NextExchange(), head: asks, at: at}
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
	text, _ := json.Text(value)
	clock, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return capture.NoTime, time.Time{}
	}
	return e.RecordTime(clock), clock
}
