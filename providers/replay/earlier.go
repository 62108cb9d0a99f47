package replay

import (
	"slices"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// turn is a Candidate as it is looked for.
type turn struct {
	*Candidate
	window // where its calls must stand, if it is placed
	calls  []earlier
	state  turnState
	text   uint64
	long   bool // the text tells it from others
	sure   bool // it is in the history, as sure as can be
	placed bool
	kin    kinship // of its conversation and the history's
	tried  bool    // to read it again
	again  *stream.Turn
}

// earlier is a call of an earlier turn as it is looked for.
type earlier struct {
	called
	call   *stream.Call // nil where only left is there
	left   *Trace
	turn   *turn
	found  int  // number in held, -1 while it is not found
	whole  bool // named by an item that the provider keeps
	twice  bool // another call of the turn has the id too
	number bool // the id is no more than a number, or too many have it
	valued bool
	value  value
}

// calls are those of a turn.
func (c *Candidate) calls() (all []earlier) {
	if c.Left != nil {
		all = make([]earlier, len(c.Left.calls))
		for i := range all {
			all[i] = earlier{called: c.Left.calls[i].called, left: &c.Left.calls[i], found: -1}
		}
		return all
	}
	all = make([]earlier, len(c.Turn.Calls))
	for i, of := range c.Turn.Calls {
		all[i] = earlier{called: calledOf(of), call: of, found: -1}
	}
	return all
}

// readTurn learns which ids a turn has, and where it must stand.
func (m *matching) readTurn(t *turn, c *Candidate) {
	t.Candidate, t.calls, t.kin = c, c.calls(), kinOf(c.Asked, m.Asked)
	t.text, t.long, t.state = c.signs()
	own := 0
	for i := range t.calls {
		e := &t.calls[i]
		e.turn, e.number = t, isCounter(e.id, e.name) || m.common[IDClue(e.id)]
		m.known[e.id]++
		if !e.server && !e.attempt {
			own++
		}
	}
	t.markTwice()
	if n, ok := m.at[t.Asked]; ok && t.Asked.Begin != 0 && !m.common[placeClue(t.Asked)] {
		t.placed, t.window = true, window{n, n + own}
	}
}

// markTwice finds the ids that several calls of the turn have.
func (t *turn) markTwice() {
	if len(t.calls) < 2 {
		return
	}
	last := make(map[string]*earlier, len(t.calls))
	for i := range t.calls {
		e := &t.calls[i]
		if other := last[e.id]; other != nil {
			e.twice, other.twice = true, true
		}
		last[e.id] = e
	}
}

// signs are what tells of a turn beside its calls.
func (c *Candidate) signs() (text uint64, long bool, state turnState) {
	if c.Left != nil {
		return c.Left.text, c.Left.long, c.Left.state
	}
	text, long = hashText(c.Turn.Text)
	return text, long, stateOf(c.Turn)
}

// says is the value of the call's arguments.
func (c *earlier) says() value {
	switch {
	case c.left != nil:
		return c.left.value
	case !c.valued:
		c.value, c.valued = valueOf(c.call.Args()), true
	}
	return c.value
}

// isMissed reports whether a call should be there and is not found yet.
func (c *earlier) isMissed() bool {
	return c.found < 0 && !c.whole && !c.server && !c.attempt
}

// otherID reports whether the id of a call of the history speaks against its being c. An id that
// the model gave to two calls of a turn says nothing: clients change it.
func (c *earlier) otherID(p *dialect.Part) bool {
	return c.id != "" && p.ID != "" && !c.number && !c.twice
}

// isObject reports whether the arguments are an object.
func (c *earlier) isObject() bool {
	if c.left != nil {
		return c.left.object
	}
	return c.call.Syntax() == stream.SyntaxObject
}

// again is the call as it is read again, nil where that cannot be done.
func (c *earlier) again() *stream.Call {
	t := c.turn
	if c.left == nil || t.Again == nil {
		return nil
	}
	if !t.tried {
		t.tried, t.again = true, t.Again()
	}
	if n := int(c.ref.Call); t.again != nil && n <= len(t.again.Calls) && c.left.isOf(t.again.Calls[n-1].Args()) {
		return t.again.Calls[n-1]
	}
	return nil
}

// isOfID reports whether a call has that id, or had it in a request.
func (c *earlier) isOfID(id string) bool {
	if c.left != nil {
		return c.id == id || c.left.wasTold().ID == id
	}
	return c.id == id || slices.ContainsFunc(c.call.SentBack, func(r stream.SentBackCall) bool { return r.ID == id })
}

// Wrote says whether the turn has a call with the id and the tool of one in a history, or one that
// had the id in a history before, and whether one of them has its arguments.
func (c *Candidate) Wrote(p *dialect.Part) (same, any bool) {
	for _, e := range c.calls() {
		if e.name != p.Name || !e.isOfID(p.ID) {
			continue
		}
		any = true
		if same = e.left != nil && e.left.value == valueOf(p.Args) || e.left == nil && dialect.Same(e.call.Args(), p.Args); same {
			break
		}
	}
	return same, any
}
