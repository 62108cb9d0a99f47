package cohere

import "toolscope/providers/protocol"

// event is one event of the stream, or a complete body, on the wire.
type event struct {
	shape *protocol.Shape

	kind, index, delta     protocol.Raw
	id, finish, usage, err protocol.Raw // of the delta, and at the top of a body
	body                   protocol.Raw // message of a body; a string is an error

	message message
}

// message is the message of a delta, or of a body.
type message struct {
	plan           protocol.Raw
	content        protocol.Raw // a string or a list, in bodies and message-start; an object in a delta
	text, thinking protocol.Raw // of that object
	calls          protocol.Raw // a list, in bodies and message-start; an object in a delta
	call           protocol.FunctionCall
}

func newEvent() *event {
	ev := new(event)
	ev.shape = protocol.ShapeOf(append(ev.shapeFields(),
		protocol.Value("type", &ev.kind),
		protocol.Value("index", &ev.index),
		protocol.Object("delta", append(ev.shapeFields(), protocol.Object("message", ev.message.shapeFields()...))...).Into(&ev.delta),
		protocol.Object("message", ev.message.shapeFields()...).Into(&ev.body))...)
	return ev
}

// shapeFields returns the fields in the delta of an event and at the top of a body.
func (ev *event) shapeFields() []protocol.Field {
	return []protocol.Field{
		protocol.Value("id", &ev.id),
		protocol.Value("finish_reason", &ev.finish),
		protocol.Value("usage", &ev.usage),
		protocol.Value("error", &ev.err),
	}
}

func (m *message) shapeFields() []protocol.Field {
	return []protocol.Field{
		protocol.Value("tool_plan", &m.plan),
		protocol.Object("content", protocol.Value("text", &m.text), protocol.Value("thinking", &m.thinking)).Into(&m.content),
		protocol.Object("tool_calls", m.call.Fields()...).Into(&m.calls),
	}
}

// firstCall returns the call of a delta: an object, or against the protocol a list of one.
func (m *message) firstCall() protocol.FunctionCall {
	for v := range m.calls.Elements() {
		var first protocol.FunctionCall
		first.Read(v)
		return first
	}
	return m.call
}
