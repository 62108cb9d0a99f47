package geminiinteractions

import "toolscope/providers/protocol"

// event is one event of the stream, or one complete body, on the wire.
type event struct {
	shape *protocol.Shape

	kind, index, status, step, interaction, err protocol.Raw

	object, steps protocol.Raw // of a body

	delta struct{ kind, text, arguments, summary, signature, whole protocol.Raw }
}

func (ev *event) bindShape() {
	delta := &ev.delta
	ev.shape = protocol.ShapeOf(
		protocol.Value("event_type", &ev.kind),
		protocol.Value("index", &ev.index),
		protocol.Object("delta",
			protocol.Value("type", &delta.kind),
			protocol.Value("text", &delta.text),
			protocol.Value("arguments", &delta.arguments).Or("partial_arguments"),
			protocol.Object("content", protocol.Value("text", &delta.summary)),
			protocol.Value("signature", &delta.signature)).Into(&delta.whole),
		protocol.Value("step", &ev.step).Or("content"),
		protocol.Value("interaction", &ev.interaction),
		protocol.Value("status", &ev.status),
		protocol.Value("error", &ev.err),
		protocol.Value("object", &ev.object),
		protocol.Value("steps", &ev.steps).Or("outputs"))
}
