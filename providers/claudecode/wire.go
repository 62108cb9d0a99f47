package claudecode

import "toolscope/providers/protocol"

// line is one line as it is on the wire.
type line struct {
	shape *protocol.Shape

	kind, subtype           protocol.Raw
	event, eventKind        protocol.Raw
	message, parent         protocol.Raw
	model, err              protocol.Raw
	isError, result, errors protocol.Raw
	cost, denials           protocol.Raw
}

// bindShape makes the shape read into l.
func (l *line) bindShape() {
	l.shape = protocol.ShapeOf(
		protocol.Value("type", &l.kind),
		protocol.Object("event", protocol.Value("type", &l.eventKind)).Into(&l.event),
		protocol.Value("parent_tool_use_id", &l.parent),
		protocol.Value("message", &l.message),
		protocol.Value("subtype", &l.subtype),
		protocol.Value("model", &l.model),
		protocol.Value("error", &l.err),
		protocol.Value("is_error", &l.isError),
		protocol.Value("result", &l.result),
		protocol.Value("errors", &l.errors),
		protocol.Value("total_cost_usd", &l.cost),
		protocol.Value("permission_denials", &l.denials))
}
