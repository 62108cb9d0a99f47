package stream

import (
	"cmp"
	"slices"
)

// A Session is the fold of a list of events: every turn and every call, in the order in which they began. The
// zero value is the fold of no events.
type Session struct {
	Turns    []*Turn
	Findings []Finding      // findings about frames that belong to no turn
	Counts   [NumStatus]int // number of calls in each status
	Stopped  int            // number of aborted calls that the client stopped

	events       int
	trimmedTurns int // number of turns removed from the beginning of Turns
	index        *turnIndex
	ids          callIDs
	noContent    turnContent // the shared content of evicted and dropped turns
	noWriting    callContent // the shared content of their calls
	reused       Ref         // the earlier call with the same id as the event's call; a past session gets it from the timeline
	on           *Turn       // the turn of the event that was applied last
	about        *Call
	steady       bool // about may get more deltas by continueArgs
	sessionPast
}

// Events returns the number of events that were applied.
func (s *Session) Events() int { return s.events }

// Turn returns the turn with that number, or nil.
func (s *Session) Turn(number int32) *Turn {
	if i := s.index.positionOf(number) - s.trimmedTurns; i >= 0 && i < len(s.Turns) && s.Turns[i].Number == number {
		return s.Turns[i]
	}
	return nil
}

// NoTurn is the turn of an event that belongs to none.
const NoTurn = int32(-1)

// Apply folds one more event into the session. Any events in any order produce a valid session. An event that no
// protocol allows is kept and becomes a finding.
func (s *Session) Apply(e Event) { s.applyEvent(&e) }

func (s *Session) applyEvent(e *Event) {
	if s.steady && s.continueArgs(e) {
		return
	}
	n := s.events
	s.events++
	s.on, s.about, s.steady = nil, nil, false
	if e.Turn == NoTurn {
		s.applyToNoTurn(*e, n)
		return
	}
	t := s.turnOfEvent(e)
	s.on = t
	t.Events++
	t.LastFrame = max(t.LastFrame, e.Frame)
	switch e.Kind {
	case CallOpen, CallMeta, Args, Rewrite, Seal, CallResult:
		s.applyToCall(t, e, n)
	default:
		t.applyEvent(*e, n)
	}
	switch e.Kind {
	case CallOpen, CallMeta, Args, Rewrite, Seal:
		if c := t.InSlot(e.Slot); c != nil {
			s.about = c
			s.recountCall(c)
			s.steady = e.Kind == Args && e.Text != "" && !s.isPast && c.canContinue() && !t.HasGap()
		}
	case Finish, Failure, TurnClose, Gap:
		for _, c := range t.visited {
			s.recountCall(c)
		}
		t.visited = nil
	}
}

// canContinue reports whether the call's arguments are unfinished JSON without a problem, so that most further deltas
// change nothing but the arguments.
func (c *Call) canContinue() bool {
	return c.exact && c.phase <= PhaseOpen && !c.lateStart && c.lex.Unfinished()
}

// continueArgs applies a delta that follows another delta of the same call. Most events are such deltas. It returns
// false, and changes nothing, if the delta may change more than the arguments, or if a past session may share the call.
// The changeStamps stay as the first of these deltas left them, because no past session was made since then.
func (s *Session) continueArgs(e *Event) bool {
	t, c, n := s.on, s.about, s.events
	switch {
	case e.Kind != Args || e.Turn != t.Number || e.Slot != c.Slot || e.Text == "":
		return false
	case t.era != s.era || int(s.lent) >= n || t.Retention != InMemory:
		return false
	case len(e.Text) > len(c.args.s) || e.Text[0] == replacement[0] || highHalfLen(e.Text) > 0:
		return false // see addArgsDelta
	}
	s.events++
	t.Events++
	t.LastFrame = max(t.LastFrame, e.Frame)
	c.noteArrival(e, n)
	c.appendText(e.Text)
	c.deltas.Add(Delta{uint32(len(c.args.s)), int32(n)})
	if !c.lex.Unfinished() {
		c.checkBroken(n)
		c.noteArgsRuns(n)
		s.recountCall(c)
	}
	return true
}

// recountCall updates Counts after a change of c.
func (s *Session) recountCall(c *Call) {
	st := c.Status()
	if c.counted && st == c.countedAs {
		return
	}
	if c.counted {
		s.Counts[c.countedAs]--
	}
	s.Counts[st]++
	if c.stopped {
		s.Stopped++
	}
	c.counted, c.countedAs = true, st
}

// applyToNoTurn applies an event that belongs to no turn. Only a Fault and a Found have an effect.
func (s *Session) applyToNoTurn(e Event, n int) {
	switch e.Kind {
	case Fault:
		s.Findings = append(s.Findings, faultFinding(e, n))
	case Found:
		if f := PayloadOf[Finding](e); f.Diagnosis != nil {
			f.Event = n
			s.Findings = append(s.Findings, f)
		}
	}
}

// turnOfEvent returns the turn of e, which the caller may change. The first event of a turn opens the turn, whatever
// the event's kind.
func (s *Session) turnOfEvent(e *Event) *Turn {
	if t := s.Turn(e.Turn); t != nil {
		if t.changesOnlyDeltaState(e) {
			return s.editForDelta(t)
		}
		t = s.editTurn(t)
		if !e.Kind.IsAfterTurn() {
			t.ensureContent()
		}
		return t
	}
	t := &Turn{
		Number: e.Turn, Exchange: PayloadOf[Opening](*e).Exchange, OpenedAt: e.At, OpenedBy: int32(s.events - 1),
		FirstFrame: e.Frame, turnState: turnState{ClosedAt: NoTime, LastFrame: e.Frame}, session: s, changeStamp: s.currentStamp(), snapshotEra: s.era, turnContent: new(turnContent),
	}
	if s.index == nil {
		s.index = new(turnIndex)
	}
	if i := s.trimmedTurns + len(s.Turns); i >= s.index.all { // when a past session adds a turn, the index has it already
		s.index.all++
		if int(e.Turn) != i {
			if s.index.odd == nil {
				s.index.odd = map[int32]int{}
			}
			s.index.odd[e.Turn] = i
		}
	}
	s.Turns = append(s.Turns, t)
	return t
}

func (s *Session) applyToCall(t *Turn, e *Event, n int) {
	if e.Kind == CallResult {
		if c := t.callOfResult(*e); c != nil {
			t.editCall(c).ResultCode = e.Code
		}
		return
	}
	if t.HasGap() {
		s.applyBehindGap(t, *e, n)
		return
	}
	c := t.InSlot(e.Slot)
	if c != nil && c.lateStart && e.Kind != CallOpen {
		t.applyToLateCall(c, e, n)
		return
	}
	switch {
	case e.Kind == CallOpen && len(t.Calls) == MaxCalls:
		return
	case e.Kind == CallOpen:
		c = t.openCall(*e, n)
	case c == nil:
		t.reportUnopened(e, n)
		return
	default:
		c = t.editCall(c)
		c.ensureContent()
	}
	t.markChanged(c)
	switch e.Kind {
	case CallOpen, CallMeta:
		info := PayloadOf[CallInfo](*e)
		c.updateInfo(info, n)
		t.updateLookups(c, info)
		s.checkID(c, n)
		if info.LateStart { // for example, a log begins in the middle of the call
			c.phase, c.settled, c.lateStart = PhaseUnseen, true, true
			c.reportOnce(RecordGap.WithCause(UnknownParty), n, "the source lacks the beginning of this call: its state is unknown")
		}
	case Args:
		t.addArgsDelta(c, e, n)
	case Rewrite:
		c.replaceArgs(*e, n)
	case Seal:
		c.sealArgs(*e, n)
		t.checkRepeated(c, n)
	}
}

// isOtherLeg reports whether other, a call with the id of c, is the same call on the other side of a gateway: it
// calls the same tool in another protocol. It also returns true if one of their turns is an agent's report, because
// such a report may repeat ids.
func (s *Session) isOtherLeg(other Ref, c *Call) bool {
	own := s.Turn(c.Turn)
	t, twin := s.Find(other)
	return own.Shown || t != nil && t.Shown || twin != nil && twin.Name == c.Name && t.Protocol != own.Protocol
}

// checkID reports an id that another call had before, in this turn or in another, because results name their
// calls only by id. It reports nothing for the same call on the other side of a gateway.
func (s *Session) checkID(c *Call, n int) {
	if c.ID == "" {
		return
	}
	if !s.isPast {
		s.reused = s.ids.assignID(c.ID, c.Ref())
	}
	other := s.reused
	if other == NoRef || other == c.Ref() {
		return
	}
	c.reusesID = true
	switch {
	case other.Turn == c.Turn:
		c.reportOnce(IDDup, n, "calls %d and %d in this turn have the same id: it is unclear which call a result belongs to", other.Call, c.Number)
	case s.isOtherLeg(other, c):
	default:
		d := IDDupAcrossTurns
		if s.Turn(c.Turn).FromHistory {
			d = d.WithCause(Client)
		}
		c.reportOnce(d, n, "the id was used in an earlier turn: Anthropic refuses a history with duplicate ids")
	}
}

// EarlierCall returns the earlier call with the same id as the call that was opened last, or NoRef.
func (s *Session) EarlierCall() Ref { return s.reused }

// A broadcast is the effect of an event about a turn on all its calls, or on all calls of one choice. It skips
// a call that it visited before and that has not changed since. So each broadcast visits only new and changed
// calls. A turn of n calls and n finish reasons takes n steps, not n².
type broadcast uint8

const (
	broadcastDone broadcast = iota // a Finish, by its code
	broadcastCut
	broadcastRefused
	broadcastFailed
	broadcastOther
	broadcastCancelled
	broadcastTools   // a FinishDone with a finish reason that is about tools
	broadcastFailure // a Failure
	broadcastClose   // a TurnClose
	broadcastGap     // a Gap

	numBroadcasts = iota
)

// broadcastOf returns the broadcast for a Finish.
func broadcastOf(e Event) broadcast {
	switch {
	case e.Code == FinishDone && toolWords[e.Text]:
		return broadcastTools
	case e.Code > FinishCancelled:
		return broadcastOther
	}
	return broadcast(e.Code)
}

// choiceCalls contains the calls of one choice, by number. A broadcast still has to visit calls[passed:], and the
// calls of changed[seen:] that it has not visited since they changed.
type choiceCalls struct {
	choice       int32
	calls        []int32
	changed      []int32 // calls that changed after a broadcast had visited them, in the order of that change
	passed, seen [numBroadcasts]int32
}

// addToChoice adds a new call to the calls of its choice.
func (t *Turn) addToChoice(c *Call) {
	of := t.choiceCallsOf(c.Choice)
	if of == nil {
		t.choices = append(t.choices, choiceCalls{choice: c.Choice})
		of = &t.choices[len(t.choices)-1]
	}
	of.calls = append(of.calls, int32(c.Number))
}

// choiceCallsOf returns the calls of a choice, or nil if it has none.
func (t *Turn) choiceCallsOf(choice int32) *choiceCalls {
	for i := range t.choices {
		if t.choices[i].choice == choice {
			return &t.choices[i]
		}
	}
	return nil
}

// markChanged marks a call as changed: all broadcasts have to visit it again.
func (t *Turn) markChanged(c *Call) {
	if c.visitedBy != 0 {
		of := t.choiceCallsOf(c.Choice)
		of.changed = append(of.changed, int32(c.Number))
		c.visitedBy = 0
	}
}

// sendBroadcast visits the calls of one choice, or of all choices, that the broadcast may change.
func (t *Turn) sendBroadcast(s broadcast, choice int32, visit func(*Call)) {
	for i := range t.choices {
		if choice == AllChoices || t.choices[i].choice == choice {
			t.broadcastTo(&t.choices[i], s, visit)
		}
	}
}

func (t *Turn) broadcastTo(of *choiceCalls, s broadcast, visit func(*Call)) {
	fresh, again := of.calls[of.passed[s]:], of.changed[of.seen[s]:]
	of.passed[s], of.seen[s] = int32(len(of.calls)), int32(len(of.changed))
	for _, list := range [2][]int32{fresh, again} {
		for _, number := range list {
			if c := t.callByNumber(number); c.visitedBy&(1<<s) == 0 {
				c = t.editCall(c)
				c.ensureContent()
				visit(c)
				c.visitedBy |= 1 << s
				t.visited = append(t.visited, c)
			}
		}
	}
}

// turnIndex maps turn numbers to positions among all turns that ever began. Most turns are numbered in the
// order in which they begin. The map odd contains the positions of the others. A past session shares the
// index of the live session, because its turns are the first turns of the live session. The zero value is
// ready to use.
type turnIndex struct {
	odd map[int32]int
	all int
}

// positionOf returns the position of the turn with that number. If there is none, the position may be -1 or
// that of another turn.
func (x *turnIndex) positionOf(number int32) int {
	if x == nil {
		return -1
	}
	if i, ok := x.odd[number]; ok {
		return i
	}
	return int(number)
}

// maxIDs is the maximum number of ids that are remembered. The oldest is forgotten first: its call is
// probably no longer sent back.
const maxIDs = 1 << 16

// callIDs contains the latest call with each id.
type callIDs struct {
	calls map[string]Ref
	order []string // in order of arrival, a ring once it is full
	next  int
}

// assignID gives an id to a call. It returns the call that had the id before, or NoRef if none is known.
func (x *callIDs) assignID(id string, by Ref) Ref {
	before, known := x.calls[id]
	switch {
	case known:
	case len(x.order) < maxIDs:
		x.order = append(x.order, id)
	default:
		delete(x.calls, x.order[x.next])
		x.order[x.next] = id
		x.next = (x.next + 1) % maxIDs
	}
	if !known {
		before = NoRef
	}
	if x.calls == nil {
		x.calls = map[string]Ref{}
	}
	x.calls[id] = by
	return before
}

// slotTable maps each slot of a turn to its latest call, in the order of the slots.
type slotTable []slotEntry

type slotEntry struct{ key, call int32 }

func (s slotTable) findSlot(key int32) (at int, found bool) {
	n := len(s)
	switch {
	case n == 0 || s[n-1].key < key:
		return n, false
	case s[n-1].key == key:
		return n - 1, true
	}
	return slices.BinarySearchFunc(s, key, func(a slotEntry, key int32) int { return cmp.Compare(a.key, key) })
}

// set assigns a slot to a call.
func (s *slotTable) set(key, call int32) {
	at, found := s.findSlot(key)
	if !found {
		*s = slices.Insert(*s, at, slotEntry{key: key})
	}
	(*s)[at].call = call
}

// callOfResult returns the call that a result is for: the call with the result's id or, in a wire format without ids,
// the first call with that name that waits for a result. A result with neither an id nor a name is for the call in the
// slot, if the provider runs that call. callOfResult returns nil if the turn has no call for the result.
func (t *Turn) callOfResult(e Event) *Call {
	switch of := PayloadOf[ResultFor](e); {
	case of.ID != "":
		if c := t.callByNumber(t.byID[of.ID]); c != nil && c.ID == of.ID {
			return c
		}
		t.byID = map[string]int32{} // the last call with an id counts
		for _, c := range t.Calls {
			t.byID[c.ID] = int32(c.Number)
		}
		return t.callByNumber(t.byID[of.ID])
	case of.Name != "":
		return t.firstWaiting(of.Name)
	default:
		if c := t.InSlot(e.Slot); c != nil && c.RunByProvider {
			return c
		}
	}
	return nil
}

// firstWaiting returns the first call with that name that has neither an id nor a result, or nil.
func (t *Turn) firstWaiting(name string) *Call {
	if t.waiting == nil {
		t.waiting = map[string]int{}
	}
	i := t.waiting[name]
	for i < len(t.Calls) && (t.Calls[i].ID != "" || t.Calls[i].Name != name || t.Calls[i].ResultCode != 0) {
		i++
	}
	if t.waiting[name] = i; i == len(t.Calls) {
		return nil
	}
	return t.Calls[i]
}

// updateLookups updates the maps byID and waiting for a call whose name or id may be new.
func (t *Turn) updateLookups(c *Call, news CallInfo) {
	if i, looked := t.waiting[news.Name]; looked && news.Name != "" {
		t.waiting[news.Name] = min(i, c.Number-1)
	}
	if t.byID != nil {
		t.byID[c.ID] = max(t.byID[c.ID], int32(c.Number))
	}
}

// Ref names a turn, or one of its calls. Keep a Ref, not a *Turn or *Call: those belong to one session.
type Ref struct {
	Turn int32 // number of the turn in the timeline
	Call int32 // number of the call in the turn; 0 for the turn itself
}

// NoRef names nothing.
var NoRef = Ref{Turn: NoTurn}

// Ref returns the Ref that names the turn.
func (t *Turn) Ref() Ref { return Ref{Turn: t.Number} }

// Ref returns the Ref that names the call.
func (c *Call) Ref() Ref { return Ref{c.Turn, int32(c.Number)} }

// Find returns the turn that r names and, if r names a call, that call. It returns nil for a turn or call
// that doesn't exist.
func (s *Session) Find(r Ref) (t *Turn, c *Call) {
	if s == nil {
		return nil, nil
	}
	if t = s.Turn(r.Turn); t == nil {
		return nil, nil
	}
	return t, t.callByNumber(r.Call)
}
