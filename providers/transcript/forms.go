package transcript

import (
	"strings"

	"toolscope/stream/json"
)

// form describes how an inner protocol writes messages.
type form struct {
	history string // the field of a request that contains the messages
	parts   string // the field of a message that contains the parts
	model   string // the model's role

	feed func(*session, *message) // makes the inner decoder read parts of the response
	end  func(*session)           // ends the response
	fail func(*session)           // reports the error of the response
}

// anthropicForm is the form of Anthropic Messages. Its events can represent any agent's stored arguments unchanged,
// whether they are objects or text.
var anthropicForm = form{
	history: "messages", parts: "content", model: "assistant", feed: feedAnthropic,
	end: func(d *session) {
		d.feedFrame("message_delta", newField("delta", newObject(newField("stop_reason", d.now.finish))))
		d.feedFrame("message_stop")
	},
	fail: func(d *session) {
		d.feedFrame("error", newField("error", newObject(newField("type", d.now.errType), newField("message", d.now.failure))))
	},
}

func feedAnthropic(d *session, m *message) {
	if !d.begun {
		start := newObject(newField("id", m.id), newField("model", m.model), newField("usage", m.usage))
		d.feedFrame("message_start", newField("message", start))
	} else if m.usage != nil {
		d.feedFrame("message_delta", newField("usage", m.usage))
	}
	for i, block := range m.parts {
		at, args := newField("index", newNumber(int64(d.parts))), block.Get("input")
		rejected := m.rejected[i]
		mayContinue := rejected != "" || m.cut && (args == nil || i == len(m.parts)-1)
		d.parts++
		isText := args.IsString()
		delta := isText || args.EmptyObject() // at the start of a block, an empty object is a placeholder
		isCall := block.Get("type").Is("tool_use") || block.Get("type").Is("custom_tool_use")
		if delta || m.cut && args == nil && isCall {
			block = json.ReplaceMembers(block, newField("input", []byte("{}")))
		}
		d.feedFrame("content_block_start", at, newField("content_block", block))
		if delta {
			if !isText {
				args = json.AppendQuoted(nil, args)
			}
			text := newObject(newField("type", quoteText("input_json_delta")), newField("partial_json", args))
			d.feedFrame("content_block_delta", at, newField("delta", text))
		}
		if rejected != "" {
			d.out.Last().Latest().Reject(rejected)
		}
		if !mayContinue || !isCall {
			d.feedFrame("content_block_stop", at)
		}
	}
}

// anthropicUsage returns an agent's counts under Anthropic's names, or nil if there are none. The parameter names
// contains the agent's names for the input without cached tokens, the output, and the tokens that were read from the
// cache and written to it.
func anthropicUsage(usage json.Value, names ...string) json.Value {
	f := valuesOf(usage, names...)
	if f[0] == nil && f[1] == nil {
		return nil
	}
	return newObject(newField("input_tokens", f[0]), newField("output_tokens", f[1]),
		newField("cache_read_input_tokens", f[2]), newField("cache_creation_input_tokens", f[3]))
}

func textBlock(text json.Value) json.Value {
	return newObject(newField("type", quoteText("text")), newField("text", text))
}

func thinkingBlock(text, signature json.Value) json.Value {
	return newObject(newField("type", quoteText("thinking")), newField("thinking", text),
		newField("signature", signature))
}

func callBlock(id, name, args json.Value) json.Value {
	return newObject(newField("type", quoteText("tool_use")), newField("id", id),
		newField("name", name), newField("input", args))
}

// freeCallBlock returns the block of a call whose arguments are free text.
func freeCallBlock(id, name, text json.Value) json.Value {
	return newObject(newField("type", quoteText("custom_tool_use")), newField("id", id),
		newField("name", name), newField("input", text))
}

func resultBlock(id, content json.Value, failed bool) json.Value {
	var isError json.Value
	if failed {
		isError = []byte("true")
	}
	return newObject(newField("type", quoteText("tool_result")), newField("tool_use_id", id),
		newField("content", content),
		newField("is_error", isError))
}

// contentWith returns the content of a result: its text, and the elements of the given type in a list of attachments.
func contentWith(text, attachments json.Value, kind string) json.Value {
	var blocks []json.Value
	for a := range attachments.Elements() {
		if a.Get("type").Is(kind) {
			blocks = append(blocks, json.ReplaceMembers(a, newField("type", quoteText("image"))))
		}
	}
	switch {
	case blocks == nil:
		return text
	case text.HasText():
		blocks = append([]json.Value{textBlock(text)}, blocks...)
	}
	return newArray(blocks...)
}

// geminiForm is the form of Google's generateContent. Only the end of the bytes ends a response.
var geminiForm = form{
	history: "contents", parts: "parts", model: "model",
	feed: func(d *session, m *message) {
		content := newObject(newField("role", quoteText("model")), newField("parts", newArray(m.parts...)))
		d.feedFrame("", newField("candidates", newArray(newObject(newField("content", content), newField("index", []byte("0"))))),
			newField("usageMetadata", m.usage), newField("modelVersion", m.model))
	},
	end: func(*session) {},
	fail: func(d *session) {
		d.feedFrame("", newField("usageMetadata", []byte("{}")), newField("error", newObject(newField("message", d.now.failure))))
	},
}

func textPart(text json.Value) json.Value { return newObject(newField("text", text)) }

func thoughtPart(text json.Value) json.Value {
	return newObject(newField("text", text), newField("thought", []byte("true")))
}

func callPart(id, name, args json.Value) json.Value {
	return newObject(newField("functionCall", newObject(newField("id", id), newField("name", name),
		newField("args", args))))
}

// openAIForm is the form of Chat Completions. It is for messages that the inner decoder can read unchanged.
var openAIForm = form{
	history: "messages",
	feed: func(d *session, m *message) {
		choice := newObject(newField("index", []byte("0")), newField("message", m.whole))
		d.feedFrame("", newField("object", quoteText("chat.completion")), newField("choices", newArray(choice)))
	},
	end:  func(*session) {},
	fail: func(*session) {},
}

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
