package replay

import (
	"fmt"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// A Source is the input of a replay: a call, a turn, or a conversation. It never changes, so it can be
// previewed in any goroutine.
type Source struct {
	Messages []protocol.Message
	From     *protocol.Target // target for the source's own protocol; nil if unknown

	facts    []*argsFacts // facts about each call, in order
	results  bool         // the last message contains pending results, which a Preview keeps separate
	split    bool         // calls of the same turn were put into several messages
	behind   []bool       // for each call of a split source: whether it has no signature, but an earlier call in its message has one
	others   []UnsentCall // calls in the conversation that are not sent
	evidence []Evidence
	earlier  int // number of earlier calls of the turn that are not sent
}

// SourceOfHistory returns the source for a complete history.
func SourceOfHistory(messages []protocol.Message, from *protocol.Target) *Source {
	s := &Source{Messages: messages, From: from}
	for _, m := range messages {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == protocol.CallPart {
				isFreeform := p.ToolKind == "custom" && p.Form == protocol.TextForm
				s.facts = append(s.facts, factsOf(p.Args, isFreeform))
			}
		}
	}
	return s
}

// Pending is the placeholder text for results that don't exist yet.
const Pending = "(the tool's result)"

// SourceOfCalls returns the source for the given calls of a turn, or for all its calls if none is given. The results
// are pending. The source contains the arguments that were received so far.
func SourceOfCalls(t *stream.Turn, from *protocol.Target, calls ...*stream.Call) *Source {
	if len(calls) == 0 {
		calls = t.Calls
	}
	model := protocol.Message{Role: protocol.Assistant, Aborted: t != nil && t.Phase() == stream.TurnAborted}
	for _, c := range calls {
		if !c.Discarded {
			model.Parts = append(model.Parts, callPart(c, from))
		}
	}
	return fromModel(model, from, calls)
}

// SourceOfTurn returns the source for a complete turn: its text, its reasoning and its calls in their order,
// with pending results.
func SourceOfTurn(t *stream.Turn, from *protocol.Target) *Source {
	return fromModel(Message(t, from), from, t.Calls)
}

// Message returns a turn as a message in a history.
func Message(t *stream.Turn, from *protocol.Target) protocol.Message {
	model := protocol.Message{Role: protocol.Assistant, Aborted: t.Phase() == stream.TurnAborted}
	text, thinking := 0, 0
	for _, p := range t.Parts {
		switch p.Kind {
		case stream.PartCall:
			if c := t.Calls[p.End-1]; !c.Discarded {
				model.Parts = append(model.Parts, callPart(c, from))
			}
		case stream.PartText:
			model.Parts = append(model.Parts, protocol.Part{Kind: protocol.TextPart, Text: t.Text[text:p.End:p.End], Signature: p.Signature})
			text = p.End
		case stream.PartThinking:
			model.Parts = append(model.Parts, protocol.Part{
				Kind: protocol.ReasoningPart, Text: t.Thinking[thinking:p.End:p.End], Signature: p.Signature, ID: p.ID, SignatureOnly: p.SignatureOnly,
			})
			thinking = p.End
		}
	}
	return model
}

// callPart returns a call as a part of a message.
func callPart(c *stream.Call, from *protocol.Target) protocol.Part {
	n := len(c.Args())
	p := protocol.Part{
		Kind: protocol.CallPart, ID: c.ID, Item: c.Item, Name: c.Name, Namespace: c.Namespace, ToolKind: c.Kind, Parent: c.Parent, MCPServer: c.MCPServer,
		Args: c.Args()[:n:n], RunByProvider: c.RunByProvider, Signature: c.Signature,
		Author: protocol.ModelAuthor, Unseen: c.Phase() == stream.PhaseUnseen, Aborted: c.Phase() == stream.PhaseAborted,
	}
	if p.ToolKind == "" {
		p.ToolKind = "function"
	}
	if from != nil {
		p.Form = from.Form
	}
	if c.Freeform() {
		p.Form = protocol.TextForm
	}
	return p
}

// fromModel returns the source for one message of the model, with pending results.
func fromModel(model protocol.Message, from *protocol.Target, calls []*stream.Call) *Source {
	s := &Source{Messages: []protocol.Message{model}, From: from}
	results := protocol.Message{Role: protocol.User}
	for _, c := range calls {
		if c.Discarded {
			continue
		}
		s.facts = append(s.facts, factsOf(c.Args(), c.Freeform()))
		if !c.RunByProvider {
			results.Parts = append(results.Parts, protocol.Part{
				Kind: protocol.ResultPart, ID: c.ID, Name: c.Name, ToolKind: c.Kind, Text: []byte(Pending), Failed: c.ResultCode == stream.ResultFailed, Aborted: c.Phase() == stream.PhaseAborted,
			})
		}
	}
	if len(results.Parts) > 0 {
		s.Messages, s.results = append(s.Messages, results), true
	}
	return s
}

// Split returns the source with each call in a message of its own, followed by its result. Clients that run
// one call at a time write their history in this form. Calls that the provider runs stay in their messages.
func (s *Source) Split() *Source {
	out := &Source{From: s.From, facts: s.facts, others: s.others}
	for _, m := range s.Messages {
		out.behind = append(out.behind, behindSigned(m)...)
	}
	for i := 0; i < len(s.Messages); i++ {
		m := s.Messages[i]
		if m.Role != protocol.Assistant || countCalls(m) < 2 {
			out.Messages = append(out.Messages, m)
			continue
		}
		end := resultsEnd(s.Messages, i)
		out.split = true
		out.Messages = append(out.Messages, splitCalls(m, s.Messages[i+1:end])...)
		i = end - 1
	}
	if !out.split {
		out.results = s.results
	}
	return out
}

// resultsEnd returns the end of the messages that may contain the results for message i: the index after the user
// messages that follow it.
func resultsEnd(messages []protocol.Message, i int) (end int) {
	for end = i + 1; end < len(messages) && messages[end].Role == protocol.User; end++ {
	}
	return end
}

// countCalls returns the number of calls in a message that need a result.
func countCalls(m protocol.Message) (n int) {
	for i := range m.Parts {
		if isClientCall(&m.Parts[i]) {
			n++
		}
	}
	return n
}

// isClientCall reports whether a part is a call that the client runs.
func isClientCall(p *protocol.Part) bool { return p.Kind == protocol.CallPart && !p.RunByProvider }

// behindSigned returns, for each call in a message, whether it has no signature but an earlier call has one.
func behindSigned(m protocol.Message) (behind []bool) {
	signed := false
	for _, p := range m.Parts {
		if p.Kind == protocol.CallPart {
			behind = append(behind, signed && p.Signature == "")
			signed = signed || p.Signature != ""
		}
	}
	return behind
}

// splitCalls returns the replacement for m and for the user messages after m.
func splitCalls(m protocol.Message, after []protocol.Message) (out []protocol.Message) {
	results := map[callKey][]place{}
	for i, a := range after {
		for k := range a.Parts {
			if isResult(&a.Parts[k]) {
				key := keyOf(&a.Parts[k])
				results[key] = append(results[key], place{i, k})
			}
		}
	}
	taken := map[place]bool{}
	now := protocol.Message{Role: protocol.Assistant}
	for i := range m.Parts {
		p := &m.Parts[i]
		if now.Parts = append(now.Parts, *p); !isClientCall(p) {
			continue
		}
		out = append(out, now)
		now = protocol.Message{Role: protocol.Assistant}
		if list := results[keyOf(p)]; len(list) > 0 {
			at := list[0]
			results[keyOf(p)], taken[at] = list[1:], true
			out = append(out, protocol.Message{Role: protocol.User, Parts: after[at.message].Parts[at.part : at.part+1 : at.part+1]})
		}
	}
	if len(now.Parts) > 0 {
		out = append(out, now)
	}
	return append(out, withoutParts(after, taken)...)
}

// withoutParts returns messages without the parts in taken.
func withoutParts(messages []protocol.Message, taken map[place]bool) (out []protocol.Message) {
	for i, m := range messages {
		rest := m
		rest.Parts = nil
		for k, p := range m.Parts {
			if !taken[place{i, k}] {
				rest.Parts = append(rest.Parts, p)
			}
		}
		if len(rest.Parts) > 0 || len(m.Parts) == 0 {
			out = append(out, rest)
		}
	}
	return out
}

// An UnsentCall is a call in the conversation that is not sent. Only its id and its name are used.
type UnsentCall struct {
	ID, Name string
	who      string // words for the call: "call 2" or "a call before this turn"
}

// Names returns the calls in a history that the client runs, except calls without an id.
func Names(history []protocol.Message) (all []UnsentCall) {
	for _, m := range history {
		for i := range m.Parts {
			if p := &m.Parts[i]; isClientCall(p) && p.ID != "" {
				all = append(all, UnsentCall{ID: p.ID, Name: p.Name, who: "a call before this turn"})
			}
		}
	}
	return all
}

// InHistory returns the source for a turn, or only for its call c if c is not nil. The source includes the
// conversation's other calls before and in the turn. These calls are not sent, but their ids are taken. A call that
// is not the first of its turn needs no signature.
func (s *Source) InHistory(before []UnsentCall, t *stream.Turn, c *stream.Call) *Source {
	out := *s
	out.others = before[:len(before):len(before)]
	if c == nil {
		return &out
	}
	for _, other := range t.Calls {
		switch {
		case other.Discarded || other.RunByProvider:
		case other.Number < c.Number:
			out.earlier++
			fallthrough
		case other.Number > c.Number:
			if other.ID != "" {
				out.others = append(out.others, UnsentCall{ID: other.ID, Name: other.Name, who: fmt.Sprintf("call %d", other.Number)})
			}
		}
	}
	return &out
}
