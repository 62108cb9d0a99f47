package transcript

import "toolscope/stream/json"

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
