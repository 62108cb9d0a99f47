package cohere

import (
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// target describes how Cohere accepts history. The rules and refusals are from Cohere's list of errors ("Errors" at
// docs.cohere.com). Cohere's reference contains no other rules for ids, and no rule for arguments that are not JSON.
var target = protocol.Target{
	Name: "cohere", Title: "Cohere v2", Protocol: "cohere",
	Form:          protocol.TextForm,
	IDs:           protocol.IDRule{Required: true, Unique: true},
	Names:         protocol.NameRule{Class: "a-zA-Z0-9_", First: "a-zA-Z_"},
	Reasoning:     protocol.PlainReasoning,
	ResultsFollow: true,
	Refusal: protocol.Refusal{
		ID:         "tool call id must be provided with tool message",
		SameID:     "cannot have duplicate tool ids",
		Name:       "invalid request: tool names can only contain certain characters (A-Za-z0-9_) and can't begin with a digit (provided name: '{name}').",
		LoneResult: "tool call id not found in previous tool calls",
	},
	Encode:  encodeHistory,
	Request: writeRequest,
	Decode:  decodeHistory,
}

func encodeHistory(messages []protocol.Message) [][]byte {
	return protocol.WriteMessages(messages, encodeResult, func(m *protocol.Message, parts []protocol.Part) []byte {
		if m.Role == protocol.Assistant {
			return encodeAssistant(m, parts)
		}
		return json.ReplaceMembers(m.Raw, m.RoleMember(), contentMember(m, parts))
	})
}

// contentMember returns the content field of a message. A message of the model needs no content.
func contentMember(m *protocol.Message, parts []protocol.Part) json.Member {
	value := protocol.Content(m.Raw.Get("content"), parts, m.Role == protocol.Assistant)
	if value == nil && m.Role != protocol.Assistant {
		value = []byte(`""`)
	}
	return json.Member{Name: "content", Value: value}
}

// encodeAssistant writes a message of the model. Reasoning from another protocol becomes the plan if the message has
// calls; otherwise it becomes part of the content.
func encodeAssistant(m *protocol.Message, parts []protocol.Part) []byte {
	var said []protocol.Part
	var plan, calls json.Writer
	var thought []byte
	calling := slices.ContainsFunc(parts, func(p protocol.Part) bool { return p.Kind == protocol.CallPart })
	for _, p := range parts {
		switch {
		case p.Kind == protocol.CallPart && p.Raw != nil:
			calls.Raw(p.Raw)
		case p.Kind == protocol.CallPart:
			calls.Open('{').Member("id", p.ID).Member("type", "function").Key("function").Open('{')
			protocol.WriteArgs(calls.Member("name", p.Name).Key("arguments"), &p).Close('}').Close('}')
		case p.Kind == protocol.ReasoningPart && (p.Raw.IsString() || p.Raw == nil && calling):
			thought = append(thought, p.Text...)
		case p.Kind == protocol.ReasoningPart && p.Raw == nil:
			var w json.Writer
			p.Raw = w.Open('{').Member("type", "thinking").Key("thinking").Bytes(p.Text).Close('}').Text
			said = append(said, p)
		default:
			said = append(said, p)
		}
	}
	if len(thought) > 0 {
		plan.Bytes(thought)
	}
	return json.ReplaceMembers(m.Raw, m.RoleMember(), contentMember(m, said),
		json.UpdatedMember(m.Raw, "tool_plan", plan.Text), json.UpdatedMember(m.Raw, "tool_calls", json.WrapArray(&calls)))
}

func encodeResult(p *protocol.Part) []byte {
	var w json.Writer
	return w.Open('{').Member("role", "tool").Member("tool_call_id", p.ID).Key("content").Bytes(p.Text).Close('}').Text
}

func decodeHistory(request []byte) ([]protocol.Message, error) {
	return protocol.ReadChat(request, readResult, readParts)
}

// readParts reads the parts of a message. It reads the model's plan as reasoning.
func readParts(v json.Value) (parts []protocol.Part) {
	if plan := v.Get("tool_plan"); plan.IsString() && !plan.Empty() {
		parts = append(parts, protocol.Part{Kind: protocol.ReasoningPart, Text: plan.Unquoted(), Raw: plan})
	}
	parts = append(parts, protocol.ReadContent(v.Get("content"))...)
	for raw := range v.Get("tool_calls").Elements() {
		var call protocol.FunctionCall
		call.Read(raw)
		p := protocol.Part{Kind: protocol.CallPart, ID: call.ID.Text(), Name: call.Name.Text(), ToolKind: "function", Raw: raw}
		if call.Args.IsPresent() {
			p.SetArgs(call.Args)
		}
		parts = append(parts, p)
	}
	return parts
}

// readResult reads a result. A document in a result is read as text: the string itself, or the JSON of an object.
func readResult(v json.Value) protocol.Part {
	p := protocol.Part{Kind: protocol.ResultPart, ID: v.Get("tool_call_id").Text(), Raw: v}
	content := v.Get("content")
	if content.IsString() {
		p.Text = content.Unquoted()
		return p
	}
	for block := range content.Elements() {
		if data := block.Get("document").Get("data"); data.IsPresent() {
			p.Text = data.Append(p.Text)
		} else if text := block.Get("text"); text.IsString() {
			p.Text = text.Append(p.Text)
		} else {
			p.Media++
		}
	}
	return p
}
