package openaichat

import (
	"bytes"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

func encodeHistory(messages []protocol.Message) [][]byte {
	return protocol.WriteMessages(messages,
		func(p *protocol.Part) []byte { return encodeResult(p, false) },
		func(m *protocol.Message, parts []protocol.Part) []byte { return encodeMessage(m, parts, false) })
}

// encodeMistral writes the name of the tool into the result, as Mistral's own clients do. It writes reasoning
// into the content (ThinkChunk in mistralai/client-python).
func encodeMistral(messages []protocol.Message) [][]byte {
	return protocol.WriteMessages(messages,
		func(p *protocol.Part) []byte { return encodeResult(p, true) },
		func(m *protocol.Message, parts []protocol.Part) []byte { return encodeMessage(m, parts, true) })
}

func encodeMessage(m *protocol.Message, parts []protocol.Part, mistral bool) []byte {
	if m.Role == protocol.Assistant {
		return encodeAssistant(m, parts, mistral)
	}
	return json.ReplaceMembers(m.Raw, m.RoleMember(), contentMember(m, parts, `""`))
}

// contentMember returns the content field of a message. Several texts of the model are joined. The parameter none is
// the content if there are no parts.
func contentMember(m *protocol.Message, parts []protocol.Part, none string) json.Member {
	value := protocol.Content(m.Raw.Get("content"), parts, m.Role == protocol.Assistant)
	if value == nil && (m.Raw == nil || m.Raw.Get("content") != nil) {
		value = []byte(none)
	}
	return json.Member{Name: "content", Value: value}
}

// encodeAssistant writes a message of the model.
func encodeAssistant(m *protocol.Message, parts []protocol.Part, mistral bool) []byte {
	var said, thought, calls []protocol.Part
	for _, p := range parts {
		switch {
		case p.Kind == protocol.CallPart:
			calls = append(calls, p)
		case p.Kind != protocol.ReasoningPart, p.Raw.Get("type").Is("thinking"):
			said = append(said, p)
		case mistral:
			if p.Raw = thinkChunk(p.Text); p.Raw != nil {
				said = append(said, p)
			}
		default:
			thought = append(thought, p)
		}
	}
	members := []json.Member{m.RoleMember(), contentMember(m, said, "null")}
	members = append(members, reasoningMembers(m.Raw, thought)...)
	members = append(members, callMembers(m.Raw, calls)...)
	if n := len(said); n > 0 && said[n-1].Kind == protocol.TextPart && said[n-1].Signature != "" && m.Raw.Get("extra_content") == nil {
		var w json.Writer
		writeSignature(&w, said[n-1].Signature)
		members = append(members, json.Member{Name: "extra_content", Value: w.Text})
	}
	return json.ReplaceMembers(m.Raw, members...)
}

// thinkChunk returns reasoning as a part of the content, or nil if the text is empty.
func thinkChunk(text []byte) json.Value {
	if len(text) == 0 {
		return nil
	}
	var w json.Writer
	w.Open('{').Member("type", "thinking").Key("thinking").Open('[')
	w.Open('{').Member("type", "text").Key("text").Bytes(text).Close('}')
	return w.Close(']').Close('}').Text
}

// reasoningMembers returns the fields with reasoning: the fields that contain one text, and reasoning_details for the
// parts that have more than a text.
func reasoningMembers(before json.Value, parts []protocol.Part) []json.Member {
	detailed := false
	for _, p := range parts {
		detailed = detailed || p.Raw.Kind() == '{' || p.Raw == nil && (p.Signature != "" || p.SignatureOnly || p.ID != "")
	}
	var texts [][]byte
	var details json.Writer
	for _, p := range parts {
		switch {
		case p.Raw.IsString(), p.Raw == nil && !detailed:
			texts = append(texts, p.Text)
		case p.Raw != nil:
			details.Raw(p.Raw)
		case p.SignatureOnly:
			details.Open('{').Member("type", "reasoning.encrypted").Member("data", p.Signature).MemberIfSet("id", p.ID).Close('}')
		default:
			details.Open('{').Member("type", "reasoning.text").Key("text").Bytes(p.Text).MemberIfSet("signature", p.Signature).MemberIfSet("id", p.ID).Close('}')
		}
	}
	list := json.UpdatedMember(before, "reasoning_details", json.WrapArray(&details))
	return append(reasoningTexts(before, texts, detailed), list)
}

// reasoningTexts returns the changed fields that contain one text. No field changes if the fields contain the same
// texts as the parts, or if the fields repeat reasoning_details. An empty field is kept, because DeepSeek
// distinguishes an empty field from a missing one.
func reasoningTexts(before json.Value, texts [][]byte, detailed bool) (members []json.Member) {
	found := make([]bool, len(texts))
	same := true
	for _, name := range reasoningFields {
		was := before.Get(name)
		if !was.HasText() {
			continue
		}
		members = append(members, json.Member{Name: name})
		n := slices.IndexFunc(texts, func(text []byte) bool { return bytes.Equal(text, was.Append(nil)) })
		if n >= 0 {
			found[n] = true
		}
		same = same && (n >= 0 || len(texts) == 0 && detailed)
	}
	if same && !slices.Contains(found, false) {
		return nil
	}
	if all := bytes.Join(texts, nil); len(all) > 0 {
		if len(members) == 0 {
			members = []json.Member{{Name: reasoningFields[0]}}
		}
		members[0].Value = json.AppendQuoted(nil, all)
	}
	return members
}

// callMembers returns the fields with the calls of a message: a list, and a function_call, which has no id.
func callMembers(before json.Value, calls []protocol.Part) []json.Member {
	var list, single json.Writer
	for i := range calls {
		raw := calls[i].Raw
		isFunctionCall := raw.Get("name") != nil && raw.Get("id") == nil // the value of a function_call
		if isFunctionCall && len(single.Text) == 0 {
			single.Raw(raw)
		} else {
			writeCall(&list, &calls[i])
		}
	}
	return []json.Member{
		json.UpdatedMember(before, "tool_calls", json.WrapArray(&list)), json.UpdatedMember(before, "function_call", single.Text),
	}
}

func writeCall(w *json.Writer, p *protocol.Part) {
	if p.Raw != nil {
		w.Raw(p.Raw)
		return
	}
	w.Open('{').MemberIfSet("id", p.ID)
	if p.ToolKind == "custom" {
		w.Member("type", "custom").Key("custom").Open('{').Member("name", p.Name).Key("input").Bytes(p.Args).Close('}')
	} else {
		protocol.WriteArgs(w.Member("type", "function").Key("function").Open('{').Member("name", p.Name).Key("arguments"), p).Close('}')
	}
	if p.Signature != "" {
		w.Key("extra_content")
		writeSignature(w, p.Signature)
	}
	w.Close('}')
}

// writeSignature writes the extra_content value of Gemini's compatible endpoint.
func writeSignature(w *json.Writer, signature string) {
	w.Open('{').Key("google").Open('{').Member("thought_signature", signature).Close('}').Close('}')
}

// encodeResult writes a result. It writes the tool's name if named is set. It also writes the name if there is no id,
// because then only the name refers to the call.
func encodeResult(p *protocol.Part, named bool) []byte {
	var w json.Writer
	w.Open('{').Member("role", "tool").MemberIfSet("tool_call_id", p.ID)
	if named || p.ID == "" {
		w.MemberIfSet("name", p.Name)
	}
	return w.Key("content").Bytes(p.Text).Close('}').Text
}

// reasoningFields lists the fields in which providers send reasoning as one text. DeepSeek and compatible providers
// use the first, OpenRouter and vLLM use the second, and others use the third.
var reasoningFields = [...]string{"reasoning_content", "reasoning", "reasoning_text"}

func decodeHistory(request []byte) ([]protocol.Message, error) {
	return protocol.ReadMessages(request, readMessage)
}

// wireMessage is a message of a history on the wire.
type wireMessage struct {
	role, content, id, name, details, signature json.Value

	reasoning [len(reasoningFields)]json.Value
	calls     []protocol.Part
}

func (w *wireMessage) parse(v json.Value) {
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

// readMessage reads one message. A tool message becomes a user message with one part. The part's Raw field is the
// tool message.
func readMessage(v json.Value) protocol.Message {
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

// readReasoning reads the reasoning from the fields that contain one text and from OpenRouter's list. Text that is in
// both is read once.
func (w *wireMessage) readReasoning() (parts []protocol.Part) {
	var details []protocol.Part
	said := false
	for v := range w.details.Elements() {
		p := readDetail(v)
		details = append(details, p)
		said = said || len(p.Text) > 0
	}
	if said {
		return details // the fields repeat the list
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

// readDetail reads an element of reasoning_details: reasoning.text with its signature, reasoning.summary, or
// reasoning.encrypted, which has only data.
func readDetail(v json.Value) protocol.Part {
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
func readCall(v json.Value) protocol.Part {
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

// readFunctionCall reads a function_call, which is the older form of calls.
func readFunctionCall(v json.Value) protocol.Part {
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
