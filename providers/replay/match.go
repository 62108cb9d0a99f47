package replay

import (
	"bytes"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// matching is which calls of earlier turns are which of a history. What it rests
// on, from strong to weak: an id that nobody else has; where in the conversation
// the turn stands; what the arguments are. A call that none of them leads to is
// not found, and nothing is said of it: the same tools are called in other
// conversations, and in turns that were thrown away.
type matching struct {
	*past
	by    *Observer
	to    *dialect.Target
	turns []Candidate
	known map[string]int          // how many calls of the turns have an id
	twice map[*stream.Call]bool   // another call of the turn has the id too
	found map[*stream.Call]int    // numbers of calls in held
	whole map[*stream.Call]bool   // named by an item that the provider keeps
	sure  map[*stream.Turn]bool   // the turn is in the history, as sure as can be
	place map[*stream.Turn]window // only of turns that are known to have one
	looks int                     // how often arguments were held against each other
	keeps bool                    // the client keeps ids as they are
	texts map[string][]int        // messages of the model by their text, once needed
	items map[string]place        // parts that only name an item, by its id
}

// window is which calls of a history stand where those of a turn must: those
// with the numbers first to before end.
type window struct{ first, end int }

// match finds the calls of turns in a history.
func match(by *Observer, history []dialect.Message, to *dialect.Target, turns []Candidate) *matching {
	m := &matching{
		past: read(history, to), by: by, to: to, turns: turns, known: map[string]int{}, twice: map[*stream.Call]bool{}, found: map[*stream.Call]int{},
		whole: map[*stream.Call]bool{}, sure: map[*stream.Turn]bool{}, place: map[*stream.Turn]window{},
	}
	m.readTurns()
	m.each(m.byIDs)
	m.each(m.byItem)
	m.each(m.byContent)
	m.each(m.anywhere)
	for i := range turns { // of attempts at one turn the last is the one that stayed
		t := &turns[len(turns)-1-i]
		for _, c := range t.Turn.Calls {
			if m.misses(c) {
				m.byPlace(t, c)
			}
		}
	}
	for i := range turns {
		m.bySigns(&turns[i])
	}
	return m
}

// readTurns learns which ids the turns have, and where each must stand.
func (m *matching) readTurns() {
	for _, t := range m.turns {
		own := 0
		first := map[string]*stream.Call{}
		for _, c := range t.Turn.Calls {
			m.known[c.ID]++
			if other := first[c.ID]; other != nil {
				m.twice[c], m.twice[other] = true, true
			}
			first[c.ID] = c
			if !c.Server && !c.Attempt {
				own++
			}
		}
		if n, ok := m.at[names(t.Asked.Calls)]; ok && kinOf(t.Asked, m.asked) == kin {
			m.place[t.Turn] = window{n, n + own}
		}
	}
}

// each calls find with the calls that are not found yet.
func (m *matching) each(find func(t *Candidate, c *stream.Call)) {
	for i := range m.turns {
		for _, c := range m.turns[i].Turn.Calls {
			if m.misses(c) {
				find(&m.turns[i], c)
			}
		}
	}
}

// misses reports whether a call should be there and is not found yet.
func (m *matching) misses(c *stream.Call) bool {
	_, found := m.found[c]
	return !found && !m.whole[c] && !c.Server && !c.Attempt
}

// take says that a call of the history is c. It is a sure sign of the turn, or
// one that other conversations may have too.
func (m *matching) take(t *Candidate, c *stream.Call, n int, sure bool) {
	m.found[c], m.held[n].call, m.held[n].turn = n, c, t.Turn
	m.sure[t.Turn] = m.sure[t.Turn] || sure
}

// inPlace reports whether call n stands where the calls of a turn must.
func (m *matching) inPlace(t *Candidate, n int) bool {
	first, end := m.inWindow(t)
	return n >= first && n < end
}

// byIDs finds a call by its id, or what clients make of that. An id that is no
// more than a number is told apart by its place or by what it holds.
func (m *matching) byIDs(t *Candidate, c *stream.Call) {
	for spelled := range spellings(c, m.to) {
		best, points := -1, 0
		for _, n := range m.byID[spelled] {
			if p := m.pointsOf(t, c, n); m.held[n].call == nil && p > points {
				best, points = n, p
			}
		}
		if best >= 0 {
			m.take(t, c, best, true)
			m.keeps = m.keeps || spelled == c.ID && !isCounter(c.ID, c.Name)
			return
		}
	}
}

// pointsOf is how much speaks for call n of the history being c, of which it has
// the id; 0 if that is not enough.
func (m *matching) pointsOf(t *Candidate, c *stream.Call, n int) int {
	h := &m.held[n]
	counter, related := isCounter(c.ID, c.Name), kinOf(t.Asked, m.asked)
	doubts := 0 // captures that hide ids give the same ones to different calls
	for _, doubt := range [...]bool{counter, related == stranger, h.part.Name != c.Name} {
		if doubt {
			doubts++
		}
	}
	switch {
	case doubts > 1:
		return 0
	case m.inPlace(t, n):
		return 4
	case !counter && len(m.byID[h.part.ID]) == 1:
		return 3
	case m.holds(c, n):
		return 2
	case !counter, related == unknownKin && m.known[c.ID] == 1 && len(m.byID[h.part.ID]) == 1:
		return 1
	}
	return 0
}

// byItem finds a call of which the request names nothing but the item: the
// provider has kept the rest.
func (m *matching) byItem(t *Candidate, c *stream.Call) {
	if c.Item == "" {
		return
	}
	if m.items == nil {
		m.items = map[string]place{}
		for i := range m.messages {
			for j := range m.messages[i].Parts {
				if p := &m.messages[i].Parts[j]; p.Kind == dialect.OtherPart && p.Raw.Kind() == '{' {
					m.items[p.Raw.Get("id").Text()] = place{i, j}
				}
			}
		}
	}
	if _, ok := m.items[c.Item]; ok {
		m.whole[c], m.sure[t.Turn] = true, true
	}
}

// inWindow are the numbers of the calls that stand where a turn's must.
func (m *matching) inWindow(t *Candidate) (first, end int) {
	w, placed := m.place[t.Turn]
	if !placed {
		return 0, 0
	}
	return w.first, min(w.end, len(m.held))
}

// holds reports whether call n of the history has what c has. To look closely
// takes time, so in a history where nothing fits it is done only so often.
func (m *matching) holds(c *stream.Call, n int) bool {
	if bytes.Equal(c.Args(), m.held[n].part.Args) {
		return true
	}
	m.looks++
	return m.looks <= mostLooks+len(m.held) && m.by.holds(c, m.held[n].part, m.to)
}

// mostLooks is how often a request's calls are looked at closely, beside once each.
const mostLooks = 256

// byContent finds a call that no id leads to by its tool and its arguments,
// where its turn stands.
func (m *matching) byContent(t *Candidate, c *stream.Call) {
	for n, end := m.inWindow(t); n < end; n++ {
		if m.mayBe(c, n) && m.holds(c, n) {
			m.take(t, c, n, true)
			return
		}
	}
}

// anywhere finds a call by its tool and its arguments when it is not known where
// its turn stands, because calls before it are missing or were never seen.
func (m *matching) anywhere(t *Candidate, c *stream.Call) {
	related := kinOf(t.Asked, m.asked)
	if _, placed := m.place[t.Turn]; placed || related == stranger {
		return
	}
	for n := range m.held {
		if m.mayBe(c, n) && m.holds(c, n) {
			m.take(t, c, n, related == kin)
			return
		}
	}
}

// mayBe reports whether call n of the history is free, of c's tool, and no id
// speaks against its being c.
func (m *matching) mayBe(c *stream.Call, n int) bool {
	h := &m.held[n]
	return h.call == nil && h.part.Name == c.Name && (!m.otherID(c, h.part) || !m.keeps && m.known[h.part.ID] == 0)
}

// otherID reports whether a call of the history has an id that is not c's. One
// that the model gave to two calls of a turn is nobody's: clients change it.
func (m *matching) otherID(c *stream.Call, p *dialect.Part) bool {
	return c.ID != "" && p.ID != "" && !isCounter(c.ID, c.Name) && !m.twice[c]
}

// byPlace finds a call whose arguments are others now: it stands where its turn
// stands, and something else of the turn stands beside it. Without that it is
// found only where clients are known to send something else: the arguments are
// no object, or {} is what was sent. Responses that broke off are asked for
// again, so that another may stand in their place.
func (m *matching) byPlace(t *Candidate, c *stream.Call) {
	if t.Turn.Unseen() {
		return // it may be the place of a call that was not seen
	}
	whole := t.Turn.Phase() != stream.TurnAborted && c.Phase() != stream.PhaseAborted
	for n, end := m.inWindow(t); n < end; n++ {
		p := m.held[n].part
		likely := whole && !m.otherID(c, p) && (c.Syntax() != stream.SyntaxObject || saysNothing(p.Args))
		if m.mayBe(c, n) && (likely || m.vouched(t.Turn, n)) {
			m.take(t, c, n, true)
			return
		}
	}
}
