package replay

import (
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// candidateTurn is a Candidate as it is looked for.
type candidateTurn struct {
	*Candidate
	callRange // where its calls must stand, if it is placed
	calls     []earlierCall
	state     turnState
	text      uint64
	long      bool // the text tells it from others
	sure      bool // it is in the history, as sure as can be
	placed    bool
	kin       relation // of its conversation and the history's
	tried     bool     // to read it again
	again     *stream.Turn
}

// earlierCall is a call of an earlier turn as it is looked for.
type earlierCall struct {
	callIdentity
	call    *stream.Call // nil where only left is there
	summary *CallSummary
	turn    *candidateTurn
	found   int  // number in held, -1 while it is not found
	byItem  bool // named by an item that the provider keeps
	twice   bool // another call of the turn has the id too
	number  bool // the id is no more than a number, or too many have it
	valued  bool
	value   valueHash
}

// earlierCalls are those of a turn.
func (c *Candidate) earlierCalls() (all []earlierCall) {
	if c.Summary != nil {
		all = make([]earlierCall, len(c.Summary.calls))
		for i := range all {
			all[i] = earlierCall{callIdentity: c.Summary.calls[i].callIdentity, summary: &c.Summary.calls[i], found: -1}
		}
		return all
	}
	all = make([]earlierCall, len(c.Turn.Calls))
	for i, of := range c.Turn.Calls {
		all[i] = earlierCall{callIdentity: calledOf(of), call: of, found: -1}
	}
	return all
}

// readTurn learns which ids a turn has, and where it must stand.
func (m *matcher) readTurn(t *candidateTurn, c *Candidate) {
	t.Candidate, t.calls, t.kin = c, c.earlierCalls(), kinOf(c.Position, m.Position)
	t.text, t.long, t.state = c.otherSigns()
	own := 0
	for i := range t.calls {
		e := &t.calls[i]
		e.turn, e.number = t, isCounter(e.id, e.name) || m.common[IDKey(e.id)]
		m.known[e.id]++
		if !e.server && !e.attempt {
			own++
		}
	}
	t.markTwice()
	if n, ok := m.at[t.Position]; ok && t.Position.Begin != 0 && !m.common[placeKey(t.Position)] {
		t.placed, t.callRange = true, callRange{n, n + own}
	}
}

// markTwice finds the ids that several calls of the turn have.
func (t *candidateTurn) markTwice() {
	if len(t.calls) < 2 {
		return
	}
	last := make(map[string]*earlierCall, len(t.calls))
	for i := range t.calls {
		e := &t.calls[i]
		if other := last[e.id]; other != nil {
			e.twice, other.twice = true, true
		}
		last[e.id] = e
	}
}

// otherSigns are what tells of a turn beside its calls.
func (c *Candidate) otherSigns() (text uint64, long bool, state turnState) {
	if c.Summary != nil {
		return c.Summary.text, c.Summary.long, c.Summary.state
	}
	text, long = hashText(c.Turn.Text)
	return text, long, stateOf(c.Turn)
}

// argsHash is the value of the call's arguments.
func (c *earlierCall) argsHash() valueHash {
	switch {
	case c.summary != nil:
		return c.summary.value
	case !c.valued:
		c.value, c.valued = valueOf(c.call.Args()), true
	}
	return c.value
}

// isMissed reports whether a call should be there and is not found yet.
func (c *earlierCall) isMissed() bool {
	return c.found < 0 && !c.byItem && !c.server && !c.attempt
}

// otherID reports whether the id of a call of the history speaks against its being c. An id that
// the model gave to two calls of a turn says nothing: clients change it.
func (c *earlierCall) otherID(p *protocol.Part) bool {
	return c.id != "" && p.ID != "" && !c.number && !c.twice
}

// isObject reports whether the arguments are an object.
func (c *earlierCall) isObject() bool {
	if c.summary != nil {
		return c.summary.object
	}
	return c.call.Syntax() == stream.SyntaxObject
}

// reload is the call as it is read again, nil where that cannot be done.
func (c *earlierCall) reload() *stream.Call {
	t := c.turn
	if c.summary == nil || t.Reload == nil {
		return nil
	}
	if !t.tried {
		t.tried, t.again = true, t.Reload()
	}
	if n := int(c.ref.Call); t.again != nil && n <= len(t.again.Calls) && c.summary.isOf(t.again.Calls[n-1].Args()) {
		return t.again.Calls[n-1]
	}
	return nil
}

// isOfID reports whether a call has that id, or had it in a request.
func (c *earlierCall) isOfID(id string) bool {
	if c.summary != nil {
		return c.id == id || c.summary.lastReport().ID == id
	}
	return c.id == id || slices.ContainsFunc(c.call.SentBack, func(r stream.SentBackCall) bool { return r.ID == id })
}

// HasCall says whether the turn has a call with the id and the tool of one in a history, or one that
// had the id in a history before, and whether one of them has its arguments.
func (c *Candidate) HasCall(p *protocol.Part) (same, any bool) {
	for _, e := range c.earlierCalls() {
		if e.name != p.Name || !e.isOfID(p.ID) {
			continue
		}
		any = true
		if same = e.summary != nil && e.summary.value == valueOf(p.Args) || e.summary == nil && protocol.Same(e.call.Args(), p.Args); same {
			break
		}
	}
	return same, any
}
