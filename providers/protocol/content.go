package protocol

// This file is shared by the protocols that write messages as Chat Completions does.

// ReadMessages reads the messages of a request. If the request is cut off, it returns the complete
// messages and the error.
func ReadMessages(request []byte, read func(Raw) Message) (messages []Message, err error) {
	s := Scan(request)
	for ok := s.Object(); ok; ok = s.Member() {
		if string(s.Key()) != "messages" {
			continue
		}
		for ok := s.Array(); ok; ok = s.Element() {
			if v := s.Value(); v.Kind() == '{' {
				messages = append(messages, read(v))
			}
		}
	}
	return messages, s.End()
}

// ReadChat reads the messages of a request in which a message with the role tool is the result of one
// call. It turns that message into one of the user, with the part that result reads.
func ReadChat(request []byte, result func(Raw) Part, parts func(Raw) []Part) ([]Message, error) {
	return ReadMessages(request, func(v Raw) Message {
		switch role := v.Get("role"); {
		case role.Is("tool"):
			return Message{Role: User, Parts: []Part{result(v)}}
		case role.Is("assistant"):
			return Message{Role: Assistant, Raw: v, Parts: parts(v)}
		case role.Is("system"):
			return Message{Role: System, Raw: v, Parts: parts(v)}
		default:
			return Message{Role: User, Raw: v, Parts: parts(v)}
		}
	})
}

// WriteMessages writes each message with write. It writes the results of a message with result, as
// separate messages before it.
func WriteMessages(messages []Message, result func(*Part) []byte, write func(*Message, []Part) []byte) (out [][]byte) {
	for i := range messages {
		m := &messages[i]
		var rest []Part
		for j := range m.Parts {
			switch p := &m.Parts[j]; {
			case p.Kind != ResultPart:
				rest = append(rest, *p)
			case p.Raw != nil:
				out = append(out, p.Raw)
			default:
				out = append(out, result(p))
			}
		}
		if len(rest) > 0 || len(m.Parts) == 0 {
			out = append(out, write(m, rest))
		}
	}
	return out
}

// ReadContent reads the content of a message: a string, or a list of parts, each with a type.
func ReadContent(content Raw) (parts []Part) {
	if content.IsString() {
		if !content.Empty() {
			parts = []Part{{Kind: TextPart, Text: content.Unquoted()}}
		}
		return parts
	}
	for v := range content.Elements() {
		p := Part{Kind: OtherPart, Raw: v}
		switch kind := v.Get("type"); {
		case kind.Is("text"):
			p.Kind, p.Text = TextPart, v.Get("text").Unquoted()
		case kind.Is("thinking"): // a string, or a list of texts
			p.Kind = ReasoningPart
			p.Text, _ = ResultText(v.Get("thinking"))
		}
		parts = append(parts, p)
	}
	return parts
}

// Content returns the content for parts; was is the content that they were read from. The result is a
// string if the parts fit into one, else a list. Several texts become one string only if joined is set.
// Without parts, the result is was if was has no parts either, else nil.
func Content(was Raw, parts []Part, joined bool) []byte {
	if len(parts) == 0 {
		if len(ReadContent(was)) > 0 {
			return nil
		}
		return was
	}
	list := was.Kind() == '[' || len(parts) > 1 && !joined
	var text []byte
	for i := range parts {
		list = list || parts[i].Raw != nil
		text = append(text, parts[i].Text...)
	}
	var w Writer
	if !list {
		return w.Bytes(text).Text
	}
	w.Open('[')
	for i := range parts {
		if p := &parts[i]; p.Raw != nil {
			w.Raw(p.Raw)
		} else {
			w.Open('{').Member("type", "text").Key("text").Bytes(p.Text).Close('}')
		}
	}
	return w.Close(']').Text
}
