package agui

import (
	"errors"

	"toolscope/providers/dialect"
)

// event is one event as it is on the wire.
type event struct {
	kind, timestamp                    dialect.Raw
	runID, model, finish, outcome      dialect.Raw
	message, code, err, usage          dialect.Raw
	messageID, role, messages          dialect.Raw
	callID, name, delta, input, result dialect.Raw
	subtype, entityID, encrypted       dialect.Raw
}

// parse reads data into ev.
func (ev *event) parse(data []byte) error {
	*ev = event{}
	s := dialect.Scan(data)
	if s.Kind() != '{' {
		return errors.New("not a JSON object")
	}
	for ok := s.Object(); ok; ok = s.Member() {
		if field := ev.field(s.Key()); field != nil {
			*field = s.Value()
		}
	}
	return s.End()
}

// field is where the member of that name goes, nil if it says nothing here.
func (ev *event) field(name []byte) *dialect.Raw {
	switch string(name) {
	case "type":
		return &ev.kind
	case "timestamp":
		return &ev.timestamp
	case "delta":
		return &ev.delta
	case "toolCallId", "tool_call_id":
		return &ev.callID
	case "toolCallName", "tool_call_name", "toolName":
		return &ev.name
	case "messageId", "message_id":
		return &ev.messageID
	case "role":
		return &ev.role
	case "input":
		return &ev.input
	case "result":
		return &ev.result
	case "messages":
		return &ev.messages
	case "subtype":
		return &ev.subtype
	case "entityId", "entity_id":
		return &ev.entityID
	case "encryptedValue", "encrypted_value":
		return &ev.encrypted
	}
	return ev.runField(name)
}

// runField is the same for members of the events about a run.
func (ev *event) runField(name []byte) *dialect.Raw {
	switch string(name) {
	case "runId", "run_id":
		return &ev.runID
	case "model":
		return &ev.model
	case "finishReason", "finish_reason":
		return &ev.finish
	case "outcome":
		return &ev.outcome
	case "message":
		return &ev.message
	case "code":
		return &ev.code
	case "error":
		return &ev.err
	case "usage":
		return &ev.usage
	}
	return nil
}
