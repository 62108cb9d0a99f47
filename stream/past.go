package stream

import (
	"maps"
	"slices"
)

// How the past is kept. The live session is changed in place; now and then it makes a checkpoint. Before
// a turn or call is changed for the first time since then, a snapshot of it is taken, without lists that
// only grow: a past list is the beginning of the live one. A past session is made from snapshots, from
// turns that did not change since, and from the few events after the checkpoint. Invariants:
//
//   - Content that two sessions share never changes. A turn or call that a past session may share is
//     replaced by a copy before the live one changes it: keep a Ref, not a pointer.
//   - Code that changes a turn or call calls editTurn or editCall first, and continues with the result.
//   - Code that changes a field that is not in the snapshot (turnSnapshot, callSnapshot) calls keepBase before.
//   - Elements of growing lists never change. If one must, the list is replaced (see argsState).

// sessionPast is the state that a session needs for its past.
type sessionPast struct {
	isPast           bool
	era              int32 // number of checkpoints
	lent             int32 // number of events when the latest past session was made; of a past session, when it was made
	retentionChanges int32 // of a past session: Timeline.retentionChanges when it was made
	snapshotBytes    int   // bytes of snapshots since the last checkpoint
}

// ofPast is the state of a past session, which keeps no past of its own.
var ofPast = sessionPast{isPast: true}

// changeStamp is when a turn or call changed last.
type changeStamp struct {
	changed int32 // number of events at that time
	era     int32 // number of checkpoints at that time
}

func (s *Session) currentStamp() changeStamp { return changeStamp{int32(s.events), s.era} }

// editTurn returns the turn for a change: it takes a snapshot and makes a copy if needed.
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

// ownTurn returns the turn, or a copy that replaces it if a past session may share it.
func (s *Session) ownTurn(t *Turn) *Turn {
	if t.changed <= s.lent && s.lent > 0 {
		t = t.copy()
		s.Turns[s.index.positionOf(t.Number)-s.trimmedTurns] = t
	}
	return t
}

// deltaState is the part of a turn that changes with each delta of arguments.
type deltaState struct {
	at, era               int32 // the checkpoint when it was saved, and the one after which it last changed
	lastFrame, lastCalled int32
	events                int
}

// changesOnlyDeltaState reports whether an event changes only the delta state of a turn.
func (t *Turn) changesOnlyDeltaState(e *Event) bool {
	if e.Kind != Args || t.HasGap() {
		return false
	}
	c := t.inSlot(e.Slot)
	return c != nil && c.visitedBy == 0
}

// editForDelta is editTurn for an event that changes only the delta state.
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

// editCall returns the call for a change: it takes a snapshot and makes a copy if needed.
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
	d.lex.object = slices.Clone(c.lex.object)
	return &d
}
