package replay

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// place is where a part stands in a history.
type place struct{ message, part int }

// held is a call that a history holds.
type held struct {
	place
	part   *dialect.Part
	call   *stream.Call  // which it is, once that is found
	turn   *stream.Turn  // and its turn
	result *dialect.Part // nil when there is none
	late   bool          // the result does not follow at once
}

// orphan is a result of which the call is not in the history.
type orphan struct {
	part  *dialect.Part
	calls int // before it
}

// past is a history and the calls it holds.
type past struct {
	messages []dialect.Message
	asked    Asked
	held     []held
	byID     map[string][]int // numbers of calls in held
	at       map[names]int    // how many calls have names with this hash
	calls    []int            // by message: how many calls stand before it
	orphans  []orphan
}

// readPast finds the calls of a history and the result of each.
func readPast(history []dialect.Message, to *dialect.Target) *past {
	h := &past{messages: history, byID: map[string][]int{}, at: map[names]int{}, calls: make([]int, len(history))}
	h.asked.Begin = opening(history)
	sum := noNames
	h.at[sum] = 0
	waiting := waiting{}
	end := answersEnd(history, to.Merges)
	for i := range history {
		h.calls[i] = len(h.held)
		for j := range history[i].Parts {
			p := &history[i].Parts[j]
			switch {
			case isCall(&history[i], j):
				n := len(h.held)
				h.held = append(h.held, held{place: place{i, j}, part: p})
				h.byID[p.ID] = append(h.byID[p.ID], n)
				waiting.add(p, n)
				sum.add(p.Name)
				h.at[sum] = n + 1
			case isResult(p):
				n, ok := waiting.take(p, h.held)
				if !ok {
					h.orphans = append(h.orphans, orphan{p, len(h.held)})
					continue
				}
				h.held[n].result, h.held[n].late = p, i > end[h.held[n].message]
			}
		}
	}
	h.asked.Calls = uint64(sum)
	return h
}

// answersEnd is, for each message, the last of the messages with results that follow it directly.
// Where consecutive messages of one speaker are merged, those of the model share it.
func answersEnd(history []dialect.Message, merges bool) []int {
	end := make([]int, len(history))
	last, answers := len(history)-1, false // the run of messages after the one that is looked at
	for i := len(history) - 1; i >= 0; i-- {
		m := &history[i]
		end[i] = i
		switch {
		case m.Role == dialect.System, m.Role == dialect.User && hasResult(m):
			if !answers {
				last, answers = i, true
			}
			continue
		case m.Role == dialect.Assistant && answers:
			end[i] = last
		case m.Role == dialect.Assistant && merges && i+1 < len(history) && history[i+1].Role == dialect.Assistant:
			end[i] = end[i+1]
		}
		answers = false
	}
	return end
}

func hasResult(m *dialect.Message) bool {
	for i := range m.Parts {
		if m.Parts[i].Kind == dialect.ResultPart {
			return true
		}
	}
	return false
}

// waiting are the calls that have no result yet: by the ids that results name, by tools, and all.
type waiting map[callKey][]int

func (w waiting) add(p *dialect.Part, n int) {
	keys := []callKey{{name: p.Name}, {}}
	if p.ID != "" {
		keys = append(keys, callKey{id: p.ID})
	}
	for _, k := range keys {
		w[k] = append(w[k], n)
	}
}

// take is the call that a result is for: the first one waiting in the latest message that has one
// waiting. A result with an id is for the call with that id, or for a call of its tool that has no
// id. One without an id is for a call of its tool, or if it names no tool, for any.
func (w waiting) take(r *dialect.Part, all []held) (n int, ok bool) {
	if r.ID == "" {
		return w.next(callKey{name: r.Name}, all)
	}
	if n, ok = w.next(callKey{id: r.ID}, all); !ok && r.Name != "" {
		n, ok = w.next(callKey{name: r.Name}, all)
		ok = ok && all[n].part.ID == ""
	}
	return n, ok
}

func (w waiting) next(key callKey, all []held) (n int, ok bool) {
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
