package geminiinteractions

import "toolscope/providers/dialect"

// event is one event of the stream, or one whole body, as it is on the wire.
type event struct {
	shape *dialect.Shape

	kind, index, status, step, interaction, err dialect.Raw

	object, steps dialect.Raw // of a body

	delta struct{ kind, text, arguments, summary, signature, whole dialect.Raw }
}

func (ev *event) bindShape() {
	delta := &ev.delta
	ev.shape = dialect.ShapeOf(
		dialect.Value("event_type", &ev.kind),
		dialect.Value("index", &ev.index),
		dialect.Object("delta",
			dialect.Value("type", &delta.kind),
			dialect.Value("text", &delta.text),
			dialect.Value("arguments", &delta.arguments).Or("partial_arguments"),
			dialect.Object("content", dialect.Value("text", &delta.summary)),
			dialect.Value("signature", &delta.signature)).Into(&delta.whole),
		dialect.Value("step", &ev.step).Or("content"),
		dialect.Value("interaction", &ev.interaction),
		dialect.Value("status", &ev.status),
		dialect.Value("error", &ev.err),
		dialect.Value("object", &ev.object),
		dialect.Value("steps", &ev.steps).Or("outputs"))
}
