package providers

import (
	"slices"
	"time"

	"toolscope/providers/coding"
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// exchangeContent is the content of an exchange until it is evicted. All evicted exchanges share an empty
// content without an owner. It must not be modified, and its parts must not be asked to: see ensureContent.
type exchangeContent struct {
	Request       stream.Wire
	RequestHeader map[string][]string // of the request, canonical names; nil if it was not seen, or is not kept
	Response      stream.Wire         // the body, decoded
	Sent          stream.Wire         // the response's bytes as sent, if they differ from Response
	Guess         string              // what an unknown response looks like

	chain       *coding.Chain // nil before the first bytes, and if there is nothing to decode
	broken      bool          // the codings can't be decoded any further
	bomb        bool          // because the body becomes too large
	trouble     error         // the reason, until it is reported
	gap         gaps          // bytes that were missed
	notes       []string      // notes on the exchange that wait for a turn
	glued       bool          // events arrived without blank lines between them
	framer      stream.Framer
	out         *protocol.Out // of the decoder
	decoder     protocol.Decoder
	closedTurns int                // at least this many turns, from the first on, are closed
	parts       exchangeParts      // parts that are evicted on their own
	frame       int32              // number of the frame being decoded
	details     details            // see maxDetails
	first       *firstJSONObject   // the object at the start of the body, while the framing is unknown
	sniffAt     int64              // size of the body at which framing is tried again
	pending     []pendingFrame     // frames that wait for a protocol
	waiting     int                // how many of them hold data
	suspect     *protocol.Protocol // the protocol that the last of them suggests, against path and header
	check       schemaCheck
	past        history
	requests    requestState
	onFrame     func(stream.Frame)
	onEvent     func(stream.Event)
}

// ensureContent gives an evicted exchange a content of its own, which may be modified.
func (x *Exchange) ensureContent() {
	if x.exchangeContent == &x.in.idle {
		x.setContent(new(exchangeContent))
		x.requests.sentAt = stream.NoTime
	}
}

// setContent makes c the content of the exchange, and the exchange the owner of the parts of c.
func (x *Exchange) setContent(c *exchangeContent) {
	x.exchangeContent = c
	c.gap.x, c.parts.x, c.details.x, c.check.x, c.past.x, c.requests.x = x, x, x, x, x, x
}

// freeBytes frees the bytes, and the state for reading them.
func (x *Exchange) freeBytes() {
	left := exchangeContent{Guess: x.Guess, gap: x.gap, notes: x.notes, parts: x.parts, requests: requestState{sentAt: stream.NoTime}}
	if x.exchangeContent = &x.in.idle; left.Guess != "" || left.gap.missed+left.gap.requestBytes > 0 || len(left.notes) > 0 || left.parts.turns > 0 {
		x.setContent(&left)
	}
	if !slices.ContainsFunc(x.times, func(at time.Duration) bool { return at != stream.NoTime }) {
		x.times = nil
	}
}

// freeAll frees everything but the row, for good.
func (x *Exchange) freeAll() {
	x.ensureContent()
	x.notes = nil
	x.freeBytes()
	head := *x.Head
	head.Header = nil
	x.Head = x.in.heads.intern(&head)
	x.dropped, x.from = true, stream.Location{}
}
