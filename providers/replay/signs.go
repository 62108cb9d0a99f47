package replay

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sort"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// vouched reports whether the message of call n has something else of a turn: its text, a
// signature, another of its calls.
func (m *matching) vouched(t *turn, n int) bool {
	message := &m.messages[m.held[n].message]
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
		if at := t.calls[i].found; at >= 0 && m.held[at].message == m.held[n].message {
			return true
		}
	}
	return false
}

func (t *turn) hasSignature(signature string) bool {
	if t.Left != nil {
		return slices.Contains(t.Left.signatures, maphash.String(seed, signature))
	}
	return slices.ContainsFunc(t.Turn.Parts, func(p stream.Part) bool { return p.Signature == signature }) ||
		slices.ContainsFunc(t.Turn.Calls, func(c *stream.Call) bool { return c.Signature == signature })
}

// textOf is the text of a message.
func textOf(m *dialect.Message) []byte {
	var text []byte
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == dialect.TextPart {
			text = append(text, p.Text...)
		}
	}
	return bytes.TrimSpace(text)
}

// bySigns looks for other evidence of a turn of which no call is found: results of its calls, or
// its text.
func (m *matching) bySigns(t *turn) {
	if t.sure || t.kin == stranger && !t.namesSurely() {
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

// namesSurely reports whether the turn's calls have ids that no other has.
func (t *turn) namesSurely() bool {
	return slices.ContainsFunc(t.calls, func(c earlier) bool { return !c.number })
}

// orphanOf is the first result of a call that is not in the history, nil when there is none: it has
// the call's id, or is its tool's and stands where the turn must.
func (m *matching) orphanOf(c *earlier) (first *orphan) {
	if c.id != "" {
		for l := range m.orphansIn(c.id, c.turn, !c.number || c.turn.Next) {
			first = l
			break
		}
	}
	for l := range m.orphansIn("", c.turn, c.turn.Next) {
		if l.part.Name == c.name && (first == nil || l.number < first.number) {
			return l
		}
	}
	return first
}

// orphansIn are the results for an id that have no call: those that stand where a turn must, or all
// of them.
func (m *matching) orphansIn(id string, t *turn, all bool) func(yield func(*orphan) bool) {
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

// leastText is how long a text must be to tell a turn from others.
const leastText = 24

// hasText reports whether the history has the turn's text as the model's, in a message that has no
// call of another turn, and where the turn must stand if that is known.
func (m *matching) hasText(t *turn) bool {
	if !t.long || m.common[textClue(t.text)] {
		return false
	}
	for _, i := range m.readTexts()[t.text] {
		n := m.calls[i]
		of := n < len(m.held) && m.held[n].message == i && m.is[n] != nil
		if !of && (t.Asked.Begin == 0 || t.placed && n == t.first) {
			return true
		}
	}
	return false
}
