package replay

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sort"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// hasOtherEvidence reports whether the message of call n has other parts of a turn: its text, a signature, or
// another of its calls.
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

// textOf returns the text of a message.
func textOf(m *protocol.Message) []byte {
	var text []byte
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == protocol.TextPart {
			text = append(text, p.Text...)
		}
	}
	return bytes.TrimSpace(text)
}

// bySigns looks for other evidence of a turn that has no certain match: results of its calls, or its text.
func (m *matcher) bySigns(t *candidateTurn) {
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

// namesSurely reports whether a call of the turn has an id that is likely unique.
func (t *candidateTurn) namesSurely() bool {
	return slices.ContainsFunc(t.calls, func(c earlierCall) bool { return !c.number })
}

// orphanOf returns the first result of a call that is not in the history, or nil. It has the call's id, or it
// is of the same tool, has no id, and is at the place of the turn.
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

// orphansIn yields the results for an id that have no call: those at the place of a turn, or all.
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

// minText is the minimum length of a text that identifies a turn, in bytes.
const minText = 24

// hasText reports whether the history has a message of the model with the turn's text. The message must have
// no matched call, and must be at the place of the turn if that is known.
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
