package aisdk

import "toolscope/providers/protocol"

// chunk is one chunk of the stream as it is on the wire.
type chunk struct {
	shape *protocol.Shape

	kind, messageID, metadata  protocol.Raw
	callID, name, delta, input protocol.Raw
	server, preliminary        protocol.Raw // run by the provider; more output follows
	errorText, finish, reason  protocol.Raw
	approvalID, approved       protocol.Raw
}

func (c *chunk) bindShape() {
	c.shape = protocol.ShapeOf(
		protocol.Value("type", &c.kind),
		protocol.Value("toolCallId", &c.callID),
		protocol.Value("delta", &c.delta).Or("inputTextDelta"),
		protocol.Value("toolName", &c.name),
		protocol.Value("input", &c.input),
		protocol.Value("messageId", &c.messageID),
		protocol.Value("messageMetadata", &c.metadata),
		protocol.Value("providerExecuted", &c.server),
		protocol.Value("preliminary", &c.preliminary),
		protocol.Value("errorText", &c.errorText),
		protocol.Value("finishReason", &c.finish),
		protocol.Value("reason", &c.reason),
		protocol.Value("approvalId", &c.approvalID),
		protocol.Value("approved", &c.approved))
}
