package stream

// A Session is the fold of a list of events: every turn and every call, in the order they began.
// The zero value is the fold of none.
type Session struct {
	Turns    []*Turn
	Findings []Finding      // of frames that belong to no turn
	Counts   [NumStatus]int // how many calls are in each status
	Stopped  int            // how many of the aborted calls the client stopped

	events int
	turns  map[int32]*Turn
	ids    map[string]*Call // the latest call of each id
}

// Events is how many events were applied.
func (s *Session) Events() int { return s.events }

// Turn is the turn of that number, or nil.
func (s *Session) Turn(number int32) *Turn { return s.turns[number] }

// NoTurn is the turn of an event that belongs to none.
const NoTurn = int32(-1)

// Apply folds one more event into the session. It is total: any event, in any order, gives some
// session. What no protocol allows is kept and becomes a finding.
func (s *Session) Apply(e Event) {
	n := s.events
	s.events++
	if e.Turn == NoTurn {
		s.outside(e, n)
		return
	}
	t := s.open(e)
	t.Events++
	t.LastFrame = max(t.LastFrame, e.Frame)
	switch e.Kind {
	case CallOpen, CallMeta, Args, Rewrite, Seal, Answer:
		s.applyToCall(t, e, n)
	default:
		t.apply(e, n)
	}
	switch e.Kind {
	case CallOpen, CallMeta, Args, Rewrite, Seal:
		if c := t.slots[e.Slot]; c != nil {
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

// open is the turn of e. The first event of a turn begins it, of whatever kind it is.
func (s *Session) open(e Event) *Turn {
	if t := s.turns[e.Turn]; t != nil {
		return t
	}
	t := &Turn{
		Number: e.Turn, Exchange: PayloadOf[Opening](e).Exchange, OpenedAt: e.At, OpenedBy: int32(s.events - 1), ClosedAt: NoTime,
		FirstFrame: e.Frame, LastFrame: e.Frame, slots: map[int32]*Call{},
	}
	if s.turns == nil {
		s.turns, s.ids = map[int32]*Turn{}, map[string]*Call{}
	}
	s.turns[e.Turn] = t
	s.Turns = append(s.Turns, t)
	return t
}

func (s *Session) applyToCall(t *Turn, e Event, n int) {
	if e.Kind == Answer {
		if c := s.answered(t, e); c != nil {
			c.Answered = e.Code
		}
		return
	}
	if t.Unseen() {
		s.applyBehindGap(t, e, n)
		return
	}
	c := t.slots[e.Slot]
	switch {
	case e.Kind == CallOpen:
		c = t.openCall(e, n)
	case c == nil:
		c = t.openCall(e, n)
		c.find(ProtocolViolation, n, NoOffset,
			"%s for slot %d, which never opened", e.Kind, e.Slot)
	}
	t.touch(c)
	switch e.Kind {
	case CallOpen, CallMeta:
		info := PayloadOf[CallInfo](e)
		c.meta(info, n)
		t.named(c, info.Name)
		s.checkID(c, n)
	case Args:
		t.args(c, e, n)
	case Rewrite:
		c.rewrite(e, n)
	case Seal:
		c.seal(e, n)
	}
}

// answered is the call of t that a result is for: by its id, or where the wire gives none, the
// first of that name that waits for one.
func (s *Session) answered(t *Turn, e Event) *Call {
	switch of := PayloadOf[Answered](e); {
	case of.ID != "":
		if c := s.ids[of.ID]; c != nil && c.Turn == t.Number {
			return c
		}
	case of.Name != "":
		return t.firstWaiting(of.Name)
	default:
		if c := t.slots[e.Slot]; c != nil && c.Server {
			return c
		}
	}
	return nil
}

// firstWaiting is the first call of that name that has neither an id nor a result.
func (t *Turn) firstWaiting(name string) *Call {
	if t.waiting == nil {
		t.waiting = map[string]int{}
	}
	i := t.waiting[name]
	for i < len(t.Calls) && (t.Calls[i].ID != "" || t.Calls[i].Name != name || t.Calls[i].Answered != 0) {
		i++
	}
	if t.waiting[name] = i; i == len(t.Calls) {
		return nil
	}
	return t.Calls[i]
}

// named tells the search of firstWaiting that a call may have got its name just now.
func (t *Turn) named(c *Call, name string) {
	if i, looked := t.waiting[name]; looked && name != "" {
		t.waiting[name] = min(i, c.Number-1)
	}
}

// checkID reports an id that was used before, in this turn or in another. A result names its call
// by the id alone.
func (s *Session) checkID(c *Call, n int) {
	if c.ID == "" {
		return
	}
	other := s.ids[c.ID]
	s.ids[c.ID] = c
	switch {
	case other == nil || other == c:
	case other.Turn == c.Turn:
		c.findOnce(IDDup, n, "calls %d and %d of this turn have the same id: a result cannot say which it answers", other.Number, c.Number)
	default:
		c.findOnce(IDDupAcrossTurns, n, "this id was used in an earlier turn: Anthropic rejects history with repeated ids")
	}
}
