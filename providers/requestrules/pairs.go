package requestrules

import (
	"hash/maphash"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
)

// pairedCall is a call in the history that a result may belong to.
type pairedCall struct {
	part          *protocol.Part
	message, at   int
	answered      bool
	closed        bool // its result can no longer come in the right place
	late, unfirst bool // late: its result is in a later place; unfirst: its result comes after other parts
}

// pairing is the state while the history is read.
type pairing struct {
	*checker
	calls     []pairedCall
	latest    map[string]int // index of the latest call with each id
	open      []int          // calls whose results may follow
	answering bool           // a result has come since the latest call
	other     bool           // another part has come since the latest call, in the same user turn
}

// checkPairs checks that each call has a result, and that each result has a call.
func (c *checker) checkPairs() {
	if c.Target.Refusal.LoneCall == "" && c.Target.Refusal.LoneResult == "" {
		return
	}
	p := pairing{checker: c, latest: map[string]int{}}
	before := protocol.System
	for i := range c.Messages {
		m := &c.Messages[i]
		switch {
		case m.Role == protocol.System:
			continue
		case m.Role == protocol.Assistant:
			p.readModel(i, before)
		default:
			p.readUser(i)
		}
		before = m.Role
	}
	if before == protocol.User || p.answering {
		p.closeOpen()
	}
	p.reportCalls()
}

// closeOpen closes the open calls: their results can no longer come in the right place.
func (p *pairing) closeOpen() {
	for _, n := range p.open {
		p.calls[n].closed = true
	}
	p.open = p.open[:0]
}

// readModel reads the calls and results in a message of the model.
func (p *pairing) readModel(i int, before protocol.Role) {
	if p.Target.ResultsFollow && (before == protocol.User || !p.Target.Merges) {
		p.closeOpen()
	}
	for j := range p.Messages[i].Parts {
		part := &p.Messages[i].Parts[j]
		switch {
		case part.RunByProvider:
		case part.Kind == protocol.CallPart:
			if n, known := p.latest[part.ID]; known && part.ID != "" && (p.Target.IDs.Unique || !p.calls[n].answered && !p.calls[n].closed) {
				if p.doubled == nil {
					p.doubled = map[string]bool{}
				}
				p.doubled[part.ID] = true
			}
			p.latest[part.ID] = len(p.calls)
			p.open = append(p.open, len(p.calls))
			p.calls = append(p.calls, pairedCall{part: part, message: i, at: j})
			p.answering, p.other = false, false
		case part.Kind == protocol.ResultPart:
			p.readResult(i, j)
		}
	}
}

// readUser reads the results in a user message. If results must directly follow their calls, and the target
// doesn't join consecutive user messages, a message without results closes the open calls.
func (p *pairing) readUser(i int) {
	any := false
	for j := range p.Messages[i].Parts {
		switch part := &p.Messages[i].Parts[j]; {
		case part.Kind == protocol.ResultPart && !part.RunByProvider:
			any = true
			p.readResult(i, j)
		case part.Kind != protocol.ResultPart:
			p.other = true
		}
	}
	if !any && p.Target.ResultsFollow && !p.Target.Merges {
		p.closeOpen()
	}
}

// openCallOf returns the index of the open call that a result belongs to, or -1. Without ids, it is the first open
// call of the same tool, or else the first open call.
func (p *pairing) openCallOf(r *protocol.Part) (first int) {
	first = -1
	for _, n := range p.open {
		switch of := &p.calls[n]; {
		case of.answered:
		case r.ID == of.part.ID && r.ID != "", (r.ID == "" || of.part.ID == "") && r.Name == of.part.Name:
			return n
		case r.ID == "" && of.part.ID == "" && first < 0:
			first = n
		}
	}
	return first
}

// readResult finds the call of a result. It reports a result without a call, and a second result.
func (p *pairing) readResult(i, j int) {
	r := &p.Messages[i].Parts[j]
	p.answering = true
	if n := p.openCallOf(r); n >= 0 {
		of := &p.calls[n]
		of.answered, of.unfirst = true, p.other && p.Target.Refusal.LateResult != ""
		return
	}
	n, known := p.latest[r.ID]
	at := spotOf(i, j, r)
	switch {
	case r.ID == "" && p.Target.IDs.Required:
		open := slices.IndexFunc(p.open, func(n int) bool { return !p.calls[n].answered && p.calls[n].part.ID != "" })
		if open >= 0 { // otherwise its call has no id either
			p.calls[p.open[open]].answered = true
			p.addSpot(IDIllegal, IDPresent, ByHost, withoutID, at)
		}
	case p.doubled[r.ID]:
	case r.ID == "" && p.markLateResult(r.Name):
	case r.ID == "" || !known:
		p.addSpot(replay.OrphanResult.Diagnosis, "result-has-call", ByRequest, "the request has a result without its call", at)
	case p.calls[n].answered && p.Target.Refusal.SecondResult != "":
		p.addSpot(ResultTwice, "result-once", ByRequest, "the request has two results for a call", at)
	case !p.calls[n].answered:
		p.calls[n].answered, p.calls[n].late = true, true
	}
}

// markLateResult marks a tool's first call without a result, because a result without an id comes too late. It
// returns false if there is no such call.
func (p *pairing) markLateResult(tool string) bool {
	n := slices.IndexFunc(p.calls, func(c pairedCall) bool { return c.closed && !c.answered && c.part.ID == "" && c.part.Name == tool })
	if n >= 0 {
		p.calls[n].answered, p.calls[n].late = true, true
	}
	return n >= 0
}

// reportCalls reports the calls that have no result in the right place.
func (p *pairing) reportCalls() {
	last := len(p.Messages) - 1
	for last > 0 && p.Messages[last].Role != protocol.User {
		last--
	}
	for i := range p.calls {
		c := &p.calls[i]
		switch {
		case p.doubled[c.part.ID]:
		case c.late, c.unfirst:
			p.addSpot(replay.AdjacencyFix.Diagnosis, "result-follows", ByRequest, "the result doesn't follow its call directly", spotOf(c.message, c.at, c.part))
		case c.answered, p.Target.Refusal.LoneCall == "":
		case c.closed, !p.Target.ResultsFollow && c.message < last:
			p.addSpot(replay.OrphanCall.Diagnosis, "call-answered", ByRequest, "the request has no result for a call", spotOf(c.message, c.at, c.part))
		}
	}
}

// ServerCallAnswered is the rule that a call of a tool that the provider runs has a result.
const ServerCallAnswered = "server-call-answered"

// checkServerPairs checks the calls and results of tools that Anthropic runs. A call needs no result while code in it
// waits for the results of its own calls. Other providers don't need the result, so only a refusal is proof.
func (c *checker) checkServerPairs() {
	calls, done := map[string]bool{}, map[string]bool{}
	for p := range c.eachPart {
		switch {
		case p.Kind == protocol.CallPart && p.RunByProvider:
			calls[p.ID] = true
		case p.Kind == protocol.CallPart:
			done[p.Raw.Get("caller").Get("tool_id").Text()] = true
		case p.Kind == protocol.ResultPart && p.RunByProvider:
			done[p.ID] = true
		}
	}
	for p, at := range c.eachPart {
		switch {
		case !p.RunByProvider || p.ID == "":
		case p.Kind == protocol.CallPart && !done[p.ID]:
			c.addSpot(replay.OrphanCall.Diagnosis, ServerCallAnswered, ByRefusal, "the request has no result for a call that the provider runs", spotOf(at[0], at[1], p))
		case p.Kind == protocol.ResultPart && !calls[p.ID]:
			c.addSpot(replay.OrphanResult.Diagnosis, "server-result-has-call", ByRefusal, "the request has a result without its call", spotOf(at[0], at[1], p))
		}
	}
}

// A Session follows the calls and results in an agent's session file. Each request in the file contains only
// messages that were added since the previous request. The zero value is ready to use.
type Session struct {
	calls   map[string]*sessionCall
	waiting []*sessionCall // calls without a result
}

// sessionCall is a call of the model in a session.
type sessionCall struct {
	id, name string
	ref      stream.Ref
	result   uint64 // hash of its first result; 0 if it has no result
	removed  bool   // a compaction removed it
}

// maxSessionCalls is the maximum number of calls kept for a session.
const maxSessionCalls = 1 << 16

var sessionSeed = maphash.MakeSeed()

// AddCall adds a call of the model. It ignores a call without an id, or with the id of a known call that no
// compaction removed.
func (s *Session) AddCall(id, name string, ref stream.Ref) {
	if id == "" || s.calls[id] != nil && !s.calls[id].removed {
		return
	}
	if s.calls == nil || len(s.calls) >= maxSessionCalls {
		s.calls, s.waiting = map[string]*sessionCall{}, nil
	}
	c := &sessionCall{id: id, name: name, ref: ref}
	s.calls[id] = c
	s.waiting = append(s.waiting, c)
}

// HasCall reports whether the session has a call.
func (s *Session) HasCall(id string) bool { return s.calls[id] != nil }

// Compact records that the next request contains none of the messages so far.
func (s *Session) Compact() {
	for _, c := range s.calls {
		c.removed = true
	}
	s.waiting = nil
}

// Rewind records that the next request continues an earlier message. The request doesn't contain the calls
// that wait for a result.
func (s *Session) Rewind() { s.waiting = nil }

// Check reads the messages of the next request. Check reports results without a call and second results. If
// sendsCalls is set, the program sends calls unchanged from the file, and Check also reports calls without a
// result.
func (s *Session) Check(messages []protocol.Message, sendsCalls bool) []Breach {
	c, goesOn := checker{Request: &Request{Messages: messages}}, false
	for i := range messages {
		for j := range messages[i].Parts {
			p := &messages[i].Parts[j]
			switch {
			case p.RunByProvider:
			case p.Kind == protocol.CallPart:
				s.AddCall(p.ID, p.Name, stream.Ref{})
			case p.Kind == protocol.ResultPart && p.ID != "":
				s.readResult(&c, i, j)
			}
			goesOn = goesOn || messages[i].Role == protocol.User
		}
	}
	if !goesOn || !sendsCalls {
		return c.breaches
	}
	for _, call := range s.waiting {
		if call.result == 0 {
			at := spotOf(NoMessage, -1, &protocol.Part{ID: call.id, Name: call.name})
			at.Call = call.ref
			c.breaches = append(c.breaches, Breach{
				Diagnosis: replay.OrphanCall.Diagnosis, Rule: "call-answered", Spots: []Spot{at}, what: "the session continues without a result for a call",
			})
		}
	}
	s.waiting = nil
	return c.breaches
}

// readResult finds the call of a result. It reports a result without a call, and a second result that
// differs.
func (s *Session) readResult(c *checker, i, j int) {
	r := &c.Messages[i].Parts[j]
	hash := maphash.Bytes(sessionSeed, r.Text) | 1
	switch call := s.calls[r.ID]; {
	case call == nil:
		proof := ByRequest
		if len(s.calls) == 0 {
			proof = ByHost // an earlier file may contain the call
		}
		c.addSpot(replay.OrphanResult.Diagnosis, "result-has-call", proof, "the session has a result without its call", spotOf(i, j, r))
	case call.removed:
		c.addSpot(replay.OrphanResult.Diagnosis, "result-has-call", ByRequest, "a compaction removed the call that a result belongs to", spotOf(i, j, r))
	case call.result == 0:
		call.result = hash
	case call.result != hash: // the same result may be in the file twice
		c.addSpot(ResultTwice, "result-once", ByRequest, "the session has two results for a call", spotOf(i, j, r))
	}
}
