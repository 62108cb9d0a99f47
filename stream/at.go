package stream

import "slices"

// A checkpoint is the state of a session after some number of events, without its turns: they have their
// own snapshots.
type checkpoint struct {
	events, turns, findings int
	counts                  [NumStatus]int
	stopped                 int
}

// The minimum number of events between checkpoints, and the maximum snapshot size for each event: the
// cost of making a past session, and the memory that checkpoints take.
const (
	minStride             = 4096
	snapshotBytesPerEvent = 4
)

// checkpointIfDue makes a checkpoint if it is time for one.
func (t *Timeline) checkpointIfDue() {
	s, last := &t.session, 0
	if n := len(t.checkpoints); n > 0 {
		last = t.checkpoints[n-1].events
	}
	since := s.events - last
	if t.Every > 0 && since >= t.Every || t.Every == 0 && since >= minStride && since*snapshotBytesPerEvent >= s.snapshotBytes {
		t.checkpoints = append(t.checkpoints, checkpoint{
			events: s.events, turns: len(s.Turns) + s.trimmedTurns, findings: len(s.Findings), counts: s.Counts, stopped: s.Stopped,
		})
		s.era, s.snapshotBytes = int32(len(t.checkpoints)), 0
	}
}

// At returns the fold of the first n events. It doesn't change while events are appended, until a turn is
// evicted, dropped or reloaded. Callers must not change it. It shares content with the live session
// without copying. Evicted and dropped turns are in it as they are now.
func (t *Timeline) At(n int) *Session {
	n = min(max(n, 0), t.Len())
	k, _ := slices.BinarySearchFunc(t.checkpoints, n+1, func(c checkpoint, n int) int { return c.events - n })
	s := t.atCheckpoint(k)
	t.foldUpTo(s, n)
	t.session.lent = int32(t.session.events)
	s.lent, s.retentionChanges = t.session.lent, t.retentionChanges
	return s
}

// MoveTo returns the fold of the first n events, where s is a session that At or MoveTo made. It moves s
// itself if s only has to go forward, so other holders of s see it move. It makes a new session if n is
// before s or far away, or if turns were evicted, dropped or reloaded since s was made.
func (t *Timeline) MoveTo(s *Session, n int) *Session {
	n = min(max(n, 0), t.Len())
	if !s.isPast || !t.IsCurrent(s) || n < s.events || n > int(s.lent) || n-s.events > minStride {
		return t.At(n)
	}
	t.foldUpTo(s, n)
	return s
}

// IsCurrent reports whether a session that At or MoveTo made may still be used: no turn was evicted,
// dropped or reloaded since.
func (t *Timeline) IsCurrent(s *Session) bool { return s.retentionChanges == t.retentionChanges }

// Detach makes a turn of a session that At made share nothing with other sessions, so that events that
// never came may be applied to it. All its events are folded again for that.
func (t *Timeline) Detach(s *Session, number int32) {
	on, then := t.session.Turn(number), s.Turn(number)
	if on == nil || then == nil || then.Retention != InMemory {
		return
	}
	s.Turns[s.index.positionOf(number)-s.trimmedTurns] = t.refoldTurn(on, s.events, s)
}

// foldUpTo folds events into a past session until it has n. Invariant: of the events that existed when it
// was made, none is about a turn or call that it shares with the live session.
func (t *Timeline) foldUpTo(s *Session, n int) {
	for s.events < n {
		if on := t.evictedTurnOf(s.events); on != nil {
			s.skipEvent(on)
			continue
		}
		t.refoldNext(s)
	}
}

// refoldNext folds the next event into a past session.
func (t *Timeline) refoldNext(s *Session) {
	e, reused, kept := t.eventAt(s.events, s)
	if !kept {
		s.events++
		return
	}
	s.reused = reused
	s.Apply(e)
}

// evictedTurnOf returns the turn of event n if that is evicted or dropped, or nil.
func (t *Timeline) evictedTurnOf(n int) *Turn {
	b := &t.blocks[n/blockEvents]
	if b.events.n == 0 {
		return nil
	}
	if on := t.session.Turn(b.events.turnAt(n % blockEvents)); on != nil && on.Retention != InMemory {
		return on
	}
	return nil
}

// skipEvent skips the next event, which belongs to a live turn that is evicted or dropped.
func (s *Session) skipEvent(on *Turn) {
	if s.events == int(on.OpenedBy) {
		s.Turns = append(s.Turns, on)
	}
	s.events++
}

// atCheckpoint returns the session as it was at checkpoint k; 0 is the beginning.
func (t *Timeline) atCheckpoint(k int) *Session {
	live := &t.session
	past := &Session{index: live.index, trimmedTurns: live.trimmedTurns, sessionPast: ofPast}
	if live.index == nil {
		past.index = new(turnIndex)
	}
	if k == 0 {
		return past
	}
	c := t.checkpoints[k-1]
	past.events, past.Counts, past.Stopped = c.events, c.counts, c.stopped
	past.Findings = slices.Clip(live.Findings[:c.findings])
	past.Turns = make([]*Turn, max(0, c.turns-live.trimmedTurns))
	for i := range past.Turns {
		on := live.Turns[i]
		then := on.atCheckpoint(int32(k), c.events, past)
		if then == nil {
			then = t.refoldTurn(on, c.events, past)
		}
		past.Turns[i] = then
	}
	return past
}

// refoldTurn returns a turn after n events, folded from its own events alone.
func (t *Timeline) refoldTurn(on *Turn, n int, in *Session) *Turn {
	alone := &Session{index: new(turnIndex), sessionPast: ofPast}
	for _, b := range on.blocks {
		for i := range t.blocks[b].events.n {
			if at := int(b)*blockEvents + i; at < n && t.blocks[b].events.turnAt(i) == on.Number {
				alone.events = at
				t.refoldNext(alone)
			}
		}
	}
	alone.Turns[0].session = in
	return alone.Turns[0]
}
