package replay

import (
	"bytes"
	"slices"
	"sort"

	"toolscope/stream"
)

// matcher finds calls of earlier turns in a history. The evidence, from strong to weak: an id that
// no other call has; the place of the turn in the conversation; the arguments. A call without
// evidence counts as not found, and nothing is said of it: other conversations call the same tools,
// and so do turns that were thrown away.
type matcher struct {
	*History
	by      *Observer
	turns   []candidateTurn
	known   map[string]int      // how many calls of the turns have an id
	matched []*earlierCall      // by number in held: which call it is, nil while not known
	free    map[valueHash][]int // calls of the history by what they may hold, once needed
	looks   int                 // how often arguments were held against each other
	keeps   bool                // the client keeps ids as they are
}

// callRange is which calls of a history stand where those of a turn must: those with the numbers first
// to before end. That of a turn without a place is empty.
type callRange struct{ first, end int }

func (w callRange) has(n int) bool { return w.first <= n && n < w.end }

// matchTurns finds the calls of turns in a history.
func matchTurns(by *Observer, history *History, turns []Candidate) *matcher {
	m := &matcher{History: history, by: by, known: map[string]int{}, matched: make([]*earlierCall, len(history.entries)), turns: make([]candidateTurn, len(turns))}
	for i := range turns {
		m.readTurn(&m.turns[i], &turns[i])
	}
	m.eachMissed(m.byIDAndContent)
	m.eachMissed(m.byItem)
	m.eachMissed(m.byContent)
	m.eachMissed(m.byIDs)
	m.eachMissed(m.byContentAnywhere)
	for _, t := range slices.Backward(m.turns) { // of attempts at one turn the last is the one that stayed
		for i := range t.calls {
			if t.calls[i].isMissed() {
				m.byPlace(&t.calls[i])
			}
		}
	}
	for i := range m.turns {
		m.bySigns(&m.turns[i])
	}
	return m
}

// eachMissed calls find with the calls that are not found yet.
func (m *matcher) eachMissed(find func(c *earlierCall)) {
	for i := range m.turns {
		for j := range m.turns[i].calls {
			if c := &m.turns[i].calls[j]; c.isMissed() {
				find(c)
			}
		}
	}
}

// setMatch says that call n of the history is c. sure says that it also proves that the turn is in the
// history: other conversations cannot have it.
func (m *matcher) setMatch(c *earlierCall, n int, sure bool) {
	c.found, m.matched[n] = n, c
	c.turn.sure = c.turn.sure || sure
}

// byIDAndContent finds a call by its id, or what clients make of that. An id that others have too
// is not enough where what the call holds says otherwise.
func (m *matcher) byIDAndContent(c *earlierCall) {
	m.byID(c, func(n int) bool { return m.isOnly(c, n) || m.sameArgs(c, n) })
}

// byIDs finds a call by its id alone, of those that nobody else turned out to be.
func (m *matcher) byIDs(c *earlierCall) {
	m.byID(c, func(int) bool { return true })
}

func (m *matcher) byID(c *earlierCall, may func(n int) bool) {
	for spelled := range idSpellings(c.id, c.item, m.to.IDs) {
		if n := m.likeliest(c, m.withID[spelled], may); n >= 0 {
			m.setMatch(c, n, true)
			m.keeps = m.keeps || spelled == c.id && !c.number
			return
		}
	}
}

// isOnly reports whether no other call of the turns has the id of c, and none of the history that
// of call n.
func (m *matcher) isOnly(c *earlierCall, n int) bool {
	return !c.number && m.known[c.id] == 1 && len(m.withID[m.entries[n].part.ID]) == 1
}

// likeliest is the call of those in the list, which have the id of c, that is most likely c, of those
// that it may be; -1 if none is. One that stands where it must is it.
func (m *matcher) likeliest(c *earlierCall, list []int, may func(n int) bool) (best int) {
	for _, n := range list[sort.SearchInts(list, c.turn.first):] {
		if !c.turn.has(n) {
			break
		}
		if m.matched[n] == nil && m.pointsOf(c, n) > 0 && may(n) {
			return n
		}
	}
	best, points := -1, 0
	for _, n := range list {
		if m.matched[n] != nil {
			continue
		}
		if p := m.pointsOf(c, n); p > points && may(n) {
			best, points = n, p
		}
	}
	return best
}

// pointsOf is how strong the evidence is that call n of the history, which has the id of c, is c; 0
// if it is not enough.
func (m *matcher) pointsOf(c *earlierCall, n int) int {
	h := &m.entries[n]
	number := c.number || m.common[IDKey(h.part.ID)]
	doubts := 0 // captures that hide ids give the same ones to different calls
	for _, doubt := range [...]bool{number, c.turn.kin == stranger, h.part.Name != c.name} {
		if doubt {
			doubts++
		}
	}
	alone := len(m.withID[h.part.ID]) == 1
	switch {
	case doubts > 1:
		return 0
	case c.turn.has(n):
		return 4
	case !number && alone:
		return 3
	case m.sameArgs(c, n):
		return 2
	case !number, c.turn.kin == unknownKin && m.known[c.id] == 1 && alone:
		return 1
	}
	return 0
}

// byItem finds a call of which the request names only the item, because the provider keeps the
// rest.
func (m *matcher) byItem(c *earlierCall) {
	if c.item != "" && m.readItems()[c.item] {
		c.byItem, c.turn.sure = true, true
	}
}

// inWindow are the numbers of the calls that stand where a turn's must.
func (m *matcher) inWindow(t *candidateTurn) (first, end int) {
	return t.first, min(t.end, len(m.entries))
}

// sameArgs reports whether call n of the history has the arguments of c. Only what may be the same is
// compared, and even that takes time, so a request has a budget for it.
func (m *matcher) sameArgs(c *earlierCall, n int) bool {
	if c.call != nil && bytes.Equal(c.call.Args(), m.entries[n].part.Args) {
		return true
	}
	if !slices.Contains(m.hashesOf(n), c.argsHash()) {
		return false
	}
	m.looks++
	return m.looks <= maxCompared+len(m.entries) && m.by.hasSameArgs(c, m.entries[n].part, m.to)
}

// maxCompared is how many values a request may have compared, beside one for each of its calls.
const maxCompared = 256

// byContent finds a call by its tool and its arguments, where its turn stands.
func (m *matcher) byContent(c *earlierCall) {
	for n, end := m.inWindow(c.turn); n < end; n++ {
		if m.mayBe(c, n) && m.sameArgs(c, n) {
			m.setMatch(c, n, true)
			return
		}
	}
}

// byContentAnywhere finds a call by its tool and its arguments when the place of its turn is not known,
// because calls before it are missing or were never seen.
func (m *matcher) byContentAnywhere(c *earlierCall) {
	if c.turn.placed || c.turn.kin == stranger {
		return
	}
	for _, n := range m.freeWith(c) {
		if m.mayBe(c, n) && m.sameArgs(c, n) {
			m.setMatch(c, n, c.turn.kin == kin && !m.common[contentKey(m.Position.Begin, c.name, c.argsHash())])
			return
		}
	}
}

// freeWith are the calls of the history that may hold the arguments of c, of those that were not
// found by stronger evidence.
func (m *matcher) freeWith(c *earlierCall) []int {
	if m.free == nil {
		m.free = map[valueHash][]int{}
		for n := range m.entries {
			if m.matched[n] != nil {
				continue
			}
			for _, v := range m.hashesOf(n) {
				if list := m.free[v]; len(list) == 0 || list[len(list)-1] != n {
					m.free[v] = append(list, n)
				}
			}
		}
	}
	if len(m.free) == 0 {
		return nil
	}
	return m.free[c.argsHash()]
}

// mayBe reports whether call n of the history may be c: it is not taken, it has the same tool, and
// its id does not say otherwise.
func (m *matcher) mayBe(c *earlierCall, n int) bool {
	p := m.entries[n].part
	return m.matched[n] == nil && p.Name == c.name && (!c.otherID(p) || !m.keeps && m.known[p.ID] == 0)
}

// byPlace finds a call whose arguments have changed: it stands where its turn stands, beside
// something else of the turn. Without that it is found only where clients are known to change
// arguments: they are no object, or {} was sent. And then only if the response did not break off:
// such a response is asked for again, and another may stand in its place.
func (m *matcher) byPlace(c *earlierCall) {
	t := c.turn
	if t.state.unseen {
		return // it may be the place of a call that was not seen
	}
	whole := !t.state.aborted && c.phase != stream.PhaseAborted
	for n, end := m.inWindow(t); n < end; n++ {
		p := m.entries[n].part
		likely := whole && !c.otherID(p) && (!c.isObject() || saysNothing(p.Args))
		if m.mayBe(c, n) && (likely || m.hasOtherEvidence(t, n)) {
			m.setMatch(c, n, true)
			return
		}
	}
}
