package anthropic

import (
	"errors"

	"toolscope/providers/dialect"
)

// wireEvent is one event of the stream as it is on the wire.
type wireEvent struct {
	kind, index, block, message, usage, err dialect.Raw

	metrics dialect.Raw // Bedrock's own, in message_stop

	delta struct{ kind, text, signature, stopReason, stopDetails dialect.Raw }
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
			ev.parseDelta(&s)
		case "content_block":
			ev.block = s.Value()
		case "message":
			ev.message = s.Value()
		case "usage":
			ev.usage = s.Value()
		case "error":
			ev.err = s.Value()
		case "amazon-bedrock-invocationMetrics":
			ev.metrics = s.Value()
		}
	}
	return s.End()
}

func (ev *wireEvent) parseDelta(s *dialect.Scanner) {
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "type":
			ev.delta.kind = s.Value()
		case "partial_json", "text", "thinking":
			ev.delta.text = s.Value()
		case "signature":
			ev.delta.signature = s.Value()
		case "stop_reason":
			ev.delta.stopReason = s.Value()
		case "stop_details":
			ev.delta.stopDetails = s.Value()
		}
	}
}
