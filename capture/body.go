package capture

import (
	"bytes"
	"fmt"
	"time"

	"toolscope/stream/count"
)

// bodyReader passes on the bytes of one response unchanged.
type bodyReader struct {
	exchange int   // 0 before the first record
	head     *Head // nil after the first record
	numbers  *exchangeNumbers
	line     int   // bytes of the unfinished line
	over     bool  // the line is too long: its rest is skipped
	passed   int64 // skipped bytes
}

// maxEventBytes is how many bytes of a line, and so of an event, are read. The rest isn't held in memory
// and is reported as lost.
const maxEventBytes = 64 << 20

func (b *bodyReader) Write(recs []Record, p []byte, at time.Duration) ([]Record, error) {
	if b.over {
		n := bytes.IndexAny(p, "\r\n")
		if b.over = n < 0; b.over {
			n = len(p)
		}
		b.passed += int64(n)
		p = p[n:]
	}
	if len(p) == 0 {
		return recs, nil
	}
	if i := lastLineBreak(p); i >= 0 {
		b.line = len(p) - i - 1
	} else {
		b.line += len(p)
		b.over = b.line > maxEventBytes
	}
	return append(recs, b.completeRecord(b.noteSkipped(Record{At: at, Data: p[:len(p):len(p)]}))), nil
}

// noteSkipped reports the bytes skipped before a record in that record.
func (b *bodyReader) noteSkipped(r Record) Record {
	if b.passed > 0 {
		r.Lost, r.Note = b.passed, fmt.Sprintf("only the first %d MiB of a line are read; %s skipped", maxEventBytes>>20, count.Of(b.passed, "byte"))
		b.passed = 0
	}
	return r
}

func lastLineBreak(p []byte) int {
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		return i
	}
	return bytes.LastIndexByte(p, '\r')
}

func (b *bodyReader) Close(recs []Record, end End, why string, at time.Duration) []Record {
	return append(recs, b.completeRecord(b.noteSkipped(Record{At: at, End: end, Why: why})))
}

// completeRecord sets the exchange and the head of a record of the response side.
func (b *bodyReader) completeRecord(r Record) Record {
	if b.exchange == 0 {
		b.exchange = b.numbers.claimNumber(b.numbers.last + 1)
	}
	r.Exchange, r.Head, b.head = b.exchange, b.head, nil
	return r
}
