package geminiinteractions

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// target describes the history in a request. The input of a request is a complete conversation, or only the new part
// of a conversation that the provider stores.
var target = protocol.Target{
	Name: "gemini-interactions", Title: "Gemini Interactions", Protocol: "gemini-interactions",
	Form: protocol.ObjectForm, Doubles: true, UnorderedKeys: true, Merges: true, HasPreviousID: true,
	ErrorFlag: true, Media: true, TakesUnpaired: true,
	Decode: decodeHistory,
}

// decodeHistory reads the input of a request and its system instruction.
func decodeHistory(request []byte) (messages []protocol.Message, err error) {
	s := json.Scan(request)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "system_instruction":
			if v := s.Value(); v.IsString() {
				system := protocol.Message{Role: protocol.System, Parts: []protocol.Part{{Text: v.Append(nil), Raw: v}}}
				messages = append([]protocol.Message{system}, messages...)
			}
		case "input":
			messages = append(messages, readMessages(s.Value())...)
		}
	}
	return messages, s.End()
}

// readMessages reads an input: a string, a content object, or a list of contents, steps or turns.
func readMessages(input json.Value) (messages []protocol.Message) {
	add := func(role protocol.Role, parts ...protocol.Part) {
		if n := len(messages) - 1; n >= 0 && messages[n].Role == role {
			messages[n].Parts = append(messages[n].Parts, parts...)
			return
		}
		messages = append(messages, protocol.Message{Role: role, Parts: parts})
	}
	item := func(v json.Value, role protocol.Role) {
		switch kind := v.Get("type").Text(); {
		case kind == "user_input":
			add(protocol.User, readParts(v.Get("content"))...)
		case kind == "model_output":
			add(protocol.Assistant, readParts(v.Get("content"))...)
		case kind == "thought", strings.HasSuffix(kind, "_call"):
			add(protocol.Assistant, readPart(v))
		default:
			add(role, readPart(v))
		}
	}
	switch input.Kind() {
	case '"':
		add(protocol.User, protocol.Part{Text: input.Append(nil), Raw: input})
	case '{':
		item(input, protocol.User)
	}
	for v := range input.Elements() {
		content := v.Get("content")
		switch role := protocol.User; {
		case !v.Get("role").IsString():
			item(v, role)
		case content.IsString():
			add(roleOf(v), protocol.Part{Text: content.Append(nil), Raw: content})
		default:
			role = roleOf(v)
			for c := range content.Elements() {
				item(c, role)
			}
		}
	}
	return messages
}

func roleOf(turn json.Value) protocol.Role {
	if turn.Get("role").Is("model") {
		return protocol.Assistant
	}
	return protocol.User
}

func readParts(list json.Value) (parts []protocol.Part) {
	for v := range list.Elements() {
		parts = append(parts, readPart(v))
	}
	return parts
}

// readPart reads a call, a result, a thought or other content.
func readPart(v json.Value) protocol.Part {
	p := protocol.Part{Kind: protocol.OtherPart, Signature: v.Get("signature").Text(), Raw: v}
	kind := v.Get("type").Text()
	info, isCall := callOf(kind)
	switch {
	case isCall:
		p.Kind, p.ToolKind, p.RunByProvider, p.ID, p.Name, p.MCPServer = protocol.CallPart, info.Kind, info.RunByProvider, v.Get("id").Text(), info.Name, v.Get("server_name").Text()
		if name := v.Get("name").Text(); name != "" {
			p.Name = name
		}
		p.SetArgs(v.Get("arguments"))
	case strings.HasSuffix(kind, "_result"):
		p.Kind, p.ID, p.Name, p.RunByProvider = protocol.ResultPart, v.Get("call_id").Text(), v.Get("name").Text(), kind != "function_result"
		p.Failed = v.Get("is_error").IsTrue()
		if result := v.Get("result"); result.Kind() == '{' {
			text, failed := protocol.ResponseText(result)
			p.Text, p.Failed = text, p.Failed || failed
		} else {
			p.Text, p.Media = protocol.ResultText(result)
		}
	case kind == "thought":
		p.Kind = protocol.ReasoningPart
		for item := range v.Get("summary").Elements() {
			p.Text = item.Get("text").Append(p.Text)
		}
		p.SignatureOnly = len(p.Text) == 0 && p.Signature != ""
	case kind == "text":
		p.Kind, p.Text = protocol.TextPart, v.Get("text").Append(nil)
	}
	return p
}
