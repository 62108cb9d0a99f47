package openaichat

import (
	"bytes"

	"toolscope/providers/protocol"
)

// reasoningFields are the fields in which providers send reasoning as one text: DeepSeek and its
// followers, OpenRouter and vLLM, and others.
var reasoningFields = [...]string{"reasoning_content", "reasoning", "reasoning_text"}

func decodeHistory(request []byte) ([]protocol.Message, error) {
	return protocol.ReadMessages(request, readMessage)
}

// wireMessage is a message of a history on the wire.
type wireMessage struct {
	role, content, id, name, details, signature protocol.Raw

	reasoning [len(reasoningFields)]protocol.Raw
	calls     []protocol.Part
}

func (w *wireMessage) parse(v protocol.Raw) {
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch key := string(s.Key()); key {
		case "role":
			w.role = s.Value()
		case "content":
			w.content = s.Value()
		case "tool_call_id":
			w.id = s.Value()
		case "name":
			w.name = s.Value()
		case "reasoning_details":
			w.details = s.Value()
		case "extra_content":
			w.signature = thoughtSignature(s.Value())
		case "tool_calls":
			for ok := s.Array(); ok; ok = s.Element() {
				w.calls = append(w.calls, readCall(s.Value()))
			}
		case "function_call":
			if call := s.Value(); call.IsPresent() {
				w.calls = append(w.calls, readFunctionCall(call))
			}
		default:
			for i, name := range reasoningFields {
				if key == name {
					w.reasoning[i] = s.Value()
				}
			}
		}
	}
}

// readMessage reads one message. A tool's message becomes one of the user, with a part whose Raw is the
// message.
func readMessage(v protocol.Raw) protocol.Message {
	var w wireMessage
	w.parse(v)
	m := protocol.Message{Role: protocol.User, Raw: v}
	switch {
	case w.role.Is("assistant"):
		m.Role = protocol.Assistant
	case w.role.Is("system"), w.role.Is("developer"):
		m.Role = protocol.System
	case w.role.Is("tool"), w.role.Is("function"):
		text, media := protocol.ResultText(w.content)
		return protocol.Message{Role: protocol.User, Parts: []protocol.Part{{
			Kind: protocol.ResultPart, ID: w.id.Text(), Name: w.name.Text(), Text: text, Media: media, Raw: v,
		}}}
	}
	content := protocol.ReadContent(w.content)
	if n := len(content); n > 0 && content[n-1].Kind == protocol.TextPart {
		content[n-1].Signature = w.signature.Text()
	}
	m.Parts = append(append(w.readReasoning(), content...), w.calls...)
	return m
}

// readReasoning reads the reasoning: the fields with one text each, and OpenRouter's list. Text that is
// in both is read once.
func (w *wireMessage) readReasoning() (parts []protocol.Part) {
	var details []protocol.Part
	said := false
	for v := range w.details.Elements() {
		p := readDetail(v)
		details = append(details, p)
		said = said || len(p.Text) > 0
	}
	if said {
		return details // the fields repeat it
	}
	for _, field := range w.reasoning {
		if field.HasText() {
			p := protocol.Part{Kind: protocol.ReasoningPart, Text: field.Append(nil), Raw: field}
			if len(parts) == 0 || !bytes.Equal(parts[0].Text, p.Text) {
				parts = append(parts, p)
			}
		}
	}
	return append(parts, details...)
}

// readDetail reads an element of reasoning_details: reasoning.text with its signature,
// reasoning.summary, or reasoning.encrypted, which has only data.
func readDetail(v protocol.Raw) protocol.Part {
	p := protocol.Part{Kind: protocol.ReasoningPart, Raw: v, ID: v.Get("id").Text(), Signature: v.Get("signature").Text()}
	for _, name := range [...]string{"text", "summary"} {
		if text := v.Get(name); text.IsString() {
			p.Text = text.Append(p.Text)
		}
	}
	if data := v.Get("data").Text(); data != "" {
		p.Signature, p.SignatureOnly = data, true
	}
	return p
}

// readCall reads an element of tool_calls.
func readCall(v protocol.Raw) protocol.Part {
	function, custom := v.Get("function"), v.Get("custom")
	isCustom := custom.Kind() == '{'
	if isCustom {
		function = custom
	}
	p := readFunctionCall(function)
	if isCustom || v.Get("type").Is("custom") {
		p.ToolKind = "custom"
	}
	p.Raw, p.ID, p.Signature = v, v.Get("id").Text(), thoughtSignature(v.Get("extra_content")).Text()
	return p
}

// readFunctionCall reads a function_call, the form of calls before tools existed.
func readFunctionCall(v protocol.Raw) protocol.Part {
	p := protocol.Part{Kind: protocol.CallPart, Name: v.Get("name").Text(), ToolKind: "function", Raw: v}
	args := v.Get("arguments")
	if args == nil {
		args = v.Get("input")
	}
	if args.IsPresent() { // a string or an object: Mistral accepts both
		p.SetArgs(args)
	}
	return p
}
