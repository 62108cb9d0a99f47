package stream

import "time"

// A Record is bytes as they were received on one exchange, with their time.
type Record struct {
	Exchange int           // the exchange (a request and its response) that they belong to
	Request  bool          // sent by the client; otherwise received from the provider
	At       time.Duration // since the source began, in whole microseconds; NoTime if the source doesn't know
	Data     []byte        // never changes from now on
	Head     *Head         // facts from outside the bytes; on an exchange's first record of a side
	End      bool          // no more bytes of this exchange come
	Why      string        // with End: the reason, in words, if it did not end normally
	By       string        // a Party's word, or "": with End the party that ended it, with a Head the one that answered
	Before   []byte        // the bytes before Data in the line that contained it
	After    []byte        // and after it
	Lost     int64         // bytes of this side, before Data, that were missed: toolscope's own gap
	Note     string        // about the exchange; in a record without other fields, about the source itself
	Location Location      // where it can be read again

	Others     int64    // lines of the source that belong to no exchange, since the last report of them
	OtherLines [][]byte // the last of them

	Chunks []DataChunk // what Data consists of, if it did not arrive at once
}

// A DataChunk is a part of a record's bytes that arrived at a time of its own. The first one begins where
// the bytes do, each other one where the previous one ends.
type DataChunk = struct {
	End int
	At  time.Duration
}

// A Location is the place of a record in its source. The zero Location means that the record can't be
// read again.
type Location struct {
	Source     Source
	Start, End int64
}

// A Source is what records were read from, and can be read from again. It is comparable.
type Source interface {
	// Again passes to the function to the records of one exchange in [start,end), as they came first.
	// start is the position of the first record of the exchange. It returns an error if the source is
	// gone or has changed.
	Again(exchange int, start, end int64, to func(Record)) error
}

// VerbatimSource is a Source that contains the bytes of its only response unchanged, starting at the
// position of the first record.
type VerbatimSource interface {
	Source
	// Bytes returns the bytes in [start,end). Its errors are those of Again.
	Bytes(start, end int64) ([]byte, error)
}

// Machine is the machine that a capture comes from, and the name of the capture there. All heads of a
// capture share one.
type Machine struct{ Host, Agent string }

// A Head holds facts about an exchange from outside its bytes.
type Head struct {
	File                string   // the file that it was read from
	Origin              *Machine // the machine that it comes from, nil for this one
	Run                 string   // exchanges of different runs have different clocks, and nothing to do with each other
	Method, URL         string
	Status              int
	Header              map[string][]string // canonical names
	Start               time.Time           // when this side began, by the wall clock; zero if unknown
	CutLines            bool                // some of its lines are cut off, and the party that cut them is unknown
	Wrappers            string              // the wrappers that were removed around the bytes, from the outside in
	Lacks               []string            // what the source doesn't contain
	ResponseFromHistory bool                // the response was not captured either: it is as a client sends it back
	EndUnknown          bool                // the source doesn't contain the end of the response: a missing end is not a fault
	EventNamesUnknown   bool                // the source doesn't contain event names: a missing name is not a fault
	Reconstructed       bool                // requests are reconstructed from what a client keeps: what it sent is unknown
	Incremental         bool                // of a request: it contains only what is new since the previous request
}
