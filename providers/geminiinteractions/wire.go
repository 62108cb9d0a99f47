package geminiinteractions

import (
	"errors"

	"toolscope/providers/dialect"
)

// wireEvent is one event of the stream, or one whole body, as it is on the wire.
type wireEvent struct {
	kind, index, status, step, interaction, err dialect.Raw

	object, steps dialect.Raw // of a body

	delta struct{ kind, text, arguments, whole dialect.Raw }
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
		case "event_type":
			ev.kind = s.Value()
		case "index":
			ev.index = s.Value()
		case "delta":
			ev.delta.whole = s.Value()
			ev.parseDelta()
		case "step", "content":
			ev.step = s.Value()
		case "interaction":
			ev.interaction = s.Value()
		case "status":
			ev.status = s.Value()
		case "error":
			ev.err = s.Value()
		case "object":
			ev.object = s.Value()
		case "steps", "outputs":
			ev.steps = s.Value()
		}
	}
	return s.End()
}

func (ev *wireEvent) parseDelta() {
	s := ev.delta.whole.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "type":
			ev.delta.kind = s.Value()
		case "text":
			ev.delta.text = s.Value()
		case "arguments", "partial_arguments":
			ev.delta.arguments = s.Value()
		}
	}
}
