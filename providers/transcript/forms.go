package transcript

import "toolscope/stream/json"

// form says how an inner protocol writes messages.
type form struct {
	history string // the field of a request with its messages
	parts   string // the field of a message with its parts
	model   string // the role of the model

	feed func(*session, *message) // makes the inner decoder read a part of the response
	end  func(*session)           // says that the response ended
	fail func(*session)           // reports its error
}

// anthropicForm is the form of Anthropic Messages. Its events have room for arguments of every agent as they are: as
// objects, and as text.
var anthropicForm = form{"messages", "content", "assistant", feedAnthropic, endAnthropic, failAnthropic}

func feedAnthropic(d *session, m *message) {
	if !d.begun {
		d.feedFrame("message_start", field("message", newObject(field("id", m.id), field("model", m.model), field("usage", m.usage))))
	} else if m.usage != nil {
		d.feedFrame("message_delta", field("usage", m.usage))
	}
	for _, block := range m.parts {
		at, args := field("index", number(int64(d.parts))), block.Get("input")
		d.parts++
		isText := args.IsString()
		delta := isText || args.EmptyObject() // at the start of a block, an empty object is a placeholder
		if delta {
			block = json.ReplaceMembers(block, field("input", []byte("{}")))
		}
		d.feedFrame("content_block_start", at, field("content_block", block))
		if delta {
			if !isText {
				args = json.AppendQuoted(nil, args)
			}
			d.feedFrame("content_block_delta", at, field("delta", newObject(field("type", quoted("input_json_delta")), field("partial_json", args))))
		}
		if !m.cut || !block.Get("type").Is("tool_use") || args != nil && !isText { // else the arguments may continue
			d.feedFrame("content_block_stop", at)
		}
	}
}

func endAnthropic(d *session) {
	d.feedFrame("message_delta", field("delta", newObject(field("stop_reason", d.now.finish))))
	d.feedFrame("message_stop")
}

func failAnthropic(d *session) {
	d.feedFrame("error", field("error", newObject(field("type", d.now.errType), field("message", d.now.failure))))
}

func textBlock(text json.Value) json.Value {
	return newObject(field("type", quoted("text")), field("text", text))
}

func thinkingBlock(text, signature json.Value) json.Value {
	return newObject(field("type", quoted("thinking")), field("thinking", text), field("signature", signature))
}

func callBlock(id, name, args json.Value) json.Value {
	return newObject(field("type", quoted("tool_use")), field("id", id), field("name", name), field("input", args))
}

func resultBlock(id, content json.Value, failed bool) json.Value {
	var isError json.Value
	if failed {
		isError = []byte("true")
	}
	return newObject(field("type", quoted("tool_result")), field("tool_use_id", id), field("content", content), field("is_error", isError))
}

// geminiForm is the form of Google's generateContent. The end of the bytes ends a response.
var geminiForm = form{"contents", "parts", "model", feedGemini, func(*session) {}, failGemini}

func feedGemini(d *session, m *message) {
	content := newObject(field("role", quoted("model")), field("parts", newArray(m.parts...)))
	d.feedFrame("", field("candidates", newArray(newObject(field("content", content), field("index", []byte("0"))))),
		field("usageMetadata", m.usage), field("modelVersion", m.model))
}

func failGemini(d *session) {
	d.feedFrame("", field("usageMetadata", []byte("{}")), field("error", newObject(field("message", d.now.failure))))
}

func textPart(text json.Value) json.Value { return newObject(field("text", text)) }

func thoughtPart(text json.Value) json.Value {
	return newObject(field("text", text), field("thought", []byte("true")))
}

func callPart(id, name, args json.Value) json.Value {
	return newObject(field("functionCall", newObject(field("id", id), field("name", name), field("args", args))))
}
