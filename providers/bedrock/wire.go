package bedrock

import (
	"errors"

	"toolscope/providers/dialect"
)

// wireEvent is one event of the stream, or a whole body, as it is on the wire.
type wireEvent struct {
	name  []byte // of the event: the key it stands under, or what the framing says
	first []byte // the first field, to name what is unknown

	index, start, stopReason, usage, trace, tier dialect.Raw
	output, message, errType                     dialect.Raw

	delta wireDelta
}

// wireDelta is a union: one of its fields is there.
type wireDelta struct {
	text, thinking, input dialect.Raw
	signature, redacted   dialect.Raw
	known                 bool   // a field this version knows was there
	other                 []byte // a field it does not know
}

// parse reads data into ev. An event's name is a key around its fields, else
// what the framing says.
func (ev *wireEvent) parse(data, event []byte) error {
	*ev = wireEvent{name: event}
	s := dialect.Scan(data)
	if s.Kind() != '{' {
		return errors.New("not a JSON object")
	}
	ev.fields(&s, true)
	return s.End()
}

func (ev *wireEvent) fields(s *dialect.Scanner, outermost bool) {
	for ok := s.Object(); ok; ok = s.Member() {
		key := s.Key()
		if outermost && s.Kind() == '{' && eventNames[string(key)] {
			ev.name = key
			ev.fields(s, false)
			continue
		}
		if ev.first == nil {
			ev.first = key
		}
		switch string(key) {
		case "contentBlockIndex":
			ev.index = s.Value()
		case "start":
			ev.start = s.Value()
		case "delta":
			ev.delta.parse(s)
		case "stopReason":
			ev.stopReason = s.Value()
		case "usage":
			ev.usage = s.Value()
		case "trace":
			ev.trace = s.Value()
		case "serviceTier":
			ev.tier = s.Value()
		case "output":
			ev.output = s.Value()
		case "message", "Message":
			ev.message = s.Value()
		case "__type":
			ev.errType = s.Value()
		}
	}
}

func (d *wireDelta) parse(s *dialect.Scanner) {
	for ok := s.Object(); ok; ok = s.Member() {
		switch key := s.Key(); string(key) {
		case "text":
			d.text, d.known = s.Value(), true
		case "toolUse":
			for ok := s.Object(); ok; ok = s.Member() {
				if string(s.Key()) == "input" {
					d.input = s.Value()
				}
			}
			d.known = true
		case "reasoningContent": // the signature is of the reasoning, not of a call
			for ok := s.Object(); ok; ok = s.Member() {
				switch string(s.Key()) {
				case "text":
					d.thinking = s.Value()
				case "signature":
					d.signature = s.Value()
				case "redactedContent":
					d.redacted = s.Value()
				}
			}
			d.known = true
		case "citation", "toolResult", "image":
			d.known = true
		default:
			d.other = key
		}
	}
}
