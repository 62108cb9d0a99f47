package agui

import "toolscope/providers/protocol"

// event is one event as it is on the wire.
type event struct {
	shape *protocol.Shape

	kind, timestamp                    protocol.Raw
	runID, model, finish, outcome      protocol.Raw
	message, code, err, usage          protocol.Raw
	messageID, role, messages          protocol.Raw
	callID, name, delta, input, result protocol.Raw
	subtype, entityID, encrypted       protocol.Raw
}

// bindShape makes the shape read into ev.
func (ev *event) bindShape() {
	ev.shape = protocol.ShapeOf(
		protocol.Value("type", &ev.kind),
		protocol.Value("timestamp", &ev.timestamp),
		protocol.Value("toolCallId", &ev.callID).Or("tool_call_id"),
		protocol.Value("toolCallName", &ev.name).Or("tool_call_name", "toolName"),
		protocol.Value("messageId", &ev.messageID).Or("message_id"),
		protocol.Value("role", &ev.role),
		protocol.Value("delta", &ev.delta),
		protocol.Value("input", &ev.input),
		protocol.Value("result", &ev.result),
		protocol.Value("messages", &ev.messages),
		protocol.Value("subtype", &ev.subtype),
		protocol.Value("entityId", &ev.entityID).Or("entity_id"),
		protocol.Value("encryptedValue", &ev.encrypted).Or("encrypted_value"),

		protocol.Value("runId", &ev.runID).Or("run_id"),
		protocol.Value("model", &ev.model),
		protocol.Value("finishReason", &ev.finish).Or("finish_reason"),
		protocol.Value("outcome", &ev.outcome),
		protocol.Value("message", &ev.message),
		protocol.Value("code", &ev.code),
		protocol.Value("error", &ev.err),
		protocol.Value("usage", &ev.usage))
}
