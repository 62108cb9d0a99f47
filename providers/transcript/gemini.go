package transcript

import "toolscope/stream/json"

// readGeminiCLI returns a reader for the messages that Gemini CLI keeps in ~/.gemini/tmp/<project>/chats. Gemini CLI
// writes a message of the model again whenever it adds calls or results of calls to the message.
func readGeminiCLI() func(entry json.Value) *message {
	var open string            // id of the model's latest message
	calls := map[string]bool{} // ids of the message's calls; the value is true if the result of the call was added
	hasUsage := false          // whether the message's usage was read
	return func(entry json.Value) *message {
		f := valuesOf(entry, "id", "type", "content", "model", "tokens", "toolCalls", "thoughts", "sessionId")
		m := &message{session: f[7]}
		switch id, kind := f[0].Text(), f[1]; {
		case kind.Is("user"):
			m.byUser, m.parts = true, geminiParts(f[2])
		case kind.Is("error"):
			m.failure = withText(f[2])
		case kind.Is("gemini"):
			m.model = f[3]
			if id != open || id == "" {
				open, hasUsage = id, false
				clear(calls)
				for thought := range f[6].Elements() {
					if text := thought.Get("description"); text.HasText() {
						m.parts = append(m.parts, thoughtPart(text))
					}
				}
				m.parts = append(m.parts, geminiParts(f[2])...)
				for _, p := range m.parts {
					if id := p.Get("functionCall").Get("id"); id != nil {
						calls[id.Text()] = false
					}
				}
			}
			if f[4] != nil && !hasUsage {
				hasUsage, m.usage = true, geminiUsage(f[4])
			}
			m.addCalls(f[5], calls)
		default:
			m.byUser = true
		}
		return m
	}
}

// addCalls adds those calls in a list that are not in the map calls yet, and those results that were not added yet.
func (m *message) addCalls(list json.Value, calls map[string]bool) {
	for c := range list.Elements() {
		f := valuesOf(c, "id", "name", "args", "result")
		id := f[0].Text()
		answered, known := calls[id]
		if !known || id == "" {
			m.parts = append(m.parts, callPart(f[0], f[1], f[2]))
		}
		for _, p := range geminiParts(f[3]) { // the parts may include the results of other calls
			if r := p.Get("functionResponse"); r != nil && !answered && r.Get("id").Text() == id {
				m.results = append(m.results, p)
				calls[id] = true
			}
		}
		calls[id] = calls[id] || answered
	}
}

// geminiParts returns the parts in a content field: a string, one part, or a list of strings and parts.
func geminiParts(content json.Value) (parts []json.Value) {
	switch content.Kind() {
	case '"':
		if content.HasText() {
			parts = append(parts, textPart(content))
		}
	case '{':
		parts = append(parts, content)
	case '[':
		for p := range content.Elements() {
			if p.Kind() != '[' {
				parts = append(parts, geminiParts(p)...)
			}
		}
	}
	return parts
}

// geminiUsage returns Gemini CLI's token counts under the provider's names.
func geminiUsage(tokens json.Value) json.Value {
	f := valuesOf(tokens, "input", "output", "cached", "thoughts", "tool", "total")
	return newObject(newField("promptTokenCount", f[0]), newField("candidatesTokenCount", f[1]),
		newField("cachedContentTokenCount", f[2]), newField("thoughtsTokenCount", f[3]),
		newField("toolUsePromptTokenCount", f[4]), newField("totalTokenCount", f[5]))
}

// readQwenCode returns a reader for the entries that Qwen Code keeps in ~/.qwen/projects/<cwd>/chats. Messages are in
// Google's form, whatever the provider. Errors are in entries of the type system.
func readQwenCode() func(entry json.Value) *message {
	return func(entry json.Value) *message {
		f := valuesOf(entry, "type", "message", "sessionId", "model", "usageMetadata", "systemPayload", "isSidechain", "agentId")
		m := &message{session: f[2], parts: geminiParts(f[1].Get("parts"))}
		if f[6].IsTrue() {
			m.agent = withText(f[7])
		}
		switch {
		case f[0].Is("assistant"):
			m.model, m.usage = f[3], f[4]
		case f[0].Is("system"):
			event := f[5].Get("uiEvent")
			if m.failure = withText(event.Get("error_message")); m.failure == nil {
				m.failure = withText(event.Get("error"))
			}
		default:
			m.byUser = true
		}
		return m
	}
}
