package transcript

import "toolscope/stream/json"

// readCopilot returns a reader for the events of GitHub Copilot CLI, which stores messages from all providers in its
// own format.
func readCopilot() func(entry json.Value) *message {
	return func(entry json.Value) *message {
		f := valuesOf(entry, "type", "data", "agentId")
		data := f[1]
		m := &message{byUser: true, agent: withText(data.Get("parentToolCallId"))}
		if m.agent == nil {
			m.agent = withText(f[2])
		}
		switch kind := f[0]; {
		case kind.Is("session.start"), kind.Is("session.resume"):
			m.session = data.Get("sessionId")
		case kind.Is("user.message"):
			if text := data.Get("content"); text.HasText() {
				m.parts = []json.Value{textBlock(text)}
			}
		case kind.Is("tool.execution_complete"):
			content := contentWith(data.Get("result").Get("content"), data.Get("result").Get("contents"), "image")
			if content == nil {
				content = data.Get("error").Get("message")
			}
			m.parts = []json.Value{resultBlock(data.Get("toolCallId"), content, !data.Get("success").IsTrue())}
		case kind.Is("session.error"):
			m.byUser, m.failure, m.errType = false, withText(data.Get("message")), withText(data.Get("errorType"))
		case kind.Is("assistant.message"):
			m.byUser = false
			m.readCopilotMessage(data)
		}
		return m
	}
}

// readCopilotMessage reads a message of the model.
func (m *message) readCopilotMessage(data json.Value) {
	f := valuesOf(data, "messageId", "model", "content", "reasoningText", "toolRequests", "outputTokens")
	m.id, m.model = withText(f[0]), f[1]
	if f[5] != nil {
		m.usage = newObject(newField("output_tokens", f[5]))
	}
	if f[3].HasText() {
		m.parts = append(m.parts, thinkingBlock(f[3], nil))
	}
	if f[2].HasText() {
		m.parts = append(m.parts, textBlock(f[2]))
	}
	for call := range f[4].Elements() {
		block := callBlock
		if args := call.Get("arguments"); call.Get("type").Is("custom") && args.IsString() {
			block = freeCallBlock
		}
		m.parts = append(m.parts, block(call.Get("toolCallId"), call.Get("name"), call.Get("arguments")))
	}
}
