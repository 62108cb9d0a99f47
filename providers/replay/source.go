package replay

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// A Source is what is to be replayed: a call, a turn, or a conversation. It never changes, so that
// previews of it can be made anywhere.
type Source struct {
	Messages []protocol.Message
	From     *protocol.Target // where the protocol it came by sends its own history; nil when that is not known

	facts    []*argsFacts // of each call, in order
	results  bool         // the last message holds results that were made up: they are told apart from the rest
	split    bool         // calls of one turn were put into several messages
	behind   []bool       // of a split source: the call stood behind a signed one in its message
	others   []UnsentCall // calls of the conversation that are not sent
	evidence []Evidence
	later    bool // the first call stands behind others of its turn that are not sent
}

// SourceOfHistory is the source of a whole history.
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

// isFreeform reports whether the arguments of a part of a history are no JSON by design.
func isFreeform(p *protocol.Part) bool { return p.ToolKind == "custom" && p.Form == protocol.TextForm }

// Pending is the text of results that have not come yet.
const Pending = "(the tool's result)"

// SourceOfCalls is the source of some calls of a turn, all if none is given, with results to come: the
// arguments are those that are there now.
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

// SourceOfTurn is the source of a whole turn: its text, its reasoning and its calls, in their order, with
// results to come.
func SourceOfTurn(t *stream.Turn, from *protocol.Target) *Source {
	return fromModel(Message(t, from), from, t.Calls)
}

// Message is a turn as a message of a history.
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

// fromModel is the source of one message of the model and the results it waits for.
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
