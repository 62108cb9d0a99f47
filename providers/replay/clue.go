package replay

import (
	"hash/maphash"
	"iter"

	"toolscope/providers/protocol"
)

// A MatchKey is something that a turn and a history can have in common, as a hash: an id, a place, what
// a call holds. match weighs nothing else, so a turn that shares no clue with a history can be left
// out of what it is given: nothing would be said of it. A Clue means something within one run only.
type MatchKey uint64

// A KeyKind is a sort of clues. Most are of use for some histories only: who files turns by their
// clues can wait with a sort until the first history asks for it.
type KeyKind struct {
	kind keyKindID
	ids  protocol.IDRule // of sort fitted
}

type keyKindID uint8

const (
	plain   keyKindID = iota // ids, items, places and texts: whatever is there to be read
	fitted                   // ids as they are where others are not taken
	content                  // tools and arguments, in conversations that begin alike
	alone                    // tools and arguments, where it is not known how conversations begin
)

// PlainKeys are the clues that every history asks for.
var PlainKeys = KeyKind{kind: plain}

// IDKey is the clue that a call with that id gives.
func IDKey(id string) MatchKey { return keyFor('i', 0, id) }

// SentIDKey is the clue that a call gives which a request had under that id.
func SentIDKey(id string) MatchKey { return keyFor('s', 0, id) }

// ResponseKey is the clue that a turn gives whose response has that id.
func ResponseKey(id string) MatchKey { return keyFor('a', 0, id) }

func itemKey(id string) MatchKey   { return keyFor('o', 0, id) }
func textKey(text uint64) MatchKey { return keyFor('t', text, "") }

func placeKey(a Position) MatchKey {
	return keyFor('p', uint64(valueHash(a.Begin).combine(valueHash(a.Calls))), "")
}

func contentKey(begin uint64, tool string, v valueHash) MatchKey {
	return keyFor('c', uint64(valueHash(begin).combine(v)), tool)
}

// anyBegin stands for how any conversation begins.
const anyBegin = 1

func keyFor(kind valueHash, n uint64, text string) MatchKey {
	return MatchKey(kind.combine(valueHash(n)).combine(valueHash(maphash.String(seed, text))))
}

// Keys are those of a sort that a turn gives.
func (c *Candidate) Keys(s KeyKind) iter.Seq[MatchKey] {
	return func(yield func(MatchKey) bool) {
		for _, e := range c.earlierCalls() {
			for clue := range c.keysOf(&e, s) {
				if !yield(clue) {
					return
				}
			}
		}
		switch {
		case s.kind != plain:
		case c.Position.Begin != 0:
			yield(placeKey(c.Position))
		default:
			if text, long, _ := c.otherSigns(); long {
				yield(textKey(text))
			}
		}
	}
}

// keysOf are those of a call.
func (c *Candidate) keysOf(e *earlierCall, s KeyKind) iter.Seq[MatchKey] {
	return func(yield func(MatchKey) bool) {
		switch s.kind {
		case plain:
			for id := range plainSpellings(e.id, e.item) {
				if !yield(IDKey(id)) {
					return
				}
			}
			if e.item != "" {
				yield(itemKey(e.item))
			}
		case fitted:
			for id := range fittedSpellings(e.id, e.item, s.ids) {
				if !yield(IDKey(id)) {
					return
				}
			}
		case content:
			yield(contentKey(c.Position.Begin, e.name, e.argsHash()))
		case alone:
			yield(contentKey(anyBegin, e.name, e.argsHash()))
		}
	}
}

// A clue that too many turns give proves nothing. Of those that give it only the last are looked
// at, and they must be told by another: which of them it is of would else change with every turn.
const (
	maxTurns        = 64 // turns
	maxTurnsAtPlace = 16 // turns that stand at one place: attempts at one, and conversations side by side
	maxTurnsWithID  = 2  // turns with an id that is just a number: more is not asked of it
)

// TurnIndex are turns that are filed by their clues.
type TurnIndex interface {
	// By says that the turns must be filed by this sort of clues too.
	IndexBy(KeyKind)
	// Find looks up the turns that give a clue, at most so many of them, the last ones. It returns
	// how many it has found.
	Find(c MatchKey, most int) int
}

// noteCommon notes which clues too many turns give.
func (h *History) noteCommon(in TurnIndex, c MatchKey, most int) (found int) {
	if found = in.Find(c, most); found == most {
		if h.common == nil {
			h.common = map[MatchKey]bool{}
		}
		h.common[c] = true
	}
	return found
}

// Find looks up the turns that share a clue with the history. Of calls whose ids tell which they
// are it does not ask what they hold.
func (h *History) Find(in TurnIndex) {
	in.IndexBy(PlainKeys)
	in.IndexBy(KeyKind{fitted, h.to.IDs})
	told := map[string]bool{}
	for id, list := range h.withID {
		told[id] = h.searchID(id, h.entries[list[0]].part.Name, in) && len(list) == 1
	}
	for id, list := range h.orphans {
		h.searchID(id, list[0].part.Name, in)
	}
	for asked := range h.at {
		if asked.Begin != 0 {
			h.noteCommon(in, placeKey(asked), maxTurnsAtPlace)
		}
	}
	for id := range h.readItems() {
		h.noteCommon(in, itemKey(id), maxTurns)
	}
	for text := range h.readTexts() {
		h.noteCommon(in, textKey(text), maxTurns)
	}
	h.searchContents(told, in)
}

// searchID looks up an id, and reports whether that alone tells the turn.
func (h *History) searchID(id, tool string, in TurnIndex) bool {
	switch {
	case id == "":
		return false
	case isCounter(id, "") && isCounter(id, tool):
		h.noteCommon(in, IDKey(id), maxTurnsWithID)
		return false
	}
	return h.noteCommon(in, IDKey(id), maxTurns) == 1
}

// searchContents looks up what the calls of the history hold.
func (h *History) searchContents(told map[string]bool, in TurnIndex) {
	begins, s := []uint64{h.Position.Begin, 0}, KeyKind{kind: content}
	if h.Position.Begin == 0 {
		begins, s = []uint64{anyBegin}, KeyKind{kind: alone}
	}
	asked := map[MatchKey]bool{}
	for n := range h.entries {
		p := h.entries[n].part
		if told[p.ID] {
			continue
		}
		for _, v := range h.hashesOf(n) {
			for _, begin := range begins {
				c := contentKey(begin, p.Name, v)
				if len(asked) == 0 {
					in.IndexBy(s)
				}
				if !asked[c] {
					h.noteCommon(in, c, maxTurns)
					asked[c] = true
				}
			}
		}
	}
}
