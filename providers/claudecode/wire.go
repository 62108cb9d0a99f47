package claudecode

import (
	"toolscope/stream/json"
)

// line is one line as it is on the wire.
type line struct {
	shape *json.Shape

	kind, subtype           json.Value
	event, eventKind        json.Value
	message, parent         json.Value
	model, err              json.Value
	isError, result, errors json.Value
	cost, denials           json.Value
}

// bindShape makes the shape read into l.
func (l *line) bindShape() {
	l.shape = json.ShapeOf(
		json.Field("type", &l.kind),
		json.Object("event", json.Field("type", &l.eventKind)).Into(&l.event),
		json.Field("parent_tool_use_id", &l.parent),
		json.Field("message", &l.message),
		json.Field("subtype", &l.subtype),
		json.Field("model", &l.model),
		json.Field("error", &l.err),
		json.Field("is_error", &l.isError),
		json.Field("result", &l.result),
		json.Field("errors", &l.errors),
		json.Field("total_cost_usd", &l.cost),
		json.Field("permission_denials", &l.denials))
}
