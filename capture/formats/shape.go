package formats

import (
	"bytes"

	"toolscope/capture"
	"toolscope/stream/json"
)

// This file says how what an agent keeps of a conversation is put into the shape of a provider's
// protocol, for who knows providers to read. All values are raw JSON as it stands in the file.

// An messagePart is a piece of what was said.
type messagePart struct {
	kind      partKind
	raw       []byte // all of it, where it has the shape already
	text      []byte // a string; of a result also a list of blocks
	id, name  []byte
	args      []byte // of a call: an object, or a string with JSON in it
	signature []byte
	failed    bool // of a result
	open      bool // of a call: its arguments may go on
}

type partKind int8

const (
	textPart partKind = iota
	thoughtPart
	callPart
	resultPart
)

// messageRole is who says something.
type messageRole int8

const (
	theUser messageRole = iota // tools too
	theModel
	theSystem
)

// A modelResponse is what a model answered.
type modelResponse struct {
	model, id []byte
	parts     []messagePart
	usage     []byte // in the words of the shape
	finish    []byte // in the words of the shape, nil where it is not known
	failure   []byte // a string: why there is no answer
	failed    []byte // a string: the kind of the failure
	cut       bool   // it broke off
	by        capture.Party
	why       []byte // a string: what is said of that
}

// hasOpen reports whether arguments of a call may go on.
func (r *modelResponse) hasOpen() bool {
	for i := range r.parts {
		if r.parts[i].open {
			return true
		}
	}
	return false
}

// A messageShape is how a protocol writes a conversation.
type messageShape struct {
	name     string // for paths
	history  string // the member of a request that holds what was said
	messages func(by messageRole, parts []messagePart) [][]byte
	response func(*modelResponse) []byte
}

// anthropicShape is that of Anthropic's Messages. It has arguments as objects, and in the events of
// a stream as strings: so it holds those of every agent as they stand.
var anthropicShape = messageShape{"Anthropic message", "messages", anthropicMessages, anthropicResponse}

func anthropicMessages(by messageRole, parts []messagePart) [][]byte {
	role := [...]string{theUser: `"user"`, theModel: `"assistant"`, theSystem: `"system"`}[by]
	blocks := make([][]byte, 0, len(parts))
	for i := range parts {
		blocks = append(blocks, anthropicBlock(&parts[i]))
	}
	return [][]byte{objectOf(member{"role", []byte(role)}, member{"content", arrayOf(blocks...)})}
}

func anthropicBlock(p *messagePart) []byte {
	if p.raw != nil {
		return p.raw
	}
	kind := func(name string) member { return member{"type", []byte(`"` + name + `"`)} }
	switch p.kind {
	case thoughtPart:
		return objectOf(kind("thinking"), member{"thinking", p.text}, member{"signature", p.signature})
	case callPart:
		return objectOf(kind("tool_use"), member{"id", p.id}, member{"name", p.name}, member{"input", p.args})
	case resultPart:
		failed := member{key: "is_error"}
		if p.failed {
			failed.value = []byte("true")
		}
		return objectOf(kind("tool_result"), member{"tool_use_id", p.id}, member{"content", p.text}, failed)
	}
	return objectOf(kind("text"), member{"text", p.text})
}

// anthropicResponse is a whole message, or the events of one where only these can say what there is.
func anthropicResponse(r *modelResponse) []byte {
	kind := member{"type", []byte(`"message"`)}
	role := member{"role", []byte(`"assistant"`)}
	failure := objectOf(member{"type", r.failed}, member{"message", r.failure})
	if r.failure != nil && len(r.parts) == 0 {
		return objectOf(member{"type", []byte(`"error"`)}, member{"error", failure})
	}
	inEvents := r.cut || r.failure != nil
	for i := range r.parts {
		p := &r.parts[i]
		inEvents = inEvents || p.kind == callPart && (p.open || kindOf(p.args) == '"')
	}
	if !inEvents {
		said := anthropicMessages(theModel, r.parts)[0]
		return objectOf(kind, role, member{"id", r.id}, member{"model", r.model}, member{"content", json.Find(said, "content")},
			member{"stop_reason", r.finish}, member{"usage", r.usage})
	}
	message := objectOf(kind, role, member{"id", r.id}, member{"model", r.model}, member{"content", []byte("[]")}, member{"usage", r.usage})
	b := appendEvent(nil, "message_start", member{"message", message})
	for i := range r.parts {
		b = anthropicEvents(b, intBytes(i), &r.parts[i])
	}
	switch {
	case r.failure != nil:
		return appendEvent(b, "error", member{"error", failure})
	case r.cut, r.hasOpen():
		return b
	}
	b = appendEvent(b, "message_delta", member{"delta", objectOf(member{"stop_reason", r.finish})})
	return appendEvent(b, "message_stop")
}

// anthropicEvents adds the events of a block. Arguments that are a string with JSON in it are what
// a delta holds.
func anthropicEvents(b, index []byte, p *messagePart) []byte {
	block, place := *p, member{"index", index}
	deltas := p.kind == callPart && kindOf(p.args) == '"'
	if deltas {
		block.args = []byte("{}")
	}
	b = appendEvent(b, "content_block_start", place, member{"content_block", anthropicBlock(&block)})
	if deltas {
		delta := objectOf(member{"type", []byte(`"input_json_delta"`)}, member{"partial_json", p.args})
		b = appendEvent(b, "content_block_delta", place, member{"delta", delta})
	}
	if p.open {
		return b
	}
	return appendEvent(b, "content_block_stop", place)
}

// appendEvent adds an event of a stream. Line ends in its values stay.
func appendEvent(b []byte, kind string, members ...member) []byte {
	b = append(append(append(b, "event: "...), kind...), "\ndata: "...)
	data := objectOf(append([]member{{"type", []byte(`"` + kind + `"`)}}, members...)...)
	b = append(b, bytes.ReplaceAll(data, []byte("\n"), []byte("\ndata: "))...)
	return append(b, "\n\n"...)
}

// addLine adds a line.
func addLine(b, value []byte) []byte { return append(append(b, value...), '\n') }
