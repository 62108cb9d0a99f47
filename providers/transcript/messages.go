package transcript

import (
	"strings"

	"toolscope/stream/json"
)

// readWholeMessage returns a reader for messages that the inner protocol can read unchanged.
func readWholeMessage() func(entry json.Value) *message {
	return func(entry json.Value) *message {
		return &message{byUser: !entry.Get("role").Is("assistant"), whole: entry}
	}
}

// readContent returns a reader for messages in Google's protocol, which are called contents.
func readContent() func(entry json.Value) *message {
	return func(entry json.Value) *message {
		f := valuesOf(entry, "role", "parts", "content")
		m := &message{byUser: !f[0].Is("model") && !f[0].Is("assistant"), parts: geminiParts(f[1])}
		if f[1] == nil {
			m.parts = geminiParts(f[2])
		}
		return m
	}
}

// readMessage returns a reader for messages as frameworks and agents write them: with content blocks of several
// kinds, and with calls in a separate list.
func readMessage() func(entry json.Value) *message {
	return func(entry json.Value) *message {
		of := entry
		f := valuesOf(of, "role", "type", "kwargs", "data", "id")
		class := f[1].Text()
		switch {
		case f[0] != nil:
		case f[2] != nil: // LangChain's constructor
			for name := range f[4].Elements() {
				class = name.Text()
			}
			of = f[2]
		case f[3] != nil:
			of = f[3]
		}
		f = valuesOf(of, "role", "content", "parts", "tool_calls", "toolCalls", "model", "usage", "status", "invalid_tool_calls")
		m := &message{byUser: !f[0].Is("assistant") && !(f[0] == nil && strings.HasPrefix(strings.ToUpper(class), "AI"))}
		id := of.Get("tool_call_id")
		if id == nil {
			id = of.Get("toolCallId")
		}
		switch {
		case id != nil:
			m.byUser = true
			m.parts = []json.Value{resultBlock(id, f[1], f[7].Is("error") || of.Get("isError").IsTrue())}
			return m
		case f[1].HasText():
			m.parts = append(m.parts, textBlock(f[1]))
		}
		for _, list := range []json.Value{f[1], f[2]} {
			for block := range list.Elements() {
				m.readBlock(block)
			}
		}
		for _, list := range []json.Value{f[3], f[4], f[8]} {
			for c := range list.Elements() {
				m.readListedCall(c)
			}
		}
		if !m.byUser && f[5].HasText() {
			m.model = f[5]
		}
		return m
	}
}

// readListedCall reads a call in a list of calls, unless a content block already contained it.
func (m *message) readListedCall(c json.Value) {
	f := valuesOf(c, "id", "name", "args", "function")
	if f[3] != nil {
		f[1], f[2] = f[3].Get("name"), f[3].Get("arguments")
	}
	for _, p := range m.parts {
		if f[0].HasText() && p.Get("type").Is("tool_use") && p.Get("id").Is(f[0].Text()) {
			return
		}
	}
	m.parts = append(m.parts, callBlock(f[0], f[1], f[2]))
}

// readBlock reads a content block or a part.
func (m *message) readBlock(block json.Value) {
	f := valuesOf(block, "type", "text", "id", "name", "toolCallId", "toolName", "input", "args", "output", "result", "arguments")
	switch kind := f[0].Text(); {
	case kind == "tool-call":
		m.parts = append(m.parts, callBlock(f[4], f[5], orElse(f[6], f[7])))
	case kind == "tool-result":
		output := f[8]
		failed := block.Get("isError").IsTrue() || strings.HasPrefix(output.Get("type").Text(), "error")
		if value := output.Get("value"); value != nil {
			output = value
		}
		m.parts = append(m.parts, resultBlock(f[4], orElse(output, f[9]), failed))
	case kind == "dynamic-tool", strings.HasPrefix(kind, "tool-"):
		m.readUIPart(block, kind)
	case kind == "toolCall":
		m.parts = append(m.parts, callBlock(f[2], f[3], f[10]))
	case kind == "toolRequest":
		call := block.Get("toolCall")
		value := orElse(call.Get("value"), call)
		m.parts = append(m.parts, callBlock(f[2], value.Get("name"), value.Get("arguments")))
	case kind == "toolResponse":
		result := block.Get("toolResult")
		m.parts = append(m.parts, resultBlock(f[2], orElse(result.Get("value"), result.Get("error")), result.Get("status").Is("error")))
	case kind == "tool_call":
		// This is a call of crush. Its input is the text of the arguments, which may be incomplete.
		call := block.Get("data")
		m.parts = append(m.parts, callBlock(call.Get("id"), call.Get("name"), call.Get("input")))
		m.cut = m.cut || string(call.Get("finished")) == "false"
	case kind == "" && block.Get("toolUse") != nil:
		use := block.Get("toolUse")
		m.parts = append(m.parts, callBlock(use.Get("toolUseId"), use.Get("name"), use.Get("input")))
	case kind == "" && block.Get("toolResult") != nil:
		result := block.Get("toolResult")
		m.parts = append(m.parts, resultBlock(result.Get("toolUseId"), result.Get("content"), result.Get("status").Is("error")))
	case kind == "reasoning" && f[1].HasText():
		m.parts = append(m.parts, thinkingBlock(f[1], nil))
	case kind == "text" || kind == "":
		if text := orElse(f[1], block.Get("data").Get("text")); text.HasText() {
			m.parts = append(m.parts, textBlock(text))
		}
	case kind == "tool_result" && block.Get("data") != nil:
		data := block.Get("data")
		m.parts = append(m.parts, resultBlock(data.Get("tool_call_id"), data.Get("content"), data.Get("is_error").IsTrue()))
	case strings.HasPrefix(kind, "tool_"), kind == "thinking", kind == "redacted_thinking", kind == "server_tool_use":
		m.parts = append(m.parts, block)
	}
}

// readUIPart reads a call in a UIMessage, with its result if the part has one. If the SDK could not parse the input,
// the input is a string.
func (m *message) readUIPart(part json.Value, kind string) {
	f := valuesOf(part, "toolCallId", "toolName", "state", "input", "rawInput", "output", "errorText")
	if f[1] == nil {
		f[1] = quoteText(strings.TrimPrefix(kind, "tool-"))
	}
	switch state := f[2].Text(); state {
	case "input-streaming":
		m.cut = true
		f[3] = nil
	case "output-available":
		m.results = append(m.results, resultBlock(f[0], f[5], false))
	case "output-error", "output-denied":
		m.results = append(m.results, resultBlock(f[0], orElse(f[6], quoteText("denied")), true))
		if f[4] != nil && f[3] == nil {
			m.rejected = map[int]string{len(m.parts): "the AI SDK could not parse the arguments"}
		}
	}
	m.parts = append(m.parts, callBlock(f[0], f[1], orElse(f[3], f[4])))
}

// orElse returns v, or other if v is missing.
func orElse(v, other json.Value) json.Value {
	if v.IsPresent() {
		return v
	}
	return other
}
