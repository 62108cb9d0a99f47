// Package capture reads bytes into toolscope from files, growing files, standard input and captures.
//
//	file, pipe ─▶ intake (which format?) ─▶ bare body   ─┐
//	growing file ─▶ tail ─▶ intake          curl dump   ─┼─▶ Source ─▶ Concat, Merge, Play ─▶ decoder
//	                                        own capture ─┘
//
// Package record writes captures.
//
// Terms. A [Record] is bytes as they were received. An exchange is one request and its response. A
// [Source] is a sequence of records. An inputReader detects the format of one input by its first bytes
// and cuts the input into records. A tail is a file that is read while it grows. A [Location] is where a
// record can be read again.
//
// Invariants:
//   - The bytes of a body are passed on exactly as received: no re-framing, no decoding, no waiting for a
//     complete line.
//   - Damaged data is never an error. It is passed on raw or named in a [Record.Note], and reading
//     continues. An error means that the environment failed, such as an unreadable file or an unknown
//     format version.
//   - A record has a time only if the time was measured. All others have [NoTime].
//   - This package doesn't interpret bodies. From the rest of the program, it imports only packages for
//     JSON, SQLite files and the wording of counts.
package capture

import (
	"cmp"
	"iter"
	"net/http"
	"strings"
	"time"
)

// Source is a sequence of records. An error is always the last element and means that reading can't
// continue. A source that ends without an error was read to its end or was cancelled. A source is read
// once.
type Source = iter.Seq2[Record, error]

// Record contains bytes from one side of one exchange, as captured. A record without bytes has only other facts.
type Record struct {
	Exchange int           // number of its exchange in the source; from 1, never reused
	Side     Side          // the zero value is the response
	At       time.Duration // time since the capture began; NoTime if unknown
	Data     []byte        // exactly as received; the receiver owns it
	Before   []byte        // the bytes before Data in the source's line; not part of the format
	After    []byte        // the bytes after Data in that line; not part of the format
	Head     *Head         // in the first record of a side: facts from outside the body
	End      End           // in the last record of the response side: how it ended
	Why      string        // with End: the reason in words; may be empty
	By       Party         // with End: the party that ended it; with a response's Head: the party that answered, if not the provider
	Lost     int64         // number of bytes of this side that were transferred before Data but not recorded
	Note     string        // remarks about the exchange; if OfSource returns true, about the source
	Damaged  bool          // the source is damaged here, as Note says; not part of the format
	Location Location      // where the record can be read again, if it can; not part of the format
	Open     bool          // a program is still recording the exchange: more may follow; not part of the format

	// Others is the number of the source's lines outside exchanges, counted since the previous record that
	// has Others. OtherLines has the last of these lines. Neither is part of the format.
	Others     int64
	OtherLines [][]byte

	// Release, if not nil, may be called once nothing refers to Data any more. The source then reads into the same
	// memory again. Only Options.Lend produces it. It is not part of the format.
	Release func()

	// Chunks divides Data by arrival time, if it did not arrive all at once. Only Options.AllowChunks
	// produces it. It is not part of the format.
	Chunks []DataChunk
}

// DataChunk is a range of a record's bytes with its own time. It starts at the end of the previous chunk,
// or at 0.
type DataChunk = struct {
	End int
	At  time.Duration
}

// A note together with a head, bytes, a loss or an end is only about the record's exchange. A note on its own is
// about the source itself, such as a damaged line; its exchange number is just that of the latest exchange. A note
// that begins with HeldNote is always about its exchange.

// ArrivalInterval is the minimum time between two arrival records of a response, so that pings can't make a capture
// grow fast; see [Record.IsArrival].
const ArrivalInterval = time.Second

// IsArrival reports whether a record only shows that bytes of a response arrived: a ping on a WebSocket, or bytes that
// the search for secrets holds back. The bytes that are held back follow in a later record.
func (r Record) IsArrival() bool {
	return r.isEmpty() && r.Side == Response && r.Note == "" && r.At > 0
}

// OfSource reports whether a record belongs to no exchange: it is a note about the source, or empty.
func (r Record) OfSource() bool {
	return r.isEmpty() && !r.IsArrival() && !strings.HasPrefix(r.Note, HeldNote)
}

// isEmpty reports whether a record contains nothing except, possibly, a note.
func (r Record) isEmpty() bool {
	return len(r.Data) == 0 && r.Head == nil && r.Lost == 0 && r.End == "" && !r.Open
}

// NoTime is the time of a record whose arrival time is unknown.
const NoTime = time.Duration(-1)

// Side is the sender of a record's bytes: client or server.
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

// Compare orders streams by exchange, the request of an exchange before its response.
func (s Stream) Compare(other Stream) int {
	return cmp.Or(cmp.Compare(s.Exchange, other.Exchange), cmp.Compare(other.Side, s.Side))
}

// Stream returns the stream that the record belongs to.
func (r Record) Stream() Stream { return Stream{r.Exchange, r.Side} }

// End is the ending of the response side of an exchange. It is empty while the response continues.
type End string

// The values of End.
const (
	EndEOF End = "eof" // the input reached its end
	EndCut End = "cut" // the connection or the file was cut off: bytes may be missing
)

// Party is the party that caused an event in a record.
type Party string

// The parties of an exchange. The zero value means unknown: the end of a file doesn't show which party
// ended an exchange in it.
const (
	Provider  Party = "provider"  // or one of its gateways: the two can't be distinguished
	Client    Party = "client"    // the sender of the request
	Network   Party = "network"   // a reset or a lost connection
	Toolscope Party = "toolscope" // this program: its own limit, its end, or an answer in the provider's place
)

// Machine contains the names of a capture's machine and of its agent. All heads of the capture share one Machine.
type Machine struct{ Host, Agent string }

// Head contains the facts about one side of an exchange from outside its body. Every field may be empty.
type Head struct {
	File        string      // path of the source as the user wrote it, or "stdin"
	Origin      *Machine    // the machine that the exchange comes from; nil for this machine; not part of the format
	Run         string      // identifies the clock of the times; if it is "", File identifies the clock
	Method      string      // method of the request
	URL         string      // URL of the request: as much as the source shows, at least the path
	Status      int         // status of the response
	Header      http.Header // header fields, with canonical names; heads may share a header, so never change it
	Start       time.Time   // when this side began, by the wall clock
	Wrappers    string      // the wrappers around the bytes, from outside in: "docker json-file › .log"
	Lacks       []Lack      // facts that the source can't show
	Incremental bool        // the request contains only the additions to the previous request
}

// JoinNotes joins two notes. Either may be empty.
func JoinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// yieldRecords yields the records and then the error, if there is one. It reports whether the consumer
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

// Stdio is the method of an exchange that covers the lifetime of one server process. Its request side is the
// process's standard input, its response side the standard output. Both sides are open at the same time, and neither
// waits for the other.
const Stdio = "STDIO"

// Shell is the method of an exchange that is one shell command run for an agent. Its request side is the command, and
// its end says how the command ended.
const Shell = "SHELL"

// The beginnings of the notes of a stdio exchange. They are part of the capture format.
const (
	Argv       = "argv: "       // followed by the command line, as a JSON list
	Stderr     = "stderr: "     // followed by the text that the process wrote to it
	Signalled  = "signal: "     // followed by the name of a signal that was passed on
	InputEnded = "input ended"  // the client closed the process's standard input
	Unwanted   = "nobody reads" // the client no longer reads the process's output
)
