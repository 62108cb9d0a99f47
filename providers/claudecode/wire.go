package claudecode

import (
	"errors"

	"toolscope/providers/dialect"
)

// line is one line as it is on the wire.
type line struct {
	kind, subtype, sessionID, uuid dialect.Raw
	event, message, parent         dialect.Raw
	model, err                     dialect.Raw
	isError, result, errors        dialect.Raw
	cost, turns, denials           dialect.Raw
}

// parse reads data into l.
func (l *line) parse(data []byte) error {
	*l = line{}
	s := dialect.Scan(data)
	if s.Kind() != '{' {
		return errors.New("not a JSON object")
	}
	for ok := s.Object(); ok; ok = s.Member() {
		if field := l.field(s.Key()); field != nil {
			*field = s.Value()
		}
	}
	return s.End()
}

// field is where the member of that name goes, nil if it says nothing here.
func (l *line) field(name []byte) *dialect.Raw {
	switch string(name) {
	case "type":
		return &l.kind
	case "event":
		return &l.event
	case "parent_tool_use_id":
		return &l.parent
	case "message":
		return &l.message
	case "subtype":
		return &l.subtype
	case "session_id":
		return &l.sessionID
	case "uuid":
		return &l.uuid
	case "model":
		return &l.model
	case "error":
		return &l.err
	case "is_error":
		return &l.isError
	case "result":
		return &l.result
	case "errors":
		return &l.errors
	case "total_cost_usd":
		return &l.cost
	case "num_turns":
		return &l.turns
	case "permission_denials":
		return &l.denials
	}
	return nil
}

// typeOf appends the type of an inner event, without reading the rest of it: it
// comes first as a rule.
func typeOf(dst []byte, event dialect.Raw) []byte {
	s := event.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		if string(s.Key()) == "type" {
			if kind := s.Value(); kind.IsString() {
				return kind.Append(dst)
			}
			return dst
		}
	}
	return dst
}
