package cohere

import "toolscope/providers/dialect"

// event is one event of the stream, or a whole body, as it is on the wire.
type event struct {
	shape *dialect.Shape

	kind, index, delta     dialect.Raw
	id, finish, usage, err dialect.Raw // of the delta, and at the top of a body
	body                   dialect.Raw // the message of a body; one that is a string is an error

	message message
}

// message is the message of a delta, or of a body.
type message struct {
	plan           dialect.Raw
	content        dialect.Raw // a string or a list, in bodies and message-start; an object in a delta
	text, thinking dialect.Raw // of that object
	calls          dialect.Raw // a list, in bodies and message-start; an object in a delta
	call           dialect.FunctionCall
}

func newEvent() *event {
	ev := new(event)
	ev.shape = dialect.ShapeOf(append(ev.shapeFields(),
		dialect.Value("type", &ev.kind),
		dialect.Value("index", &ev.index),
		dialect.Object("delta", append(ev.shapeFields(), dialect.Object("message", ev.message.shapeFields()...))...).Into(&ev.delta),
		dialect.Object("message", ev.message.shapeFields()...).Into(&ev.body))...)
	return ev
}

// shapeFields are what stands in the delta of an event and at the top of a body.
func (ev *event) shapeFields() []dialect.Field {
	return []dialect.Field{
		dialect.Value("id", &ev.id),
		dialect.Value("finish_reason", &ev.finish),
		dialect.Value("usage", &ev.usage),
		dialect.Value("error", &ev.err),
	}
}

func (m *message) shapeFields() []dialect.Field {
	return []dialect.Field{
		dialect.Value("tool_plan", &m.plan),
		dialect.Object("content", dialect.Value("text", &m.text), dialect.Value("thinking", &m.thinking)).Into(&m.content),
		dialect.Object("tool_calls", m.call.Fields()...).Into(&m.calls),
	}
}

// firstCall is the call of a delta: an object, or against the protocol a list of one.
func (m *message) firstCall() dialect.FunctionCall {
	for v := range m.calls.Elements() {
		var first dialect.FunctionCall
		first.Read(v)
		return first
	}
	return m.call
}
