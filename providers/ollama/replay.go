package ollama

import (
	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// target describes how Ollama's /api/chat accepts history. Arguments are an object. Ollama keeps the order of the
// keys and reads the numbers as float64 (ToolCallFunctionArguments in api/types.go). Because the model's template
// combines the parts of the history, Ollama refuses only arguments that are not an object. This refusal is documented
// in neuron-core/neuron-ai#219 and aliasrobotics/cai#76.
var target = protocol.Target{
	Name: "ollama", Title: "Ollama", Protocol: "ollama",
	Form:          protocol.ObjectForm,
	Doubles:       true,
	Reasoning:     protocol.PlainReasoning,
	TakesUnpaired: true,
	Refusal: protocol.Refusal{
		Args: "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments",
	},
	Encode:  encodeHistory,
	Request: writeRequest,
	Decode:  decodeHistory,
}

func encodeHistory(messages []protocol.Message) [][]byte {
	return protocol.WriteMessages(messages, encodeResult, encodeMessage)
}

// encodeMessage writes one message. Each kind of part has its own field, so the order of text and other parts is
// lost.
func encodeMessage(m *protocol.Message, parts []protocol.Part) []byte {
	var text, thinking []byte
	var images, calls json.Writer
	number := 0
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case protocol.TextPart:
			text = append(text, p.Text...)
		case protocol.ReasoningPart:
			thinking = append(thinking, p.Text...)
		case protocol.CallPart:
			if p.Raw != nil {
				calls.Raw(p.Raw)
			} else {
				calls.Open('{').MemberIfSet("id", p.ID).Key("function").Open('{').Key("index").Int(number)
				protocol.WriteArgs(calls.Member("name", p.Name).Key("arguments"), p).Close('}').Close('}')
			}
			number++
		case protocol.OtherPart:
			if p.Raw.IsString() {
				images.Raw(p.Raw)
			}
		}
	}
	content := json.Member{Name: "content", Value: json.AppendQuoted(nil, text)}
	if len(text) == 0 && m.Raw != nil && len(m.Raw.Get("content").Unquoted()) == 0 {
		content.Value = m.Raw.Get("content")
	}
	var thought json.Writer
	if len(thinking) > 0 {
		thought.Bytes(thinking)
	}
	return json.ReplaceMembers(m.Raw, m.RoleMember(), content,
		json.UpdatedMember(m.Raw, "thinking", thought.Text),
		json.UpdatedMember(m.Raw, "images", json.WrapArray(&images)),
		json.UpdatedMember(m.Raw, "tool_calls", json.WrapArray(&calls)))
}

// encodeResult writes a result. Ollama matches the result to its call by the tool's name, or by the id if the
// template supports ids.
func encodeResult(p *protocol.Part) []byte {
	var w json.Writer
	w.Open('{').Member("role", "tool").Key("content").Bytes(p.Text)
	return w.MemberIfSet("tool_name", p.Name).MemberIfSet("tool_call_id", p.ID).Close('}').Text
}

func decodeHistory(request []byte) ([]protocol.Message, error) {
	return protocol.ReadChat(request, readResult, readParts)
}

// readParts reads the parts of a message. Images are only in Raw.
func readParts(v json.Value) (parts []protocol.Part) {
	if thinking := v.Get("thinking").Unquoted(); len(thinking) > 0 {
		parts = append(parts, protocol.Part{Kind: protocol.ReasoningPart, Text: thinking})
	}
	if text := v.Get("content").Unquoted(); len(text) > 0 {
		parts = append(parts, protocol.Part{Kind: protocol.TextPart, Text: text})
	}
	for image := range v.Get("images").Elements() {
		parts = append(parts, protocol.Part{Kind: protocol.OtherPart, Raw: image})
	}
	for raw := range v.Get("tool_calls").Elements() {
		var call protocol.FunctionCall
		call.Read(raw)
		p := protocol.Part{Kind: protocol.CallPart, ID: call.ID.Text(), Name: call.Name.Text(), ToolKind: "function", Raw: raw}
		p.SetArgs(call.Args)
		parts = append(parts, p)
	}
	return parts
}

func readResult(v json.Value) protocol.Part {
	p := protocol.Part{
		Kind: protocol.ResultPart, ID: v.Get("tool_call_id").Text(), Name: v.Get("tool_name").Text(),
		Text: v.Get("content").Unquoted(), Raw: v,
	}
	if p.Name == "" {
		p.Name = v.Get("name").Text() // sent by clients of the first versions that supported tools
	}
	for range v.Get("images").Elements() {
		p.Media++
	}
	return p
}
