package record

import (
	"fmt"

	"toolscope/capture"
	"toolscope/capture/queue"
)

// recordCost is the cost of a record without its data.
const recordCost = 256

// QueueRules returns the rules of a queue of records from the network: Put never waits, and gaps are
// reported where they are. why is the second part of a gap's note: "were not recorded: …".
func QueueRules(limit int, why string) queue.Rules[capture.Record] {
	return queue.Rules[capture.Record]{
		Limit: limit, Cost: RecordCost, PartOf: partOf, WithoutBytes: withoutBytes,
		Gap: func(lost int64, near capture.Record) capture.Record {
			near.Lost = lost
			near.Note = capture.JoinNotes(near.Note, fmt.Sprintf("gap: %d bytes of exchange %d %s", lost, near.Exchange, why))
			return near
		},
	}
}

// RecordCost returns about how much memory a record takes.
func RecordCost(r capture.Record) int {
	n := recordCost + len(r.Data) + len(r.Why) + len(r.Note)
	if r.Head != nil {
		n += len(r.Head.URL)
		for name, values := range r.Head.Header {
			n += len(name)
			for _, v := range values {
				n += len(v) + 16
			}
		}
	}
	return n
}

// lostWith returns how many bytes are missing if the record is.
func lostWith(r capture.Record) int64 { return int64(len(r.Data)) + r.Lost }

func partOf(r capture.Record) queue.Part {
	return queue.Part{
		Stream: queue.Stream{Exchange: r.Exchange, Request: r.Side == capture.Request},
		Bytes:  lostWith(r), EndsExchange: r.End != "",
	}
}

// withoutBytes returns a record without its bytes, and without the note of a gap, which becomes part of a
// larger one. It reports whether the rest is worth keeping.
func withoutBytes(r capture.Record) (capture.Record, bool) {
	if r.Lost > 0 {
		r.Note = ""
	}
	r.Data, r.Lost = nil, 0
	return r, r.Head != nil || r.End != "" || r.Note != ""
}
