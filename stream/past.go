package stream

import (
	"maps"
	"slices"
)

// How the past is kept. The live session is changed in place; now and then it makes a checkpoint.
// Before a turn or call is changed for the first time since then, what it was is set aside, without
// what only grows: of that the past is the beginning. A past session is made of what was set aside,
// of turns that did not change since, and of the few events after the checkpoint. Invariants:
//
//   - What two sessions share nobody changes. A turn or call that a past session may share is
//     replaced by a copy before the live one changes it: keep a Ref, not a pointer.
//   - Who changes a turn or call calls edit first, and goes on with what that returns.
//   - Who changes of one what is not in its version (pastTurn, pastCall) calls keepBase before.
//   - Elements of what grows never change. Where one must, the list is replaced (see page).

// sessionPast is what a session knows of its past.
type sessionPast struct {
	isPast           bool
	era              int32 // how many checkpoints were made
	lent             int32 // how many events there were when a past session was made last; of a past one, when it was
	retentionChanges int32 // of a past one: how often turns had been let go of, or had come back
	snapshotBytes    int   // bytes set aside since the last checkpoint
}

// ofPast is what a past session knows: nothing, because nobody changes it.
var ofPast = sessionPast{isPast: true}

// changeStamp is when a turn or call changed last.
type changeStamp struct {
	changed int32 // how many events there were then
	era     int32 // how many checkpoints
}

func (s *Session) currentStamp() changeStamp { return changeStamp{int32(s.events), s.era} }

// editTurn is a turn of the session, to be changed.
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

// ownTurn is the turn, or a copy in its place if a past session may share it.
func (s *Session) ownTurn(t *Turn) *Turn {
	if t.changed <= s.lent && s.lent > 0 {
		t = t.copy()
		s.Turns[s.index.positionOf(t.Number)-s.trimmedTurns] = t
	}
	return t
}

// deltaState is what changes of a turn with each delta of arguments.
type deltaState struct {
	at, era               int32 // set aside at that checkpoint, and changed last after that one
	lastFrame, lastCalled int32
	events                int
}

// changesOnlyDeltaState reports whether an event changes no more of a turn than its pulse.
func (t *Turn) changesOnlyDeltaState(e *Event) bool {
	if e.Kind != Args || t.HasGap() {
		return false
	}
	c := t.inSlot(e.Slot)
	return c != nil && c.visitedBy == 0
}

// editForDelta is edit for such an event.
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

// editCall is a call of the turn, to be changed.
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
		s.snapshotBytes += c.before.storedSize()
	}
	c.changeStamp = s.currentStamp()
	return c
}

// copy is a turn like t, to be changed in its place.
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
	d.lex.object = slices.Clone(c.lex.object)
	return &d
}
