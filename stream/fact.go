package stream

import (
	"sort"
	"strings"
	"time"
)

// packedEvent is an event as it is kept. Its text is a part of the arguments of its call or of the text of
// its turn, and its slot that of its call. What else it says, and what does not fit, is beside it:
// see extra.
type packedEvent struct {
	turn, frame int32
	at          uint32 // microseconds since the base of its block, plus zeroTime; or noTime
	call        uint16 // the number of its call, 0 for none
	kind        EventKind
	code        Code
}

// Bits of fact.kind.
const (
	hasPayload  EventKind = 0x80
	hasWireForm EventKind = 0x40
)

// kindAndCode is what the event says.
func (f *packedEvent) kindAndCode() EventKind { return f.kind &^ (hasPayload | hasWireForm) }

const (
	zeroTime = 1 << 31
	noTime   = 0
)

// packedPayload is what an event says that has no room in its fact.
type packedPayload struct {
	event  int32
	slot   int32
	timed  bool // at counts, not the fact's
	worded bool // text counts, not the call's or the turn's
	at     time.Duration
	text   string
	what   Payload
	reused Ref // see Session.reused
}

// eventBlock is where some facts in a row are kept.
type eventBlock struct {
	base     time.Duration   // the first time there is among them, NoTime before
	events   packedEvents    // none once they were let go of
	payloads []packedPayload // in the order of the events
	forms    *wireForms
	turns    int32 // how many turns that were not dropped have facts among them
}

const blockEvents = 1024

// packTime is a time as a fact has it; false if none can.
func (b *eventBlock) packTime(at time.Duration) (uint32, bool) {
	if at == NoTime {
		return noTime, true
	}
	if b.base == NoTime {
		b.base = at
	}
	since := (at - b.base) / time.Microsecond
	if b.base+since*time.Microsecond != at || since <= -zeroTime || since >= zeroTime {
		return 0, false
	}
	return uint32(int64(since) + zeroTime), true
}

// unpackTime is what clock was given.
func (b *eventBlock) unpackTime(at uint32) time.Duration {
	if at == noTime {
		return NoTime
	}
	return b.base + time.Duration(int64(at)-zeroTime)*time.Microsecond
}

// openBlock is the block that the next fact goes into.
func (t *Timeline) openBlock() *eventBlock {
	var spare []packedEvent // at first it grows
	if n := len(t.blocks); n > 0 {
		last := &t.blocks[n-1]
		if last.events.n < blockEvents {
			return last
		}
		spare = last.close()
	}
	t.blocks = append(t.blocks, eventBlock{base: NoTime, events: packedEvents{open: spare}})
	return &t.blocks[len(t.blocks)-1]
}

// storeEvent keeps an event that was applied.
func (t *Timeline) storeEvent(e *Event) {
	b, s := t.openBlock(), &t.session
	at, fits := b.packTime(e.At)
	f := packedEvent{turn: e.Turn, frame: e.Frame, at: at, kind: e.Kind, code: e.Code}
	c := s.about
	if c != nil && c.Number >= 1<<16 {
		c = nil
	}
	slot, reused := int32(0), NoRef
	if c != nil {
		f.call, slot = uint16(c.Number), c.Slot
	}
	if e.Kind == CallOpen || e.Kind == CallMeta {
		reused = s.reused
	}
	worded := e.Text != "" && !s.keepsText(e, c)
	what := e.What
	if from, ok := what.(*WireForm); ok && from != nil {
		b.storeForm(from.Wire, e.Text)
		f.kind |= hasWireForm
		what = nil
	}
	if !fits || worded || what != nil || reused != NoRef || e.Slot != 0 && e.Slot != slot {
		f.kind |= hasPayload
		x := packedPayload{event: int32(s.events - 1), slot: e.Slot, at: e.At, what: what, reused: reused, timed: !fits, worded: worded}
		if worded {
			x.text = strings.Clone(e.Text)
		}
		b.payloads = append(b.payloads, x)
	}
	b.events.add(f)
	if on, last := s.on, int32(len(t.blocks)-1); on != nil && on.Retention != Dropped && (len(on.blocks) == 0 || on.blocks[len(on.blocks)-1] != last) {
		on.blocks = append(on.blocks, last)
		b.turns++
	}
}

// keepsText reports whether the call or turn of the event that was applied last has its text. Half a
// character may still move.
func (s *Session) keepsText(e *Event, c *Call) bool {
	n := int32(s.events - 1)
	if e.Kind == Args && c != nil && c.deltas.n > 0 && c.deltas.at(c.deltas.n-1).Event == n {
		return c.exact
	}
	text, stands := textOf(e.Kind, s.on, c, n, nil)
	return stands && string(text) == e.Text && (c == nil || c.half == "")
}

// packedPayloadOf is what is beside event n, nil where that was let go of.
func (b *eventBlock) packedPayloadOf(n int) *packedPayload {
	i := sort.Search(len(b.payloads), func(i int) bool { return int(b.payloads[i].event) >= n })
	if i == len(b.payloads) || int(b.payloads[i].event) != n {
		return nil
	}
	return &b.payloads[i]
}

// storeForm keeps the wire's own form of the next fact.
func (b *eventBlock) storeForm(wire, text string) {
	if b.forms == nil {
		b.forms = &wireForms{packed: make([]byte, 0, 2*blockEvents)}
	}
	b.forms.add(b.events.n, wire, text)
}

// close says that no fact is added any more. It returns room for those of the next block.
func (b *eventBlock) close() (spare []packedEvent) {
	if b.forms != nil {
		b.forms.close()
	}
	spare = b.events.packOpen()
	b.evictIfUnused()
	return spare
}

// evictIfUnused frees the block if it is full and nobody is kept of whom it tells.
func (b *eventBlock) evictIfUnused() {
	if b.turns == 0 && b.events.packed != nil {
		b.events, b.payloads, b.forms = packedEvents{}, nil, nil
	}
}

// textOf is the text of event n, where its call or turn keeps it. For a session that is folded
// again it is what comes next.
func textOf(kind EventKind, on *Turn, c *Call, n int32, again *Session) (text []byte, found bool) {
	switch {
	case on == nil:
	case kind == TextDelta:
		return on.text.textOf(n)
	case kind == ThinkDelta:
		return on.thinking.textOf(n)
	case c != nil && (kind == Args || kind == Rewrite):
		guess := c.deltas.n - 1
		if _, then := again.Find(c.Ref()); then != nil {
			guess = then.deltas.n
		}
		return c.textOf(n, guess)
	}
	return nil, false
}

// textOf is what event n brought.
func (s *eventText) textOf(n int32) (text []byte, found bool) {
	i := deltaOf(&s.deltas, n, s.deltas.n-1)
	if i < 0 {
		return nil, false
	}
	start := uint32(0)
	if i > 0 {
		start = s.deltas.at(i - 1).End
	}
	return s.text.s[start:s.deltas.at(i).End], true
}

// textOf is the arguments that event n brought, on whatever page they stand.
func (c *Call) textOf(n int32, guess int) (text []byte, found bool) {
	i := deltaOf(&c.deltas, n, guess)
	if i < 0 {
		return nil, false
	}
	p := c.argsState()
	if i < p.from {
		p = c.savedArgs[sort.Search(len(c.savedArgs), func(k int) bool { return c.savedArgs[k].deltas.n > i })]
	}
	start := uint32(0)
	if i > p.from {
		start = p.deltas.at(i - 1).End
	}
	return p.args.s[start:p.deltas.at(i).End], true
}
