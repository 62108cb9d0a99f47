package capture

import (
	"bytes"
	"fmt"
	"time"

	"toolscope/stream/count"
)

// bodyReader passes the bytes of one response on as they are.
type bodyReader struct {
	exchange int   // 0 until the first record
	head     *Head // until the first record has taken it along
	numbers  *exchangeNumbers
	line     int   // bytes of the line that has not ended
	over     bool  // it is too long: its rest is passed over
	passed   int64 // bytes of that
}

// maxEventBytes is the most bytes that are taken of a line, and so of an event: what stands behind them
// is not held in memory, and told as lost.
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

// noteSkipped has a record tell of what was passed over before it.
func (b *bodyReader) noteSkipped(r Record) Record {
	if b.passed > 0 {
		r.Lost, r.Note = b.passed, fmt.Sprintf("of a line the first %d MiB are read, and %s more passed over", maxEventBytes>>20, count.Of(b.passed, "byte"))
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

// completeRecord completes a record of the response side.
func (b *bodyReader) completeRecord(r Record) Record {
	if b.exchange == 0 {
		b.exchange = b.numbers.claimNumber(b.numbers.last + 1)
	}
	r.Exchange, r.Head, b.head = b.exchange, b.head, nil
	return r
}
