package providers

import (
	"slices"
	"time"

	"toolscope/providers/coding"
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// exchangeContent is what is there of an exchange while it is read, and until it is let go of. All that are
// let go of share one that is empty, and which nobody changes: see Exchange.mind.
type exchangeContent struct {
	Request       stream.Wire
	RequestHeader map[string][]string // of the request, canonical names; nil where it was not seen, or is not kept
	Response      stream.Wire         // the body, decoded
	Sent          stream.Wire         // the response's bytes as they came, where that is not Response
	Guess         string              // what the response looks like, where nothing in it is known

	chain       *coding.Chain // nil before the first bytes, and where there is nothing to undo
	broken      bool          // they cannot be decoded any further
	bomb        bool          // because they decode to too many
	trouble     error         // why, until it is told
	gap         gaps          // bytes that were not seen
	notes       []string      // notes on the exchange that wait for a turn
	glued       bool          // events came without blank lines between them
	framer      stream.Framer
	out         *protocol.Out // of the decoder
	decoder     protocol.Decoder
	closedTurns int                // at least so many of the turns, from the first on, are closed
	parts       exchangeParts      // those that are let go of for themselves
	frame       int32              // number of the frame being decoded
	first       *firstJSONObject   // the object that the body begins with, while that does not tell the framing
	sniffAt     int64              // how many bytes must have come before framing is tried again
	pending     []pendingFrame     // frames that wait for a dialect
	waiting     int                // how many of them hold data
	suspect     *protocol.Protocol // the dialect that the last of them speaks for, against path and header
	check       schemaCheck
	past        history
	requests    requestState
	onFrame     func(stream.Frame)
	onEvent     func(stream.Event)
}

// ensureContent has an exchange that was let go of have a reading of its own, which may be changed.
func (x *Exchange) ensureContent() {
	if x.exchangeContent == &x.in.idle {
		x.exchangeContent = &exchangeContent{requests: requestState{sentAt: stream.NoTime}}
	}
}

// freeBytes lets go of what came, and of all that reading it needs.
func (x *Exchange) freeBytes() {
	left := exchangeContent{Guess: x.Guess, gap: x.gap, notes: x.notes, parts: x.parts, requests: requestState{sentAt: stream.NoTime}}
	if x.exchangeContent = &x.in.idle; left.Guess != "" || left.gap != (gaps{}) || len(left.notes) > 0 || left.parts.turns > 0 {
		x.exchangeContent = &left
	}
	if !slices.ContainsFunc(x.times, func(at time.Duration) bool { return at != stream.NoTime }) {
		x.times = nil
	}
}

// freeAll lets go of all but the row, for good.
func (x *Exchange) freeAll() {
	x.ensureContent()
	x.notes = nil
	x.freeBytes()
	head := *x.Head
	head.Header = nil
	x.Head = x.in.heads.intern(&head)
	x.dropped, x.from = true, stream.Location{}
}
