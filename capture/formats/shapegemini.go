package formats

import "strconv"

func intBytes(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }

// geminiShape is that of Google's generateContent. Its parts stand in the file as they are.
var geminiShape = messageShape{"Gemini content", "contents", geminiSaid, geminiReply}

func geminiSaid(by messageRole, parts []messagePart) [][]byte {
	return [][]byte{geminiContent(by, parts)}
}

func geminiContent(by messageRole, parts []messagePart) []byte {
	role := `"user"`
	if by == theModel {
		role = `"model"`
	}
	all := make([][]byte, 0, len(parts))
	for i := range parts {
		all = append(all, geminiPart(&parts[i]))
	}
	return objectOf(member{"role", []byte(role)}, member{"parts", arrayOf(all...)})
}

func geminiPart(p *messagePart) []byte {
	switch {
	case p.raw != nil:
		return p.raw
	case p.kind == callPart:
		return objectOf(member{"functionCall", objectOf(member{"id", p.id}, member{"name", p.name}, member{"args", p.args})})
	case p.kind == thoughtPart:
		return objectOf(member{"text", p.text}, member{"thought", []byte("true")})
	}
	return objectOf(member{"text", p.text})
}

// geminiReply is one response, on a line of its own: what comes later of the same answer is
// another.
func geminiReply(r *modelResponse) []byte {
	if r.failure != nil {
		return addLine(nil, objectOf(member{"usageMetadata", []byte("{}")}, member{"error", objectOf(member{"message", r.failure})}))
	}
	candidate := objectOf(member{"content", geminiContent(theModel, r.parts)}, member{"index", []byte("0")})
	return addLine(nil, objectOf(member{"candidates", arrayOf(candidate)}, member{"usageMetadata", r.usage}, member{"modelVersion", r.model}))
}
