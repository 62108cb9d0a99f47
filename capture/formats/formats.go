// Package formats reads model streams from files of other programs: HTTP logs, sessions of agents and ordinary
// logs.
//
//	bytes ─▶ container, or lines of a log ─▶ wrappers in a line ─▶ payload ─▶ capture.Record
//
// Terms: A format is a kind of input, which is detected from the first bytes. A payload is bytes that a client
// or a provider sent, exactly as in the file after the format's own encoding is undone. A wrapper encloses a
// payload in a line; removed wrappers are shown as a path.
//
// Invariants:
//   - A payload is never encoded again. If a format has a conversation instead of the bytes sent, an
//     exchange consists of entries of the conversation, which a protocol in providers decodes. The exchange
//     for a span, or for an entry with two bodies, is composed of raw values. Only the punctuation between
//     them is added.
//   - Facts that a format lacks are listed in the head, never invented.
//   - Text inside a message, a tool's result or an entry of a session is content, and never read as a
//     stream.
//   - Damaged input becomes a note with its position, and reading continues.
//   - This package doesn't know what payloads mean. A function of the input decides whether bytes look like
//     those of a provider.
package formats

import (
	"strings"

	"toolscope/capture"
)

// All lists the formats, the more specific ones first.
var All = []capture.Format{
	har,
	flow,
	cassette,
	jsonCassette,
	curlTrace,
	httprr,
	httpDump,
	claudeTrace,
	claudeTap,
	interceptor,
	geminiAnswers,
	devTools,
	geminiCLI,
	qwenCode,
	piSession,
	droidSession,
	kimiSession,
	copilotSession,
	opencode,
	opencodePiece,
	cline,
	clineScreen,
	liteLLM,
	otlp,
	otelSpans,
	pairs,
	request,
	claudeSession,
	codexRollout,
	mcpLines,
	mcpLog,
	messageLines,
	conversations,
	logLines,
}

// Find returns the format with the given name, in which hyphens may replace spaces. The result ok is false if there
// is no such format.
func Find(name string) (f capture.Format, ok bool) {
	for _, f := range All {
		if f.Name == name || strings.ReplaceAll(f.Name, " ", "-") == name {
			return f, true
		}
	}
	return capture.Format{}, false
}
