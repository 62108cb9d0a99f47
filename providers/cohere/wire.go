package cohere

import (
	"errors"

	"toolscope/providers/dialect"
)

// wireEvent is one event of the stream, or a whole body, as it is on the wire.
type wireEvent struct {
	kind, id, index, finish, usage, err dialect.Raw

	message   wireMessage
	deltaIn   bool        // there was a delta, of an event
	messageIn bool        // there was a message, of a body
	note      dialect.Raw // a message that is a string: an error
}

// wireMessage is the message of a delta, or of a body.
type wireMessage struct {
	content  dialect.Raw // a string or a list, in bodies and message-start
	text     dialect.Raw // of a content object, in a delta
	thinking dialect.Raw
	plan     dialect.Raw
	calls    dialect.Raw          // a list, in bodies and message-start
	call     dialect.FunctionCall // an object, in a delta
}

// parse reads data into ev.
func (ev *wireEvent) parse(data []byte) error {
	*ev = wireEvent{}
	s := dialect.Scan(data)
	if s.Kind() != '{' {
		return errors.New("not a JSON object")
	}
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "type":
			ev.kind = s.Value()
		case "index":
			ev.index = s.Value()
		case "delta":
			ev.deltaIn = s.Kind() == '{'
			for ok := s.Object(); ok; ok = s.Member() {
				ev.field(&s)
			}
		case "message":
			if s.Kind() == '"' {
				ev.note = s.Value()
			}
			ev.messageIn = s.Kind() == '{'
			ev.message.parse(&s)
		default:
			ev.field(&s)
		}
	}
	return s.End()
}

// field reads what stands in the delta of an event and at the top of a body.
func (ev *wireEvent) field(s *dialect.Scanner) {
	switch string(s.Key()) {
	case "id":
		ev.id = s.Value()
	case "message":
		ev.message.parse(s)
	case "finish_reason":
		ev.finish = s.Value()
	case "usage":
		ev.usage = s.Value()
	case "error":
		ev.err = s.Value()
	}
}

func (m *wireMessage) parse(s *dialect.Scanner) {
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "tool_plan":
			m.plan = s.Value()
		case "content":
			if s.Kind() != '{' {
				m.content = s.Value()
				continue
			}
			for ok := s.Object(); ok; ok = s.Member() {
				switch string(s.Key()) {
				case "text":
					m.text = s.Value()
				case "thinking":
					m.thinking = s.Value()
				}
			}
		case "tool_calls":
			if s.Kind() != '{' {
				m.calls = s.Value()
				continue
			}
			m.call.Read(s)
		}
	}
}
