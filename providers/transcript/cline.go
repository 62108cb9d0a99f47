package transcript

import "toolscope/stream/json"

// readCline returns a reader for the messages of a task, as Cline, Roo Code and Kilo Code keep them for the next
// request. The messages have Anthropic's form, whatever the provider.
func readCline() func(entry json.Value) *message {
	return func(entry json.Value) *message {
		f := valuesOf(entry, "role", "content", "modelInfo", "metrics", "id")
		m := &message{byUser: !f[0].Is("assistant")}
		if f[1].HasText() {
			m.parts = []json.Value{textBlock(f[1])}
		}
		for block := range f[1].Elements() {
			m.parts = append(m.parts, block)
		}
		if !m.byUser {
			m.model, m.id, m.usage = f[2].Get("modelId"), withText(f[4]), clineUsage(f[3].Get("tokens"))
		}
		return m
	}
}

// clineUsage returns Cline's counts under Anthropic's names, or nil if there are none. Cline's prompt count includes
// cached tokens.
func clineUsage(tokens json.Value) json.Value {
	f := valuesOf(tokens, "prompt", "completion", "cached")
	if f[0] == nil && f[1] == nil {
		return nil
	}
	if f[0] != nil {
		f[0] = newNumber(max(0, countOf(f[0])-countOf(f[2])))
	}
	return newObject(newField("input_tokens", f[0]), newField("output_tokens", f[1]),
		newField("cache_read_input_tokens", f[2]))
}

// readClineScreen returns a reader for the entries of ui_messages.json. The entries contain the calls as shown on the
// screen, without ids, and the cost of each request.
func readClineScreen() func(entry json.Value) *message {
	failed, begun := false, false
	return func(entry json.Value) *message {
		f := valuesOf(entry, "say", "ask", "text")
		kind, text := f[0].Text(), withText(f[2])
		if f[0] == nil {
			kind = f[1].Text()
		}
		m := new(message)
		switch kind {
		case "task", "user_feedback":
			m.byUser = true
			if text != nil {
				m.parts = []json.Value{textPart(text)}
			}
		case "api_req_started":
			m.readClineRequest(json.Value(text.Append(nil)))
		case "error", "api_req_failed":
			if !begun {
				m.failure = text
			}
		default:
			if part := clinePart(kind, text); part != nil && !failed {
				m.parts, begun = []json.Value{part}, true
			}
		}
		failed = failed || m.failure != nil
		if !m.byUser && m.parts == nil && m.usage == nil && m.failure == nil {
			return nil
		}
		return m
	}
}

// readClineRequest reads the token counts of a request and, if it failed, the reason.
func (m *message) readClineRequest(about json.Value) {
	f := valuesOf(about, "tokensIn", "tokensOut", "cacheReads", "cacheWrites", "cancelReason", "streamingFailedMessage")
	if f[0] != nil || f[1] != nil {
		m.usage = newObject(newField("promptTokenCount", newNumber(countOf(f[0])+countOf(f[2])+countOf(f[3]))),
			newField("candidatesTokenCount", f[1]), newField("cachedContentTokenCount", f[2]))
	}
	if f[4] != nil && !f[4].Is("user_cancelled") {
		m.failure = withText(f[5])
	}
}

// clinePart returns the part of a response that an entry shows, or nil if the entry shows none.
func clinePart(kind string, text json.Value) json.Value {
	switch {
	case text == nil:
	case kind == "text":
		return textPart(text)
	case kind == "reasoning":
		return thoughtPart(text)
	case kind == "command":
		return callPart(nil, quoteText("command"), newObject(newField("command", text)))
	case kind == "tool", kind == "use_mcp_server":
		shown := json.Value(text.Append(nil))
		f := valuesOf(shown, "tool", "toolName", "arguments")
		if kind == "tool" && f[0] != nil {
			return callPart(nil, f[0], shown)
		}
		if args := json.Value(f[2].Append(nil)); json.IsObject(args) {
			f[2] = args
		}
		if kind != "tool" && f[1] != nil {
			return callPart(nil, f[1], f[2])
		}
	}
	return nil
}
