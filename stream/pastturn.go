package stream

import (
	"math"
	"reflect"
	"slices"
	"sort"
	"time"
)

// A version is what a turn or call was at some checkpoints. There are many, so one has only what
// changes at all times, as numbers: of what grows, how much there was. The rest is that of the next
// version that has a base, and if none has one, of the turn or call itself.

// pastTurn is a turn as it was at the checkpoints after whole, up to at; but for its pulse.
type pastTurn struct {
	base   *Turn // the turn with all the rest, if that changed before the next version
	before *pastTurn
	usage  *Usage  // nil for none
	part   *Part   // the last one, nil if that is a call
	swept  []swept // the choices, nil if no sweep came yet

	finish, means          string
	closedAt               time.Duration
	text, thinking         [2]uint32 // bytes and deltas
	at, whole              int32
	calls, parts, findings int32
	lastFrame, lastArgs    int32
	events, next           int32
	returned, finished     bool
	finishCode             Code
	failed, closed, cut    bool
	closer, endedBy        Culprit
	blind                  bool
}

// setAside is the turn as it is, before it changes.
func (t *Turn) setAside(at int32) *pastTurn {
	p := &pastTurn{
		before: t.before, finish: t.Finish, means: t.Means, closedAt: t.ClosedAt, text: t.text.size(), thinking: t.thinking.size(),
		at: at, whole: t.whole, calls: int32(len(t.Calls)), parts: int32(len(t.Parts)), findings: int32(len(t.Findings)),
		lastFrame: t.LastFrame, lastArgs: t.lastArgs, events: int32(t.Events), next: int32(t.Next), returned: t.Returned,
		finished: t.finished, finishCode: t.finishCode, failed: t.failed, closed: t.closed, cut: t.cut,
		closer: t.closer, endedBy: t.EndedBy, blind: t.blind,
	}
	if t.Usage != (Usage{}) {
		usage := t.Usage
		p.usage = &usage
	}
	if n := len(t.Parts); n > 0 && t.Parts[n-1].Kind != PartCall {
		part := t.Parts[n-1]
		p.part = &part
	}
	if slices.ContainsFunc(t.choices, swept.any) {
		p.swept = slices.Clone(t.choices)
	}
	return p
}

// keepBase says that something of the turn is about to change that its versions do not have.
func (t *Turn) keepBase() {
	if p := t.before; p != nil && p.base == nil {
		base := *t
		base.Calls, base.before, base.content = nil, nil, nil
		p.base = &base
	}
}

// Bytes that are set aside.
var (
	turnSize    = sizeOf[Turn]() + sizeOf[content]()
	callSize    = sizeOf[Call]() + sizeOf[writing]()
	oldTurnSize = sizeOf[pastTurn]()
	oldCallSize = sizeOf[pastCall]()
	usageSize   = sizeOf[Usage]()
	partSize    = sizeOf[Part]()
	sweptSize   = sizeOf[swept]()
	pulseSize   = sizeOf[pulse]()
)

func sizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// bytes is what setting the version aside took, with the base that the one before got since.
func (p *pastTurn) bytes() int {
	n := oldTurnSize + sweptSize*len(p.swept)
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

func (s *said) size() [2]uint32 { return [2]uint32{uint32(len(s.text.s)), uint32(s.deltas.n)} }

func (s *said) upto(size [2]uint32) said {
	return said{s.text.upto(int(size[0])), trail[Delta]{s.deltas.of, int(size[1])}}
}

// asOf is the turn, which is a live one, as it was at a checkpoint, after n events, for a session of
// its own; nil where that was let go of.
func (t *Turn) asOf(era int32, n int, in *Session) *Turn {
	if t.era < era || t.Kept != Whole {
		return t
	}
	var p *pastTurn // the first that was set aside since
	base := t
	for q := t.before; q != nil && q.at >= era; q = q.before {
		if p = q; p.base != nil {
			base = p.base
		}
	}
	switch {
	case p == nil && t.whole < era:
		p = t.setAside(math.MaxInt32)
	case p == nil, p.whole >= era:
		return nil
	}
	then := p.on(base, t)
	then.session = in
	for i := range then.Calls {
		then.Calls[i] = t.Calls[i].asOf(era, n)
	}
	then.slots, then.choices = slotsOf(then.Calls), p.choices(t)
	i := sort.Search(len(t.pulses), func(i int) bool { return t.pulses[i].at >= era })
	if i < len(t.pulses) && t.pulses[i].era < era {
		b := t.pulses[i]
		then.LastFrame, then.lastArgs, then.Events = b.lastFrame, b.lastCalled, b.events
	}
	return then
}

// on is a turn like base, and as the version says. What grew is taken from t.
func (p *pastTurn) on(base, t *Turn) *Turn {
	then := *base
	then.content, then.before, then.blocks = new(content), nil, nil
	then.Finish, then.Means, then.ClosedAt = p.finish, p.means, p.closedAt
	then.LastFrame, then.lastArgs, then.Events = p.lastFrame, p.lastArgs, int(p.events)
	then.Next, then.Returned, then.finished, then.finishCode = int(p.next), p.returned, p.finished, p.finishCode
	then.failed, then.closed, then.cut, then.closer, then.EndedBy, then.blind = p.failed, p.closed, p.cut, p.closer, p.endedBy, p.blind
	then.text, then.thinking = t.text.upto(p.text), t.thinking.upto(p.thinking)
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

// any reports whether a sweep has visited any call.
func (s swept) any() bool { return s.passed != [numSweeps]int32{} }

// choices are those of the turn, which is t, as they were.
func (p *pastTurn) choices(t *Turn) (choices []swept) {
	if p.swept != nil {
		return slices.Clone(p.swept)
	}
	for _, of := range t.choices {
		if k, _ := slices.BinarySearch(of.calls, p.calls+1); k > 0 {
			choices = append(choices, swept{choice: of.choice, calls: of.calls[:k:k]})
		}
	}
	return choices
}

// slotsOf are the slots of calls, which are all of a turn.
func slotsOf(calls []*Call) (of slots) {
	for _, c := range calls {
		of.set(c.Slot, int32(c.Number))
	}
	return of
}
