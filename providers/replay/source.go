package replay

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// A Source is the input of a replay: a call, a turn, or a conversation. It never changes, so that it can be
// previewed on any goroutine.
type Source struct {
	Messages []protocol.Message
	From     *protocol.Target // target of its own protocol; nil if unknown

	facts    []*argsFacts // of each call, in order
	results  bool         // the last message holds made-up results, which a Preview keeps separate
	split    bool         // calls of one turn were put into several messages
	behind   []bool       // of a split source, for each call: a signed call was before it in its message
	others   []UnsentCall // calls of the conversation that are not sent
	evidence []Evidence
	later    bool // earlier calls of its turn are not sent
}

// SourceOfHistory returns the source of a complete history.
func SourceOfHistory(messages []protocol.Message, from *protocol.Target) *Source {
	s := &Source{Messages: messages, From: from}
	for _, m := range messages {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == protocol.CallPart {
				s.facts = append(s.facts, factsOf(p.Args, isFreeform(p)))
			}
		}
	}
	return s
}

// isFreeform reports whether the arguments of a call in a history are free text by design.
func isFreeform(p *protocol.Part) bool { return p.ToolKind == "custom" && p.Form == protocol.TextForm }

// Pending is the text of results that don't exist yet.
const Pending = "(the tool's result)"

// SourceOfCalls returns the source of some calls of a turn, all if none is given, with pending results. It has
// the arguments received so far.
func SourceOfCalls(t *stream.Turn, from *protocol.Target, calls ...*stream.Call) *Source {
	if len(calls) == 0 {
		calls = t.Calls
	}
	model := protocol.Message{Role: protocol.Assistant}
	for _, c := range calls {
		if !c.Discarded {
			model.Parts = append(model.Parts, callPart(c, from))
		}
	}
	return fromModel(model, from, calls)
}

// SourceOfTurn returns the source of a complete turn: its text, its reasoning and its calls, in their order,
// with pending results.
func SourceOfTurn(t *stream.Turn, from *protocol.Target) *Source {
	return fromModel(Message(t, from), from, t.Calls)
}

// Message returns a turn as a message of a history.
func Message(t *stream.Turn, from *protocol.Target) protocol.Message {
	model := protocol.Message{Role: protocol.Assistant}
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
		Author: protocol.ModelAuthor, Unseen: c.Phase() == stream.PhaseUnseen,
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

// fromModel returns the source of one message of the model, with pending results.
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
				Kind: protocol.ResultPart, ID: c.ID, Name: c.Name, ToolKind: c.Kind, Text: []byte(Pending), Failed: c.ResultCode == stream.ResultFailed,
			})
		}
	}
	if len(results.Parts) > 0 {
		s.Messages, s.results = append(s.Messages, results), true
	}
	return s
}
