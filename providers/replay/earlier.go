package replay

import (
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// candidateTurn is a Candidate with the state of the search.
type candidateTurn struct {
	*Candidate
	callRange // the place of its calls, if it is placed
	calls     []earlierCall
	state     turnState
	text      uint64
	long      bool         // the text is long enough to identify the turn
	sure      bool         // it is certain that the turn is in the history
	placed    bool         // its place in the history is known
	kin       relation     // of its conversation to the history's
	tried     bool         // whether Reload was called
	again     *stream.Turn // its result
}

// earlierCall is a call of an earlier turn with the state of the search.
type earlierCall struct {
	callIdentity
	call    *stream.Call // nil if there is only a summary
	summary *CallSummary
	turn    *candidateTurn
	found   int  // index in History.entries, -1 while not found
	byItem  bool // the history names the item, which the provider keeps
	twice   bool // another call of the turn has the same id
	number  bool // the id is only a number, or too many turns have it
	valued  bool // value is computed
	value   valueHash
}

// earlierCalls returns the calls of a turn.
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

// readTurn notes the ids of a turn, and finds its place.
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

// markTwice marks the calls of the turn that share an id.
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

// otherSigns returns a turn's evidence other than calls.
func (c *Candidate) otherSigns() (text uint64, long bool, state turnState) {
	if c.Summary != nil {
		return c.Summary.text, c.Summary.long, c.Summary.state
	}
	text, long = hashText(c.Turn.Text)
	return text, long, stateOf(c.Turn)
}

// argsHash returns the hash of the value of the call's arguments.
func (c *earlierCall) argsHash() valueHash {
	switch {
	case c.summary != nil:
		return c.summary.value
	case !c.valued:
		c.value, c.valued = valueOf(c.call.Args()), true
	}
	return c.value
}

// isMissed reports whether a call should be in the history and is not found yet.
func (c *earlierCall) isMissed() bool {
	return c.found < 0 && !c.byItem && !c.server && !c.attempt
}

// otherID reports whether the id of a call of the history is evidence that it is not c. An id that two calls
// of a turn share proves nothing, because clients change it.
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

// reload reads the call again. It returns nil if that is impossible.
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

// isOfID reports whether a call has an id, or had it in a request.
func (c *earlierCall) isOfID(id string) bool {
	if c.summary != nil {
		return c.id == id || c.summary.lastReport().ID == id
	}
	return c.id == id || slices.ContainsFunc(c.call.SentBack, func(r stream.SentBackCall) bool { return r.ID == id })
}

// HasCall compares a call of a history with the turn. any reports whether the turn has a call of the same
// tool with the same id, or with that id in an earlier history; same, whether it also has the same arguments.
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
