package stream

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"sort"

	"toolscope/stream/json"
	"toolscope/stream/list"
)

// This comment describes how the past is kept. The live session is changed in place. At intervals it makes a
// checkpoint. Before a turn or call is changed for the first time after a checkpoint, a snapshot of it is
// taken. The snapshot omits lists that only grow, because a past list is the beginning of the live one. A past
// session is made from three sources: snapshots, turns that have not changed since, and the few events after
// the checkpoint. Invariants:
//
//   - Content that two sessions share never changes. A turn or call that a past session may share is
//     replaced by a copy before the live one changes it: keep a Ref, not a pointer.
//   - Code that changes a turn or call calls editTurn or editCall first, and then uses the returned value.
//   - Before code changes a field that is not in the snapshot (turnSnapshot, callSnapshot), it calls keepBase.
//   - Elements of growing lists never change. If one must, the list is replaced (see argsState).

// sessionPast is the state that a session needs for its past.
type sessionPast struct {
	isPast           bool
	era              int32 // number of checkpoints
	lent             int32 // number of events when the latest past session was made; in a past session, the number when that session was made
	retentionChanges int32 // for a past session: the value of Timeline.retentionChanges when it was made
	snapshotBytes    int   // bytes of snapshots since the last checkpoint
}

// ofPast is the state of a past session, which keeps no past of its own.
var ofPast = sessionPast{isPast: true}

// changeStamp says when a turn or call last changed.
type changeStamp struct {
	changed int32 // number of events at that time
	era     int32 // number of checkpoints at that time
}

func (s *Session) currentStamp() changeStamp { return changeStamp{int32(s.events), s.era} }

// editTurn returns a turn that the caller may change, and marks it as changed. It takes a snapshot and makes a copy
// if needed.
func (s *Session) editTurn(t *Turn) *Turn {
	if s.isPast {
		return t
	}
	t = s.ownTurn(t)
	if t.snapshotEra < s.era {
		t.before = t.takeSnapshot(s.era)
		s.snapshotBytes += t.before.storedSize()
		t.snapshotEra = s.era
	}
	t.changeStamp = s.currentStamp()
	return t
}

// ownTurn returns the turn or, if a past session may share the turn, a copy that replaces it.
func (s *Session) ownTurn(t *Turn) *Turn {
	if t.changed <= s.lent && s.lent > 0 {
		t = t.copy()
		s.Turns[s.index.positionOf(t.Number)-s.trimmedTurns] = t
	}
	return t
}

// deltaState is the part of a turn that changes with each delta of arguments.
type deltaState struct {
	at, era               int32 // at: the checkpoint at which it was saved; era: the checkpoint after which it last changed
	lastFrame, lastCalled int32
	events                int
}

// changesOnlyDeltaState reports whether an event changes only the delta state of a turn.
func (t *Turn) changesOnlyDeltaState(e *Event) bool {
	if e.Kind != Args || t.HasGap() {
		return false
	}
	c := t.InSlot(e.Slot)
	return c != nil && c.visitedBy == 0
}

// editForDelta does the same as editTurn, for an event that changes only the delta state.
func (s *Session) editForDelta(t *Turn) *Turn {
	if s.isPast {
		return t
	}
	if t = s.ownTurn(t); t.era < s.era {
		t.deltaStates = append(t.deltaStates, deltaState{s.era, t.era, t.LastFrame, t.lastArgs, t.Events})
		s.snapshotBytes += deltaStateSize
	}
	t.changeStamp = s.currentStamp()
	return t
}

// editCall returns a call that the caller may change. It takes a snapshot and makes a copy if needed.
func (t *Turn) editCall(c *Call) *Call {
	s := t.session
	if s.isPast {
		return c
	}
	if c.changed <= s.lent && s.lent > 0 {
		c = c.copy()
		t.Calls[c.Number-1] = c
	}
	if c.era < s.era {
		c.before = c.takeSnapshot(s.era)
		if s.snapshotBytes += callSnapshotSize; c.before.before != nil && c.before.before.base != nil {
			s.snapshotBytes += callSize
		}
	}
	c.changeStamp = s.currentStamp()
	return c
}

// copy returns a copy of the turn that may be changed.
func (t *Turn) copy() *Turn {
	c := *t
	c.Calls = slices.Clone(t.Calls)
	if t.turnContent.shared {
		return &c
	}
	own := *t.turnContent
	c.turnContent = &own
	c.Parts = slices.Clone(t.Parts)
	c.slots, c.choices = slices.Clone(t.slots), slices.Clone(t.choices)
	c.byID, c.waiting = maps.Clone(t.byID), maps.Clone(t.waiting)
	return &c
}

func (c *Call) copy() *Call {
	d := *c
	if c.callContent.shared {
		return &d
	}
	own := *c.callContent
	d.callContent = &own
	d.lex = c.lex.Clone()
	return &d
}

// A snapshot is a turn or call as it was at some checkpoints. There are many snapshots. So each contains only the
// fields that change often, as numbers, and only the lengths of growing lists. Other fields are those of the
// next snapshot that has a base. If no snapshot has one, they are those of the turn or call itself.

// turnSnapshot is a turn as it was at the checkpoints from era+1 to at, except for its delta state.
type turnSnapshot struct {
	base    *Turn // the turn with all other fields, if one of them changed before the next snapshot
	before  *turnSnapshot
	usage   *Usage        // nil for none
	part    *Part         // the last part; nil if it is a call or if there are no parts
	choices []choiceCalls // nil if no broadcast has visited a call

	turnState
	text, thinking         [2]uint32 // numbers of bytes and of deltas
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
	if slices.ContainsFunc(t.choices, func(of choiceCalls) bool { return of.passed != [numBroadcasts]int32{} }) {
		p.choices = slices.Clone(t.choices)
	}
	return p
}

// keepBase keeps a copy of the turn. It is called before a change to a field that is not in the turn's snapshots.
func (t *Turn) keepBase() {
	if p := t.before; p != nil && p.base == nil {
		base := *t
		base.Calls, base.before, base.turnContent = nil, nil, nil
		p.base = &base
	}
}

// Sizes of turns, calls, snapshots and their parts, in bytes.
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

// storedSize returns the size of the snapshot in bytes. This includes the base of the previous snapshot, which
// keepBase added after that snapshot was measured.
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

func (s *eventText) size() [2]uint32 { return [2]uint32{uint32(len(s.text.s)), uint32(s.deltas.Len())} }

func (s *eventText) prefixTo(size [2]uint32) eventText {
	return eventText{s.text.prefixTo(int(size[0])), s.deltas.Before(int(size[1]))}
}

// atCheckpoint returns the live turn as it was at a checkpoint, after n events. The parameter in is the
// session of the result. An evicted or dropped turn is returned as it is now. The result is nil if the
// snapshot was evicted.
func (t *Turn) atCheckpoint(era int32, n int, in *Session) *Turn {
	if t.era < era || t.Retention != InMemory {
		return t
	}
	var p *turnSnapshot // the first snapshot taken since the checkpoint
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

// restoreTurn returns a copy of base with the fields of the snapshot. Lists that have grown are taken from t.
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

// choicesOf returns the choices of the turn t as they were at the snapshot.
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

// slotsOf returns the slot table of a turn with these calls.
func slotsOf(calls []*Call) (of slotTable) {
	for _, c := range calls {
		of.set(c.Slot, int32(c.Number))
	}
	return of
}

// argsState is the part of a call that grows with its arguments.
type argsState struct {
	args   appendText
	deltas list.List[Delta]
	toks   list.List[json.Token] // all tokens except the last
	from   int
}

func (c *Call) argsState() argsState { return argsState{c.args, c.deltas, *c.lex.Ended(), c.from} }

// saveArgsState saves the arguments before they are replaced, because past sessions still need them.
func (c *Call) saveArgsState() {
	c.keepBase()
	c.savedArgs = append(c.savedArgs, c.argsState())
}

// callSnapshot is a call as it was at the checkpoints from era+1 to at.
type callSnapshot struct {
	base   *Call // the call with all other fields, if one of them changed before the next snapshot
	before *callSnapshot
	lex    json.LexerState

	callState
	deltaProgress
	at, era                            int32
	args, deltas, savedArgs            uint32 // lengths
	findings, diagnoses, sentBack, got uint32
}

func (c *Call) takeSnapshot(at int32) *callSnapshot {
	return &callSnapshot{
		before: c.before, lex: c.lex.State(), callState: c.callState, deltaProgress: c.deltaProgress,
		at: at, era: c.era, args: uint32(len(c.args.s)), deltas: uint32(c.deltas.Len()), savedArgs: uint32(len(c.savedArgs)),
		findings: uint32(len(c.Findings)), diagnoses: uint32(len(c.diagnoses)), sentBack: uint32(len(c.SentBack)), got: uint32(len(c.Runs)),
	}
}

// keepBase keeps a copy of the call. It is called before a change to a field that is not in the call's snapshots.
func (c *Call) keepBase() {
	if p := c.before; p != nil && p.base == nil {
		base := *c
		own := *c.callContent
		own.args, own.deltas, own.savedArgs, own.lex = appendText{}, list.List[Delta]{}, nil, c.lex.Failed()
		base.callContent = &own
		base.before = nil
		p.base = &base
	}
}

// atCheckpoint returns the call as it was at a checkpoint, after n events.
func (c *Call) atCheckpoint(era int32, n int) *Call {
	if c.era < era {
		return c
	}
	p, base := c.before, c
	for ; ; p = p.before {
		if p.base != nil {
			base = p.base
		}
		if p.era < era {
			break
		}
	}
	then, own, at := *base, *base.callContent, c.argsState()
	then.callContent = &own
	if int(p.savedArgs) < len(c.savedArgs) {
		at = c.savedArgs[p.savedArgs]
	}
	then.before = nil
	then.args, then.deltas, then.from = at.args.prefixTo(int(p.args)), at.deltas.Before(int(p.deltas)), at.from
	then.savedArgs = slices.Clip(c.savedArgs[:p.savedArgs])
	lexed := int(p.args)
	if c.freeform {
		lexed = 0 // free text is not lexed
	}
	then.lex = p.lex.Lexer(at.toks, base.lex.Err(), lexed)
	then.callState, then.deltaProgress = p.callState, p.deltaProgress
	then.Findings, then.diagnoses = base.Findings[:p.findings:p.findings], base.diagnoses[:p.diagnoses:p.diagnoses]
	then.SentBack, then.Runs = c.SentBack[:p.sentBack:p.sentBack], c.Runs[:p.got:p.got]
	for i := range then.runs {
		if int(then.runs[i].event) >= n {
			then.runs[i] = ruleRunState{}
		}
	}
	return &then
}
