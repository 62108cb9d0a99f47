package aisdk

import "toolscope/providers/dialect"

// chunk is one chunk of the stream as it is on the wire.
type chunk struct {
	shape *dialect.Shape

	kind, messageID, metadata  dialect.Raw
	callID, name, delta, input dialect.Raw
	server, preliminary        dialect.Raw // executed by the provider; more output follows
	errorText, finish, reason  dialect.Raw
	approvalID, approved       dialect.Raw
}

func (c *chunk) bindShape() {
	c.shape = dialect.ShapeOf(
		dialect.Value("type", &c.kind),
		dialect.Value("toolCallId", &c.callID),
		dialect.Value("delta", &c.delta).Or("inputTextDelta"),
		dialect.Value("toolName", &c.name),
		dialect.Value("input", &c.input),
		dialect.Value("messageId", &c.messageID),
		dialect.Value("messageMetadata", &c.metadata),
		dialect.Value("providerExecuted", &c.server),
		dialect.Value("preliminary", &c.preliminary),
		dialect.Value("errorText", &c.errorText),
		dialect.Value("finishReason", &c.finish),
		dialect.Value("reason", &c.reason),
		dialect.Value("approvalId", &c.approvalID),
		dialect.Value("approved", &c.approved))
}
