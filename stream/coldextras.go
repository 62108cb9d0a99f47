package stream

import (
	"slices"
	"sort"
)

// These functions evict payloads that can be restored: those that the row of the turn or call repeats,
// and usage. Invariant: if an event is marked as having a payload and has none, its turn is evicted and
// the payload is one of those.

// evictPayloads evicts the payloads of a turn's events that can be restored.
func (t *Timeline) evictPayloads(on *Turn) {
	for _, n := range on.blocks {
		b := &t.blocks[n]
		b.payloads = slices.DeleteFunc(b.payloads, func(x packedPayload) bool {
			i := int(x.event % blockEvents)
			if b.events.turnAt(i) != on.Number {
				return false
			}
			f := b.events.at(i)
			return on.canRestorePayload(&x, &f)
		})
		if len(b.payloads) < cap(b.payloads)/2 && b.events.packed != nil {
			b.payloads = slices.Clone(b.payloads)
		}
	}
}

// canRestorePayload reports whether the payload of an event of the turn can be restored.
func (t *Turn) canRestorePayload(x *packedPayload, f *packedEvent) bool {
	c := t.callByNumber(int32(f.call))
	if f.kindAndCode() == Finish && !x.timed && x.slot == AllChoices && x.what == nil && x.worded {
		return x.text == t.Finish
	}
	if x.timed || x.worded || x.reused != NoRef || c == nil && x.slot != 0 || c != nil && x.slot != c.Slot {
		return false
	}
	switch p := x.what.(type) {
	case *Usage:
		return p != nil
	case *Opening:
		return p != nil && *p == t.openingInfo()
	case *CallInfo:
		return p != nil && c != nil && *p == c.openingInfo()
	}
	return false
}

// openingInfo is the payload that the event that opened the turn may have had.
func (t *Turn) openingInfo() Opening {
	return Opening{ID: t.ID, Model: t.Model, Parent: t.Parent, Protocol: t.Protocol, Exchange: t.Exchange, Request: t.Request}
}

// openingInfo is the payload that the event that opened the call may have had.
func (c *Call) openingInfo() CallInfo {
	return CallInfo{
		ID: c.ID, Name: c.Name, Kind: c.Kind, RunByProvider: c.RunByProvider, Choice: c.Choice, Parent: c.Parent, MCPServer: c.MCPServer, Item: c.Item,
		Namespace: c.Namespace, Freeform: c.freeform, NullIsNone: c.nullNone, Discarded: c.Discarded, Copies: c.Copies, Signature: c.Signature,
	}
}

// payloadFromRow restores the payload of an event of an evicted turn from its rows, or returns nil.
func (t *Turn) payloadFromRow(kind EventKind, c *Call) Payload {
	switch {
	case kind == TurnOpen || kind == TurnMeta:
		p := t.openingInfo()
		return &p
	case c != nil && (kind == CallOpen || kind == CallMeta):
		p := c.openingInfo()
		return &p
	}
	return nil
}

// reloadPayloads restores the evicted payloads of a turn. Usage comes from the same turn in another
// timeline. It returns false if that has fewer usage events: it is not the same turn then.
func (t *Timeline) reloadPayloads(on *Turn, other *Timeline, again *Turn) bool {
	usage, lost := other.usagePayloads(again), t.lostPayloads(on)
	k := 0
	for i := range lost {
		if lost[i].kind == UsageEvent {
			k = lost[i].nth
		}
	}
	if k > len(usage) {
		return false
	}
	for _, l := range lost {
		x := packedPayload{event: l.event, slot: l.slot, reused: NoRef}
		switch l.kind {
		case UsageEvent:
			x.what = usage[l.nth-1]
		case Finish:
			x.slot, x.text, x.worded = AllChoices, on.Finish, true
		default:
			_, c := t.session.Find(Ref{on.Number, l.call})
			x.what = on.payloadFromRow(l.kind, c)
		}
		b := &t.blocks[l.event/blockEvents]
		at := sort.Search(len(b.payloads), func(i int) bool { return b.payloads[i].event >= l.event })
		b.payloads = slices.Insert(b.payloads, at, x)
	}
	return true
}

// lostPayload is an evicted payload of an event.
type lostPayload struct {
	event, call, slot int32
	kind              EventKind
	nth               int // number of usage events of the turn so far, from 1
}

// lostPayloads returns the events of a turn that are marked as having a payload and have none.
func (t *Timeline) lostPayloads(on *Turn) (lost []lostPayload) {
	counts := 0
	for _, n := range on.blocks {
		b := &t.blocks[n]
		for i := range b.events.n {
			if b.events.turnAt(i) != on.Number {
				continue
			}
			f := b.events.at(i)
			if f.kindAndCode() == UsageEvent {
				counts++
			}
			event := n*blockEvents + int32(i)
			if f.kind&hasPayload == 0 || b.packedPayloadOf(int(event)) != nil {
				continue
			}
			l := lostPayload{event: event, call: int32(f.call), kind: f.kindAndCode(), nth: counts}
			if c := on.callByNumber(l.call); c != nil {
				l.slot = c.Slot
			}
			lost = append(lost, l)
		}
	}
	return lost
}

// usagePayloads returns the usage payloads of a turn's events, in order.
func (t *Timeline) usagePayloads(on *Turn) (all []Payload) {
	for _, n := range on.blocks {
		b := &t.blocks[n]
		for i := range b.events.n {
			if b.events.turnAt(i) != on.Number {
				continue
			}
			if f := b.events.at(i); f.kindAndCode() == UsageEvent {
				var what Payload
				if x := b.packedPayloadOf(int(n)*blockEvents + i); x != nil {
					what = x.what
				}
				all = append(all, what)
			}
		}
	}
	return all
}
