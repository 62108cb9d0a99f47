package ollama

import "toolscope/providers/dialect"

// line is one line, or a whole body, as it is on the wire.
type line struct {
	shape *dialect.Shape

	model, created, done, doneReason, err dialect.Raw
	promptCount, cachedCount, outCount    dialect.Raw

	message           dialect.Raw // of /api/chat
	content, response dialect.Raw // of /api/chat, and of /api/generate
	thinking, calls   dialect.Raw // of both: in the message, and beside the response
}

func newLine() *line {
	l := new(line)
	l.shape = dialect.ShapeOf(
		dialect.Value("model", &l.model),
		dialect.Value("created_at", &l.created),
		dialect.Object("message",
			dialect.Value("content", &l.content),
			dialect.Value("thinking", &l.thinking),
			dialect.Value("tool_calls", &l.calls)).Into(&l.message),
		dialect.Value("response", &l.response),
		dialect.Value("thinking", &l.thinking),
		dialect.Value("tool_calls", &l.calls),
		dialect.Value("done", &l.done),
		dialect.Value("done_reason", &l.doneReason),
		dialect.Value("error", &l.err),
		dialect.Value("prompt_eval_count", &l.promptCount),
		dialect.Value("prompt_eval_cached_count", &l.cachedCount),
		dialect.Value("eval_count", &l.outCount))
	return l
}
