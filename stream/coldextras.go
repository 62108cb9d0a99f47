package stream

import (
	"slices"
	"sort"
)

// What events say besides their texts is let go of with these: what the row of a turn or call says
// too, and counts of tokens. Invariant: of an event that is said to have something beside it and has
// not, the turn is cold, and it is one of those.

// coolExtras lets go of what stands beside the events of a turn.
func (t *Timeline) coolExtras(on *Turn) {
	for _, n := range on.blocks {
		b := &t.blocks[n]
		b.extra = slices.DeleteFunc(b.extra, func(x extra) bool {
			i := int(x.event % blockFacts)
			if b.facts.turn(i) != on.Number {
				return false
			}
			f := b.facts.at(i)
			return on.says(&x, &f)
		})
		if len(b.extra) < cap(b.extra)/2 && b.facts.packed != nil {
			b.extra = slices.Clone(b.extra)
		}
	}
}

// says reports whether all that stands beside an event of the turn can be had again.
func (t *Turn) says(x *extra, f *fact) bool {
	c := t.call(int32(f.call))
	if f.says() == Finish && !x.timed && x.slot == AllChoices && x.what == nil && x.worded {
		return x.text == t.Finish
	}
	if x.timed || x.worded || x.reused != NoRef || c == nil && x.slot != 0 || c != nil && x.slot != c.Slot {
		return false
	}
	switch p := x.what.(type) {
	case *Usage:
		return p != nil
	case *Opening:
		return p != nil && *p == t.opening()
	case *CallInfo:
		return p != nil && c != nil && *p == c.info()
	}
	return false
}

// opening is what an event may have said that opened the turn.
func (t *Turn) opening() Opening {
	return Opening{ID: t.ID, Model: t.Model, Parent: t.Parent, Dialect: t.Dialect, Exchange: t.Exchange, Ask: t.Ask}
}

// info is what an event may have said that opened the call.
func (c *Call) info() CallInfo {
	return CallInfo{
		ID: c.ID, Name: c.Name, Kind: c.Kind, Server: c.Server, Choice: c.Choice, Parent: c.Parent, Host: c.Host, Item: c.Item,
		Space: c.Space, Freeform: c.freeform, NullIsNone: c.nullNone, Attempt: c.Attempt, Copies: c.Copies, Signature: c.Signature,
	}
}

// rowSays is what stood beside an event of a cold turn, as far as the rows say it too.
func (t *Turn) rowSays(kind EventKind, c *Call) Payload {
	switch {
	case kind == TurnOpen || kind == TurnMeta:
		p := t.opening()
		return &p
	case c != nil && (kind == CallOpen || kind == CallMeta):
		p := c.info()
		return &p
	}
	return nil
}

// warmExtras puts beside the events of a turn what was let go of. The counts of tokens are those of
// the same turn in another timeline, which says as often how many there were: else it is not the
// same.
func (t *Timeline) warmExtras(on *Turn, other *Timeline, again *Turn) bool {
	usage, lost := other.usageOf(again), t.lostOf(on)
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
		x := extra{event: l.event, slot: l.slot, reused: NoRef}
		switch l.kind {
		case UsageEvent:
			x.what = usage[l.nth-1]
		case Finish:
			x.slot, x.text, x.worded = AllChoices, on.Finish, true
		default:
			_, c := t.session.Find(Ref{on.Number, l.call})
			x.what = on.rowSays(l.kind, c)
		}
		b := &t.blocks[l.event/blockFacts]
		at := sort.Search(len(b.extra), func(i int) bool { return b.extra[i].event >= l.event })
		b.extra = slices.Insert(b.extra, at, x)
	}
	return true
}

// lostExtra is something that stood beside an event.
type lostExtra struct {
	event, call, slot int32
	kind              EventKind
	nth               int // of the events of its kind of the turn, from 1
}

// lostOf are the events of a turn that are said to have something beside them and have not.
func (t *Timeline) lostOf(on *Turn) (lost []lostExtra) {
	counts := 0
	for _, n := range on.blocks {
		b := &t.blocks[n]
		for i := range b.facts.n {
			if b.facts.turn(i) != on.Number {
				continue
			}
			f := b.facts.at(i)
			if f.says() == UsageEvent {
				counts++
			}
			event := n*blockFacts + int32(i)
			if f.kind&hasExtra == 0 || b.extraOf(int(event)) != nil {
				continue
			}
			l := lostExtra{event: event, call: int32(f.call), kind: f.says(), nth: counts}
			if c := on.call(l.call); c != nil {
				l.slot = c.Slot
			}
			lost = append(lost, l)
		}
	}
	return lost
}

// usageOf are the counts that the events of a turn say, in their order.
func (t *Timeline) usageOf(on *Turn) (all []Payload) {
	for _, n := range on.blocks {
		b := &t.blocks[n]
		for i := range b.facts.n {
			if b.facts.turn(i) != on.Number {
				continue
			}
			if f := b.facts.at(i); f.says() == UsageEvent {
				var what Payload
				if x := b.extraOf(int(n)*blockFacts + i); x != nil {
					what = x.what
				}
				all = append(all, what)
			}
		}
	}
	return all
}
