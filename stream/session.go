package stream

// A Session is the fold of a list of events: every turn and every call, in the order they began. The zero
// value is the fold of no events.
type Session struct {
	Turns    []*Turn
	Findings []Finding      // of frames that belong to no turn
	Counts   [NumStatus]int // number of calls in each status
	Stopped  int            // number of aborted calls that the client stopped

	events       int
	trimmedTurns int // number of turns removed from the beginning of Turns
	index        *turnIndex
	ids          callIDs
	noContent    turnContent // of evicted and dropped turns
	noWriting    callContent // of their calls
	reused       Ref         // the call that had the id of the event's call before; past sessions get it from the timeline
	on           *Turn       // of the event that was applied last
	about        *Call
	sessionPast
}

// Events returns how many events were applied.
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

// Apply folds one more event into the session. It is total: any event, in any order, gives a valid
// session. What no protocol allows is kept and becomes a finding.
func (s *Session) Apply(e Event) { s.applyEvent(&e) }

func (s *Session) applyEvent(e *Event) {
	n := s.events
	s.events++
	s.on, s.about = nil, nil
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
		if c := t.inSlot(e.Slot); c != nil {
			s.about = c
			s.recountCall(c)
		}
	case Finish, Failure, TurnClose, Gap:
		for _, c := range t.visited {
			s.recountCall(c)
		}
		t.visited = nil
	}
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

// applyToNoTurn handles an event of no turn.
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

// turnOfEvent returns the turn of e for a change. The first event of a turn begins it, whatever its kind.
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
	s.index.add(e.Turn, s.trimmedTurns+len(s.Turns))
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
	c := t.inSlot(e.Slot)
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
	case Args:
		t.addArgsDelta(c, e, n)
	case Rewrite:
		c.replaceArgs(*e, n)
	case Seal:
		c.sealArgs(*e, n)
	}
}

// checkID reports an id that was used before, in this turn or in another. A result names its call by the
// id alone.
func (s *Session) checkID(c *Call, n int) {
	if c.ID == "" {
		return
	}
	if !s.isPast {
		s.reused = s.ids.assignID(c.ID, c.Ref())
	}
	switch other := s.reused; {
	case other == NoRef || other == c.Ref():
	case other.Turn == c.Turn:
		c.reportOnce(IDDup, n, "calls %d and %d of this turn have the same id: a result can't show which call it belongs to", other.Call, c.Number)
	default:
		c.reportOnce(IDDupAcrossTurns, n, "the id was used in an earlier turn: Anthropic refuses a history with duplicate ids")
	}
}
