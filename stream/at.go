package stream

import "slices"

// checkpoint is what a session was after so many events, but for its turns: they know that
// themselves.
type checkpoint struct {
	events, turns, findings int
	counts                  [NumStatus]int
	stopped                 int
}

// The least number of events between checkpoints, and how many bytes may be set aside for each
// event: what a past session costs, and what it saves.
const (
	leastStride  = 4096
	asideByEvent = 4
)

// check makes a checkpoint if it is time for one.
func (t *Timeline) check() {
	s, last := &t.session, 0
	if n := len(t.checkpoints); n > 0 {
		last = t.checkpoints[n-1].events
	}
	since := s.events - last
	if t.Every > 0 && since >= t.Every || t.Every == 0 && since >= leastStride && since*asideByEvent >= s.aside {
		t.checkpoints = append(t.checkpoints, checkpoint{
			events: s.events, turns: len(s.Turns) + s.gone, findings: len(s.Findings), counts: s.Counts, stopped: s.Stopped,
		})
		s.era, s.aside = int32(len(t.checkpoints)), 0
	}
}

// At is the fold of the first n events. It stays as it is while events are appended, until a turn
// is let go of or taken back; nobody changes it. What it shares with the live session is not copied.
// Turns of which not all is kept are in it as they are now.
func (t *Timeline) At(n int) *Session {
	n = min(max(n, 0), t.Len())
	k, _ := slices.BinarySearchFunc(t.checkpoints, n+1, func(c checkpoint, n int) int { return c.events - n })
	s := t.asOf(k)
	t.goOn(s, n)
	t.session.lent = int32(t.session.events)
	s.lent, s.letGone = t.session.lent, t.letGone
	return s
}

// Walk is the fold of the first n events, where s is one that At or Walk made: that very session, if
// it only has to go on, so who else holds it must not be surprised. It is made anew where n is behind
// it or far away, and where turns were let go of, or came back, since it was made.
func (t *Timeline) Walk(s *Session, n int) *Session {
	n = min(max(n, 0), t.Len())
	if !s.isPast || !t.Stands(s) || n < s.events || n > int(s.lent) || n-s.events > leastStride {
		return t.At(n)
	}
	t.goOn(s, n)
	return s
}

// Stands reports whether a session that At or Walk made may still be used: since then no turn was let
// go of, and none came back.
func (t *Timeline) Stands(s *Session) bool { return s.letGone == t.letGone }

// Apart has a turn of a session that At made share nothing with others, so that events may be applied
// to it which never came. All its events are folded again for that.
func (t *Timeline) Apart(s *Session, number int32) {
	on, then := t.session.Turn(number), s.Turn(number)
	if on == nil || then == nil || then.Kept != Whole {
		return
	}
	s.Turns[s.index.of(number)-s.gone] = t.refold(on, s.events, s)
}

// goOn folds events into a past session until it has n. Of those that there were when it was made
// none is about a turn or call that it shares with the live one.
func (t *Timeline) goOn(s *Session, n int) {
	for s.events < n {
		if on := t.letGo(s.events); on != nil {
			s.pass(on)
			continue
		}
		t.again(s)
	}
}

// again folds the next event into a past session.
func (t *Timeline) again(s *Session) {
	e, reused, kept := t.event(s.events, s)
	if !kept {
		s.events++
		return
	}
	s.reused = reused
	s.Apply(e)
}

// letGo is the turn of event n if not all of it is kept, or nil.
func (t *Timeline) letGo(n int) *Turn {
	b := &t.blocks[n/blockFacts]
	if b.facts.n == 0 {
		return nil
	}
	if on := t.session.Turn(b.facts.turn(n % blockFacts)); on != nil && on.Kept != Whole {
		return on
	}
	return nil
}

// pass goes over the next event, which is of a live turn of which not all is kept.
func (s *Session) pass(on *Turn) {
	if s.events == int(on.OpenedBy) {
		s.Turns = append(s.Turns, on)
	}
	s.events++
}

// asOf is the session as it was at checkpoint k; 0 is the beginning.
func (t *Timeline) asOf(k int) *Session {
	live := &t.session
	past := &Session{index: live.index, gone: live.gone, live: ofPast}
	if live.index == nil {
		past.index = new(index)
	}
	if k == 0 {
		return past
	}
	c := t.checkpoints[k-1]
	past.events, past.Counts, past.Stopped = c.events, c.counts, c.stopped
	past.Findings = slices.Clip(live.Findings[:c.findings])
	past.Turns = make([]*Turn, max(0, c.turns-live.gone))
	for i := range past.Turns {
		on := live.Turns[i]
		then := on.asOf(int32(k), c.events, past)
		if then == nil {
			then = t.refold(on, c.events, past)
		}
		past.Turns[i] = then
	}
	return past
}

// refold is a turn after n events, from its own alone.
func (t *Timeline) refold(on *Turn, n int, in *Session) *Turn {
	alone := &Session{index: new(index), live: ofPast}
	for _, b := range on.blocks {
		for i := range t.blocks[b].facts.n {
			if at := int(b)*blockFacts + i; at < n && t.blocks[b].facts.turn(i) == on.Number {
				alone.events = at
				t.again(alone)
			}
		}
	}
	alone.Turns[0].session = in
	return alone.Turns[0]
}
