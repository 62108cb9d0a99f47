package openaichat

import (
	"bytes"
	"slices"

	"toolscope/providers/protocol"
)

func encodeHistory(messages []protocol.Message) [][]byte {
	return protocol.WriteMessages(messages,
		func(p *protocol.Part) []byte { return encodeResult(p, false) },
		func(m *protocol.Message, parts []protocol.Part) []byte { return encodeMessage(m, parts, false) })
}

// encodeMistral writes the name of the tool into its result, as Mistral's own clients do, and reasoning
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
	return protocol.ReplaceMembers(m.Raw, m.RoleMember(), contentMember(m, parts, `""`))
}

// contentMember returns the field content of a message. Several texts of the model are joined. none is
// the content if no part is left.
func contentMember(m *protocol.Message, parts []protocol.Part, none string) protocol.Member {
	value := protocol.Content(m.Raw.Get("content"), parts, m.Role == protocol.Assistant)
	if value == nil && (m.Raw == nil || m.Raw.Get("content") != nil) {
		value = []byte(none)
	}
	return protocol.Member{Name: "content", Value: value}
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
	members := []protocol.Member{m.RoleMember(), contentMember(m, said, "null")}
	members = append(members, reasoningMembers(m.Raw, thought)...)
	members = append(members, callMembers(m.Raw, calls)...)
	if n := len(said); n > 0 && said[n-1].Kind == protocol.TextPart && said[n-1].Signature != "" && m.Raw.Get("extra_content") == nil {
		var w protocol.Writer
		writeSignature(&w, said[n-1].Signature)
		members = append(members, protocol.Member{Name: "extra_content", Value: w.Text})
	}
	return protocol.ReplaceMembers(m.Raw, members...)
}

// thinkChunk returns reasoning as a part of the content.
func thinkChunk(text []byte) protocol.Raw {
	if len(text) == 0 {
		return nil
	}
	var w protocol.Writer
	w.Open('{').Member("type", "thinking").Key("thinking").Open('[')
	w.Open('{').Member("type", "text").Key("text").Bytes(text).Close('}')
	return w.Close(']').Close('}').Text
}

// reasoningMembers returns the fields with reasoning: a text in its original field, or
// reasoning_details if a part has more than text.
func reasoningMembers(before protocol.Raw, parts []protocol.Part) []protocol.Member {
	detailed := false
	for _, p := range parts {
		detailed = detailed || p.Raw.Kind() == '{' || p.Raw == nil && (p.Signature != "" || p.SignatureOnly || p.ID != "")
	}
	var texts [][]byte
	var details protocol.Writer
	for _, p := range parts {
		switch {
		case p.Raw.IsString(), p.Raw == nil && !detailed:
			texts = append(texts, p.Text)
		default:
			writeDetail(&details, &p)
		}
	}
	list := protocol.UpdatedMember(before, "reasoning_details", protocol.List(&details))
	return append(reasoningTexts(before, texts, detailed), list)
}

// reasoningTexts returns the fields with one text each. They are unchanged if they have the texts of
// the parts, or repeat reasoning_details. DeepSeek's field stays even if it is empty, because empty and
// missing differ.
func reasoningTexts(before protocol.Raw, texts [][]byte, detailed bool) (members []protocol.Member) {
	found := make([]bool, len(texts))
	same := true
	for _, name := range reasoningFields {
		was := before.Get(name)
		if !was.HasText() {
			continue
		}
		members = append(members, protocol.Member{Name: name})
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
			members = []protocol.Member{{Name: reasoningFields[0]}}
		}
		members[0].Value = protocol.AppendString(nil, all)
	}
	return members
}

// writeDetail writes an element of reasoning_details.
func writeDetail(w *protocol.Writer, p *protocol.Part) {
	switch {
	case p.Raw != nil:
		w.Raw(p.Raw)
	case p.SignatureOnly:
		w.Open('{').Member("type", "reasoning.encrypted").Member("data", p.Signature).MemberIfSet("id", p.ID).Close('}')
	default:
		w.Open('{').Member("type", "reasoning.text").Key("text").Bytes(p.Text).MemberIfSet("signature", p.Signature).MemberIfSet("id", p.ID).Close('}')
	}
}
