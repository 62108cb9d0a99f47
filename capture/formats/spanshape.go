package formats

import (
	"bytes"
	"slices"

	"toolscope/stream/json"
)

// This file writes the messages of a span as the JSON of a provider's protocol. All values are JSON, as in
// the file.

// A messagePart is one text, thought, call or result in a message.
type messagePart struct {
	kind     partKind
	text     []byte // a string; for a result, it may be a list of blocks
	id, name []byte
	args     []byte // arguments of a call: an object, or a string that contains JSON
}

type partKind int8

const (
	textPart partKind = iota
	thoughtPart
	callPart
	resultPart
)

// messageRole is the author of a message.
type messageRole int8

const (
	theUser messageRole = iota // also for tools
	theModel
	theSystem
)

// A modelResponse is a model's response as a span records it: a message, or the reason for a failure.
type modelResponse struct {
	model, id []byte
	parts     []messagePart
	usage     []byte // an object as in the protocol of the shape
	finish    []byte // the finish reason as a string, as in the protocol of the shape; nil if unknown
	failure   []byte // a string with the reason why there is no response
	failed    []byte // a string with the kind of the failure
}

// A messageShape describes how a protocol writes a conversation. The protocol of every shape has the history under
// the key "messages".
type messageShape struct {
	name     string // the shape's name in the path of the wrappers
	messages func(by messageRole, parts []messagePart) [][]byte
	response func(*modelResponse) []byte
}

// anthropicShape writes Anthropic Messages. Arguments are objects in a message, but strings in the events of
// a stream.
var anthropicShape = messageShape{"Anthropic message", anthropicMessages, anthropicResponse}

func anthropicMessages(by messageRole, parts []messagePart) [][]byte {
	role := [...]string{theUser: `"user"`, theModel: `"assistant"`, theSystem: `"system"`}[by]
	blocks := make([][]byte, 0, len(parts))
	for i := range parts {
		blocks = append(blocks, anthropicBlock(&parts[i]))
	}
	return [][]byte{objectOf(member{"role", []byte(role)}, member{"content", arrayOf(blocks...)})}
}

func anthropicBlock(p *messagePart) []byte {
	kind := func(name string) member { return member{"type", []byte(`"` + name + `"`)} }
	switch p.kind {
	case thoughtPart:
		return objectOf(kind("thinking"), member{"thinking", p.text})
	case callPart:
		return objectOf(kind("tool_use"), member{"id", p.id}, member{"name", p.name}, member{"input", p.args})
	case resultPart:
		return objectOf(kind("tool_result"), member{"tool_use_id", p.id}, member{"content", p.text})
	}
	return objectOf(kind("text"), member{"text", p.text})
}

// anthropicResponse returns an error or a complete message. If arguments are strings, it returns the events of a
// stream instead.
func anthropicResponse(r *modelResponse) []byte {
	kind := member{"type", []byte(`"message"`)}
	role := member{"role", []byte(`"assistant"`)}
	if r.failure != nil {
		return objectOf(member{"type", []byte(`"error"`)}, member{"error", objectOf(member{"type", r.failed}, member{"message", r.failure})})
	}
	if !slices.ContainsFunc(r.parts, messagePart.hasTextArgs) {
		said := anthropicMessages(theModel, r.parts)[0]
		return objectOf(kind, role, member{"id", r.id}, member{"model", r.model}, member{"content", json.Find(said, "content")},
			member{"stop_reason", r.finish}, member{"usage", r.usage})
	}
	message := objectOf(kind, role, member{"id", r.id}, member{"model", r.model}, member{"content", []byte("[]")}, member{"usage", r.usage})
	b := appendEvent(nil, "message_start", member{"message", message})
	for i, block := range r.parts {
		place := member{"index", intBytes(i)}
		args := block.args
		if block.hasTextArgs() {
			block.args = []byte("{}")
		}
		b = appendEvent(b, "content_block_start", place, member{"content_block", anthropicBlock(&block)})
		if r.parts[i].hasTextArgs() {
			delta := objectOf(member{"type", []byte(`"input_json_delta"`)}, member{"partial_json", args})
			b = appendEvent(b, "content_block_delta", place, member{"delta", delta})
		}
		b = appendEvent(b, "content_block_stop", place)
	}
	b = appendEvent(b, "message_delta", member{"delta", objectOf(member{"stop_reason", r.finish})})
	return appendEvent(b, "message_stop")
}

// hasTextArgs reports whether the arguments of a call are a string.
func (p messagePart) hasTextArgs() bool { return p.kind == callPart && kindOf(p.args) == '"' }

// appendEvent appends an SSE event. After each line break in the values, it begins another data line.
func appendEvent(b []byte, kind string, members ...member) []byte {
	b = append(append(append(b, "event: "...), kind...), "\ndata: "...)
	data := objectOf(append([]member{{"type", []byte(`"` + kind + `"`)}}, members...)...)
	b = append(b, bytes.ReplaceAll(data, []byte("\n"), []byte("\ndata: "))...)
	return append(b, "\n\n"...)
}

// chatShape is the shape of OpenAI's Chat Completions, in which arguments are strings.
var chatShape = messageShape{"Chat Completions message", chatMessages, chatResponse}

// chatMessages returns one message for each result, then one for all other parts, if there are any.
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

// chatMembers returns the fields of a message with its content, reasoning and calls.
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
			texts = append(texts, anthropicBlock(p)) // Anthropic Messages and Chat Completions write text in the same way
		}
	}
	content := []byte("null")
	if len(texts) == 1 && parts[0].kind == textPart {
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

// messageOf reads a JSON message: one with parts, as in the conventions, or a Chat Completions message.
func messageOf(m []byte) (by messageRole, parts []messagePart) {
	f := json.Pick(m, "role", "parts", "content", "tool_calls", "tool_call_id")
	role, _ := json.Text(f[0])
	by = roleOf(string(role), theUser)
	if f[1] != nil {
		return by, partsOf(f[1])
	}
	isList := f[4] == nil && hasText(json.Find(json.FirstElement(f[2]), "type"), "tool-result") // a list of results as written by the AI SDK
	if (string(role) == "tool" || f[4] != nil) && f[2] != nil && !isList {
		return theUser, []messagePart{{kind: resultPart, id: f[4], text: f[2]}}
	}
	parts = contentOf(f[2])
	for c := range json.Elements(f[3]) {
		of := json.Pick(c, "id", "function", "name", "arguments")
		if of[1] != nil {
			function := json.Pick(of[1], "name", "arguments")
			of[2], of[3] = function[0], function[1]
		}
		parts = append(parts, messagePart{kind: callPart, id: of[0], name: of[2], args: of[3]})
	}
	return by, parts
}

func roleOf(role string, other messageRole) messageRole {
	switch role {
	case "assistant", "model", "ai":
		return theModel
	case "system", "developer":
		return theSystem
	case "user", "tool", "human":
		return theUser
	}
	return other
}

// contentOf reads content: text or a list of blocks.
func contentOf(content []byte) []messagePart {
	if text := nonEmptyText(content); text != nil {
		return []messagePart{{kind: textPart, text: text}}
	}
	return partsOf(content)
}

// partsOf reads the parts of a message. It omits parts that are neither text nor calls, such as pictures.
func partsOf(list []byte) (parts []messagePart) {
	for p := range json.Elements(list) {
		f := json.Pick(p, "type", "content", "text", "id", "name", "arguments", "response", "result", "toolCallId", "toolName", "input", "args", "output")
		text := f[1]
		if text == nil {
			text = f[2]
		}
		switch kind, _ := json.Text(f[0]); string(kind) {
		case "tool_call":
			parts = append(parts, messagePart{kind: callPart, id: f[3], name: f[4], args: f[5]})
		case "tool_call_response":
			if f[6] == nil {
				f[6] = f[7]
			}
			parts = append(parts, messagePart{kind: resultPart, id: f[3], name: f[4], text: resultText(f[6])})
		case "tool-call": // a call as written by the AI SDK
			if f[10] == nil {
				f[10] = f[11]
			}
			parts = append(parts, messagePart{kind: callPart, id: f[8], name: f[9], args: f[10]})
		case "tool-result":
			result := f[7]
			if value := json.Find(f[12], "value"); value != nil {
				result = value
			}
			parts = append(parts, messagePart{kind: resultPart, id: f[8], name: f[9], text: resultText(result)})
		case "reasoning", "thinking":
			if nonEmptyText(text) != nil {
				parts = append(parts, messagePart{kind: thoughtPart, text: text})
			}
		default:
			if nonEmptyText(text) != nil {
				parts = append(parts, messagePart{kind: textPart, text: text})
			}
		}
	}
	return parts
}

func resultText(value []byte) []byte {
	if value == nil {
		return []byte(`""`)
	}
	return value
}
