package bedrock

import "toolscope/providers/dialect"

// event is one event of the stream, or a whole body, as it is on the wire.
type event struct {
	shape *dialect.Shape

	index, start, stopReason, usage, trace, tier dialect.Raw
	output, message, errType                     dialect.Raw

	delta  delta
	inside []dialect.Raw // of eventNames: where the members stand under a key that is the event's name
}

// delta is a union: one of its members is there.
type delta struct {
	text, toolUse, reasoning, aside dialect.Raw
	other                           dialect.Raw // the name of a member that is not known

	input                         dialect.Raw // of toolUse
	thinking, signature, redacted dialect.Raw // of reasoning: a signature is never a call's
}

// bindShape has the shape read into ev.
func (ev *event) bindShape() {
	delta := &ev.delta
	members := []dialect.Field{
		dialect.Value("contentBlockIndex", &ev.index),
		dialect.Object("delta",
			dialect.Value("text", &delta.text),
			dialect.Object("toolUse", dialect.Value("input", &delta.input)).Into(&delta.toolUse),
			dialect.Object("reasoningContent",
				dialect.Value("text", &delta.thinking),
				dialect.Value("signature", &delta.signature),
				dialect.Value("redactedContent", &delta.redacted)).Into(&delta.reasoning),
			dialect.Value("citation", &delta.aside).Or("toolResult", "image"),
			dialect.Other(&delta.other)),
		dialect.Value("start", &ev.start),
		dialect.Value("stopReason", &ev.stopReason),
		dialect.Value("usage", &ev.usage),
		dialect.Value("trace", &ev.trace),
		dialect.Value("serviceTier", &ev.tier),
		dialect.Value("output", &ev.output),
		dialect.Value("message", &ev.message).Or("Message"),
		dialect.Value("__type", &ev.errType),
	}
	ev.inside = make([]dialect.Raw, len(eventNames))
	all := members
	for i, name := range eventNames {
		all = append(all, dialect.Object(name, members...).Into(&ev.inside[i]))
	}
	ev.shape = dialect.ShapeOf(all...)
}

// name is what the event is called: the key that its members stand under, or what the framing says.
func (ev *event) name(framed []byte) string {
	for i, name := range eventNames {
		if string(framed) == name || ev.inside[i].Kind() == '{' {
			return name
		}
	}
	return string(framed)
}

// isKnown reports whether a member of the delta is known.
func (d *delta) isKnown() bool {
	return d.text != nil || d.toolUse != nil || d.reasoning != nil || d.aside != nil
}
