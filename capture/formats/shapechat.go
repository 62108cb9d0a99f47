package formats

// chatShape is that of OpenAI's Chat Completions, which has arguments as strings.
var chatShape = messageShape{"Chat Completions message", "messages", chatMessages, chatResponse}

// chatMessages is one message, and one for each result.
func chatMessages(by messageRole, parts []messagePart) (all [][]byte) {
	role := [...]string{theUser: `"user"`, theModel: `"assistant"`, theSystem: `"system"`}[by]
	rest := parts[:0:0]
	for _, p := range parts {
		switch {
		case p.kind == resultPart:
			all = append(all, objectOf(member{"role", []byte(`"tool"`)}, member{"tool_call_id", p.id}, member{"name", p.name}, member{"content", p.text}))
		default:
			rest = append(rest, p)
		}
	}
	if len(rest) > 0 {
		all = append(all, objectOf(append([]member{{"role", []byte(role)}}, chatMembers(rest)...)...))
	}
	return all
}

// chatMembers are the content and the calls of a message.
func chatMembers(parts []messagePart) []member {
	var texts, calls [][]byte
	var thought []byte
	for i := range parts {
		switch p := &parts[i]; p.kind {
		case callPart:
			function := objectOf(member{"name", p.name}, member{"arguments", p.args})
			calls = append(calls, objectOf(member{"id", p.id}, member{"type", []byte(`"function"`)}, member{"function", function}))
		case thoughtPart:
			thought = p.text
		default:
			texts = append(texts, anthropicBlock(p)) // a text is written alike
		}
	}
	content := []byte("null")
	if len(texts) == 1 && parts[0].kind == textPart && parts[0].raw == nil {
		content = parts[0].text
	} else if len(texts) > 0 {
		content = arrayOf(texts...)
	}
	members := []member{{"content", content}, {"reasoning_content", thought}}
	if len(calls) > 0 {
		members = append(members, member{"tool_calls", arrayOf(calls...)})
	}
	return members
}

func chatResponse(r *modelResponse) []byte {
	if r.failure != nil {
		return objectOf(member{"error", objectOf(member{"message", r.failure}, member{"type", r.failed})})
	}
	message := objectOf(append([]member{{"role", []byte(`"assistant"`)}}, chatMembers(r.parts)...)...)
	choice := objectOf(member{"index", []byte("0")}, member{"message", message}, member{"finish_reason", r.finish})
	return objectOf(member{"id", r.id}, member{"object", []byte(`"chat.completion"`)}, member{"model", r.model},
		member{"choices", arrayOf(choice)}, member{"usage", r.usage})
}
