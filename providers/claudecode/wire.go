package claudecode

import "toolscope/providers/dialect"

// line is one line as it is on the wire.
type line struct {
	shape *dialect.Shape

	kind, subtype           dialect.Raw
	event, eventKind        dialect.Raw
	message, parent         dialect.Raw
	model, err              dialect.Raw
	isError, result, errors dialect.Raw
	cost, denials           dialect.Raw
}

// bindShape has the shape read into l.
func (l *line) bindShape() {
	l.shape = dialect.ShapeOf(
		dialect.Value("type", &l.kind),
		dialect.Object("event", dialect.Value("type", &l.eventKind)).Into(&l.event),
		dialect.Value("parent_tool_use_id", &l.parent),
		dialect.Value("message", &l.message),
		dialect.Value("subtype", &l.subtype),
		dialect.Value("model", &l.model),
		dialect.Value("error", &l.err),
		dialect.Value("is_error", &l.isError),
		dialect.Value("result", &l.result),
		dialect.Value("errors", &l.errors),
		dialect.Value("total_cost_usd", &l.cost),
		dialect.Value("permission_denials", &l.denials))
}
