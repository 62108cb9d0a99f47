package stream

import (
	"bytes"
	"math/bits"
	"slices"
	"sort"
	"strings"
	"time"

	"toolscope/stream/list"
)

// packedEvent is an event as it is stored. Its text is part of the arguments of its call, or of the text of its
// turn. Its slot is the slot of its call. Payloads, and values that don't fit, are in a packedPayload.
type packedEvent struct {
	turn, frame int32
	at          uint32 // microseconds since the base of its block, plus zeroTime; or noTime
	call        uint16 // number of its call, 0 for none
	kind        EventKind
	code        Code
}

// Bits of packedEvent.kind.
const (
	hasPayload  EventKind = 0x80
	hasWireForm EventKind = 0x40
)

// kindAndCode returns the event's kind without the flags.
func (f *packedEvent) kindAndCode() EventKind { return f.kind &^ (hasPayload | hasWireForm) }

const (
	zeroTime = 1 << 31
	noTime   = 0
)

// packedPayload is the part of an event that doesn't fit in its packedEvent.
type packedPayload struct {
	event  int32
	slot   int32
	timed  bool // the field at replaces the packed event's time
	worded bool // the field text replaces the text that the call or turn keeps
	at     time.Duration
	text   string
	what   Payload
	reused Ref // see Session.reused
}

// eventBlock stores consecutive events.
type eventBlock struct {
	base     time.Duration   // the first known time in the block; NoTime until there is one
	events   packedEvents    // empty once evicted
	payloads []packedPayload // payloads of these events, in their order
	forms    *wireForms
	turns    int32 // number of turns that have events in the block and were not dropped
}

const blockEvents = 1024

// packTime returns a time in packed form. It returns false if the time doesn't fit.
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

// unpackTime returns the time that packTime packed.
func (b *eventBlock) unpackTime(at uint32) time.Duration {
	if at == noTime {
		return NoTime
	}
	return b.base + time.Duration(int64(at)-zeroTime)*time.Microsecond
}

// openBlock returns the block for the next event: the last one, or a new one if that is full.
func (t *Timeline) openBlock() *eventBlock {
	var spare []packedEvent // the first block starts small and grows
	var payloads []packedPayload
	if n := len(t.blocks); n > 0 {
		last := &t.blocks[n-1]
		if last.events.n < blockEvents {
			return last
		}
		payloads = make([]packedPayload, 0, len(last.payloads)) // blocks have similar events
		spare = last.close()
	}
	t.blocks = append(t.blocks, eventBlock{base: NoTime, events: packedEvents{open: spare}, payloads: payloads})
	return &t.blocks[len(t.blocks)-1]
}

// storeEvent stores an event that was applied.
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

// keepsText reports whether the call or turn of the last applied event keeps the event's text. It returns false for
// text that ends in half a character, because that half may move to the next delta.
func (s *Session) keepsText(e *Event, c *Call) bool {
	n := int32(s.events - 1)
	if e.Kind == Args && c != nil && c.deltas.Len() > 0 && c.deltas.At(c.deltas.Len()-1).Event == n {
		return c.exact
	}
	text, stands := textOf(e.Kind, s.on, c, n, nil)
	return stands && string(text) == e.Text && (c == nil || c.half == "")
}

// packedPayloadOf returns the packed payload of event n. It returns nil if the event has none, or if the payload was
// evicted.
func (b *eventBlock) packedPayloadOf(n int) *packedPayload {
	i := sort.Search(len(b.payloads), func(i int) bool { return int(b.payloads[i].event) >= n })
	if i == len(b.payloads) || int(b.payloads[i].event) != n {
		return nil
	}
	return &b.payloads[i]
}

// storeForm stores the wire form of the next event.
func (b *eventBlock) storeForm(wire, text string) {
	if b.forms == nil {
		b.forms = &wireForms{packed: make([]byte, 0, 2*blockEvents)}
	}
	b.forms.add(b.events.n, wire, text)
}

// close packs the block once it is full. It returns memory for the next block to reuse.
func (b *eventBlock) close() (spare []packedEvent) {
	if o := b.forms; o != nil {
		o.packed, o.head, o.tail = bytes.Clone(o.packed), nil, nil // without spare capacity
	}
	spare = b.events.packOpen()
	b.evictIfUnused()
	return spare
}

// evictIfUnused frees the block if it is full and all turns in it were dropped.
func (b *eventBlock) evictIfUnused() {
	if b.turns == 0 && b.events.packed != nil {
		b.events, b.payloads, b.forms = packedEvents{}, nil, nil
	}
}

// textOf returns the text of event n, if its call or turn keeps the text. The parameter again is a session that is
// being folded again, or nil. The next delta of the call in that session is usually the one with the text, so it is
// tried first.
func textOf(kind EventKind, on *Turn, c *Call, n int32, again *Session) (text []byte, found bool) {
	switch {
	case on == nil:
	case kind == TextDelta:
		return on.text.textOf(n)
	case kind == ThinkDelta:
		return on.thinking.textOf(n)
	case c != nil && (kind == Args || kind == Rewrite):
		guess := c.deltas.Len() - 1
		if _, then := again.Find(c.Ref()); then != nil {
			guess = then.deltas.Len()
		}
		return c.textOf(n, guess)
	}
	return nil, false
}

// textOf returns the text that event n added. The result found is false if the event added none.
func (s *eventText) textOf(n int32) (text []byte, found bool) {
	i := deltaOf(&s.deltas, n, s.deltas.Len()-1)
	if i < 0 {
		return nil, false
	}
	start := uint32(0)
	if i > 0 {
		start = s.deltas.At(i - 1).End
	}
	return s.text.s[start:s.deltas.At(i).End], true
}

// textOf returns the arguments that event n added, even if they have been replaced since. The result found is false
// if the event added none. The parameter guess is the likely number of the delta.
func (c *Call) textOf(n int32, guess int) (text []byte, found bool) {
	i := deltaOf(&c.deltas, n, guess)
	if i < 0 {
		return nil, false
	}
	p := c.argsState()
	if i < p.from {
		p = c.savedArgs[sort.Search(len(c.savedArgs), func(k int) bool { return c.savedArgs[k].deltas.Len() > i })]
	}
	start := uint32(0)
	if i > p.from {
		start = p.deltas.At(i - 1).End
	}
	return p.args.s[start:p.deltas.At(i).End], true
}

// packedEvents are consecutive events. Once the list is full, each event is stored in as few bits as this list
// needs. For each field, the difference from the field's smallest value is stored.
type packedEvents struct {
	open   []packedEvent // nil once the list is full
	n      int
	packed []uint64
	least  [eventFields]uint32
	wide   [eventFields]uint8
	from   [eventFields]uint8 // first bit of each field
	each   int                // bits of one packed event
}

// Fields of a packed event, in the order of packedEvent.fieldValues.
const (
	turnField = iota
	frameField
	timeField
	callField
	kindField
	codeField
	eventFields
)

// fieldValues returns the fields as numbers. It adds 1 to a field that may be -1.
func (f *packedEvent) fieldValues() [eventFields]uint32 {
	return [...]uint32{uint32(f.turn + 1), uint32(f.frame + 1), f.at, uint32(f.call), uint32(f.kind), uint32(f.code)}
}

func (l *packedEvents) add(f packedEvent) {
	l.open = append(l.open, f)
	l.n++
}

// at returns event i, 0 ≤ i < n.
func (l *packedEvents) at(i int) packedEvent {
	if l.packed == nil {
		return l.open[i]
	}
	return packedEvent{
		turn: int32(l.fieldAt(i, turnField)) - 1, frame: int32(l.fieldAt(i, frameField)) - 1, at: l.fieldAt(i, timeField),
		call: uint16(l.fieldAt(i, callField)), kind: EventKind(l.fieldAt(i, kindField)), code: Code(l.fieldAt(i, codeField)),
	}
}

// kindAndTimeAt returns two fields of event i, as in packedEvent.
func (l *packedEvents) kindAndTimeAt(i int) (kind EventKind, at uint32) {
	if l.packed == nil {
		return l.open[i].kind, l.open[i].at
	}
	return EventKind(l.fieldAt(i, kindField)), l.fieldAt(i, timeField)
}

// subjectAt returns the kind of event i without the flags, and its turn and call.
func (l *packedEvents) subjectAt(i int) (EventKind, Ref) {
	if l.packed == nil {
		f := &l.open[i]
		return f.kindAndCode(), Ref{f.turn, int32(f.call)}
	}
	kind := EventKind(l.fieldAt(i, kindField)) &^ (hasPayload | hasWireForm)
	return kind, Ref{int32(l.fieldAt(i, turnField)) - 1, int32(l.fieldAt(i, callField))}
}

// turnAt returns the turn of event i.
func (l *packedEvents) turnAt(i int) int32 {
	if l.packed == nil {
		return l.open[i].turn
	}
	return int32(l.fieldAt(i, turnField)) - 1
}

// fieldAt returns one field of event i, after the list is full.
func (l *packedEvents) fieldAt(i, k int) uint32 {
	return l.least[k] + l.readBits(i*l.each+int(l.from[k]), l.wide[k])
}

// readBits returns the number at a bit position. The parameter wide is its width in bits.
func (l *packedEvents) readBits(at int, wide uint8) uint32 {
	word, from := at/64, at%64
	v := l.packed[word] >> from
	if from+int(wide) > 64 {
		v |= l.packed[word+1] << (64 - from)
	}
	return uint32(v & (1<<wide - 1))
}

// packOpen packs the list once it is full. It returns the memory of the unpacked list for reuse.
func (l *packedEvents) packOpen() (spare []packedEvent) {
	l.measureFields()
	l.packed = make([]uint64, 0, l.n*l.each/64+1)
	word, filled := uint64(0), 0
	for i := range l.open {
		v := l.open[i].fieldValues()
		for k, wide := range l.wide {
			if wide == 0 {
				continue // the field has the same value in the complete block
			}
			more := uint64(v[k] - l.least[k])
			word |= more << filled
			if filled += int(wide); filled >= 64 {
				l.packed = append(l.packed, word)
				filled -= 64
				word = more >> (int(wide) - filled)
			}
		}
	}
	l.packed = append(l.packed, word)
	spare, l.open = l.open[:0], nil
	return spare
}

// measureFields finds the smallest value of each field, and how many bits the differences from it need.
func (l *packedEvents) measureFields() {
	l.least = l.open[0].fieldValues()
	most := l.least
	for i := range l.open {
		v := l.open[i].fieldValues()
		for k := range v {
			l.least[k], most[k] = min(l.least[k], v[k]), max(most[k], v[k])
		}
	}
	l.each = 0
	for k := range most {
		l.from[k], l.wide[k] = uint8(l.each), uint8(bits.Len32(most[k]-l.least[k]))
		l.each += int(l.wide[k])
	}
}

// Arena stores many short strings in few allocations. The zero value is ready to use.
type Arena struct{ b *strings.Builder }

// Bounds of a block's size. Each block is twice as large as the previous one, within these bounds. The first
// block is small because a session may have thousands of short exchanges, each with an arena.
const (
	minBlock = 1 << 10
	maxBlock = 64 << 10
)

// StringOf returns a copy of p as a string.
func (a *Arena) StringOf(p []byte) string {
	if len(p) == 0 {
		return ""
	}
	if a.b == nil || a.b.Cap()-a.b.Len() < len(p) {
		size := minBlock
		if a.b != nil {
			size = min(max(2*a.b.Cap(), size), maxBlock)
		}
		a.b = new(strings.Builder)
		a.b.Grow(max(size, len(p)))
	}
	n := a.b.Len()
	a.b.Write(p)
	return a.b.String()[n:]
}

// withRoomFor returns s with room for n more elements. A long slice doubles its size, while append would add a
// quarter. So each byte is copied about once instead of four times, and memory is requested less often.
func withRoomFor[T any](s []T, n int) []T {
	if len(s)+n > cap(s) && len(s) > 1<<14 {
		return append(make([]T, 0, len(s)+max(n, len(s))), s...) // unlike slices.Grow, this leaves new pages untouched
	}
	return s
}

// appendText is text that only grows. Bytes in it never change: see list.List. The zero value is ready to use.
type appendText struct {
	s    []byte
	past bool // the next bytes are already in s, up to its capacity
}

// prefixTo returns the text as it was when it had n bytes.
func (t appendText) prefixTo(n int) appendText {
	n = min(n, len(t.s))
	return appendText{t.s[:n:len(t.s)], true}
}

func (t *appendText) add(more string) {
	switch n := len(t.s) + len(more); {
	case t.past && n <= cap(t.s):
		t.s = t.s[:n]
	case t.past:
		*t = appendText{s: append(slices.Clip(t.s), more...)}
	default:
		t.s = append(withRoomFor(t.s, len(more)), more...)
	}
}

// freeSpare frees spare capacity once no more text is expected.
func (t *appendText) freeSpare() {
	if spare := cap(t.s) - len(t.s); !t.past && spare > len(t.s)/8 && spare > 1<<10 {
		t.s = append(make([]byte, 0, len(t.s)), t.s...)
	}
}

// eventText is text that only grows, with the range of bytes that each event added.
type eventText struct {
	text   appendText
	deltas list.List[Delta]
}

// add appends the text of an event. It returns the complete text.
func (s *eventText) add(text string, event int) []byte {
	s.text.add(text)
	s.deltas.Add(Delta{uint32(len(s.text.s)), int32(event)})
	return s.text.s
}

func (s *eventText) freeSpare() {
	s.text.freeSpare()
	s.deltas.FreeSpare()
}
