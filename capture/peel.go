package capture

import (
	"strings"
	"time"
)

// Format is one way to read an input. Its first bytes tell.
type Format struct {
	Name  string // as paths show it and as it is asked for, in small letters: "har"
	Title string // for help: what it is, and who writes it
	Sniff func(first []byte, whole bool) SniffResult
	New   func(*Input) Reader
}

// SniffResult is whether first bytes are of a format, and what says so.
type SniffResult struct {
	Is          SniffVerdict
	Why         string
	Provisional bool // where it may be: it is taken to be, when nothing told more for a while
}

// SniffVerdict is what first bytes tell of a format.
type SniffVerdict int8

// The answers. Who says Maybe is asked again when more has come, up to a limit.
const (
	No SniffVerdict = iota
	Maybe
	Yes
)

// Reader cuts the bytes of one input into records.
//
// Write adds to recs what p tells. What is written becomes the reader's own, and may be a record's
// data. However the input is split, the records say the same, but for how bytes of a body are split
// among them. The error is for an input that cannot be read at all, and comes after the records
// that could: what is damaged is a note instead.
//
// Close says how the input ended, and ends what is open.
type Reader interface {
	Write(recs []Record, p []byte, at time.Duration) ([]Record, error)
	Close(recs []Record, end End, why string, at time.Duration) []Record
}

// An RotationReader's streams outlive the file that they began in: when a log is rotated they go on in the
// next file.
//
// Rotated is the Reader of that file. What is open is open for both: the old file may still be
// written to. A line that is not complete belongs to its own file. The Close of a Reader that was
// rotated ends that line, and nothing else.
type RotationReader interface {
	Reader
	Rotated() Reader
}

// Input is what a Reader reads.
type Input struct {
	File         string   // the path as the user wrote it, or "stdin"
	Peeled       []string // what was taken off before the Reader sees it: "gzip"
	GuessPayload func(payload []byte) PayloadGuess

	AllowChunks bool // records may have several pieces, and where they stand is not asked for

	numbers *exchangeNumbers
	again   *File       // nil where the input cannot be read again
	begin   int64       // where in that its first line begins
	shapes  *lineShapes // of lines in it
	epoch   *time.Time  // what the times of the input count from, once one is known
}

// PayloadGuess is what bytes that were found in an input look like, to who knows what providers send.
type PayloadGuess int8

// What bytes may look like.
const (
	Nothing PayloadGuess = iota // that a provider sends or is sent
	Chunk                       // one event of a stream, or one piece of an answer
	Body                        // a whole answer, or a list of chunks
	Events                      // text of an event stream, several events at once
	Ask                         // what a provider is asked
)

// NewInput is an input on its own, for who reads one outside of a Source. Looks may be nil.
func NewInput(file string, looks func([]byte) PayloadGuess) *Input {
	return newInput(file, &exchangeNumbers{}, looks)
}

func newInput(file string, n *exchangeNumbers, looks func([]byte) PayloadGuess) *Input {
	if looks == nil {
		looks = func([]byte) PayloadGuess { return Nothing }
	}
	return &Input{File: file, GuessPayload: looks, numbers: n, shapes: new(lineShapes), epoch: new(time.Time)}
}

// NextExchange is the number of an exchange that begins.
func (in *Input) NextExchange() int { return in.numbers.claimNumber(in.numbers.last + 1) }

// RecordTime is a wall clock time as the time of a record. The first time that the input tells is its
// zero; what is before that has no time.
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

// NewHead begins a side of an exchange: what was taken off around its bytes, from outside in, and what
// the source cannot tell of it.
func (in *Input) NewHead(layers []string, lacks ...Lack) *Head {
	all := make([]string, 0, len(in.Peeled)+len(layers))
	all = append(append(all, in.Peeled...), layers...)
	return &Head{File: in.File, Wrappers: strings.Join(all, PeeledBy), Lacks: lacks}
}

// PeeledBy stands between the layers of a path.
const PeeledBy = " › "

// Lack is something that a source cannot tell, in words that complete "cannot tell: ".
type Lack string

// What sources cannot tell.
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
