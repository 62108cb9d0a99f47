package replay

import (
	"bytes"
	"slices"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// vouched reports whether the message of call n has something else of a turn: its text, a
// signature, another of its calls.
func (m *matching) vouched(t *stream.Turn, n int) bool {
	message := &m.messages[m.held[n].message]
	if text := bytes.TrimSpace(t.Text); len(text) > 0 && bytes.Equal(text, textOf(message)) {
		return true
	}
	for i := range message.Parts {
		if message.Parts[i].Signature != "" && hasSignature(t, message.Parts[i].Signature) {
			return true
		}
	}
	for _, c := range t.Calls {
		if at, ok := m.found[c]; ok && m.held[at].message == m.held[n].message {
			return true
		}
	}
	return false
}

func hasSignature(t *stream.Turn, signature string) bool {
	return slices.ContainsFunc(t.Parts, func(p stream.Part) bool { return p.Signature == signature }) ||
		slices.ContainsFunc(t.Calls, func(c *stream.Call) bool { return c.Signature == signature })
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
func (m *matching) bySigns(t *Candidate) {
	if m.sure[t.Turn] || kinOf(t.Asked, m.asked) == stranger && !m.namesSurely(t.Turn) {
		return
	}
	for _, c := range t.Turn.Calls {
		if m.misses(c) && m.orphanOf(t, c) != nil {
			m.sure[t.Turn] = true
			return
		}
	}
	m.sure[t.Turn] = m.hasText(t)
}

// namesSurely reports whether the turn's calls have ids that no other has.
func (m *matching) namesSurely(t *stream.Turn) bool {
	return slices.ContainsFunc(t.Calls, func(c *stream.Call) bool { return !isCounter(c.ID, c.Name) })
}

// orphanOf is a result of a call that is not in the history, nil when there is none: it has the
// call's id, or is its tool's and stands where the turn must.
func (m *matching) orphanOf(t *Candidate, c *stream.Call) *orphan {
	w := m.place[t.Turn]
	for i := range m.orphans {
		l := &m.orphans[i]
		here := w.has(l.calls)
		switch {
		case l.part.ID != "" && l.part.ID == c.ID && (here || !isCounter(c.ID, c.Name)),
			l.part.ID == "" && here && l.part.Name == c.Name:
			return l
		}
	}
	return nil
}

// leastText is how long a text must be to tell a turn from others.
const leastText = 24

// hasText reports whether the history has the turn's text as the model's, in a message that has no
// call of another turn, and where the turn must stand if that is known.
func (m *matching) hasText(t *Candidate) bool {
	text := bytes.TrimSpace(t.Turn.Text)
	if len(text) < leastText {
		return false
	}
	if m.texts == nil {
		m.readTexts()
	}
	w, placed := m.place[t.Turn]
	for _, i := range m.texts[string(text)] {
		n := m.calls[i]
		of := n < len(m.held) && m.held[n].message == i && m.held[n].call != nil
		if !of && (t.Asked.Begin == 0 || placed && n == w.first) {
			return true
		}
	}
	return false
}

func (m *matching) readTexts() {
	m.texts = map[string][]int{}
	for i := range m.messages {
		if m.messages[i].Role != dialect.Assistant {
			continue
		}
		if text := textOf(&m.messages[i]); len(text) >= leastText {
			m.texts[string(text)] = append(m.texts[string(text)], i)
		}
	}
}
