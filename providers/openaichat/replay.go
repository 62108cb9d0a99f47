package openaichat

import (
	"bytes"
	"slices"

	"toolscope/providers/dialect"
)

func encodeHistory(messages []dialect.Message) [][]byte {
	return dialect.WriteMessages(messages,
		func(p *dialect.Part) []byte { return encodeResult(p, false) },
		func(m *dialect.Message, parts []dialect.Part) []byte { return encodeMessage(m, parts, false) })
}

// encodeMistral names the tool in its result, as Mistral's own clients do, and has reasoning in the
// content (ThinkChunk in mistralai/client-python).
func encodeMistral(messages []dialect.Message) [][]byte {
	return dialect.WriteMessages(messages,
		func(p *dialect.Part) []byte { return encodeResult(p, true) },
		func(m *dialect.Message, parts []dialect.Part) []byte { return encodeMessage(m, parts, true) })
}

func encodeMessage(m *dialect.Message, parts []dialect.Part, mistral bool) []byte {
	if m.Role == dialect.Assistant {
		return encodeAssistant(m, parts, mistral)
	}
	return dialect.ReplaceMembers(m.Raw, m.RoleMember(), contentMember(m, parts, `""`))
}

// contentMember is that of a message. Pieces of text of the model are joined. none stands for content of
// which nothing is left.
func contentMember(m *dialect.Message, parts []dialect.Part, none string) dialect.Member {
	value := dialect.Content(m.Raw.Get("content"), parts, m.Role == dialect.Assistant)
	if value == nil && (m.Raw == nil || m.Raw.Get("content") != nil) {
		value = []byte(none)
	}
	return dialect.Member{Name: "content", Value: value}
}

// encodeAssistant writes a message of the model.
func encodeAssistant(m *dialect.Message, parts []dialect.Part, mistral bool) []byte {
	var said, thought, calls []dialect.Part
	for _, p := range parts {
		switch {
		case p.Kind == dialect.CallPart:
			calls = append(calls, p)
		case p.Kind != dialect.ReasoningPart, p.Raw.Get("type").Is("thinking"):
			said = append(said, p)
		case mistral:
			if p.Raw = thinkChunk(p.Text); p.Raw != nil {
				said = append(said, p)
			}
		default:
			thought = append(thought, p)
		}
	}
	members := []dialect.Member{m.RoleMember(), contentMember(m, said, "null")}
	members = append(members, reasoningMembers(m.Raw, thought)...)
	members = append(members, callMembers(m.Raw, calls)...)
	if n := len(said); n > 0 && said[n-1].Kind == dialect.TextPart && said[n-1].Signature != "" && m.Raw.Get("extra_content") == nil {
		var w dialect.Writer
		writeSignature(&w, said[n-1].Signature)
		members = append(members, dialect.Member{Name: "extra_content", Value: w.Text})
	}
	return dialect.ReplaceMembers(m.Raw, members...)
}

// thinkChunk is reasoning as a part of content.
func thinkChunk(text []byte) dialect.Raw {
	if len(text) == 0 {
		return nil
	}
	var w dialect.Writer
	w.Open('{').Member("type", "thinking").Key("thinking").Open('[')
	w.Open('{').Member("type", "text").Key("text").Bytes(text).Close('}')
	return w.Close(']').Close('}').Text
}

// reasoningMembers is what the model thought: a text in the field it was in, or pieces in
// reasoning_details when any of them has more than a text.
func reasoningMembers(before dialect.Raw, parts []dialect.Part) []dialect.Member {
	detailed := false
	for _, p := range parts {
		detailed = detailed || p.Raw.Kind() == '{' || p.Raw == nil && (p.Signature != "" || p.SignatureOnly || p.ID != "")
	}
	var texts [][]byte
	var details dialect.Writer
	for _, p := range parts {
		switch {
		case p.Raw.IsString(), p.Raw == nil && !detailed:
			texts = append(texts, p.Text)
		default:
			writeDetail(&details, &p)
		}
	}
	list := dialect.UpdatedMember(before, "reasoning_details", dialect.List(&details))
	return append(reasoningTexts(before, texts, detailed), list)
}

// reasoningTexts are the fields with one text each. They stay as they are while they say what the
// parts say, or repeat reasoning_details. DeepSeek's stays when it is empty, which differs from
// none.
func reasoningTexts(before dialect.Raw, texts [][]byte, detailed bool) (members []dialect.Member) {
	found := make([]bool, len(texts))
	same := true
	for _, name := range reasoningFields {
		was := before.Get(name)
		if !was.HasText() {
			continue
		}
		members = append(members, dialect.Member{Name: name})
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
			members = []dialect.Member{{Name: reasoningFields[0]}}
		}
		members[0].Value = dialect.AppendString(nil, all)
	}
	return members
}

// writeDetail writes a piece of reasoning_details.
func writeDetail(w *dialect.Writer, p *dialect.Part) {
	switch {
	case p.Raw != nil:
		w.Raw(p.Raw)
	case p.SignatureOnly:
		w.Open('{').Member("type", "reasoning.encrypted").Member("data", p.Signature).MemberIfSet("id", p.ID).Close('}')
	default:
		w.Open('{').Member("type", "reasoning.text").Key("text").Bytes(p.Text).MemberIfSet("signature", p.Signature).MemberIfSet("id", p.ID).Close('}')
	}
}
