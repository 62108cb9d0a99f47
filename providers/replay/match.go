package replay

import (
	"bytes"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// place is where a part stands in a history.
type place struct{ message, part int }

// matching is which calls of earlier turns are where in a history.
type matching struct {
	history []dialect.Message
	to      *dialect.Target
	calls   map[*stream.Call]place
	used    map[place]bool
	linked  map[*stream.Turn]bool // something of the turn is in the history
}

func (m *matching) part(p place) *dialect.Part { return &m.history[p.message].Parts[p.part] }

// match finds the calls: by their ids, by what clients make of ids, and where
// that says nothing by the names and the order in which a turn has them.
func match(history []dialect.Message, to *dialect.Target, turns []Candidate) *matching {
	m := &matching{history: history, to: to, calls: map[*stream.Call]place{}, used: map[place]bool{}, linked: map[*stream.Turn]bool{}}
	byID := map[string][]place{}
	results := map[string]bool{}
	for i := range history {
		for j := range history[i].Parts {
			switch p := &history[i].Parts[j]; {
			case p.Kind == dialect.CallPart && history[i].Role == dialect.Assistant:
				byID[p.ID] = append(byID[p.ID], place{i, j})
			case p.Kind == dialect.ResultPart:
				results[p.ID] = true
			}
		}
	}
	for _, t := range turns {
		for _, c := range t.Turn.Calls {
			for _, id := range spellings(c, to) {
				m.take(c, t.Turn, byID[id])
				m.linked[t.Turn] = m.linked[t.Turn] || results[id]
			}
			if c.ID == "" && m.answeredAlone(c.Name) {
				m.linked[t.Turn] = true
			}
		}
	}
	for _, t := range turns {
		m.byText(t.Turn)
	}
	for _, t := range turns {
		m.byName(t.Turn)
	}
	return m
}

// take gives a call the first of some places that is free and of its tool.
func (m *matching) take(c *stream.Call, t *stream.Turn, at []place) {
	if _, has := m.calls[c]; has {
		return
	}
	for _, p := range at {
		if !m.used[p] && m.part(p).Name == c.Name {
			m.calls[c], m.used[p], m.linked[t] = p, true, true
			return
		}
	}
}

// spellings are the forms in which clients send a call's id to a target: as it
// is, joined with that of its item, and either made to fit.
func spellings(c *stream.Call, to *dialect.Target) (all []string) {
	ids := []string{c.ID}
	if c.Item != "" {
		ids = append(ids, c.ID+"|"+c.Item)
	}
	for _, id := range ids {
		if id == "" {
			continue
		}
		all = append(all, id)
		for _, first := range []bool{false, true} {
			x := newIDs(to, &Policy{firstOfID: first})
			if made, _ := x.fit(0, id); made != id {
				all = append(all, made)
			}
		}
	}
	return all
}

// answeredAlone reports whether there is a result of a tool, without an id,
// that no call of that tool comes before.
func (m *matching) answeredAlone(name string) bool {
	called := false
	for i := range m.history {
		for j := range m.history[i].Parts {
			p := &m.history[i].Parts[j]
			called = called || p.Kind == dialect.CallPart && p.Name == name
			if p.Kind == dialect.ResultPart && p.ID == "" && p.Name == name {
				return !called
			}
		}
	}
	return false
}

// leastText is how long a text must be to tell a turn from others.
const leastText = 24

// byText links a turn whose text is in the history as the model's.
func (m *matching) byText(t *stream.Turn) {
	text := bytes.TrimSpace(t.Text)
	if m.linked[t] || len(text) < leastText {
		return
	}
	for i := range m.history {
		if m.history[i].Role != dialect.Assistant {
			continue
		}
		var said []byte
		for j := range m.history[i].Parts {
			if p := &m.history[i].Parts[j]; p.Kind == dialect.TextPart {
				said = append(said, p.Text...)
			}
		}
		if bytes.Equal(bytes.TrimSpace(said), text) {
			m.linked[t] = true
			return
		}
	}
}

// byName finds calls that no id leads to: in the first message, or run of calls,
// that has the turn's tools in their order; of several the one with its arguments.
func (m *matching) byName(t *stream.Turn) {
	var left []*stream.Call
	for _, c := range t.Calls {
		if _, has := m.calls[c]; !has && !c.Server && !c.Attempt {
			left = append(left, c)
		}
	}
	if len(left) == 0 {
		return
	}
	var best map[*stream.Call]place
	points := -1
	for i := range m.history {
		if m.history[i].Role != dialect.Assistant {
			continue
		}
		if at, p := m.fits(left, i); at != nil && p > points {
			best, points = at, p
		}
	}
	for c, p := range best {
		m.take(c, t, []place{p})
	}
}

// fits are the places of calls in a message, if all the message's calls are
// among them, in order, and no id speaks against it. points says how many have
// the arguments too: at least one must, if a call is not there.
func (m *matching) fits(calls []*stream.Call, message int) (at map[*stream.Call]place, points int) {
	n := 0
	for j := range m.history[message].Parts {
		p := &m.history[message].Parts[j]
		if p.Kind != dialect.CallPart || p.Server || m.used[place{message, j}] {
			continue
		}
		for n < len(calls) && p.Name != calls[n].Name {
			n++
		}
		if n == len(calls) {
			return nil, 0
		}
		if bytes.Equal(p.Args, calls[n].Args()) || dialect.Same(p.Args, calls[n].Args()) {
			points++
		} else if p.ID != "" && calls[n].ID != "" && !m.rewritesAll() {
			return nil, 0
		}
		if at == nil {
			at = map[*stream.Call]place{}
		}
		at[calls[n]] = place{message, j}
		n++
	}
	if len(at) < len(calls) && points == 0 {
		return nil, 0
	}
	return at, points
}

// rewritesAll reports whether no id of the turns is in the history: the client
// makes its own.
func (m *matching) rewritesAll() bool { return len(m.calls) == 0 }

// resultOf is what the history has as the result of a call.
func (m *matching) resultOf(id, name string) stream.Code {
	for i := range m.history {
		for j := range m.history[i].Parts {
			p := &m.history[i].Parts[j]
			if p.Kind != dialect.ResultPart || p.Server || p.ID != id || id == "" && p.Name != name {
				continue
			}
			if p.Failed {
				return stream.AnswerFailed
			}
			return stream.AnswerOK
		}
	}
	return 0
}
