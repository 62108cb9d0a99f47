package stream

import (
	"iter"
	"slices"
	"sort"
	"time"
)

// A Timeline is the list of events and its fold, now and after each event. The list doesn't store data that the
// fold stores.
type Timeline struct {
	Every int // number of events between checkpoints; if 0, the costs decide

	blocks           []eventBlock
	checkpoints      []checkpoint
	texts            Arena // stores the texts of returned events
	retentionChanges int32 // number of times that turns were evicted, dropped, reloaded or removed
	session          Session
}

// Append adds events and folds them into the current session.
func (t *Timeline) Append(events ...Event) {
	for i := range events {
		t.session.applyEvent(&events[i])
		t.storeEvent(&events[i])
		// Make a checkpoint after Every events or, if Every is 0, as soon as the costs allow one.
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
}

// Len returns the number of events.
func (t *Timeline) Len() int { return t.session.events }

// Event returns event n, 0 ≤ n < Len(). If its turn was dropped, kept is false and only part of the event is
// available.
func (t *Timeline) Event(n int) (e Event, kept bool) {
	e, _, kept = t.eventAt(n, nil)
	return e, kept
}

// eventAt returns event n, and the earlier call with the same id as its call. The parameter again is the
// session that is being folded again and has reached n, or nil. The event has its WireForm only if again is
// nil, because folding doesn't need it.
func (t *Timeline) eventAt(n int, again *Session) (e Event, reused Ref, kept bool) {
	e, text, reused, kept := t.eventWithKeptText(n, again)
	if again == nil {
		t.wireFormOf(&e, n, text)
	}
	if text != nil {
		e.Text = t.texts.StringOf(text)
	}
	return e, reused, kept
}

// eventWithKeptText does the same as eventAt, but if the fold keeps the event's text, it returns that text
// separately, without a copy.
func (t *Timeline) eventWithKeptText(n int, again *Session) (e Event, text []byte, reused Ref, kept bool) {
	b := &t.blocks[n/blockEvents]
	if b.events.n == 0 {
		return Event{Turn: NoTurn, At: NoTime}, nil, NoRef, false
	}
	f := b.events.at(n % blockEvents)
	e = Event{Kind: f.kindAndCode(), Code: f.code, Turn: f.turn, Frame: f.frame, At: b.unpackTime(f.at)}
	on, c := t.session.Find(Ref{f.turn, int32(f.call)})
	if c != nil {
		e.Slot = c.Slot
	}
	x := &packedPayload{reused: NoRef}
	if f.kind&hasPayload != 0 {
		switch beside := b.packedPayloadOf(n); {
		case beside != nil:
			x = beside
			e.What, e.Slot = x.what, x.slot
			if x.timed {
				e.At = x.at
			}
		case on != nil && on.Retention == Evicted && e.Kind == Finish:
			e.Slot, e.Text = AllChoices, on.Finish
			return e, nil, NoRef, true
		case on != nil && on.Retention == Evicted:
			e.What = on.payloadFromRow(e.Kind, c)
		}
	}
	if e.Text = x.text; !x.worded {
		text, _ = textOf(e.Kind, on, c, int32(n), again)
	}
	return e, text, x.reused, f.turn == NoTurn || on != nil && on.Retention != Dropped
}

// wireFormOf sets the wire form of event n's text, if it has one and the text is kept.
func (t *Timeline) wireFormOf(e *Event, n int, text []byte) {
	b := &t.blocks[n/blockEvents]
	if b.events.n == 0 || b.events.at(n%blockEvents).kind&hasWireForm == 0 {
		return
	}
	if on := t.session.Turn(e.Turn); on != nil && on.Retention != InMemory {
		return
	}
	if text == nil {
		text = []byte(e.Text)
	}
	e.What = &WireForm{Wire: b.forms.formOf(&b.events, n%blockEvents, text)}
}

// KindAndTime returns the kind and the time of event n. It is cheaper than EventPrefix, which finds the event's call and
// its text.
func (t *Timeline) KindAndTime(n int) (EventKind, time.Duration) {
	b := &t.blocks[n/blockEvents]
	if b.events.n == 0 {
		return 0, NoTime
	}
	f := packedEvent{}
	f.kind, f.at = b.events.kindAndTimeAt(n % blockEvents)
	if f.kind&hasPayload != 0 {
		if beside := b.packedPayloadOf(n); beside != nil && beside.timed {
			return f.kindAndCode(), beside.at
		}
	}
	return f.kindAndCode(), b.unpackTime(f.at)
}

// Session returns the fold of all events. It grows with every Append.
func (t *Timeline) Session() *Session { return &t.session }

// Subject returns the kind of event n and its subject: a call or, if no call is known, a turn. The subject is
// NoRef if neither is kept, or if the event belongs to no turn. Subject is cheaper than Event, which builds
// the text.
func (t *Timeline) Subject(n int) (EventKind, Ref) {
	b := &t.blocks[n/blockEvents]
	if b.events.n == 0 {
		return 0, NoRef
	}
	return b.events.subjectAt(n % blockEvents)
}

// EventPrefix returns event n with only the beginning of its text, because one event may contain megabytes. The
// parameter most is the maximum length in bytes. If it is 0, the wire form is omitted too.
func (t *Timeline) EventPrefix(n, most int) Event {
	e, text, _, _ := t.eventWithKeptText(n, nil)
	if most > 0 {
		t.wireFormOf(&e, n, text)
	}
	if e.Text = e.Text[:min(len(e.Text), most)]; len(text) > 0 && most > 0 {
		e.Text = string(text[:min(len(text), most)])
	}
	return e
}

// EventsOf iterates over the numbers of the events about a turn, in ascending order. It begins with the first
// number that is at least from. It skips blocks without events of the turn.
func (t *Timeline) EventsOf(turn *Turn, from int) iter.Seq[int] {
	return func(yield func(n int) bool) {
		first, _ := slices.BinarySearch(turn.blocks, int32(from/blockEvents))
		for _, b := range turn.blocks[first:] {
			list := &t.blocks[b].events
			for i := max(0, from-int(b)*blockEvents); i < list.n; i++ {
				if list.turnAt(i) == turn.Number && !yield(int(b)*blockEvents+i) {
					return
				}
			}
		}
	}
}

// EventsBefore iterates over the numbers of the events about a turn, in descending order. It begins with the last
// number that is less than before.
func (t *Timeline) EventsBefore(turn *Turn, before int) iter.Seq[int] {
	return func(yield func(n int) bool) {
		end := sort.Search(len(turn.blocks), func(i int) bool { return int(turn.blocks[i])*blockEvents >= before })
		for _, b := range slices.Backward(turn.blocks[:end]) {
			list := &t.blocks[b].events
			for i := min(list.n, before-int(b)*blockEvents) - 1; i >= 0; i-- {
				if list.turnAt(i) == turn.Number && !yield(int(b)*blockEvents+i) {
					return
				}
			}
		}
	}
}

// A checkpoint is the state of a session after some number of events, without its turns. Turns have their own
// snapshots.
type checkpoint struct {
	events, turns, findings int
	counts                  [NumStatus]int
	stopped                 int
}

// These are the minimum number of events between checkpoints, and the maximum snapshot size for each event. The
// first determines the cost of making a past session. The second limits the memory of snapshots.
const (
	minStride             = 4096
	snapshotBytesPerEvent = 4
)

// At returns the fold of the first n events. The result stays valid while events are appended, until a turn is
// evicted, dropped, reloaded or removed. Callers must not change it. It shares content with the live session without
// copying. Turns that are evicted or dropped now are also evicted or dropped in it.
func (t *Timeline) At(n int) *Session {
	n = min(max(n, 0), t.Len())
	k, _ := slices.BinarySearchFunc(t.checkpoints, n+1, func(c checkpoint, n int) int { return c.events - n })
	s := t.atCheckpoint(k)
	t.foldUpTo(s, n)
	t.session.lent = int32(t.session.events)
	s.lent, s.retentionChanges = t.session.lent, t.retentionChanges
	return s
}

// MoveTo returns the fold of the first n events. The session s was made by At or MoveTo. If s lacks only a few of
// these events, MoveTo changes s itself, so other holders of s see the change. Otherwise, or if some of these events
// did not exist when s was made, it makes a new session. It also makes a new one if turns were evicted, dropped,
// reloaded or removed since s was made.
func (t *Timeline) MoveTo(s *Session, n int) *Session {
	n = min(max(n, 0), t.Len())
	if !s.isPast || !t.IsCurrent(s) || n < s.events || n > int(s.lent) || n-s.events > minStride {
		return t.At(n)
	}
	t.foldUpTo(s, n)
	return s
}

// IsCurrent reports whether a session that At or MoveTo made may still be used: no turn was evicted, dropped,
// reloaded or removed since.
func (t *Timeline) IsCurrent(s *Session) bool { return s.retentionChanges == t.retentionChanges }

// Detach gives the session s, which At made, its own copy of a turn. The caller can then apply invented events
// to it. Detach folds the events of the turn again for the copy. It does nothing if the turn is not in memory.
func (t *Timeline) Detach(s *Session, number int32) {
	on, then := t.session.Turn(number), s.Turn(number)
	if on == nil || then == nil || then.Retention != InMemory {
		return
	}
	s.Turns[s.index.positionOf(number)-s.trimmedTurns] = t.refoldTurn(on, s.events, s)
}

// foldUpTo folds events into a past session until it has n events. Invariant: if an event existed when
// the session was made, it is not about a turn or call that the session shares with the live session.
func (t *Timeline) foldUpTo(s *Session, n int) {
	for s.events < n {
		b := &t.blocks[s.events/blockEvents].events
		if b.n == 0 {
			t.skipFreedBlock(s, n)
		} else if on := t.session.Turn(b.turnAt(s.events % blockEvents)); on != nil && on.Retention != InMemory {
			if s.events == int(on.OpenedBy) {
				s.Turns = append(s.Turns, on)
			}
			s.events++
		} else {
			t.refoldNext(s)
		}
	}
}

// skipFreedBlock skips the events of a freed block, but not event n. All turns of the block were dropped. The past
// session gets the rows of the turns that began in the block.
func (t *Timeline) skipFreedBlock(s *Session, n int) {
	s.events = min(n, (s.events/blockEvents+1)*blockEvents)
	for _, on := range t.session.Turns[min(len(s.Turns), len(t.session.Turns)):] {
		if int(on.OpenedBy) >= s.events {
			return
		}
		s.Turns = append(s.Turns, on)
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

// refoldTurn returns the turn as it was after n events. It folds only the turn's own events.
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
