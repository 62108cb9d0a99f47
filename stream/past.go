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

// live is what a session knows of its past.
type live struct {
	isPast  bool
	era     int32 // how many checkpoints were made
	lent    int32 // how many events there were when a past session was made last; of a past one, when it was
	letGone int32 // of a past one: how often turns had been let go of, or had come back
	aside   int   // bytes set aside since the last checkpoint
}

// ofPast is what a past session knows: nothing, because nobody changes it.
var ofPast = live{isPast: true}

// edited is when a turn or call changed last.
type edited struct {
	changed int32 // how many events there were then
	era     int32 // how many checkpoints
}

func (s *Session) now() edited { return edited{int32(s.events), s.era} }

// edit is a turn of the session, to be changed.
func (s *Session) edit(t *Turn) *Turn {
	if s.isPast {
		return t
	}
	t = s.own(t)
	if t.whole < s.era {
		t.before = t.setAside(s.era)
		s.aside += t.before.bytes()
		t.whole = s.era
	}
	t.edited = s.now()
	return t
}

// own is the turn, or a copy in its place if a past session may share it.
func (s *Session) own(t *Turn) *Turn {
	if t.changed <= s.lent && s.lent > 0 {
		t = t.copy()
		s.Turns[s.index.of(t.Number)-s.gone] = t
	}
	return t
}

// pulse is what changes of a turn with each delta of arguments.
type pulse struct {
	at, era               int32 // set aside at that checkpoint, and changed last after that one
	lastFrame, lastCalled int32
	events                int
}

// beats reports whether an event changes no more of a turn than its pulse.
func (t *Turn) beats(e *Event) bool {
	if e.Kind != Args || t.Unseen() {
		return false
	}
	c := t.inSlot(e.Slot)
	return c != nil && c.reached == 0
}

// beat is edit for such an event.
func (s *Session) beat(t *Turn) *Turn {
	if s.isPast {
		return t
	}
	if t = s.own(t); t.era < s.era {
		t.pulses = append(t.pulses, pulse{s.era, t.era, t.LastFrame, t.lastArgs, t.Events})
		s.aside += pulseSize
	}
	t.edited = s.now()
	return t
}

// edit is a call of the turn, to be changed.
func (t *Turn) edit(c *Call) *Call {
	s := t.session
	if s.isPast {
		return c
	}
	if c.changed <= s.lent && s.lent > 0 {
		c = c.copy()
		t.Calls[c.Number-1] = c
	}
	if c.era < s.era {
		c.before = c.setAside(s.era)
		s.aside += c.before.bytes()
	}
	c.edited = s.now()
	return c
}

// copy is a turn like t, to be changed in its place.
func (t *Turn) copy() *Turn {
	c := *t
	c.Calls = slices.Clone(t.Calls)
	if t.content.shared {
		return &c
	}
	own := *t.content
	c.content = &own
	c.Parts = slices.Clone(t.Parts)
	c.slots, c.choices = slices.Clone(t.slots), slices.Clone(t.choices)
	c.byID, c.waiting = maps.Clone(t.byID), maps.Clone(t.waiting)
	return &c
}

func (c *Call) copy() *Call {
	d := *c
	if c.writing.shared {
		return &d
	}
	own := *c.writing
	d.writing = &own
	d.lex.object = slices.Clone(c.lex.object)
	return &d
}
