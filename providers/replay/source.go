package replay

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// A Source is what is to be replayed: a call, a turn, or a conversation. It never changes, so that
// previews of it can be made anywhere.
type Source struct {
	Messages []dialect.Message
	From     *dialect.Target // where the protocol it came by sends its own history; nil when that is not known

	facts    []*argsFacts // of each call, in order
	results  bool         // the last message holds results that were made up: they are told apart from the rest
	split    bool         // calls of one turn were put into several messages
	behind   []bool       // of a split source: the call stood behind a signed one in its message
	others   []UnsentCall // calls of the conversation that are not sent
	evidence []Evidence
	later    bool // the first call stands behind others of its turn that are not sent
}

// SourceOfHistory is the source of a whole history.
func SourceOfHistory(messages []dialect.Message, from *dialect.Target) *Source {
	s := &Source{Messages: messages, From: from}
	for _, m := range messages {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == dialect.CallPart {
				s.facts = append(s.facts, factsOf(p.Args, isFreeform(p)))
			}
		}
	}
	return s
}

// isFreeform reports whether the arguments of a part of a history are no JSON by design.
func isFreeform(p *dialect.Part) bool { return p.ToolKind == "custom" && p.Form == dialect.TextForm }

// Pending is the text of results that have not come yet.
const Pending = "(the tool's result)"

// SourceOfCalls is the source of some calls of a turn, all if none is given, with results to come: the
// arguments are those that are there now.
func SourceOfCalls(t *stream.Turn, from *dialect.Target, calls ...*stream.Call) *Source {
	if len(calls) == 0 {
		calls = t.Calls
	}
	model := dialect.Message{Role: dialect.Assistant}
	for _, c := range calls {
		if !c.Discarded {
			model.Parts = append(model.Parts, callPart(c, from))
		}
	}
	return fromModel(model, from, calls)
}

// SourceOfTurn is the source of a whole turn: its text, its reasoning and its calls, in their order, with
// results to come.
func SourceOfTurn(t *stream.Turn, from *dialect.Target) *Source {
	return fromModel(Message(t, from), from, t.Calls)
}

// Message is a turn as a message of a history.
func Message(t *stream.Turn, from *dialect.Target) dialect.Message {
	model := dialect.Message{Role: dialect.Assistant}
	text, thinking := 0, 0
	for _, p := range t.Parts {
		switch p.Kind {
		case stream.PartCall:
			if c := t.Calls[p.End-1]; !c.Discarded {
				model.Parts = append(model.Parts, callPart(c, from))
			}
		case stream.PartText:
			model.Parts = append(model.Parts, dialect.Part{Kind: dialect.TextPart, Text: t.Text[text:p.End:p.End], Signature: p.Signature})
			text = p.End
		case stream.PartThinking:
			model.Parts = append(model.Parts, dialect.Part{
				Kind: dialect.ReasoningPart, Text: t.Thinking[thinking:p.End:p.End], Signature: p.Signature, ID: p.ID, SignatureOnly: p.SignatureOnly,
			})
			thinking = p.End
		}
	}
	return model
}

func callPart(c *stream.Call, from *dialect.Target) dialect.Part {
	n := len(c.Args())
	p := dialect.Part{
		Kind: dialect.CallPart, ID: c.ID, Item: c.Item, Name: c.Name, Namespace: c.Namespace, ToolKind: c.Kind, Parent: c.Parent, MCPServer: c.MCPServer,
		Args: c.Args()[:n:n], RunByProvider: c.RunByProvider, Signature: c.Signature,
		Author: dialect.ModelAuthor, Unseen: c.Phase() == stream.PhaseUnseen,
	}
	if p.ToolKind == "" {
		p.ToolKind = "function"
	}
	if from != nil {
		p.Form = from.Form
	}
	if c.Freeform() {
		p.Form = dialect.TextForm
	}
	return p
}

// fromModel is the source of one message of the model and the results it waits for.
func fromModel(model dialect.Message, from *dialect.Target, calls []*stream.Call) *Source {
	s := &Source{Messages: []dialect.Message{model}, From: from}
	results := dialect.Message{Role: dialect.User}
	for _, c := range calls {
		if c.Discarded {
			continue
		}
		s.facts = append(s.facts, factsOf(c.Args(), c.Freeform()))
		if !c.RunByProvider {
			results.Parts = append(results.Parts, dialect.Part{
				Kind: dialect.ResultPart, ID: c.ID, Name: c.Name, ToolKind: c.Kind, Text: []byte(Pending), Failed: c.ResultCode == stream.ResultFailed,
			})
		}
	}
	if len(results.Parts) > 0 {
		s.Messages, s.results = append(s.Messages, results), true
	}
	return s
}
