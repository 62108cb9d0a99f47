package requestrules

import (
	"hash/maphash"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
)

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
