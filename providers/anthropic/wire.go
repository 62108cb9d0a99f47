package anthropic

import "toolscope/providers/dialect"

// event is one event of the stream as it is on the wire.
type event struct {
	shape *dialect.Shape

	kind, index, block, message, usage, err dialect.Raw

	metrics dialect.Raw // Bedrock's own, in message_stop

	delta struct{ kind, text, json, thinking, signature, stopReason, stopDetails dialect.Raw }
}

func (ev *event) bindShape() {
	delta := &ev.delta
	ev.shape = dialect.ShapeOf(
		dialect.Value("type", &ev.kind),
		dialect.Value("index", &ev.index),
		dialect.Object("delta",
			dialect.Value("type", &delta.kind),
			dialect.Value("partial_json", &delta.json),
			dialect.Value("text", &delta.text),
			dialect.Value("thinking", &delta.thinking),
			dialect.Value("signature", &delta.signature),
			dialect.Value("stop_reason", &delta.stopReason),
			dialect.Value("stop_details", &delta.stopDetails)),
		dialect.Value("content_block", &ev.block),
		dialect.Value("message", &ev.message),
		dialect.Value("usage", &ev.usage),
		dialect.Value("error", &ev.err),
		dialect.Value("amazon-bedrock-invocationMetrics", &ev.metrics))
}
