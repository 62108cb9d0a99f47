package stream

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"sort"
)

// How the past is kept. The live session is changed in place; now and then it makes a checkpoint.
// Before a turn or call is changed for the first time since then, what it was is set aside, without
// what only grows: of that the past is the beginning. A past session is made of what was set aside,
// of turns that did not change since, and of the few events after the checkpoint. Invariants:
//
//   - What two sessions share nobody changes. A turn or call that a past session may share is
//     replaced by a copy before the live one changes it: keep a Ref, not a pointer.
//   - Who changes a turn or call calls edit first, and goes on with what that returns.
//   - Elements of what grows never change. Where one must, the list is replaced (see page).

// live is what a session knows of its past.
type live struct {
	isPast bool
	era    int32 // how many checkpoints were made
	lent   int32 // how many events there were when a past session was made last
	aside  int   // bytes set aside since the last checkpoint
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
		c.before = c.setAside()
		s.aside += callSize
	}
	c.edited = s.now()
	return c
}

// copy is a turn like t, to be changed in its place.
func (t *Turn) copy() *Turn {
	c := *t
	c.Calls, c.Parts = slices.Clone(t.Calls), slices.Clone(t.Parts)
	c.slots, c.choices = slices.Clone(t.slots), slices.Clone(t.choices)
	c.byID, c.waiting = maps.Clone(t.byID), maps.Clone(t.waiting)
	return &c
}

func (c *Call) copy() *Call {
	d := *c
	d.lex.object = slices.Clone(c.lex.object)
	return &d
}

// pastTurn is a turn as it was at the checkpoints after whole, up to at; but for its pulse.
type pastTurn struct {
	Turn
	at             int32
	calls, parts   int
	text, thinking [2]int // bytes and deltas
	part           Part   // the last one
}

// setAside is the turn as it is, before it changes.
func (t *Turn) setAside(at int32) *pastTurn {
	p := &pastTurn{
		Turn: *t, at: at, calls: len(t.Calls), parts: len(t.Parts), text: t.text.size(), thinking: t.thinking.size(),
	}
	if p.parts > 0 {
		p.part = t.Parts[p.parts-1]
	}
	p.Calls, p.Parts, p.Text, p.Thinking, p.byID, p.waiting, p.pulses = nil, nil, nil, nil, nil, nil, nil
	p.Turn.text, p.Turn.thinking = said{}, said{}
	p.slots, p.choices = slices.Clone(t.slots), slices.Clone(t.choices)
	return p
}

func (s *said) size() [2]int { return [2]int{len(s.text.s), s.deltas.n} }

func (s *said) upto(size [2]int) said {
	return said{s.text.upto(size[0]), trail[Delta]{s.deltas.of, size[1]}}
}

// pastCall is a call as it was at the checkpoint era+1, and at those after it up to the next that
// was set aside.
type pastCall struct {
	Call
	args, deltas, toks int
	turned             int // pages
}

// Bytes that are set aside.
var (
	turnSize  = int(reflect.TypeFor[pastTurn]().Size())
	callSize  = int(reflect.TypeFor[pastCall]().Size())
	sweptSize = int(reflect.TypeFor[swept]().Size())
	pulseSize = int(reflect.TypeFor[pulse]().Size())
)

func (p *pastTurn) bytes() int { return turnSize + 8*len(p.slots) + sweptSize*len(p.choices) }

func (c *Call) setAside() *pastCall {
	p := &pastCall{*c, len(c.args.s), c.deltas.n, c.lex.toks.n, len(c.pages)}
	p.Call.args, p.Call.deltas, p.lex.toks, p.pages = growing{}, trail[Delta]{}, trail[Token]{}, nil
	p.lex.object = slices.Clone(c.lex.object)
	return p
}

// asOf is the turn, which is a live one, as it was at a checkpoint, for a session of its own; nil
// where that was let go of.
func (t *Turn) asOf(era int32, in *Session) *Turn {
	if t.era < era || t.Kept != Whole {
		return t
	}
	var p *pastTurn // the first that was set aside since
	for q := t.before; q != nil && q.at >= era; q = q.before {
		p = q
	}
	switch {
	case p == nil && t.whole < era:
		p = t.setAside(math.MaxInt32)
	case p == nil, p.whole >= era:
		return nil
	}
	then := p.Turn
	then.session, then.before, then.blocks = in, nil, nil
	then.text, then.thinking = t.text.upto(p.text), t.thinking.upto(p.thinking)
	then.Text, then.Thinking = then.text.text.s, then.thinking.text.s
	then.slots, then.choices = slices.Clone(p.slots), slices.Clone(p.choices)
	then.Findings = slices.Clip(p.Findings)
	if p.parts > 0 {
		then.Parts = append(slices.Clone(t.Parts[:p.parts-1]), p.part)
	}
	then.Calls = make([]*Call, p.calls)
	for i := range then.Calls {
		then.Calls[i] = t.Calls[i].asOf(era)
	}
	i := sort.Search(len(t.pulses), func(i int) bool { return t.pulses[i].at >= era })
	if i < len(t.pulses) && t.pulses[i].era < era {
		b := t.pulses[i]
		then.LastFrame, then.lastArgs, then.Events = b.lastFrame, b.lastCalled, b.events
	}
	return &then
}

func (c *Call) asOf(era int32) *Call {
	if c.era < era {
		return c
	}
	p := c.before
	for p.era >= era {
		p = p.before
	}
	then, at := p.Call, c.page()
	if p.turned < len(c.pages) {
		at = c.pages[p.turned]
	}
	then.before = nil
	then.args, then.deltas, then.lex.toks = at.args.upto(p.args), trail[Delta]{at.deltas.of, p.deltas}, trail[Token]{at.toks.of, p.toks}
	then.pages = slices.Clip(c.pages[:p.turned])
	then.lex.object = slices.Clone(p.lex.object)
	then.Findings, then.SentBack, then.told = slices.Clip(p.Findings), slices.Clip(p.SentBack), slices.Clip(p.told)
	return &then
}
