package replay

import (
	"bytes"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// matching finds calls of earlier turns in a history. The evidence, from strong to weak: an id that
// no other call has; the place of the turn in the conversation; the arguments. A call without
// evidence counts as not found, and nothing is said of it: other conversations call the same tools,
// and so do turns that were thrown away.
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

// window is which calls of a history stand where those of a turn must: those with the numbers first
// to before end.
type window struct{ first, end int }

func (w window) has(n int) bool { return w.first <= n && n < w.end }

// match finds the calls of turns in a history.
func match(by *Observer, history []dialect.Message, to *dialect.Target, turns []Candidate) *matching {
	m := &matching{
		past: readPast(history, to), by: by, to: to, turns: turns, known: map[string]int{}, twice: map[*stream.Call]bool{}, found: map[*stream.Call]int{},
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

// take says that call n of the history is c. sure says that it also proves that the turn is in the
// history: other conversations cannot have it.
func (m *matching) take(t *Candidate, c *stream.Call, n int, sure bool) {
	m.found[c], m.held[n].call, m.held[n].turn = n, c, t.Turn
	m.sure[t.Turn] = m.sure[t.Turn] || sure
}

// inPlace reports whether call n stands where the calls of a turn must.
func (m *matching) inPlace(t *Candidate, n int) bool {
	return m.place[t.Turn].has(n)
}

// byIDs finds a call by its id, or what clients make of that. An id that is no more than a number
// is told apart by its place or by what it holds.
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

// pointsOf is how strong the evidence is that call n of the history, which has the id of c, is c; 0
// if it is not enough.
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

// byItem finds a call of which the request names only the item, because the provider keeps the
// rest.
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
	w := m.place[t.Turn]
	return w.first, min(w.end, len(m.held))
}

// holds reports whether call n of the history has the arguments of c. Comparing values takes time,
// so a request has a budget for it.
func (m *matching) holds(c *stream.Call, n int) bool {
	if bytes.Equal(c.Args(), m.held[n].part.Args) {
		return true
	}
	m.looks++
	return m.looks <= mostLooks+len(m.held) && m.by.holds(c, m.held[n].part, m.to)
}

// mostLooks is how many values a request may have compared, beside one for each of its calls.
const mostLooks = 256

// byContent finds a call by its tool and its arguments, where its turn stands.
func (m *matching) byContent(t *Candidate, c *stream.Call) {
	for n, end := m.inWindow(t); n < end; n++ {
		if m.mayBe(c, n) && m.holds(c, n) {
			m.take(t, c, n, true)
			return
		}
	}
}

// anywhere finds a call by its tool and its arguments when the place of its turn is not known,
// because calls before it are missing or were never seen.
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

// mayBe reports whether call n of the history may be c: it is not taken, it has the same tool, and
// its id does not say otherwise.
func (m *matching) mayBe(c *stream.Call, n int) bool {
	h := &m.held[n]
	return h.call == nil && h.part.Name == c.Name && (!m.otherID(c, h.part) || !m.keeps && m.known[h.part.ID] == 0)
}

// otherID reports whether the id of a call of the history speaks against its being c. An id that
// the model gave to two calls of a turn says nothing: clients change it.
func (m *matching) otherID(c *stream.Call, p *dialect.Part) bool {
	return c.ID != "" && p.ID != "" && !isCounter(c.ID, c.Name) && !m.twice[c]
}

// byPlace finds a call whose arguments have changed: it stands where its turn stands, beside
// something else of the turn. Without that it is found only where clients are known to change
// arguments: they are no object, or {} was sent. And then only if the response did not break off:
// such a response is asked for again, and another may stand in its place.
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
