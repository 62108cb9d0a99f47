package cohere

import (
	"slices"

	"toolscope/providers/dialect"
)

// target is where Cohere's history goes. Rules and refusals are those of its list of errors
// ("Errors" at docs.cohere.com); its reference says no more of ids, and nothing of arguments that
// are not JSON.
var target = dialect.Target{
	Name: "cohere", Title: "Cohere v2", Protocol: "cohere",
	Form:          dialect.TextForm,
	IDs:           dialect.IDRule{Required: true, Unique: true},
	Names:         dialect.NameRule{Class: "a-zA-Z0-9_", First: "a-zA-Z_"},
	Reasoning:     dialect.PlainReasoning,
	ResultsFollow: true,
	Refusal: dialect.Refusal{
		ID:         "tool call id must be provided with tool message",
		SameID:     "cannot have duplicate tool ids",
		Name:       "invalid request: tool names can only contain certain characters (A-Za-z0-9_) and can't begin with a digit (provided name: '{name}').",
		LoneResult: "tool call id not found in previous tool calls",
	},
	Encode:  encodeHistory,
	Request: writeRequest,
	Decode:  decodeHistory,
}

func encodeHistory(messages []dialect.Message) [][]byte {
	return dialect.WriteMessages(messages, encodeResult, func(m *dialect.Message, parts []dialect.Part) []byte {
		if m.Role == dialect.Assistant {
			return encodeAssistant(m, parts)
		}
		return dialect.ReplaceMembers(m.Raw, m.RoleMember(), contentMember(m, parts))
	})
}

// contentMember is that of a message. One of the model needs none.
func contentMember(m *dialect.Message, parts []dialect.Part) dialect.Member {
	value := dialect.Content(m.Raw.Get("content"), parts, m.Role == dialect.Assistant)
	if value == nil && m.Role != dialect.Assistant {
		value = []byte(`""`)
	}
	return dialect.Member{Name: "content", Value: value}
}

// encodeAssistant writes a message of the model. What it thought before it calls is its plan, else
// a part of its content.
func encodeAssistant(m *dialect.Message, parts []dialect.Part) []byte {
	var said []dialect.Part
	var plan, calls dialect.Writer
	var thought []byte
	calling := slices.ContainsFunc(parts, func(p dialect.Part) bool { return p.Kind == dialect.CallPart })
	for _, p := range parts {
		switch {
		case p.Kind == dialect.CallPart:
			writeCall(&calls, &p)
		case p.Kind == dialect.ReasoningPart && (p.Raw.IsString() || p.Raw == nil && calling):
			thought = append(thought, p.Text...)
		case p.Kind == dialect.ReasoningPart && p.Raw == nil:
			p.Raw = thinkingPart(p.Text)
			said = append(said, p)
		default:
			said = append(said, p)
		}
	}
	if len(thought) > 0 {
		plan.Bytes(thought)
	}
	return dialect.ReplaceMembers(m.Raw, m.RoleMember(), contentMember(m, said),
		dialect.UpdatedMember(m.Raw, "tool_plan", plan.Text), dialect.UpdatedMember(m.Raw, "tool_calls", dialect.List(&calls)))
}

func thinkingPart(text []byte) dialect.Raw {
	var w dialect.Writer
	return w.Open('{').Member("type", "thinking").Key("thinking").Bytes(text).Close('}').Text
}

func writeCall(w *dialect.Writer, p *dialect.Part) {
	if p.Raw != nil {
		w.Raw(p.Raw)
		return
	}
	w.Open('{').Member("id", p.ID).Member("type", "function").Key("function").Open('{')
	w.Member("name", p.Name).Key("arguments").WriteArgs(p).Close('}').Close('}')
}

func encodeResult(p *dialect.Part) []byte {
	var w dialect.Writer
	return w.Open('{').Member("role", "tool").Member("tool_call_id", p.ID).Key("content").Bytes(p.Text).Close('}').Text
}
