package formats

import "strconv"

func digits(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }

// geminiShape is that of Google's generateContent. Its parts stand in the file as they are.
var geminiShape = shape{"Gemini content", "contents", geminiSaid, geminiReply}

func geminiSaid(by speaker, parts []utterance) [][]byte {
	return [][]byte{geminiContent(by, parts)}
}

func geminiContent(by speaker, parts []utterance) []byte {
	role := `"user"`
	if by == theModel {
		role = `"model"`
	}
	all := make([][]byte, 0, len(parts))
	for i := range parts {
		all = append(all, geminiPart(&parts[i]))
	}
	return object(member{"role", []byte(role)}, member{"parts", array(all...)})
}

func geminiPart(p *utterance) []byte {
	switch {
	case p.raw != nil:
		return p.raw
	case p.kind == callPart:
		return object(member{"functionCall", object(member{"id", p.id}, member{"name", p.name}, member{"args", p.args})})
	case p.kind == thoughtPart:
		return object(member{"text", p.text}, member{"thought", []byte("true")})
	}
	return object(member{"text", p.text})
}

// geminiReply is one response, on a line of its own: what comes later of the same answer is
// another.
func geminiReply(r *reply) []byte {
	if r.failure != nil {
		return addLine(nil, object(member{"usageMetadata", []byte("{}")}, member{"error", object(member{"message", r.failure})}))
	}
	candidate := object(member{"content", geminiContent(theModel, r.parts)}, member{"index", []byte("0")})
	return addLine(nil, object(member{"candidates", array(candidate)}, member{"usageMetadata", r.usage}, member{"modelVersion", r.model}))
}
