package bedrock

import "toolscope/providers/protocol"

// event is one event of the stream, or a complete body, on the wire.
type event struct {
	shape *protocol.Shape

	index, start, stopReason, usage, trace, tier protocol.Raw
	output, message, errType                     protocol.Raw

	delta  delta
	inside []protocol.Raw // for each of eventNames: the object under the event's name, if there is one
}

// delta is a union: one of its fields is present.
type delta struct {
	text, toolUse, reasoning, aside protocol.Raw
	other                           protocol.Raw // name of an unknown field

	input                         protocol.Raw // of toolUse
	thinking, signature, redacted protocol.Raw // of reasoning: calls have no signature
}

// bindShape makes the shape read into ev.
func (ev *event) bindShape() {
	delta := &ev.delta
	members := []protocol.Field{
		protocol.Value("contentBlockIndex", &ev.index),
		protocol.Object("delta",
			protocol.Value("text", &delta.text),
			protocol.Object("toolUse", protocol.Value("input", &delta.input)).Into(&delta.toolUse),
			protocol.Object("reasoningContent",
				protocol.Value("text", &delta.thinking),
				protocol.Value("signature", &delta.signature),
				protocol.Value("redactedContent", &delta.redacted)).Into(&delta.reasoning),
			protocol.Value("citation", &delta.aside).Or("toolResult", "image"),
			protocol.Other(&delta.other)),
		protocol.Value("start", &ev.start),
		protocol.Value("stopReason", &ev.stopReason),
		protocol.Value("usage", &ev.usage),
		protocol.Value("trace", &ev.trace),
		protocol.Value("serviceTier", &ev.tier),
		protocol.Value("output", &ev.output),
		protocol.Value("message", &ev.message).Or("Message"),
		protocol.Value("__type", &ev.errType),
	}
	ev.inside = make([]protocol.Raw, len(eventNames))
	all := members
	for i, name := range eventNames {
		all = append(all, protocol.Object(name, members...).Into(&ev.inside[i]))
	}
	ev.shape = protocol.ShapeOf(all...)
}

// name returns the name of the event: the key of the object with its fields, or the name in the
// framing.
func (ev *event) name(framed []byte) string {
	for i, name := range eventNames {
		if string(framed) == name || ev.inside[i].Kind() == '{' {
			return name
		}
	}
	return string(framed)
}

// isKnown reports whether a field of the delta is known.
func (d *delta) isKnown() bool {
	return d.text != nil || d.toolUse != nil || d.reasoning != nil || d.aside != nil
}
