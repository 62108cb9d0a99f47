package stream

import (
	"math"
	"reflect"
	"slices"
	"sort"
)

// A snapshot is a turn or call as it was at some checkpoints. There are many, so it holds only fields
// that change often, as numbers; for lists that grow, their length. Other fields are those of the next
// snapshot that has a base or, if none has one, of the turn or call itself.

// turnSnapshot is a turn as it was at the checkpoints after era, up to at, except for its delta state.
type turnSnapshot struct {
	base    *Turn // the turn with all other fields, if one of them changed before the next snapshot
	before  *turnSnapshot
	usage   *Usage        // nil for none
	part    *Part         // the last part, nil if it is a call
	choices []choiceCalls // nil if no broadcast was sent yet

	turnState
	text, thinking         [2]uint32 // bytes and deltas
	at, era                int32
	calls, parts, findings int32
}

// takeSnapshot returns a snapshot of the turn before it changes.
func (t *Turn) takeSnapshot(at int32) *turnSnapshot {
	p := &turnSnapshot{
		before: t.before, turnState: t.turnState, text: t.text.size(), thinking: t.thinking.size(),
		at: at, era: t.snapshotEra, calls: int32(len(t.Calls)), parts: int32(len(t.Parts)), findings: int32(len(t.Findings)),
	}
	if t.Usage != (Usage{}) {
		usage := t.Usage
		p.usage = &usage
	}
	if n := len(t.Parts); n > 0 && t.Parts[n-1].Kind != PartCall {
		part := t.Parts[n-1]
		p.part = &part
	}
	if slices.ContainsFunc(t.choices, choiceCalls.wasVisited) {
		p.choices = slices.Clone(t.choices)
	}
	return p
}

// keepBase keeps a copy of the turn before a field changes that its snapshots do not have.
func (t *Turn) keepBase() {
	if p := t.before; p != nil && p.base == nil {
		base := *t
		base.Calls, base.before, base.turnContent = nil, nil, nil
		p.base = &base
	}
}

// Sizes of snapshots and their parts, in bytes.
var (
	turnSize         = sizeOf[Turn]() + sizeOf[turnContent]()
	callSize         = sizeOf[Call]() + sizeOf[callContent]()
	turnSnapshotSize = sizeOf[turnSnapshot]()
	callSnapshotSize = sizeOf[callSnapshot]()
	usageSize        = sizeOf[Usage]()
	partSize         = sizeOf[Part]()
	choiceCallsSize  = sizeOf[choiceCalls]()
	deltaStateSize   = sizeOf[deltaState]()
)

func sizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// storedSize returns the bytes that the snapshot takes, with the base that the previous one got since.
func (p *turnSnapshot) storedSize() int {
	n := turnSnapshotSize + choiceCallsSize*len(p.choices)
	if p.before != nil && p.before.base != nil {
		n += turnSize
	}
	if p.usage != nil {
		n += usageSize
	}
	if p.part != nil {
		n += partSize
	}
	return n
}

func (s *eventText) size() [2]uint32 { return [2]uint32{uint32(len(s.text.s)), uint32(s.deltas.n)} }

func (s *eventText) prefixTo(size [2]uint32) eventText {
	return eventText{s.text.prefixTo(int(size[0])), appendList[Delta]{s.deltas.of, int(size[1])}}
}

// atCheckpoint returns the live turn as it was at a checkpoint, after n events, for the session in; nil
// if its snapshot was evicted.
func (t *Turn) atCheckpoint(era int32, n int, in *Session) *Turn {
	if t.era < era || t.Retention != InMemory {
		return t
	}
	var p *turnSnapshot // the first one taken since
	base := t
	for q := t.before; q != nil && q.at >= era; q = q.before {
		if p = q; p.base != nil {
			base = p.base
		}
	}
	switch {
	case p == nil && t.snapshotEra < era:
		p = t.takeSnapshot(math.MaxInt32)
	case p == nil, p.era >= era:
		return nil
	}
	then := p.restoreTurn(base, t)
	then.session = in
	for i := range then.Calls {
		then.Calls[i] = t.Calls[i].atCheckpoint(era, n)
	}
	then.slots, then.choices = slotsOf(then.Calls), p.choicesOf(t)
	i := sort.Search(len(t.deltaStates), func(i int) bool { return t.deltaStates[i].at >= era })
	if i < len(t.deltaStates) && t.deltaStates[i].era < era {
		b := t.deltaStates[i]
		then.LastFrame, then.lastArgs, then.Events = b.lastFrame, b.lastCalled, b.events
	}
	return then
}

// restoreTurn returns a turn like base with the fields of the snapshot. Lists that grew are taken from t.
func (p *turnSnapshot) restoreTurn(base, t *Turn) *Turn {
	then := *base
	then.turnContent, then.before, then.blocks = new(turnContent), nil, nil
	then.turnState = p.turnState
	then.text, then.thinking = t.text.prefixTo(p.text), t.thinking.prefixTo(p.thinking)
	then.Text, then.Thinking = then.text.text.s, then.thinking.text.s
	then.Findings = base.Findings[:p.findings:p.findings]
	then.Usage = Usage{}
	if p.usage != nil {
		then.Usage = *p.usage
	}
	then.Parts = slices.Clone(t.Parts[:p.parts])
	if p.part != nil {
		then.Parts[p.parts-1] = *p.part
	}
	then.Calls = make([]*Call, p.calls)
	return &then
}

// wasVisited reports whether a broadcast has visited any call.
func (s choiceCalls) wasVisited() bool { return s.passed != [numBroadcasts]int32{} }

// choicesOf returns the choices of the turn t as they were.
func (p *turnSnapshot) choicesOf(t *Turn) (choices []choiceCalls) {
	if p.choices != nil {
		return slices.Clone(p.choices)
	}
	for _, of := range t.choices {
		if k, _ := slices.BinarySearch(of.calls, p.calls+1); k > 0 {
			choices = append(choices, choiceCalls{choice: of.choice, calls: of.calls[:k:k]})
		}
	}
	return choices
}

// slotsOf returns the slots of calls, which are all calls of a turn.
func slotsOf(calls []*Call) (of slotTable) {
	for _, c := range calls {
		of.set(c.Slot, int32(c.Number))
	}
	return of
}
