package formats

import (
	"bytes"
	"fmt"
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
