package stream

import "slices"

// checkpoint is what a session was after so many events, but for its turns: they know that
// themselves.
type checkpoint struct {
	events, turns, findings int
	gone                    int
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
	if t.every > 0 && since >= t.every || t.every == 0 && since >= leastStride && since*asideByEvent >= s.aside {
		t.checkpoints = append(t.checkpoints, checkpoint{
			events: s.events, turns: len(s.Turns) + s.gone, findings: len(s.Findings), counts: s.Counts, stopped: s.Stopped,
		})
		s.era, s.aside = int32(len(t.checkpoints)), 0
	}
}

// At is the fold of the first n events. It stays as it is while events are appended, until a turn
// is dropped; nobody changes it. What it shares with the live session is not copied.
func (t *Timeline) At(n int) *Session {
	n = min(max(n, 0), t.Len())
	k, _ := slices.BinarySearchFunc(t.checkpoints, n+1, func(c checkpoint, n int) int { return c.events - n })
	s := t.session.asOf(k, t.checkpoints)
	for i := s.events; i < n; i++ {
		e, reused, kept := t.event(i, s)
		if !kept {
			s.events++
			continue
		}
		s.reused = reused
		s.Apply(e)
	}
	t.session.lent = int32(t.session.events)
	return s
}

// asOf is a session as it was at checkpoint k; 0 is the beginning.
func (s *Session) asOf(k int, all []checkpoint) *Session {
	past := &Session{index: s.index, gone: s.gone, live: live{isPast: true}}
	if s.index == nil {
		past.index = new(index)
	}
	if k == 0 {
		return past
	}
	c := all[k-1]
	past.events, past.Counts, past.Stopped = c.events, c.counts, c.stopped
	past.Findings = slices.Clip(s.Findings[:c.findings])
	past.Turns = slices.Grow(past.Turns, max(0, c.turns-s.gone)+8)
	for _, t := range s.Turns[:max(0, c.turns-s.gone)] {
		past.Turns = append(past.Turns, t.asOf(int32(k), past))
	}
	return past
}
