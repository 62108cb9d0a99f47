package openaichat

import (
	"toolscope/providers/dialect"
)

func encode(messages []dialect.Message) [][]byte { return encodeAll(messages, false) }

// encodeMistral names the tool in its result, as Mistral's own clients do.
func encodeMistral(messages []dialect.Message) [][]byte { return encodeAll(messages, true) }

func encodeAll(messages []dialect.Message, named bool) (out [][]byte) {
	for i := range messages {
		m := &messages[i]
		if m.Role == dialect.Assistant {
			out = append(out, encodeAssistant(m))
			continue
		}
		var rest []dialect.Part
		for j := range m.Parts {
			if p := &m.Parts[j]; p.Kind == dialect.ResultPart {
				out = append(out, encodeResult(p, named))
			} else {
				rest = append(rest, *p)
			}
		}
		if len(rest) > 0 || len(m.Parts) == 0 {
			var w dialect.Writer
			w.Open('{').Member("role", m.Role.String()).Key("content")
			writeContent(&w, rest)
			out = append(out, w.Close('}').Text)
		}
	}
	return out
}

// encodeAssistant writes a message of the model. What it said is one text here,
// whatever stood between its pieces.
func encodeAssistant(m *dialect.Message) []byte {
	var content, calls []dialect.Part
	var reasoning []byte
	for _, p := range m.Parts {
		switch p.Kind {
		case dialect.CallPart:
			calls = append(calls, p)
		case dialect.ReasoningPart:
			reasoning = append(reasoning, p.Text...)
		default:
			content = append(content, p)
		}
	}
	var w dialect.Writer
	w.Open('{').Member("role", "assistant").Key("content")
	if len(content) == 0 {
		w.Raw([]byte("null"))
	} else {
		writeContent(&w, content)
	}
	if len(reasoning) > 0 {
		w.Key("reasoning_content").Bytes(reasoning)
	}
	if len(calls) > 0 {
		w.Key("tool_calls").Open('[')
		for i := range calls {
			writeCall(&w, &calls[i])
		}
		w.Close(']')
	}
	return w.Close('}').Text
}

// writeContent writes parts as one string, unless one of them is no text.
func writeContent(w *dialect.Writer, parts []dialect.Part) {
	text, plain := []byte(nil), true
	for _, p := range parts {
		plain = plain && p.Raw == nil
		text = append(text, p.Text...)
	}
	if plain {
		w.Bytes(text)
		return
	}
	w.Open('[')
	for _, p := range parts {
		if p.Raw != nil {
			w.Raw(p.Raw)
		} else {
			w.Open('{').Member("type", "text").Key("text").Bytes(p.Text).Close('}')
		}
	}
	w.Close(']')
}

func writeCall(w *dialect.Writer, p *dialect.Part) {
	switch {
	case p.Raw != nil:
		w.Raw(p.Raw)
	case p.Tool == "custom":
		w.Open('{').Member("id", p.ID).Member("type", "custom").Key("custom").Open('{').
			Member("name", p.Name).Key("input").Bytes(p.Args).Close('}').Close('}')
	default:
		w.Open('{').Member("id", p.ID).Member("type", "function").Key("function").Open('{').
			Member("name", p.Name).Key("arguments").Bytes(p.Args).Close('}').Close('}')
	}
}

func encodeResult(p *dialect.Part, named bool) []byte {
	if p.Raw != nil {
		return p.Raw
	}
	var w dialect.Writer
	w.Open('{').Member("role", "tool").Member("tool_call_id", p.ID)
	if named {
		w.Some("name", p.Name)
	}
	return w.Key("content").Bytes(p.Text).Close('}').Text
}

func decode(request []byte) (messages []dialect.Message, err error) {
	s := dialect.Scan(request)
	for ok := s.Object(); ok; ok = s.Member() {
		if string(s.Key()) == "messages" {
			for ok := s.Array(); ok; ok = s.Element() {
				messages = append(messages, readMessage(s.Value()))
			}
		}
	}
	return messages, s.End()
}

// readMessage reads one message. That of a tool is the user's: a part with the
// message as its Raw.
func readMessage(v dialect.Raw) (m dialect.Message) {
	var role, content, id, name dialect.Raw
	var calls []dialect.Part
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch key := string(s.Key()); key {
		case "role":
			role = s.Value()
		case "content":
			content = s.Value()
		case "tool_call_id":
			id = s.Value()
		case "name":
			name = s.Value()
		case "reasoning_content", "reasoning":
			if text := s.Value(); text.IsString() {
				m.Parts = append(m.Parts, dialect.Part{Kind: dialect.ReasoningPart, Text: text.Append(nil)})
			}
		case "tool_calls":
			for ok := s.Array(); ok; ok = s.Element() {
				calls = append(calls, readCall(s.Value()))
			}
		case "function_call":
			if call := s.Value(); call.Given() {
				w := wireCall{legacy: true}
				inner := call.Scan()
				w.function(&inner)
				calls = append(calls, callPart(&w, nil))
			}
		}
	}
	switch {
	case role.Is("assistant"):
		m.Role = dialect.Assistant
	case role.Is("system"), role.Is("developer"):
		m.Role = dialect.System
	case role.Is("tool"), role.Is("function"):
		text, media := dialect.ResultText(content)
		m.Role = dialect.User
		m.Parts = []dialect.Part{{Kind: dialect.ResultPart, ID: id.Text(), Name: name.Text(), Text: text, Media: media, Raw: v}}
		return m
	default:
		m.Role = dialect.User
	}
	m.Parts = append(append(m.Parts, readContent(content)...), calls...)
	return m
}

func readCall(v dialect.Raw) dialect.Part {
	s := v.Scan()
	w := parseCall(&s)
	return callPart(&w, v)
}

func callPart(w *wireCall, raw dialect.Raw) dialect.Part {
	p := dialect.Part{Kind: dialect.CallPart, ID: w.id.Text(), Name: w.name.Text(), Tool: "function", Raw: raw}
	if w.custom {
		p.Tool = "custom"
	}
	if p.Args = w.args.Append(nil); !w.args.IsString() && w.args.Given() {
		p.Form = dialect.ObjectForm // Mistral takes both
	}
	return p
}

func readContent(content dialect.Raw) (parts []dialect.Part) {
	if content.IsString() {
		if !content.Empty() {
			parts = append(parts, dialect.Part{Kind: dialect.TextPart, Text: content.Append(nil)})
		}
		return parts
	}
	s := content.Scan()
	for ok := s.Array(); ok; ok = s.Element() {
		v := s.Value()
		p := dialect.Part{Kind: dialect.OtherPart, Raw: v}
		switch kind := v.Get("type"); {
		case kind.Is("text"):
			p.Kind, p.Text = dialect.TextPart, v.Get("text").Append(nil)
		case kind.Is("thinking"):
			p.Kind, p.Text = dialect.ReasoningPart, v.Get("thinking").Append(nil)
		}
		parts = append(parts, p)
	}
	return parts
}
