package ollama

import (
	"errors"

	"toolscope/providers/dialect"
)

// line is one line, or a whole body, as it is on the wire.
type line struct {
	model, created, done, doneReason   dialect.Raw
	content, thinking, response, err   dialect.Raw
	promptCount, cachedCount, outCount dialect.Raw

	messageIn bool // there was a message, of /api/chat
	calls     []dialect.FunctionCall
}

// parse reads data into l, whose slice is reused.
func (l *line) parse(data []byte) error {
	*l = line{calls: l.calls[:0]}
	s := dialect.Scan(data)
	if s.Kind() != '{' {
		return errors.New("not a JSON object")
	}
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "model":
			l.model = s.Value()
		case "created_at":
			l.created = s.Value()
		case "message":
			l.messageIn = s.Kind() == '{'
			l.message(&s)
		case "response":
			l.response = s.Value()
		case "thinking":
			l.thinking = s.Value()
		case "tool_calls":
			l.toolCalls(&s)
		case "done":
			l.done = s.Value()
		case "done_reason":
			l.doneReason = s.Value()
		case "error":
			l.err = s.Value()
		case "prompt_eval_count":
			l.promptCount = s.Value()
		case "prompt_eval_cached_count":
			l.cachedCount = s.Value()
		case "eval_count":
			l.outCount = s.Value()
		}
	}
	return s.End()
}

func (l *line) message(s *dialect.Scanner) {
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "content":
			l.content = s.Value()
		case "thinking":
			l.thinking = s.Value()
		case "tool_calls":
			l.toolCalls(s)
		}
	}
}

func (l *line) toolCalls(s *dialect.Scanner) {
	for ok := s.Array(); ok; ok = s.Element() {
		l.calls = append(l.calls, dialect.FunctionCall{})
		l.calls[len(l.calls)-1].Read(s)
	}
}
