package formats

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// agentLog reads a session file whose entries become exchanges as they are.
type agentLog struct {
	entryReader
	exchangeLog
	read func(line []byte) bool // reads an entry; false for an object that is not one
}

// exchangeLog writes exchanges that consist of entries of a session file.
type exchangeLog struct {
	input *capture.Input
	name  string         // of the format
	lacks []capture.Lack // of each exchange

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
	log    *exchangeLog
	number int
	head   *capture.Head // of the response, until its first record
	at     time.Duration // of the latest entry
	note   string        // for the last record
}

// beginExchange begins an exchange with the entries of its request. head has the facts that entries of the
// response don't repeat.
func (e *exchangeLog) beginExchange(head capture.Head, at time.Duration, request ...[]byte) *entryExchange {
	asks := e.input.NewHead([]string{e.name}, append(slices.Clip(head.Lacks), e.lacks...)...)
	answers := *asks
	asks.Method, asks.Header, asks.Incremental, asks.Start = "POST", head.Header, head.Incremental, head.Start
	x := &entryExchange{log: e, number: e.input.NextExchange(), head: asks, at: at}
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
func (e *exchangeLog) parseStamp(value []byte) (at time.Duration, clock time.Time) {
	clock = parseLogTime(value)
	return e.input.RecordTime(clock), clock
}

// talk makes exchanges of a session file whose entries are decoded in providers/transcript. The request of an
// exchange has the entries since the response before, with this response, because some of its entries contain the
// results of their calls.
type talk struct {
	exchangeLog
	session []byte // the entry with the name of the conversation, if others don't have it

	said    [][]byte  // entries that no request has yet
	size    int       // of them
	results bool      // they contain results
	saidAt  time.Time // of the latest of them
	began   bool      // there was a request
	open    *entryExchange
}

func newTalk(in *capture.Input, name string, lacks ...capture.Lack) *talk {
	return &talk{exchangeLog: exchangeLog{input: in, name: name, lacks: append(lacks, capture.Composed)}}
}

// say adds an entry to the next request.
func (t *talk) say(entry []byte, at time.Time, results bool) {
	t.said, t.size = append(t.said, entry), t.size+len(entry)
	for t.size > json.MaxValueBytes && len(t.said) > 1 { // in a file without a conversation
		t.size -= len(t.said[0])
		t.said = t.said[1:]
	}
	t.results = t.results || results
	if !at.IsZero() {
		t.saidAt = at
	}
}

// ask begins an exchange, asked at that time or when the latest entry of its request was written.
func (t *talk) ask(at time.Time) {
	t.end("", "", "")
	if at.IsZero() {
		at = t.saidAt
	}
	request := append([][]byte{t.session}, t.said...)
	t.open = t.beginExchange(capture.Head{Start: at, Incremental: t.began}, t.input.RecordTime(at), request...)
	t.said, t.size, t.results, t.saidAt, t.began = nil, 0, false, time.Time{}, true
}

// end ends the open exchange, if there is one.
func (t *talk) end(end capture.End, why string, by capture.Party) {
	if t.open != nil {
		t.open.end(cmp.Or(end, capture.EndEOF), why, by)
	}
	t.open = nil
}

// answer writes an exchange whose response has these entries.
func (t *talk) answer(asked, at time.Time, entries ...[]byte) {
	t.ask(asked)
	for _, entry := range entries {
		t.open.add(t.input.RecordTime(at), entry)
	}
}

// close ends the conversation. Results without a response to them are a request.
func (t *talk) close(recs []capture.Record) []capture.Record {
	t.recs = recs
	t.finish()
	return t.recs
}

func (t *talk) finish() {
	t.end("", "", "")
	if t.results {
		t.ask(time.Time{})
		t.end("", "", "")
	}
}
