package formats

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// agentLog reads a session file, whose entries become parts of exchanges unchanged.
type agentLog struct {
	entryReader
	exchangeLog
	read func(line []byte) bool // reads an entry; returns false if the object is not an entry
}

// exchangeLog writes exchanges that consist of entries from a session file.
type exchangeLog struct {
	input *capture.Input
	name  string         // name of the format
	path  []string       // wrappers around the entries
	lacks []capture.Lack // facts that are missing from every exchange

	recs []capture.Record // records written so far
}

func (e *agentLog) entry(recs []capture.Record, line []byte) []capture.Record {
	e.recs = recs
	if line = bytes.TrimSpace(line); !e.read(line) {
		note := e.lineNote("not an entry of a session, left out: %.60q", line)
		note.Damaged = false
		e.recs = e.addLineNote(e.recs, note)
	}
	return e.recs
}

func (*agentLog) close(recs []capture.Record) []capture.Record { return recs }

// eachFirstLine calls the function look with each line in the first bytes of an input until look returns a result
// other than Maybe. It includes an incomplete last line.
func eachFirstLine(first []byte, whole bool, look func(line []byte, ended bool) capture.SniffResult) capture.SniffResult {
	first = bytes.TrimPrefix(first, []byte(bom))
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

// entryExchange is an exchange made from entries of a session. The entries before a response are its request.
type entryExchange struct {
	log    *exchangeLog
	number int
	head   *capture.Head // head for the next record; nil once it is written
	at     time.Duration // time of the latest entry
	note   string        // note for the last record
}

// beginExchange begins an exchange with the entries of its request. The parameter head supplies the HTTP header, the
// start time and further missing facts, and says whether the request is incremental.
func (e *exchangeLog) beginExchange(head capture.Head, at time.Duration, request ...[]byte) *entryExchange {
	asks := e.input.NewHead(append(slices.Clone(e.path), e.name), append(slices.Clip(head.Lacks), e.lacks...)...)
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

// add adds an entry to the response.
func (x *entryExchange) add(at time.Duration, line []byte) {
	x.at = max(x.at, at)
	x.write(capture.Record{At: at, Data: endLine(line)})
}

// end ends the exchange and writes its note.
func (x *entryExchange) end(end capture.End, why string, by capture.Party) {
	x.write(capture.Record{At: x.at, End: end, Why: why, By: by, Note: x.note})
}

func (x *entryExchange) write(r capture.Record) {
	r.Exchange, r.Head, x.head = x.number, x.head, nil
	x.log.recs = append(x.log.recs, r)
}

// endLine returns a line with a line feed appended.
func endLine(line []byte) []byte { return append(slices.Clip(line), '\n') }

// parseStamp parses a time as agents write it in their logs. The result at is the time for a record, and clock
// is the wall clock time.
func (e *exchangeLog) parseStamp(value []byte) (at time.Duration, clock time.Time) {
	clock = parseLogTime(value)
	return e.input.RecordTime(clock), clock
}

// sessionLog makes exchanges from a session file whose entries are decoded in providers/transcript. The
// request of an exchange contains the previous response and all entries after it. The response is included
// because some of its entries contain the results of their calls.
type sessionLog struct {
	exchangeLog
	session []byte // the entry that names the conversation, if the other entries don't

	pending     [][]byte  // entries that are not in a request yet
	pendingSize int       // size of the pending entries in bytes
	hasResults  bool      // the pending entries contain results
	pendingAt   time.Time // time of the latest pending entry
	hasRequest  bool      // a request has been written
	rewound     bool      // the next request does not continue the latest response
	open        *entryExchange
}

func newSessionLog(in *capture.Input, name string, lacks ...capture.Lack) *sessionLog {
	return &sessionLog{exchangeLog: exchangeLog{input: in, name: name, lacks: append(lacks, capture.Composed)}}
}

// sessionBook reads a session file with one conversation, entry by entry.
type sessionBook struct {
	*sessionLog
	read func(l *sessionLog, line []byte)
	end  func() // called when the file has no more entries; may be nil
}

func (b *sessionBook) entry(recs []capture.Record, line []byte) []capture.Record {
	b.recs = recs
	b.read(b.sessionLog, line)
	return b.recs
}

func (b *sessionBook) close(recs []capture.Record) []capture.Record {
	b.recs = recs
	if b.end != nil {
		b.end()
	}
	b.finish()
	return b.recs
}

// addEntry adds an entry to the next request.
func (s *sessionLog) addEntry(entry []byte, at time.Time, results bool) {
	s.pending, s.pendingSize = append(s.pending, entry), s.pendingSize+len(entry)
	for s.pendingSize > json.MaxValueBytes && len(s.pending) > 1 { // entries accumulate in a file without a conversation
		s.pendingSize -= len(s.pending[0])
		s.pending = s.pending[1:]
	}
	s.hasResults = s.hasResults || results
	if !at.IsZero() {
		s.pendingAt = at
	}
}

// beginRequest begins an exchange. If the parameter at is zero, it uses the time of the latest entry in the request.
func (s *sessionLog) beginRequest(at time.Time) {
	s.endExchange("", "", "")
	if at.IsZero() {
		at = s.pendingAt
	}
	request := append([][]byte{s.session}, s.pending...)
	head := capture.Head{Start: at, Incremental: s.hasRequest}
	if s.rewound {
		head.Lacks = []capture.Lack{capture.Rewound}
	}
	s.open = s.beginExchange(head, s.input.RecordTime(at), request...)
	s.pending, s.pendingSize, s.hasResults, s.pendingAt, s.hasRequest, s.rewound = nil, 0, false, time.Time{}, true, false
}

// rewindPending removes the pending entries of a branch that the user left: all but the first ones. A negative number
// means that the user went back to an entry before the latest response.
func (s *sessionLog) rewindPending(keep int) {
	s.rewound = s.rewound || keep < 0 && s.hasRequest
	for len(s.pending) > max(0, keep) {
		last := len(s.pending) - 1
		s.pending, s.pendingSize = s.pending[:last], s.pendingSize-len(s.pending[last])
	}
	s.hasResults = s.hasResults && len(s.pending) > 0
}

// endExchange ends the open exchange, if there is one.
func (s *sessionLog) endExchange(end capture.End, why string, by capture.Party) {
	if s.open != nil {
		s.open.end(cmp.Or(end, capture.EndEOF), why, by)
	}
	s.open = nil
}

// writeResponse begins an exchange and adds the entries to its response. The exchange stays open.
func (s *sessionLog) writeResponse(asked, at time.Time, entries ...[]byte) {
	s.beginRequest(asked)
	for _, entry := range entries {
		s.open.add(s.input.RecordTime(at), entry)
	}
}

// writeAside writes an exchange that is not part of the conversation, such as one that summarises it. The parameter
// about is an entry for its request, or nil. The pending entries stay for the next request. Invariant: no other
// exchange is open.
func (s *sessionLog) writeAside(at time.Time, about, entry []byte) {
	x := s.beginExchange(capture.Head{Start: at, Incremental: s.hasRequest}, s.input.RecordTime(at), s.session, about)
	x.add(s.input.RecordTime(at), entry)
	x.end(capture.EndEOF, "", "")
}

// close ends the conversation. Results without a response become a request.
func (s *sessionLog) close(recs []capture.Record) []capture.Record {
	s.recs = recs
	s.finish()
	return s.recs
}

func (s *sessionLog) finish() {
	s.endExchange("", "", "")
	if s.hasResults {
		s.beginRequest(time.Time{})
		s.endExchange("", "", "")
	}
}
