package aisdk

import (
	"errors"

	"toolscope/providers/dialect"
)

// chunk is one chunk of the stream as it is on the wire.
type chunk struct {
	kind, messageID, metadata  dialect.Raw
	callID, name, delta, input dialect.Raw
	server, preliminary        dialect.Raw // executed by the provider; more output follows
	errorText, finish, reason  dialect.Raw
	approvalID, approved       dialect.Raw
}

// parse reads data into c.
func (c *chunk) parse(data []byte) error {
	*c = chunk{}
	s := dialect.Scan(data)
	if s.Kind() != '{' {
		return errors.New("not a JSON object")
	}
	for ok := s.Object(); ok; ok = s.Member() {
		if field := c.field(s.Key()); field != nil {
			*field = s.Value()
		}
	}
	return s.End()
}

// inputText is the input of a call that was refused: a string is then what the
// model wrote and nobody could parse.
func (c *chunk) inputText() []byte { return c.input.Append(nil) }

// field is where the member of that name goes, nil if it says nothing here.
func (c *chunk) field(name []byte) *dialect.Raw {
	switch string(name) {
	case "type":
		return &c.kind
	case "messageId":
		return &c.messageID
	case "messageMetadata":
		return &c.metadata
	case "toolCallId":
		return &c.callID
	case "toolName":
		return &c.name
	case "delta", "inputTextDelta":
		return &c.delta
	case "input":
		return &c.input
	case "providerExecuted":
		return &c.server
	case "preliminary":
		return &c.preliminary
	case "errorText":
		return &c.errorText
	case "finishReason":
		return &c.finish
	case "reason":
		return &c.reason
	case "approvalId":
		return &c.approvalID
	case "approved":
		return &c.approved
	}
	return nil
}
