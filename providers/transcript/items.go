package transcript

import "toolscope/stream/json"

// readResponseItem returns a reader for the items of OpenAI Responses, as a program sends them back or stores them.
func readResponseItem() func(entry json.Value) *message {
	return func(entry json.Value) *message {
		f := valuesOf(entry, "type", "call_id", "name", "arguments", "output", "role", "content", "summary", "input", "action", "operation")
		m := &message{}
		switch kind := f[0].Text(); kind {
		case "function_call":
			m.parts = []json.Value{callBlock(f[1], f[2], f[3])}
			m.cut = entry.Get("status").Is("incomplete")
		case "custom_tool_call":
			m.parts = []json.Value{freeCallBlock(f[1], f[2], f[8])}
		case "local_shell_call", "shell_call", "computer_call", "apply_patch_call":
			args := f[9]
			if args == nil {
				args = f[10]
			}
			m.parts = []json.Value{callBlock(f[1], quoteText(kind), args)}
		case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "shell_call_output",
			"computer_call_output", "apply_patch_call_output":
			m.byUser = true
			m.parts = []json.Value{resultBlock(f[1], f[4], entry.Get("status").Is("failed"))}
		case "reasoning":
			for part := range f[7].Elements() {
				m.parts = append(m.parts, thinkingBlock(part.Get("text"), nil))
			}
		default:
			m.byUser = !f[5].Is("assistant")
			if f[6].HasText() {
				m.parts = append(m.parts, textBlock(f[6]))
			}
			for part := range f[6].Elements() {
				if text := part.Get("text"); text.HasText() {
					m.parts = append(m.parts, textBlock(text))
				}
			}
		}
		return m
	}
}

// readZed returns a reader for the messages in a thread of Zed's agent. A message of the model contains the results
// of its calls (zed-industries/zed, crates/agent/src/db.rs and thread.rs).
func readZed() func(entry json.Value) *message {
	return func(entry json.Value) *message {
		m := &message{}
		of := entry.Get("Agent")
		if of == nil {
			m.byUser, of = true, entry.Get("User")
		}
		for block := range of.Get("content").Elements() {
			f := valuesOf(block, "Text", "Thinking", "ToolUse")
			switch {
			case f[0].HasText():
				m.parts = append(m.parts, textBlock(f[0]))
			case f[1] != nil:
				m.parts = append(m.parts, thinkingBlock(f[1].Get("text"), f[1].Get("signature")))
			case f[2] != nil:
				m.parts = append(m.parts, callBlock(f[2].Get("id"), f[2].Get("name"), f[2].Get("raw_input")))
				m.cut = m.cut || string(f[2].Get("is_input_complete")) == "false"
			}
		}
		for _, value := range json.Members(of.Get("tool_results")) {
			result := json.Value(value)
			content := result.Get("content")
			if text := content.Get("Text"); text != nil {
				content = text
			}
			var texts []json.Value
			for part := range content.Elements() {
				if text := part.Get("Text"); text.HasText() {
					texts = append(texts, textBlock(text))
				}
			}
			if texts != nil {
				content = newArray(texts...)
			}
			m.results = append(m.results, resultBlock(result.Get("tool_use_id"), content, result.Get("is_error").IsTrue()))
		}
		return m
	}
}
