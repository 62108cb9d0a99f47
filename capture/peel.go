package capture

import (
	"strings"
	"time"
)

// Format is an input format. It is detected by the first bytes.
type Format struct {
	Name  string // in lower case, for paths and options: "har"
	Title string // for help: what it is, and which program writes it
	Sniff func(first []byte, whole bool) SniffResult
	New   func(*Input) Reader
}

// SniffResult is whether first bytes are of a format, and why.
type SniffResult struct {
	Is          SniffVerdict
	Why         string
	Provisional bool // with Maybe: the format is assumed if no more bytes come for a while
}

// SniffVerdict is whether bytes are of a format.
type SniffVerdict int8

// The values of SniffVerdict. After Maybe, Sniff is called again with more bytes, up to a limit.
const (
	No SniffVerdict = iota
	Maybe
	Yes
)

// Reader cuts the bytes of one input into records.
//
// Write appends the records of p to recs. p becomes the reader's own and may be the data of a record. The
// records are the same however the input is split, except for the split of a body's bytes among them. An
// error means that the input can't be read at all, and comes after the readable records. Damage is a note
// instead.
//
// Close ends all open exchanges, with how the input ended.
type Reader interface {
	Write(recs []Record, p []byte, at time.Duration) ([]Record, error)
	Close(recs []Record, end End, why string, at time.Duration) []Record
}

// RotationReader is a Reader whose streams outlive a file: when a log is rotated, they continue in the
// next file.
//
// Rotated returns the Reader of that file. Both share the open streams, because the old file may still be
// written to. An incomplete line belongs to its own file. After Rotated, Close ends only that line.
type RotationReader interface {
	Reader
	Rotated() Reader
}

// Input is the input of a Reader.
type Input struct {
	File         string   // the path as the user wrote it, or "stdin"
	Peeled       []string // the wrappers removed before the Reader: "gzip"
	GuessPayload func(payload []byte) PayloadGuess

	AllowChunks bool // records may have several Chunks, and locations are not needed

	numbers *exchangeNumbers
	again   *File       // nil if the input can't be read again
	begin   int64       // where its first line begins in the file
	shapes  *lineShapes // of its lines
	epoch   *time.Time  // the zero of the input's times, once one is known
}

// PayloadGuess is what bytes in an input may be, judged by the formats of providers.
type PayloadGuess int8

// The values of PayloadGuess.
const (
	Nothing PayloadGuess = iota // not part of a request or response
	Chunk                       // one event of a stream, or one delta of a response
	Body                        // a complete response, or a list of chunks
	Events                      // text of an event stream, several events at once
	Ask                         // a request to a provider
)

// NewInput returns an input that is read outside of a Source. looks may be nil.
func NewInput(file string, looks func([]byte) PayloadGuess) *Input {
	return newInput(file, &exchangeNumbers{}, looks)
}

func newInput(file string, n *exchangeNumbers, looks func([]byte) PayloadGuess) *Input {
	if looks == nil {
		looks = func([]byte) PayloadGuess { return Nothing }
	}
	return &Input{File: file, GuessPayload: looks, numbers: n, shapes: new(lineShapes), epoch: new(time.Time)}
}

// NextExchange returns the number for a new exchange.
func (in *Input) NextExchange() int { return in.numbers.claimNumber(in.numbers.last + 1) }

// RecordTime converts a wall clock time to the time of a record. The first time of the input is its zero.
// Earlier times become NoTime.
func (in *Input) RecordTime(t time.Time) time.Duration {
	if t.IsZero() {
		return NoTime
	}
	if in.epoch.IsZero() {
		*in.epoch = t
	}
	if t.Before(*in.epoch) {
		return NoTime
	}
	return t.Sub(*in.epoch).Truncate(time.Microsecond)
}

// NewHead returns the head of a side of an exchange: the wrappers removed around its bytes, from outside
// in, and what the source can't show.
func (in *Input) NewHead(layers []string, lacks ...Lack) *Head {
	all := make([]string, 0, len(in.Peeled)+len(layers))
	all = append(append(all, in.Peeled...), layers...)
	return &Head{File: in.File, Wrappers: strings.Join(all, PeeledBy), Lacks: lacks}
}

// PeeledBy separates the wrappers in a path.
const PeeledBy = " › "

// Lack is something that a source can't show. The words follow "cannot tell: " and are part of the
// capture format.
type Lack string

// The values of Lack.
const (
	NoDeltas  Lack = "how arguments came: calls are whole"
	NoTimes   Lack = "when bytes came"
	LateTimes Lack = "when bytes came: times are of writing the log"
	Reencoded Lack = "how arguments were spelled: the log encoded them anew"
	Resent    Lack = "what the model wrote: calls are as the client sends them back"
	NoEnding  Lack = "how answers ended"
	NoBody    Lack = "what was answered: bodies were not kept"
	NoNames   Lack = "what events are called: the log has only their data"
	Mixed     Lack = "which answer a line is of: several came at once, and nothing tells them apart"
	CutLines  Lack = "what lines held that stop in their midst: who wrote the log may have cut them"
	Composed  Lack = "what was asked: requests are put together from the log's history"
)
