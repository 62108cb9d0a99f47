package providers

import (
	"fmt"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// noteLocation notes where a record of the exchange stands.
func (x *Exchange) noteLocation(p stream.Location) {
	switch {
	case p.Source == nil || x.from.Source != nil && x.from.Source != p.Source:
		x.passing = true
	case x.from.Source == nil:
		x.from = p
	default:
		x.from.Start, x.from.End = min(x.from.Start, p.Start), max(x.from.End, p.End)
	}
}

// location is where the exchange stands, nowhere if some of it does.
func (x *Exchange) location() stream.Location {
	if x.passing {
		return stream.Location{}
	}
	return x.from
}

// Rereadable reports whether the exchange has ended and can be read again from where it came from:
// its bytes need not be kept.
func (x *Exchange) Rereadable() bool { return x.Ended && x.location().Source != nil }

// rereadAlone reads an exchange that is rereadable once more, into an inspector of its own, and as it was
// read at first: what else the other inspector knows has no part in how an exchange is read. Turns
// count from 0 in the new one, in the same order, and it makes the same events of them, except for
// those that other exchanges bring: SentBack, Ran, whose lane a turn is in, and what is found of that. One
// thing needs the other exchanges when events are folded, and so may differ in its session: which
// calls have the id of another (IDDup, IDDupAcrossTurns). And of tools that a request before declared,
// which this one goes on from, nothing is known.
func (in *Inspector) rereadAlone(x *Exchange) (*Inspector, error) {
	if !x.Rereadable() {
		return nil, fmt.Errorf("exchange %d did not come from a file", x.Number)
	}
	return readAgain(x.from, x.Number, in.Request, in.readsAs(x))
}

// readsAs is the dialect that was forced on an exchange, or nil.
func (in *Inspector) readsAs(x *Exchange) *protocol.Protocol {
	if x.Why == forcedReason {
		return x.Protocol
	}
	return nil
}

// readAgain reads one exchange into an inspector of its own, which shares nothing with others.
func readAgain(from stream.Location, number int, request []byte, as *protocol.Protocol) (*Inspector, error) {
	fresh := &Inspector{Request: request, forced: as, alone: true}
	err := from.Source.Again(number, from.Start, from.End, fresh.Write)
	fresh.Close()
	return fresh, err
}
