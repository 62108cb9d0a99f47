package providers

import (
	"slices"

	"toolscope/providers/claudecode"
	"toolscope/providers/codexexec"
	"toolscope/providers/protocol"
	"toolscope/providers/requestrules"
	"toolscope/stream"
)

// sessionKey identifies a conversation in a session file.
type sessionKey struct {
	file         string
	conversation int32 // 0 if the file contains only one conversation
}

// maxSessions is the maximum number of conversations in session files that are followed.
const maxSessions = 1 << 12

// sendsCalls lists the session files of agents that send calls and results unchanged from the file. Other
// agents repair them first.
var sendsCalls = map[string]bool{claudecode.SessionWrapper: true, "cline task": true}

// checksResults lists other session files whose results are checked, because their ids are the ids that the
// provider received.
var checksResults = map[string]bool{codexexec.SessionWrapper: true, "pi session": true, "qwen-code session": true}

// checkSession checks the calls and results of a request in a session file. It returns false if the file
// contains the complete request. In this case, the same rules apply as for any other request.
func (h *history) checkSession(body []byte, messages []protocol.Message, to *protocol.Target) (done bool) {
	x, name := h.x, innerWrapper(h.x.Head)
	s, key := h.sessionState()
	if s == nil {
		return x.Head.Reconstructed
	}
	h.check.to, h.check.session = to, s
	switch {
	case x.Head.Rewound:
		s.Rewind()
	case !x.Head.Incremental:
		s.Compact()
	}
	breaches := s.Check(messages, sendsCalls[name] && !x.Head.UsageBefore)
	if !x.Head.Reconstructed && !x.Head.Incremental {
		h.check.session = nil
		return false
	}
	for _, b := range breaches {
		if !x.in.isInOtherSession(&b, key) {
			h.addBreach(b, body, messages)
		}
	}
	return true
}

// sessionState returns the session of the exchange, with its key. It returns nil if the calls and results of the agent
// aren't checked.
func (h *history) sessionState() (*requestrules.Session, sessionKey) {
	key := sessionKey{file: h.x.Head.File}
	if name := innerWrapper(h.x.Head); !sendsCalls[name] && !checksResults[name] {
		return nil, key
	}
	if l := h.latestConversation(); l != nil && !l.unnamed {
		key.conversation = l.number
	}
	s := h.x.in.sessions.get(key)
	if s == nil {
		s = new(requestrules.Session)
		h.x.in.sessions.set(key, s, maxSessions)
	}
	return s, key
}

// isInOtherSession reports whether a breach is a result without its call, and another session has the call. This
// session then probably continues the other one.
func (in *Inspector) isInOtherSession(b *requestrules.Breach, key sessionKey) bool {
	return b.Rule == "result-has-call" && slices.ContainsFunc(in.sessions.keys, func(other sessionKey) bool {
		return other != key && slices.ContainsFunc(b.Spots, func(at requestrules.Spot) bool { return in.sessions.get(other).HasCall(at.ID) })
	})
}

// addSessionCalls adds the calls of a turn to its session. It skips a turn that was cut off, because the
// agent also skips such a turn.
func (h *history) addSessionCalls(t *stream.Turn) {
	s := h.check.session
	if x := h.x; s == nil && x.Request.Size() == 0 && x.Head.Incremental && x.Head.Reconstructed && !x.in.alone { // the turn has no new request
		s, _ = h.sessionState()
	}
	if s == nil || t.Phase() == stream.TurnAborted {
		return
	}
	for _, c := range t.Calls {
		if !c.RunByProvider {
			s.AddCall(c.ID, c.Name, c.Ref())
		}
	}
}
