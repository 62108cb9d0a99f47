// Package capture is where bytes enter toolscope: from a file, a growing file, standard input or an
// earlier recording.
//
//	file, pipe ─▶ intake (what is this?) ─▶ bare body   ─┐
//	growing file ─▶ tail ─▶ intake          curl dump   ─┼─▶ Source ─▶ Concat, Merge, Paced ─▶ whoever decodes
//	                                        own capture ─┘
//
// Captures are written by package record.
//
// Words. A [Record] is bytes as they were received. An exchange is one request and its response. A
// [Source] is a sequence of records. An intake looks at the first bytes of one input and cuts the
// input into records; a tail is a file that is read while it grows. A [Place] is where a record can
// be read again.
//
// What always holds:
//   - The bytes of a body are passed on exactly as received: no re-framing, no decoding, no waiting
//     for a whole line.
//   - Damaged data is never an error. It is passed on raw or named in a [Record.Note], and reading
//     goes on. An error means that the environment failed (a file that cannot be read, a format
//     version that is not known).
//   - A time is only given where somebody measured it. Everything else has [NoTime].
//   - Nothing here knows what the bodies mean: of the program, this package imports only how JSON
//     is written.
package capture

import (
	"iter"
	"net/http"
	"time"
)

// Source is a sequence of records. An error is always its last element and means that reading
// cannot go on; a source that ends without one was read to its end or was cancelled. A source is
// read once.
type Source = iter.Seq2[Record, error]

// Record is bytes as they were received, on one side of one exchange. A record may carry no bytes:
// then it brings only a head, an end or a note.
type Record struct {
	Exchange int           // which exchange of the source; from 1, never reused
	Side     Side          // the response, unless it says otherwise
	At       time.Duration // since the capture began; NoTime when the source cannot tell
	Data     []byte        // exactly as received; the receiver owns it
	Before   []byte        // what stands in the source's line before Data; it is not part of the format
	After    []byte        // and behind it
	Head     *Head         // on an exchange's first record of a side: what is known from outside the body
	End      End           // on the last record of the response side: how it ended
	Why      string        // with End: the reason in words, may be empty
	By       Party         // with End: who ended it; with a response's Head: who answered, where that was not the provider
	Lost     int64         // bytes of this side, before Data, that passed and were not recorded: toolscope's own gap
	Note     string        // words beside the bytes: see below
	Damaged  bool          // the source is damaged here, as Note says; it is not part of the format
	Location Location      // where it can be read again, if it can; it is not part of the format

	// Lines of the source that are of no exchange, and came since that was told last; and the last of
	// them. They are not part of the format.
	Others     int64
	OtherLines [][]byte

	// Pieces are what Data is made of, where all of it did not come at once. Only who asks for them
	// gets records that have some, and they are not part of the format.
	Chunks []DataChunk
}

// DataChunk is a part of a record's bytes that came at a time of its own. The first one begins where the
// bytes do, each other one where the one before it ends.
type DataChunk = struct {
	End int
	At  time.Duration
}

// A note that comes with a head, bytes, a loss or an end is about that exchange, and about no
// other. One that comes alone is about the source itself, such as a damaged line; the exchange it
// names is only the latest one.

// OfSource reports whether a record is of no exchange, but words about the source, or nothing.
func (r Record) OfSource() bool {
	return len(r.Data) == 0 && r.Head == nil && r.Lost == 0 && r.End == ""
}

// NoTime is the time of a record whose source cannot tell when it arrived.
const NoTime = time.Duration(-1)

// Side tells who sent the bytes of a record.
type Side string

// The two sides of an exchange. The zero value is the response, by far the more frequent one.
const (
	Response Side = ""
	Request  Side = "request"
)

// Stream is one side of one exchange.
type Stream struct {
	Exchange int
	Side     Side
}

// Stream is what the record belongs to.
func (r Record) Stream() Stream { return Stream{r.Exchange, r.Side} }

// End tells how the response side of an exchange ended; empty means that it goes on.
type End string

// The ways to end.
const (
	EndEOF End = "eof" // the input came to its end
	EndCut End = "cut" // the connection or the file was cut: more may have been meant to come
)

// Party is who did what a record tells of.
type Party string

// The parties of an exchange. The zero value is nobody that is known: a file that ends was ended by
// whoever saved it, and does not tell who ended what is in it.
const (
	Provider  Party = "provider"  // or a gateway of its, which cannot be told apart
	Client    Party = "client"    // who sent the request
	Network   Party = "network"   // a reset, a connection that was lost
	Toolscope Party = "toolscope" // this program: a limit of its own, its end, an answer in the provider's place
)

// Machine is where a capture comes from, and what the capture is called there. One is
// shared by all heads of the capture.
type Machine struct{ Host, Agent string }

// Head is what is known about one side of an exchange from outside its body. Every field may be
// missing.
type Head struct {
	File        string      // the path as the user wrote it, or "stdin"
	Origin      *Machine    // the machine that it comes from, nil for this one; it is not part of the format
	Run         string      // what has another one, or where it is "" another file, has another clock
	Method      string      // of the request
	URL         string      // of the request: as much of it as the source shows, at least the path
	Status      int         // of the response
	Header      http.Header // with canonical names
	Start       time.Time   // when this side began, by the wall clock
	Wrappers    string      // what was taken off around the bytes, from outside in: "docker json-file › .log"
	Lacks       []Lack      // what the source cannot tell
	Incremental bool        // of a request: it has only what the request before it had not
}

// JoinNotes is a note that says both.
func JoinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// yieldRecords yields the records and then, if there is one, the error. It reports whether the consumer
// wants more.
func yieldRecords(yield func(Record, error) bool, recs []Record, err error) bool {
	for _, r := range recs {
		if !yield(r, nil) {
			return false
		}
	}
	if err != nil {
		yield(Record{}, err)
		return false
	}
	return true
}
