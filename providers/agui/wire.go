package agui

import "toolscope/providers/dialect"

// event is one event as it is on the wire.
type event struct {
	shape *dialect.Shape

	kind, timestamp                    dialect.Raw
	runID, model, finish, outcome      dialect.Raw
	message, code, err, usage          dialect.Raw
	messageID, role, messages          dialect.Raw
	callID, name, delta, input, result dialect.Raw
	subtype, entityID, encrypted       dialect.Raw
}

// bindShape has the shape read into ev.
func (ev *event) bindShape() {
	ev.shape = dialect.ShapeOf(
		dialect.Value("type", &ev.kind),
		dialect.Value("timestamp", &ev.timestamp),
		dialect.Value("toolCallId", &ev.callID).Or("tool_call_id"),
		dialect.Value("toolCallName", &ev.name).Or("tool_call_name", "toolName"),
		dialect.Value("messageId", &ev.messageID).Or("message_id"),
		dialect.Value("role", &ev.role),
		dialect.Value("delta", &ev.delta),
		dialect.Value("input", &ev.input),
		dialect.Value("result", &ev.result),
		dialect.Value("messages", &ev.messages),
		dialect.Value("subtype", &ev.subtype),
		dialect.Value("entityId", &ev.entityID).Or("entity_id"),
		dialect.Value("encryptedValue", &ev.encrypted).Or("encrypted_value"),

		dialect.Value("runId", &ev.runID).Or("run_id"),
		dialect.Value("model", &ev.model),
		dialect.Value("finishReason", &ev.finish).Or("finish_reason"),
		dialect.Value("outcome", &ev.outcome),
		dialect.Value("message", &ev.message),
		dialect.Value("code", &ev.code),
		dialect.Value("error", &ev.err),
		dialect.Value("usage", &ev.usage))
}
