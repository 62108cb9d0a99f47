package stream

import (
	"encoding/binary"
	"slices"
	"sort"

	"toolscope/stream/json"
	"toolscope/stream/list"
)

// Retention says how much of a turn is kept. Sessions share content without copying. So after a turn's
// retention changes, past sessions that were made before the change must not be used any more.
type Retention uint8

const (
	InMemory Retention = iota
	Evicted            // the arguments and texts were freed and can be reloaded: see Timeline.Reload
	Dropped            // only a row is left: the facts about the turn itself, and the counts of its calls
)

// Drop frees all of a turn except its row.
func (t *Timeline) Drop(number int32) {
	on := t.session.Turn(number)
	if on == nil || on.Retention == Dropped {
		return
	}
	for _, n := range on.blocks {
		b := &t.blocks[n]
		for i := range b.payloads {
			if x := &b.payloads[i]; b.events.turnAt(int(x.event%blockEvents)) == number {
				x.what, x.text = nil, ""
			}
		}
		b.turns--
		b.evictIfUnused()
	}
	on.dropContent()
	t.retentionChanges++
}

func (t *Turn) dropContent() {
	row := Turn{
		Number: t.Number, Exchange: t.Exchange, Protocol: t.Protocol, ID: t.ID, Model: t.Model, Parent: t.Parent, Request: t.Request,
		Usage: t.Usage, Failure: t.Failure, Refusal: t.Refusal, FromHistory: t.FromHistory, Shown: t.Shown, OpenedBy: t.OpenedBy, Missed: t.Missed, Retention: Dropped, OpenedAt: t.OpenedAt, FirstFrame: t.FirstFrame,
		turnState: t.turnState, gaps: t.gaps, session: t.session, changeStamp: t.changeStamp, snapshotEra: t.snapshotEra, turnContent: t.session.emptyContent(),
	}
	row.lastArgs = 0
	if len(t.Calls) > 0 {
		row.droppedCounts = new([NumStatus]int32)
	}
	for _, c := range t.Calls {
		row.droppedCounts[c.Status()]++
	}
	*t = row
}

// Memory returns roughly how many bytes of memory the turn uses, or 0 for a dropped turn.
func (t *Turn) Memory() int {
	if t.Retention == Dropped {
		return 0
	}
	n := turnSize + t.Events*eventSize + t.text.memorySize() + t.thinking.memorySize() + 64*len(t.Parts)
	for _, c := range t.Calls {
		n += callSize + cap(c.args.s) + 8*(c.deltas.Len()+c.lex.Ended().Len())
		for i := range c.SentBack {
			n += len(c.SentBack[i].Result.Text)
		}
	}
	return n
}

const eventSize = 24 // approximate size of an event in bytes, including its share of the payloads

func (s *eventText) memorySize() int { return cap(s.text.s) + 8*s.deltas.Len() }

// TrimRows removes dropped turns from the beginning of Turns until no more than the given number of turns is left. It
// stops at the first turn that is not dropped.
func (t *Timeline) TrimRows(rows int) {
	s := &t.session
	for len(s.Turns) > rows && s.Turns[0].Retention == Dropped {
		delete(s.index.odd, s.Turns[0].Number)
		s.Turns[0] = nil
		s.Turns = s.Turns[1:]
		s.trimmedTurns++
		t.retentionChanges++
	}
}

// TrimmedTurns returns the number of turns that were removed from the beginning of Turns.
func (s *Session) TrimmedTurns() int { return s.trimmedTurns }

// emptyContent returns the content that evicted and dropped turns share.
func (s *Session) emptyContent() *turnContent {
	s.noContent.shared, s.noWriting.shared = true, true
	return &s.noContent
}

// evictedCall is the part of a call's content that is kept while its turn is evicted.
type evictedCall struct {
	size, deltas int32
	syntax       json.Syntax
	rest         string // see callContent.packRuns
}

// Evict frees the arguments, the texts and the tool results of a turn, if it is in memory.
func (t *Timeline) Evict(number int32) {
	on := t.session.Turn(number)
	if on == nil || on.Retention != InMemory {
		return
	}
	t.retentionChanges++
	on.Retention, on.before = Evicted, nil
	on.evictedTextLens = [2]int32{int32(len(on.Text)), int32(len(on.Thinking))}
	on.turnContent = t.session.emptyContent()
	// Free the texts of the tool results. Their sizes are kept.
	for _, n := range on.blocks {
		for i := range t.blocks[n].payloads {
			x := &t.blocks[n].payloads[i]
			if r, ok := x.what.(*SentBackReport); ok && r.Result.Text != "" && t.blocks[n].events.turnAt(int(x.event%blockEvents)) == on.Number {
				rest := *r
				rest.Result.Text = ""
				x.what = &rest
			}
		}
	}
	for _, c := range on.Calls {
		for i := range c.SentBack {
			c.SentBack[i].Result.Text = ""
		}
	}
	// Evict the payloads that can be restored.
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
	for _, c := range on.Calls {
		c.evicted = &evictedCall{size: int32(len(c.args.s)), deltas: int32(c.deltas.Len()), syntax: c.Syntax(), rest: c.packRuns(c.OpenedBy)}
		c.before, c.callContent = nil, &t.session.noWriting
	}
}

// Reload restores the content of an evicted turn from other, another timeline of the same bytes. The parameter as is
// the turn's number in that timeline, which must not be used afterwards. Reload returns false if the turn is not
// evicted, or if the two turns differ.
func (t *Timeline) Reload(number int32, other *Timeline, as int32) bool {
	on, again := t.session.Turn(number), other.session.Turn(as)
	if on == nil || again == nil || on.Retention != Evicted || !again.hasSameSizes(on) {
		return false
	}
	ours, theirs := t.textEvents(on), other.textEvents(again)
	if len(ours) != len(theirs) || !t.reloadPayloads(on, other, again) {
		return false
	}
	events := make(map[int32]int32, len(ours)) // maps event numbers of other to event numbers of t
	for i, n := range theirs {
		events[n] = ours[i]
	}
	on.ensureContent()
	on.text, on.thinking = again.text.withEventNumbers(events), again.thinking.withEventNumbers(events)
	on.Text, on.Thinking, on.Parts = on.text.text.s, on.thinking.text.s, again.Parts
	for i, c := range on.Calls {
		c.reloadFrom(again.Calls[i], events)
		c.changeStamp = t.session.currentStamp()
	}
	t.retentionChanges++
	on.Retention, on.changeStamp, on.snapshotEra = InMemory, t.session.currentStamp(), t.session.era
	return true
}

// reloadFrom restores the content of a call of an evicted turn from the same call in another timeline.
func (c *Call) reloadFrom(from *Call, events map[int32]int32) {
	own := *from.callContent
	own.unpackRuns(c.evicted.rest, c.OpenedBy)
	own.diagnoses = nil
	for i := range c.Findings {
		own.noteFinding(&c.Findings[i])
	}
	own.savedArgs = nil
	for _, p := range from.savedArgs {
		own.savedArgs = append(own.savedArgs, p.withEventNumbers(events))
	}
	c.callContent, c.evicted = &own, nil
	p := from.argsState().withEventNumbers(events)
	c.args, c.deltas, *c.lex.Ended(), c.from = p.args, p.deltas, p.toks, p.from
}

// hasSameSizes reports whether the turn t has as much text as the evicted turn cold had, and calls with the same
// names, numbers of bytes and numbers of deltas.
func (t *Turn) hasSameSizes(cold *Turn) bool {
	if len(t.Calls) != len(cold.Calls) || cold.evictedTextLens != [2]int32{int32(len(t.Text)), int32(len(t.Thinking))} {
		return false
	}
	for i, c := range cold.Calls {
		if of := t.Calls[i]; len(of.args.s) != int(c.evicted.size) || of.deltas.Len() != int(c.evicted.deltas) || of.Name != c.Name {
			return false
		}
	}
	return true
}

// textEvents returns the numbers of the events that added text to a turn.
func (t *Timeline) textEvents(on *Turn) (events []int32) {
	for _, b := range on.blocks {
		list := &t.blocks[b].events
		for i := range list.n {
			if list.turnAt(i) != on.Number {
				continue
			}
			switch f := list.at(i); f.kindAndCode() {
			case Args, Rewrite, TextDelta, ThinkDelta:
				events = append(events, b*blockEvents+int32(i))
			}
		}
	}
	return events
}

func (s eventText) withEventNumbers(events map[int32]int32) eventText {
	return eventText{s.text, withEventNumbers(&s.deltas, events)}
}

func (p argsState) withEventNumbers(events map[int32]int32) argsState {
	p.deltas = withEventNumbers(&p.deltas, events)
	return p
}

// withEventNumbers returns the deltas, with each event number replaced by the one to which events maps it.
func withEventNumbers(deltas *list.List[Delta], events map[int32]int32) (out list.List[Delta]) {
	for i := range deltas.Len() {
		d := deltas.At(i)
		out.Add(Delta{d.End, events[d.Event]})
	}
	return out
}

// packRuns packs into few bytes the state that an evicted call needs to restore its runs. Event numbers are relative
// to the event from.
func (w *callContent) packRuns(from int32) string {
	var room [(3 + NumRunRules*5) * binary.MaxVarintLen32]byte
	p := binary.AppendVarint(room[:0], int64(w.argsFrame))
	p = binary.AppendVarint(p, int64(w.argsFrom-from))
	p = binary.AppendVarint(p, int64(w.repeated-from))
	for x, r := range w.runs {
		if r != (ruleRunState{}) {
			p = append(p, byte(x))
			p = binary.AppendVarint(p, int64(r.event-from))
			p = binary.AppendUvarint(p, uint64(r.bytes))
			p = binary.AppendUvarint(p, uint64(r.docs))
			p = binary.AppendUvarint(p, uint64(r.made))
		}
	}
	return string(p)
}

// unpackRuns restores the state that packRuns packed with the same value of from.
func (w *callContent) unpackRuns(packed string, from int32) {
	p := []byte(packed)
	signed := func() int32 {
		v, n := binary.Varint(p)
		p = p[n:]
		return int32(v)
	}
	count := func() uint64 {
		v, n := binary.Uvarint(p)
		p = p[n:]
		return v
	}
	w.argsFrame, w.argsFrom, w.repeated = signed(), from+signed(), from+signed()
	w.runs = [NumRunRules]ruleRunState{}
	for len(p) > 0 {
		x := p[0]
		p = p[1:]
		w.runs[x] = ruleRunState{event: from + signed(), bytes: uint32(count()), docs: uint16(count()), made: uint16(count())}
	}
}

// These functions evict payloads that can be restored: usage, and payloads with the same facts as the row of the turn
// or call. Invariant: if an event is marked as having a payload but has none, its turn is evicted and its payload can
// be restored.

// canRestorePayload reports whether the payload of an event of the turn can be restored: usage from another timeline,
// and other payloads from the rows of the turn and its calls.
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

// openingInfo returns the facts in the turn's row as the payload that the turn's first event may have had.
func (t *Turn) openingInfo() Opening {
	return Opening{ID: t.ID, Model: t.Model, Parent: t.Parent, Protocol: t.Protocol, Exchange: t.Exchange, Request: t.Request}
}

// openingInfo returns the facts in the call's row as the payload that the call's first event may have had.
func (c *Call) openingInfo() CallInfo {
	return CallInfo{
		ID: c.ID, Name: c.Name, Kind: c.Kind, RunByProvider: c.RunByProvider, Choice: c.Choice, Parent: c.Parent, MCPServer: c.MCPServer, Item: c.Item,
		Namespace: c.Namespace, Freeform: c.freeform, NullIsNone: c.nullNone, Discarded: c.Discarded, Copies: c.Copies, Signature: c.Signature,
	}
}

// payloadFromRow restores the payload of an event from the row of its evicted turn or call, or returns nil.
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

// reloadPayloads restores the evicted payloads of a turn. It copies usage from the same turn in another
// timeline. It returns false if that turn has fewer usage events: then it is a different turn.
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
	nth               int // number of usage events in the turn up to this event
}

// lostPayloads returns the events of a turn that are marked as having a payload but have none.
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
