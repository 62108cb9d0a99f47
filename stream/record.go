package stream

import "time"

// A Record is bytes as they were received on one exchange, with their time.
type Record struct {
	Exchange int           // which exchange (a request and its response) they belong to
	Request  bool          // sent by the client; otherwise received from the provider
	At       time.Duration // since the source began, read in whole microseconds; NoTime when it cannot tell
	Data     []byte        // nobody changes it from now on
	Head     *Head         // what is known from outside the bytes; on an exchange's first record of a side
	End      bool          // no more bytes of this exchange come
	Why      string        // with End: the reason, in words, where it was not as it should be
	By       string        // a Culprit's word, or "": with End who ended it, with a Head who answered
	Before   []byte        // what stood before Data in the line that it was found in
	After    []byte        // and behind it
	Lost     int64         // bytes of this side, before Data, that passed unseen: toolscope's own gap
	Note     string        // about the exchange; in a record that has nothing else, about the source itself
	Location Location      // where it can be read again

	Others     int64    // lines of the source that are of no exchange, and came since that was told last
	OtherLines [][]byte // the last of them

	Chunks []DataChunk // what Data is made of, where all of it did not come at once
}

// A DataChunk is a part of a record's bytes that came at a time of its own. The first one begins where the
// bytes do, each other one where the one before it ends.
type DataChunk = struct {
	End int
	At  time.Duration
}

// A Location is where a record stands in what it was read from. The zero Place is nowhere: the record
// cannot be read again.
type Location struct {
	Source     Source
	Start, End int64
}

// A Source is what records were read from, and can be read from again. It is comparable.
type Source interface {
	// Again hands to the records of one exchange that stand in [start,end), as they came first.
	// start is where the first of the exchange stands. The error is of a source that is gone, or no
	// longer what it was.
	Again(exchange int, start, end int64, to func(Record)) error
}

// VerbatimSource is a Source in which the bytes of its only response stand as they came, from the place of
// the first record on.
type VerbatimSource interface {
	Source
	// Bytes are those that stand in [start,end). The error is as that of Again.
	Bytes(start, end int64) ([]byte, error)
}

// Machine is where a capture comes from, and what the capture is called there. One is
// shared by all heads of the capture.
type Machine struct{ Host, Agent string }

// A Head is what is known of an exchange from outside its bytes.
type Head struct {
	File                string   // where it was read from
	Origin              *Machine // the machine that it comes from, nil for this one
	Run                 string   // what is of another one has another clock, and nothing to do with this
	Method, URL         string
	Status              int
	Header              map[string][]string // canonical names
	Start               time.Time           // when this side began, by the wall clock; zero where that is not known
	CutLines            bool                // lines of it stop in their midst, and who cut them is not known
	Wrappers            string              // what was taken off around the bytes, from outside in
	Lacks               []string            // what the source cannot tell
	ResponseFromHistory bool                // what was answered is, too: it is as a client sends it back
	EndUnknown          bool                // how the response ended is among that: that nothing tells is nobody's fault
	EventNamesUnknown   bool                // of events, too: that one has none is nobody's fault
	Reconstructed       bool                // requests are put together from what a client keeps: what it sent is not known
	Incremental         bool                // of a request: it has only what the request before it had not
}
