package replay

import (
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// place is the position of a part in a history.
type place struct{ message, part int }

// historyCall is a call in a history.
type historyCall struct {
	place
	part   *protocol.Part
	result *protocol.Part // nil if there is none
	late   bool           // the result doesn't directly follow the call
	values []valueHash    // hashes of the values that the arguments may contain, set when needed
}

// orphan is a result without a call in the history.
type orphan struct {
	part   *protocol.Part
	number int // number of the orphan in the history
	calls  int // number of calls before the result
}

// A History is the history in a request, with its calls.
type History struct {
	Position         Position // position of the request
	KeptByProvider   bool     // the provider keeps the earlier messages
	PreviousResponse string   // id of the response that the request continues; "" if the request contains none
	to               *protocol.Target
	messages         []protocol.Message
	entries          []historyCall
	withID           map[string][]int    // indexes in entries, by id
	at               map[Position]int    // number of calls before each position
	callsBefore      []int               // number of calls before each message
	orphans          map[string][]orphan // by id
	common           map[MatchKey]bool   // match keys that Find has looked up and that too many turns have
	items            map[string]bool     // nil until needed
	texts            map[uint64][]int    // nil until needed
	step             int                 // see OpenStep; valid once stepKnown is set
	stepKnown        bool

	Reasoning []ReasoningChange // changes to the reasoning in the turns of the open step; set by Observe
}

// ReadPast reads a request's history and finds its calls and their results.
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

// hashesOf returns the hashes of the values that the arguments of call n may contain.
func (h *History) hashesOf(n int) []valueHash {
	c := &h.entries[n]
	if c.values == nil {
		c.values = hashesIn(c.part, h.to)
	}
	return c.values
}

// readItems returns the ids of the items to which the history only refers.
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

// readTexts maps the hashes of the model's texts to the messages that contain them. Texts that are too short to
// identify a message are left out.
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

// resultEnds returns an index for each message: the last of the messages with results that directly follow it. If the
// target merges consecutive messages of the same role, consecutive messages of the model share this index.
func resultEnds(history []protocol.Message, merges bool) []int {
	end := make([]int, len(history))
	last, answers := len(history)-1, false // last of the messages with results directly after the current one, and whether there are any
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

// openCalls lists the calls without a result in three ways: by id, by tool, and all together.
type openCalls map[callKey][]int

// add adds a call.
func (w openCalls) add(p *protocol.Part, n int) {
	keys := []callKey{{name: p.Name}, {}}
	if p.ID != "" {
		keys = append(keys, callKey{id: p.ID})
	}
	for _, k := range keys {
		w[k] = append(w[k], n)
	}
}

// callFor returns the number of the call that a result belongs to. The result ok is false if there is none. callFor
// prefers the latest message with an open call that fits, and the first such call in this message. A result with an
// id belongs to the call with that id, or to a call of its tool without an id. A result without an id belongs to a
// call of its tool, or to any call if the result has no tool name.
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

// next returns the number of the first open call with a key, in the latest message that contains such a call. The
// result ok is false if there is none.
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

// candidateTurn is a Candidate with the state of the search.
type candidateTurn struct {
	*Candidate
	callRange // range of its calls in the history, if its place is known
	calls     []earlierCall
	state     turnState
	text      uint64
	long      bool         // the text is long enough to identify the turn
	sure      bool         // it is certain that the turn is in the history
	placed    bool         // its place in the history is known
	kin       relation     // relation of its conversation to the history's conversation
	tried     bool         // Reload was called
	again     *stream.Turn // result of Reload
}

// earlierCall is a call of an earlier turn with the state of the search.
type earlierCall struct {
	callIdentity
	call    *stream.Call // nil if there is only a summary
	summary *CallSummary
	turn    *candidateTurn
	found   int  // index in History.entries; -1 until the call is found
	byItem  bool // the history refers to the item, which the provider keeps
	twice   bool // another call of the turn has the same id
	number  bool // the id is only a number, or too many turns have the same id
	valued  bool // value is computed
	value   valueHash
}

// earlierCalls returns the calls of a turn.
func (c *Candidate) earlierCalls() (all []earlierCall) {
	if c.Summary != nil {
		all = make([]earlierCall, len(c.Summary.calls))
		for i := range all {
			all[i] = earlierCall{callIdentity: c.Summary.calls[i].callIdentity, summary: &c.Summary.calls[i], found: -1}
		}
		return all
	}
	all = make([]earlierCall, len(c.Turn.Calls))
	for i, of := range c.Turn.Calls {
		all[i] = earlierCall{callIdentity: calledOf(of), call: of, found: -1}
	}
	return all
}

// readTurn reads the ids of a turn and finds its place.
func (m *matcher) readTurn(t *candidateTurn, c *Candidate) {
	t.Candidate, t.calls, t.kin = c, c.earlierCalls(), kinOf(c.Position, m.Position)
	t.text, t.long, t.state = c.otherSigns()
	own := 0
	for i := range t.calls {
		e := &t.calls[i]
		e.turn, e.number = t, isCounter(e.id, e.name) || m.common[IDKey(e.id)]
		m.known[e.id]++
		if !e.server && !e.attempt {
			own++
		}
	}
	if len(t.calls) > 1 {
		last := make(map[string]*earlierCall, len(t.calls))
		for i := range t.calls {
			e := &t.calls[i]
			if other := last[e.id]; other != nil {
				e.twice, other.twice = true, true
			}
			last[e.id] = e
		}
	}
	if n, ok := m.at[t.Position]; ok && t.Position.Begin != 0 && !m.common[placeKey(t.Position)] {
		t.placed, t.callRange = true, callRange{n, n + own}
	}
}

// otherSigns returns the evidence for a turn other than its calls.
func (c *Candidate) otherSigns() (text uint64, long bool, state turnState) {
	if c.Summary != nil {
		return c.Summary.text, c.Summary.long, c.Summary.state
	}
	text, long = hashText(c.Turn.Text)
	return text, long, stateOf(c.Turn)
}

// argsHash returns the hash of the value of the call's arguments.
func (c *earlierCall) argsHash() valueHash {
	switch {
	case c.summary != nil:
		return c.summary.value
	case !c.valued:
		c.value, c.valued = valueOf(c.call.Args()), true
	}
	return c.value
}

// isMissed reports whether a call should be in the history but has not been found yet.
func (c *earlierCall) isMissed() bool {
	return c.found < 0 && !c.byItem && !c.server && !c.attempt
}

// otherID reports whether c and a call in the history are different calls, according to their ids, which differ. An
// id that two calls of a turn share proves nothing, because clients change such ids.
func (c *earlierCall) otherID(p *protocol.Part) bool {
	return c.id != "" && p.ID != "" && !c.number && !c.twice
}

// isObject reports whether the arguments are an object.
func (c *earlierCall) isObject() bool {
	if c.summary != nil {
		return c.summary.object
	}
	return c.call.Syntax() == json.SyntaxObject
}

// reload reads the call's content again. It returns nil if the content is not available.
func (c *earlierCall) reload() *stream.Call {
	t := c.turn
	if c.summary == nil || t.Reload == nil {
		return nil
	}
	if !t.tried {
		t.tried, t.again = true, t.Reload()
	}
	if n := int(c.ref.Call); t.again != nil && n <= len(t.again.Calls) && c.summary.isOf(t.again.Calls[n-1].Args()) {
		return t.again.Calls[n-1]
	}
	return nil
}

// isOfID reports whether a call has the given id, or had it in an earlier request's history.
func (c *earlierCall) isOfID(id string) bool {
	if c.summary != nil {
		return c.id == id || c.summary.lastReport().ID == id
	}
	return c.id == id || slices.ContainsFunc(c.call.SentBack, func(r stream.SentBackCall) bool { return r.ID == id })
}

// HasCall compares a call in a history with the turn's calls. The result any reports whether the turn has a call of
// the same tool that has this id now or had it in an earlier request. The result same reports whether that call also
// has the same arguments.
func (c *Candidate) HasCall(p *protocol.Part) (same, any bool) {
	for _, e := range c.earlierCalls() {
		if e.name != p.Name || !e.isOfID(p.ID) {
			continue
		}
		any = true
		if same = e.summary != nil && e.summary.same == sameHash(p.Args) || e.summary == nil && json.Same(e.call.Args(), p.Args); same {
			break
		}
	}
	return same, any
}
