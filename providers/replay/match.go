package replay

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sort"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// matcher finds the calls of earlier turns in a history. The evidence is, from strong to weak: a unique id, the place
// of the turn in the conversation, and the arguments. Without evidence, a call counts as not found and gets no
// observation, because other conversations and discarded turns may contain the same call.
type matcher struct {
	*History
	by      *Observer
	turns   []candidateTurn
	known   map[string]int      // number of calls in the turns, by id
	matched []*earlierCall      // the earlier call for each index in entries; nil if unknown
	free    map[valueHash][]int // unmatched calls in the history, by possible content; set when needed
	looks   int                 // number of comparisons of arguments so far
	keeps   bool                // the client keeps ids unchanged
}

// callRange is the place of a turn's calls in a history: the indexes from first up to, but not including,
// end. It is empty for a turn whose place is unknown.
type callRange struct{ first, end int }

func (w callRange) has(n int) bool { return w.first <= n && n < w.end }

// matchTurns finds the calls of the given turns in a history.
func matchTurns(by *Observer, history *History, turns []Candidate) *matcher {
	m := &matcher{History: history, by: by, known: map[string]int{}, matched: make([]*earlierCall, len(history.entries)), turns: make([]candidateTurn, len(turns))}
	for i := range turns {
		m.readTurn(&m.turns[i], &turns[i])
	}
	m.eachMissed(func(c *earlierCall) { // if other calls have the same id, the arguments must match as well
		m.byID(c, func(n int) bool {
			isOnly := !c.number && m.known[c.id] == 1 && len(m.withID[m.entries[n].part.ID]) == 1
			return isOnly || m.sameArgs(c, n)
		})
	})
	m.eachMissed(func(c *earlierCall) { // the request may refer only to the item, because the provider keeps the content
		if c.item != "" && m.readItems()[c.item] {
			c.byItem, c.turn.sure = true, true
		}
	})
	m.eachMissed(m.byContent)
	m.eachMissed(func(c *earlierCall) { m.byID(c, func(int) bool { return true }) })
	m.eachMissed(m.byContentAnywhere)
	for _, t := range slices.Backward(m.turns) { // if a request was tried several times, the last attempt is used
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

// eachMissed calls the function find for each call that has not been found yet.
func (m *matcher) eachMissed(find func(c *earlierCall)) {
	for i := range m.turns {
		for j := range m.turns[i].calls {
			if c := &m.turns[i].calls[j]; c.isMissed() {
				find(c)
			}
		}
	}
}

// setMatch records that call n in the history is c. If sure is set, the match also proves that the turn is in
// the history, because no other conversation can contain the call.
func (m *matcher) setMatch(c *earlierCall, n int, sure bool) {
	c.found, m.matched[n] = n, c
	c.turn.sure = c.turn.sure || sure
}

// byID finds a call by its id, or by a form of the id that clients make, among the unmatched calls that the function
// may allows.
func (m *matcher) byID(c *earlierCall, may func(n int) bool) {
	for spelled := range idSpellings(c.id, c.item, m.to.IDs) {
		if n := m.likeliest(c, m.withID[spelled], may); n >= 0 {
			m.setMatch(c, n, true)
			m.keeps = m.keeps || spelled == c.id && !c.number
			return
		}
	}
}

// likeliest returns the call in list that is most likely to be c, or -1 if there is none. All calls in list have the
// id of c. The predicate may(n) reports whether call n is possible. Calls at the turn's place are preferred.
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

// pointsOf grades the evidence that call n in the history is c. The two calls have the same id. With 0 points, the
// evidence is not sufficient.
func (m *matcher) pointsOf(c *earlierCall, n int) int {
	h := &m.entries[n]
	number := c.number || m.common[IDKey(h.part.ID)]
	doubts := 0 // in redacted captures, different calls can have the same id
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

// inWindow returns the range of the calls at a turn's place.
func (m *matcher) inWindow(t *candidateTurn) (first, end int) {
	return t.first, min(t.end, len(m.entries))
}

// sameArgs reports whether call n in the history has the arguments of c. Only arguments with the same hash are
// compared. Even these comparisons take time, so their number per request is limited.
func (m *matcher) sameArgs(c *earlierCall, n int) bool {
	if c.call != nil && bytes.Equal(c.call.Args(), m.entries[n].part.Args) {
		return true
	}
	if !slices.Contains(m.hashesOf(n), c.argsHash()) {
		return false
	}
	m.looks++
	if m.looks > maxCompared+len(m.entries) {
		return false
	}
	switch m.by.judgeCall(c, m.entries[n].part, m.to).treatment {
	case Intact, WasReformatted, WasEncoded, WasWrapped: // the sent arguments contain all of the model's
		return true
	}
	return false
}

// maxCompared is the maximum number of comparisons per request, in addition to one for each call in the history.
const maxCompared = 256

// byContent finds a call by its tool and its arguments at the place of its turn.
func (m *matcher) byContent(c *earlierCall) {
	for n, end := m.inWindow(c.turn); n < end; n++ {
		if m.mayBe(c, n) && m.sameArgs(c, n) {
			m.setMatch(c, n, true)
			return
		}
	}
}

// byContentAnywhere finds a call by its tool and its arguments if the place of its turn is unknown, because
// earlier calls are missing or unseen.
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

// freeWith returns the calls in the history that may contain the arguments of c, except calls that are
// matched by stronger evidence.
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

// mayBe reports whether call n in the history may be c: the call is unmatched, its tool is the same, and its id
// doesn't rule out c.
func (m *matcher) mayBe(c *earlierCall, n int) bool {
	p := m.entries[n].part
	return m.matched[n] == nil && p.Name == c.name && (!c.otherID(p) || !m.keeps && m.known[p.ID] == 0)
}

// byPlace finds a call whose arguments have changed. The call must be at the place of its turn, and there must be
// other evidence of the turn. Other evidence is not needed if clients are known to change such arguments: the
// arguments are not an object, or {} was sent. In this case, the response must not have been aborted: clients retry
// an aborted request, so another response may be in its place.
func (m *matcher) byPlace(c *earlierCall) {
	t := c.turn
	if t.state.unseen {
		return // the place may belong to an unseen call
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

// hasOtherEvidence reports whether the message with call n contains other parts of a turn: its text, a
// signature, or another call.
func (m *matcher) hasOtherEvidence(t *candidateTurn, n int) bool {
	message := &m.messages[m.entries[n].message]
	if text := textOf(message); len(text) > 0 {
		if sum, _ := hashText(text); sum == t.text {
			return true
		}
	}
	for i := range message.Parts {
		if message.Parts[i].Signature != "" && t.hasSignature(message.Parts[i].Signature) {
			return true
		}
	}
	for i := range t.calls {
		if at := t.calls[i].found; at >= 0 && m.entries[at].message == m.entries[n].message {
			return true
		}
	}
	return false
}

func (t *candidateTurn) hasSignature(signature string) bool {
	if t.Summary != nil {
		return slices.Contains(t.Summary.signatures, maphash.String(seed, signature))
	}
	return slices.ContainsFunc(t.Turn.Parts, func(p stream.Part) bool { return p.Signature == signature }) ||
		slices.ContainsFunc(t.Turn.Calls, func(c *stream.Call) bool { return c.Signature == signature })
}

// textOf returns the text in a message, without the white space around it.
func textOf(m *protocol.Message) []byte {
	var text []byte
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == protocol.TextPart {
			text = append(text, p.Text...)
		}
	}
	return bytes.TrimSpace(text)
}

// bySigns searches for other evidence of a turn that has no certain match: results of its calls, or its text.
func (m *matcher) bySigns(t *candidateTurn) {
	hasUniqueID := func(c earlierCall) bool { return !c.number }
	if t.sure || t.kin == stranger && !slices.ContainsFunc(t.calls, hasUniqueID) {
		return
	}
	for i := range t.calls {
		if c := &t.calls[i]; c.isMissed() && m.orphanOf(c) != nil {
			t.sure = true
			return
		}
	}
	t.sure = m.hasText(t)
}

// orphanOf returns the first result that belongs to c but whose call is not in the history, or nil. The result either
// has the id of c, or has no id and is from the same tool and at the place of the turn.
func (m *matcher) orphanOf(c *earlierCall) (first *orphan) {
	if c.id != "" {
		for l := range m.orphansIn(c.id, c.turn, !c.number || c.turn.Continues) {
			first = l
			break
		}
	}
	for l := range m.orphansIn("", c.turn, c.turn.Continues) {
		if l.part.Name == c.name && (first == nil || l.number < first.number) {
			return l
		}
	}
	return first
}

// orphansIn yields the results with the given id whose call is not in the history: all of them, or only those at the
// place of a turn.
func (m *matcher) orphansIn(id string, t *candidateTurn, all bool) func(yield func(*orphan) bool) {
	return func(yield func(*orphan) bool) {
		list := m.orphans[id]
		i := 0
		if !all {
			i = sort.Search(len(list), func(i int) bool { return list[i].calls >= t.first })
		}
		for ; i < len(list) && (all || t.has(list[i].calls)); i++ {
			if !yield(&list[i]) {
				return
			}
		}
	}
}

// minText is the minimum length, in bytes, of a text that identifies a turn.
const minText = 24

// hasText reports whether the history contains a message of the model with the turn's text. The message must have no
// matched call. If the turn's position is known, the message must also be at the place of the turn. A text that is
// short, or that several turns have, doesn't identify a turn, so hasText returns false.
func (m *matcher) hasText(t *candidateTurn) bool {
	if !t.long || m.common[textKey(t.text)] {
		return false
	}
	for _, i := range m.readTexts()[t.text] {
		n := m.callsBefore[i]
		of := n < len(m.entries) && m.entries[n].message == i && m.matched[n] != nil
		if !of && (t.Position.Begin == 0 || t.placed && n == t.first) {
			return true
		}
	}
	return false
}
