package stream

// A Session is the fold of a list of events: every turn and every call, in the order they began.
// The zero value is the fold of none.
type Session struct {
	Turns    []*Turn
	Findings []Finding      // of frames that belong to no turn
	Counts   [NumStatus]int // how many calls are in each status
	Stopped  int            // how many of the aborted calls the client stopped

	events    int
	gone      int // how many turns that began first are not in Turns any more
	index     *index
	ids       ids
	noContent content // of turns that are not whole
	noWriting writing // of their calls
	reused    Ref     // the call that had the id of the event's call before; of a past session it is given
	on        *Turn   // of the event that was applied last
	about     *Call
	live
}

// Events is how many events were applied.
func (s *Session) Events() int { return s.events }

// Turn is the turn of that number, or nil.
func (s *Session) Turn(number int32) *Turn {
	if i := s.index.of(number) - s.gone; i >= 0 && i < len(s.Turns) && s.Turns[i].Number == number {
		return s.Turns[i]
	}
	return nil
}

// NoTurn is the turn of an event that belongs to none.
const NoTurn = int32(-1)

// Apply folds one more event into the session. It is total: any event, in any order, gives some
// session. What no protocol allows is kept and becomes a finding.
func (s *Session) Apply(e Event) { s.apply(&e) }

func (s *Session) apply(e *Event) {
	n := s.events
	s.events++
	s.on, s.about = nil, nil
	if e.Turn == NoTurn {
		s.outside(*e, n)
		return
	}
	t := s.open(e)
	s.on = t
	t.Events++
	t.LastFrame = max(t.LastFrame, e.Frame)
	switch e.Kind {
	case CallOpen, CallMeta, Args, Rewrite, Seal, Answer:
		s.applyToCall(t, e, n)
	default:
		t.apply(*e, n)
	}
	switch e.Kind {
	case CallOpen, CallMeta, Args, Rewrite, Seal:
		if c := t.inSlot(e.Slot); c != nil {
			s.about = c
			s.recount(c)
		}
	case Finish, Failure, TurnClose, Gap:
		for _, c := range t.visited {
			s.recount(c)
		}
		t.visited = nil
	}
}

// recount keeps Counts true after something happened to c.
func (s *Session) recount(c *Call) {
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

// outside handles an event of no turn.
func (s *Session) outside(e Event, n int) {
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

// open is the turn of e, to be changed. The first event of a turn begins it, of whatever kind it is.
func (s *Session) open(e *Event) *Turn {
	if t := s.Turn(e.Turn); t != nil {
		if t.beats(e) {
			return s.beat(t)
		}
		t = s.edit(t)
		if !e.Kind.After() {
			t.mind()
		}
		return t
	}
	t := &Turn{
		Number: e.Turn, Exchange: PayloadOf[Opening](*e).Exchange, OpenedAt: e.At, OpenedBy: int32(s.events - 1), ClosedAt: NoTime,
		FirstFrame: e.Frame, LastFrame: e.Frame, session: s, edited: s.now(), whole: s.era, content: new(content),
	}
	if s.index == nil {
		s.index = new(index)
	}
	s.index.add(e.Turn, s.gone+len(s.Turns))
	s.Turns = append(s.Turns, t)
	return t
}

func (s *Session) applyToCall(t *Turn, e *Event, n int) {
	if e.Kind == Answer {
		if c := t.answered(*e); c != nil {
			t.edit(c).Answered = e.Code
		}
		return
	}
	if t.Unseen() {
		s.applyBehindGap(t, *e, n)
		return
	}
	c := t.inSlot(e.Slot)
	switch {
	case e.Kind == CallOpen:
		c = t.openCall(*e, n)
	case c == nil:
		c = t.openCall(*e, n)
		c.find(ProtocolViolation, n, NoOffset,
			"%s for slot %d, which never opened", e.Kind, e.Slot)
	default:
		c = t.edit(c)
		c.mind()
	}
	t.touch(c)
	switch e.Kind {
	case CallOpen, CallMeta:
		info := PayloadOf[CallInfo](*e)
		c.meta(info, n)
		t.named(c, info)
		s.checkID(c, n)
	case Args:
		t.args(c, e, n)
	case Rewrite:
		c.rewrite(*e, n)
	case Seal:
		c.seal(*e, n)
	}
}

// checkID reports an id that was used before, in this turn or in another. A result names its call
// by the id alone.
func (s *Session) checkID(c *Call, n int) {
	if c.ID == "" {
		return
	}
	if !s.isPast {
		s.reused = s.ids.use(c.ID, c.Ref())
	}
	switch other := s.reused; {
	case other == NoRef || other == c.Ref():
	case other.Turn == c.Turn:
		c.findOnce(IDDup, n, "calls %d and %d of this turn have the same id: a result cannot say which it answers", other.Call, c.Number)
	default:
		c.findOnce(IDDupAcrossTurns, n, "this id was used in an earlier turn: Anthropic rejects history with repeated ids")
	}
}
