package providers

import (
	"fmt"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// noteLocation extends the exchange's location by that of a record.
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

// location returns where the source has the exchange: nowhere if a part of it has no location.
func (x *Exchange) location() stream.Location {
	if x.passing {
		return stream.Location{}
	}
	return x.from
}

// Rereadable reports whether the exchange has ended and can be read again from its source. Then its
// bytes need not be kept.
func (x *Exchange) Rereadable() bool { return x.Ended && x.location().Source != nil }

// rereadAlone reads a rereadable exchange again, in the same way, into an inspector of its own. Other
// exchanges don't affect how an exchange is read. In the new inspector, turns count from 0 in the same
// order. Its events are the same, except for those that other exchanges cause: SentBack, Ran, the
// conversation of a turn, and their findings. Its session may differ in one point that needs the other
// exchanges: which calls have the id of another (IDDup, IDDupAcrossTurns). Tools that an earlier
// request of the conversation declared are unknown.
func (in *Inspector) rereadAlone(x *Exchange) (*Inspector, error) {
	if !x.Rereadable() {
		return nil, fmt.Errorf("exchange %d was not read from a file", x.Number)
	}
	return readAgain(x.from, x.Number, in.Request, in.readsAs(x))
}

// readsAs returns the protocol that was forced on an exchange, or nil.
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
