package formats

// chatShape is that of OpenAI's Chat Completions, which has arguments as strings.
var chatShape = shape{"Chat Completions message", "messages", chatSaid, chatReply}

// chatSaid is one message, and one for each result.
func chatSaid(by speaker, parts []utterance) (all [][]byte) {
	role := [...]string{theUser: `"user"`, theModel: `"assistant"`, theSystem: `"system"`}[by]
	rest := parts[:0:0]
	for _, p := range parts {
		switch {
		case p.kind == resultPart:
			all = append(all, object(member{"role", []byte(`"tool"`)}, member{"tool_call_id", p.id}, member{"name", p.name}, member{"content", p.text}))
		default:
			rest = append(rest, p)
		}
	}
	if len(rest) > 0 {
		all = append(all, object(append([]member{{"role", []byte(role)}}, chatMembers(rest)...)...))
	}
	return all
}

// chatMembers are the content and the calls of a message.
func chatMembers(parts []utterance) []member {
	var texts, calls [][]byte
	var thought []byte
	for i := range parts {
		switch p := &parts[i]; p.kind {
		case callPart:
			function := object(member{"name", p.name}, member{"arguments", p.args})
			calls = append(calls, object(member{"id", p.id}, member{"type", []byte(`"function"`)}, member{"function", function}))
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
		content = array(texts...)
	}
	members := []member{{"content", content}, {"reasoning_content", thought}}
	if len(calls) > 0 {
		members = append(members, member{"tool_calls", array(calls...)})
	}
	return members
}

func chatReply(r *reply) []byte {
	if r.failure != nil {
		return object(member{"error", object(member{"message", r.failure}, member{"type", r.failed})})
	}
	message := object(append([]member{{"role", []byte(`"assistant"`)}}, chatMembers(r.parts)...)...)
	choice := object(member{"index", []byte("0")}, member{"message", message}, member{"finish_reason", r.finish})
	return object(member{"id", r.id}, member{"object", []byte(`"chat.completion"`)}, member{"model", r.model},
		member{"choices", array(choice)}, member{"usage", r.usage})
}
