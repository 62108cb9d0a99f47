package replay

import (
	"toolscope/providers/protocol"
)

// place is where a part stands in a history.
type place struct{ message, part int }

// historyCall is a call that a history holds.
type historyCall struct {
	place
	part   *protocol.Part
	result *protocol.Part // nil when there is none
	late   bool           // the result does not follow at once
	values []valueHash    // of what it may hold, once needed
}

// orphan is a result of which the call is not in the history.
type orphan struct {
	part   *protocol.Part
	number int
	calls  int // before it
}

// A History is a history that a request carries, and the calls it holds.
type History struct {
	Position         Position // where the request stands
	KeptByProvider   bool     // the provider keeps what was said before this
	PreviousResponse string   // id of the response that the request goes on from, "" where it names none
	to               *protocol.Target
	messages         []protocol.Message
	entries          []historyCall
	withID           map[string][]int    // numbers of calls in held
	at               map[Position]int    // by place: how many calls stand before it
	callsBefore      []int               // by message: how many calls stand before it
	orphans          map[string][]orphan // by id
	common           map[MatchKey]bool   // clues that too many turns give, as far as Search has asked
	items            map[string]bool     // once needed
	texts            map[uint64][]int    // once needed
}

// ReadPast finds the calls of a history and the result of each.
func ReadPast(history []protocol.Message, to *protocol.Target) *History {
	h := &History{to: to, messages: history, withID: map[string][]int{}, at: map[Position]int{}, orphans: map[string][]orphan{}, callsBefore: make([]int, len(history))}
	for n, asked := range Along(history) {
		h.at[asked], h.Position = n, asked
	}
	waiting, orphans := openCalls{}, 0
	end := resultEnds(history, to.Merges)
	for i := range history {
		h.callsBefore[i] = len(h.entries)
		for j := range history[i].Parts {
			p := &history[i].Parts[j]
			switch {
			case isCall(&history[i], j):
				n := len(h.entries)
				h.entries = append(h.entries, historyCall{place: place{i, j}, part: p})
				h.withID[p.ID] = append(h.withID[p.ID], n)
				waiting.add(p, n)
			case isResult(p):
				n, ok := waiting.callFor(p, h.entries)
				if !ok {
					h.orphans[p.ID] = append(h.orphans[p.ID], orphan{p, orphans, len(h.entries)})
					orphans++
					continue
				}
				h.entries[n].result, h.entries[n].late = p, i > end[h.entries[n].message]
			}
		}
	}
	return h
}

// hashesOf are the values of what call n may hold.
func (h *History) hashesOf(n int) []valueHash {
	c := &h.entries[n]
	if c.values == nil {
		c.values = hashesIn(c.part, h.to)
	}
	return c.values
}

// readItems are the ids of the items that are only named in the history.
func (h *History) readItems() map[string]bool {
	if h.items != nil {
		return h.items
	}
	h.items = map[string]bool{}
	for i := range h.messages {
		for j := range h.messages[i].Parts {
			if p := &h.messages[i].Parts[j]; p.Kind == protocol.OtherPart && p.Raw.Kind() == '{' {
				h.items[p.Raw.Get("id").Text()] = true
			}
		}
	}
	return h.items
}

// readTexts are the messages of the model by their text, where that tells them from others.
func (h *History) readTexts() map[uint64][]int {
	if h.texts != nil {
		return h.texts
	}
	h.texts = map[uint64][]int{}
	for i := range h.messages {
		if h.messages[i].Role != protocol.Assistant {
			continue
		}
		if text, long := hashText(textOf(&h.messages[i])); long {
			h.texts[text] = append(h.texts[text], i)
		}
	}
	return h.texts
}

// resultEnds is, for each message, the last of the messages with results that follow it directly.
// Where consecutive messages of one speaker are merged, those of the model share it.
func resultEnds(history []protocol.Message, merges bool) []int {
	end := make([]int, len(history))
	last, answers := len(history)-1, false // the run of messages after the one that is looked at
	for i := len(history) - 1; i >= 0; i-- {
		m := &history[i]
		end[i] = i
		switch {
		case m.Role == protocol.System, m.Role == protocol.User && hasResult(m):
			if !answers {
				last, answers = i, true
			}
			continue
		case m.Role == protocol.Assistant && answers:
			end[i] = last
		case m.Role == protocol.Assistant && merges && i+1 < len(history) && history[i+1].Role == protocol.Assistant:
			end[i] = end[i+1]
		}
		answers = false
	}
	return end
}

func hasResult(m *protocol.Message) bool {
	for i := range m.Parts {
		if m.Parts[i].Kind == protocol.ResultPart {
			return true
		}
	}
	return false
}

// openCalls are the calls that have no result yet: by the ids that results name, by tools, and all.
type openCalls map[callKey][]int

func (w openCalls) add(p *protocol.Part, n int) {
	keys := []callKey{{name: p.Name}, {}}
	if p.ID != "" {
		keys = append(keys, callKey{id: p.ID})
	}
	for _, k := range keys {
		w[k] = append(w[k], n)
	}
}

// callFor is the call that a result is for: the first one waiting in the latest message that has one
// waiting. A result with an id is for the call with that id, or for a call of its tool that has no
// id. One without an id is for a call of its tool, or if it names no tool, for any.
func (w openCalls) callFor(r *protocol.Part, all []historyCall) (n int, ok bool) {
	if r.ID == "" {
		return w.next(callKey{name: r.Name}, all)
	}
	if n, ok = w.next(callKey{id: r.ID}, all); !ok && r.Name != "" {
		n, ok = w.next(callKey{name: r.Name}, all)
		ok = ok && all[n].part.ID == ""
	}
	return n, ok
}

func (w openCalls) next(key callKey, all []historyCall) (n int, ok bool) {
	list := w[key]
	for len(list) > 0 && all[list[len(list)-1]].result != nil {
		list = list[:len(list)-1]
	}
	w[key] = list
	for i := len(list) - 1; i >= 0 && all[list[i]].message == all[list[len(list)-1]].message; i-- {
		if all[list[i]].result == nil {
			n, ok = list[i], true
		}
	}
	return n, ok
}
