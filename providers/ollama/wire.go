package ollama

import "toolscope/providers/protocol"

// line is one line, or a complete body, on the wire.
type line struct {
	shape *protocol.Shape

	model, created, done, doneReason, err protocol.Raw
	promptCount, cachedCount, outCount    protocol.Raw

	message           protocol.Raw // of /api/chat
	content, response protocol.Raw // of /api/chat, and of /api/generate
	thinking, calls   protocol.Raw // of both: in the message, or at the top level
}

func newLine() *line {
	l := new(line)
	l.shape = protocol.ShapeOf(
		protocol.Value("model", &l.model),
		protocol.Value("created_at", &l.created),
		protocol.Object("message",
			protocol.Value("content", &l.content),
			protocol.Value("thinking", &l.thinking),
			protocol.Value("tool_calls", &l.calls)).Into(&l.message),
		protocol.Value("response", &l.response),
		protocol.Value("thinking", &l.thinking),
		protocol.Value("tool_calls", &l.calls),
		protocol.Value("done", &l.done),
		protocol.Value("done_reason", &l.doneReason),
		protocol.Value("error", &l.err),
		protocol.Value("prompt_eval_count", &l.promptCount),
		protocol.Value("prompt_eval_cached_count", &l.cachedCount),
		protocol.Value("eval_count", &l.outCount))
	return l
}
