package replay

import (
	"hash/maphash"
	"iter"

	"toolscope/providers/dialect"
)

// A Clue is something that a turn and a history can have in common, as a hash: an id, a place, what
// a call holds. match weighs nothing else, so a turn that shares no clue with a history can be left
// out of what it is given: nothing would be said of it. A Clue means something within one run only.
type Clue uint64

// A Sort is a sort of clues. Most are of use for some histories only: who files turns by their
// clues can wait with a sort until the first history asks for it.
type Sort struct {
	kind sortKind
	ids  dialect.IDRule // of sort fitted
}

type sortKind uint8

const (
	plain   sortKind = iota // ids, items, places and texts: whatever is there to be read
	fitted                  // ids as they are where others are not taken
	content                 // tools and arguments, in conversations that begin alike
	alone                   // tools and arguments, where it is not known how conversations begin
)

// PlainClues are the clues that every history asks for.
var PlainClues = Sort{kind: plain}

// IDClue is the clue that a call with that id gives.
func IDClue(id string) Clue { return clueOf('i', 0, id) }

// SentIDClue is the clue that a call gives which a request had under that id.
func SentIDClue(id string) Clue { return clueOf('s', 0, id) }

// AnswerClue is the clue that a turn gives whose response has that id.
func AnswerClue(id string) Clue { return clueOf('a', 0, id) }

func itemClue(id string) Clue   { return clueOf('o', 0, id) }
func textClue(text uint64) Clue { return clueOf('t', text, "") }

func placeClue(a Asked) Clue { return clueOf('p', uint64(value(a.Begin).with(value(a.Calls))), "") }

func contentClue(begin uint64, tool string, v value) Clue {
	return clueOf('c', uint64(value(begin).with(v)), tool)
}

// anyBegin stands for how any conversation begins.
const anyBegin = 1

func clueOf(kind value, n uint64, text string) Clue {
	return Clue(kind.with(value(n)).with(value(maphash.String(seed, text))))
}

// Clues are those of a sort that a turn gives.
func (c *Candidate) Clues(s Sort) iter.Seq[Clue] {
	return func(yield func(Clue) bool) {
		for _, e := range c.calls() {
			for clue := range c.cluesOf(&e, s) {
				if !yield(clue) {
					return
				}
			}
		}
		switch {
		case s.kind != plain:
		case c.Asked.Begin != 0:
			yield(placeClue(c.Asked))
		default:
			if text, long, _ := c.signs(); long {
				yield(textClue(text))
			}
		}
	}
}

// cluesOf are those of a call.
func (c *Candidate) cluesOf(e *earlier, s Sort) iter.Seq[Clue] {
	return func(yield func(Clue) bool) {
		switch s.kind {
		case plain:
			for id := range plainSpellings(e.id, e.item) {
				if !yield(IDClue(id)) {
					return
				}
			}
			if e.item != "" {
				yield(itemClue(e.item))
			}
		case fitted:
			for id := range fittedSpellings(e.id, e.item, s.ids) {
				if !yield(IDClue(id)) {
					return
				}
			}
		case content:
			yield(contentClue(c.Asked.Begin, e.name, e.says()))
		case alone:
			yield(contentClue(anyBegin, e.name, e.says()))
		}
	}
}

// A clue that too many turns give proves nothing. Of those that give it only the last are looked
// at, and they must be told by another: which of them it is of would else change with every turn.
const (
	most      = 64 // turns
	mostThere = 16 // turns that stand at one place: attempts at one, and conversations side by side
	mostEqual = 2  // turns with an id that is just a number: more is not asked of it
)

// Files are turns that are filed by their clues.
type Files interface {
	// By says that the turns must be filed by this sort of clues too.
	By(Sort)
	// Find looks up the turns that give a clue, at most so many of them, the last ones. It returns
	// how many it has found.
	Find(c Clue, most int) int
}

// search notes which clues too many turns give.
func (h *Past) search(in Files, c Clue, most int) (found int) {
	if found = in.Find(c, most); found == most {
		if h.common == nil {
			h.common = map[Clue]bool{}
		}
		h.common[c] = true
	}
	return found
}

// Search looks up the turns that share a clue with the history. Of calls whose ids tell which they
// are it does not ask what they hold.
func (h *Past) Search(in Files) {
	in.By(PlainClues)
	in.By(Sort{fitted, h.to.IDs})
	told := map[string]bool{}
	for id, list := range h.withID {
		told[id] = h.searchID(id, h.held[list[0]].part.Name, in) && len(list) == 1
	}
	for id, list := range h.orphans {
		h.searchID(id, list[0].part.Name, in)
	}
	for asked := range h.at {
		if asked.Begin != 0 {
			h.search(in, placeClue(asked), mostThere)
		}
	}
	for id := range h.readItems() {
		h.search(in, itemClue(id), most)
	}
	for text := range h.readTexts() {
		h.search(in, textClue(text), most)
	}
	h.searchContents(told, in)
}

// searchID looks up an id, and reports whether that alone tells the turn.
func (h *Past) searchID(id, tool string, in Files) bool {
	switch {
	case id == "":
		return false
	case isCounter(id, "") && isCounter(id, tool):
		h.search(in, IDClue(id), mostEqual)
		return false
	}
	return h.search(in, IDClue(id), most) == 1
}

// searchContents looks up what the calls of the history hold.
func (h *Past) searchContents(told map[string]bool, in Files) {
	begins, s := []uint64{h.Asked.Begin, 0}, Sort{kind: content}
	if h.Asked.Begin == 0 {
		begins, s = []uint64{anyBegin}, Sort{kind: alone}
	}
	asked := map[Clue]bool{}
	for n := range h.held {
		p := h.held[n].part
		if told[p.ID] {
			continue
		}
		for _, v := range h.valuesOf(n) {
			for _, begin := range begins {
				c := contentClue(begin, p.Name, v)
				if len(asked) == 0 {
					in.By(s)
				}
				if !asked[c] {
					h.search(in, c, most)
					asked[c] = true
				}
			}
		}
	}
}
