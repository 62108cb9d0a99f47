package providers

import (
	"slices"
	"time"

	"toolscope/providers/coding"
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// reading is what is there of an exchange while it is read, and until it is let go of. All that are
// let go of share one that is empty, and which nobody changes: see Exchange.mind.
type reading struct {
	Request   stream.Wire
	AskHeader map[string][]string // of the request, canonical names; nil where it was not seen, or is not kept
	Response  stream.Wire         // the body, decoded
	Sent      stream.Wire         // the response's bytes as they came, where that is not Response
	Guess     string              // what the response looks like, where nothing in it is known

	chain   *coding.Chain // nil before the first bytes, and where there is nothing to undo
	broken  bool          // they cannot be decoded any further
	bomb    bool          // because they decode to too many
	trouble error         // why, until it is told
	gap     gaps          // bytes that were not seen
	notes   []string      // notes on the exchange that wait for a turn
	glued   bool          // events came without blank lines between them
	framer  stream.Framer
	out     *dialect.Out // of the decoder
	decoder dialect.Decoder
	shut    int              // at least so many of the turns, from the first on, are closed
	parts   parts            // those that are let go of for themselves
	frame   int32            // number of the frame being decoded
	first   *firstObject     // the object that the body begins with, while that does not tell the framing
	sniffAt int64            // how many bytes must have come before framing is tried again
	pending []held           // frames that wait for a dialect
	waiting int              // how many of them hold data
	suspect *dialect.Dialect // the dialect that the last of them speaks for, against path and header
	check   toolCheck
	past    history
	asks    asking
	onFrame func(stream.Frame)
	onEvent func(stream.Event)
}

// mind has an exchange that was let go of have a reading of its own, which may be changed.
func (x *Exchange) mind() {
	if x.reading == &x.in.idle {
		x.reading = &reading{asks: asking{sentAt: stream.NoTime}}
	}
}

// freeBytes lets go of what came, and of all that reading it needs.
func (x *Exchange) freeBytes() {
	left := reading{Guess: x.Guess, gap: x.gap, notes: x.notes, parts: x.parts, asks: asking{sentAt: stream.NoTime}}
	if x.reading = &x.in.idle; left.Guess != "" || left.gap != (gaps{}) || len(left.notes) > 0 || left.parts.turns > 0 {
		x.reading = &left
	}
	if !slices.ContainsFunc(x.times, func(at time.Duration) bool { return at != stream.NoTime }) {
		x.times = nil
	}
}

// freeAll lets go of all but the row, for good.
func (x *Exchange) freeAll() {
	x.mind()
	x.notes = nil
	x.freeBytes()
	head := *x.Head
	head.Header = nil
	x.Head = x.in.heads.same(&head)
	x.dropped, x.from = true, stream.Location{}
}
