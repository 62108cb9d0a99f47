package anthropic

import "toolscope/providers/protocol"

// event is one event of the stream on the wire.
type event struct {
	shape *protocol.Shape

	kind, index, block, message, usage, err protocol.Raw

	metrics protocol.Raw // Bedrock's own, in message_stop

	delta struct{ kind, text, json, thinking, signature, stopReason, stopDetails protocol.Raw }
}

func (ev *event) bindShape() {
	delta := &ev.delta
	ev.shape = protocol.ShapeOf(
		protocol.Value("type", &ev.kind),
		protocol.Value("index", &ev.index),
		protocol.Object("delta",
			protocol.Value("type", &delta.kind),
			protocol.Value("partial_json", &delta.json),
			protocol.Value("text", &delta.text),
			protocol.Value("thinking", &delta.thinking),
			protocol.Value("signature", &delta.signature),
			protocol.Value("stop_reason", &delta.stopReason),
			protocol.Value("stop_details", &delta.stopDetails)),
		protocol.Value("content_block", &ev.block),
		protocol.Value("message", &ev.message),
		protocol.Value("usage", &ev.usage),
		protocol.Value("error", &ev.err),
		protocol.Value("amazon-bedrock-invocationMetrics", &ev.metrics))
}
