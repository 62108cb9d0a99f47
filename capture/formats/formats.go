// Package formats reads what other programs keep of a model's streams: recordings of HTTP,
// sessions of agents, ordinary logs.
//
//	bytes ─▶ container, or lines of a log ─▶ what a line has around it ─▶ payload ─▶ capture.Record
//
// Words. A format is a way to read an input, told by its first bytes. A layer is what is taken off
// around a payload; those that were are shown as a path. A payload is bytes that a provider sent or
// was sent, exactly as they stand in the file once the format's own encoding is undone.
//
// What always holds:
//   - A payload is never encoded anew. Where a format keeps a conversation and not what was sent, a
//     request is put together from raw pieces of it; only the punctuation between them is ours, and
//     the head says so.
//   - What a format cannot tell is named in the head, never made up.
//   - Text inside a message, the result of a tool or an entry of a session is content, and never
//     read as a stream.
//   - Damaged input is a note with its place, and reading goes on.
//   - What bytes mean is not known here: whether some look like a provider's, a function tells that
//     the input brings along.
package formats

import (
	"strings"

	"toolscope/capture"
)

// All are the formats, the more specific ones first.
var All = []capture.Format{
	har,
	flow,
	cassette,
	jsonCassette,
	curlTrace,
	claudeTrace,
	claudeTap,
	interceptor,
	geminiAnswers,
	devTools,
	geminiCLI,
	qwenCode,
	piSession,
	opencode,
	opencodePiece,
	cline,
	clineScreen,
	liteLLM,
	otlp,
	request,
	claudeSession,
	codexRollout,
	logLines,
}

// Find is the format of a name, in which hyphens may stand for blanks; ok is false where there is
// none.
func Find(name string) (f capture.Format, ok bool) {
	for _, f := range All {
		if f.Name == name || strings.ReplaceAll(f.Name, " ", "-") == name {
			return f, true
		}
	}
	return capture.Format{}, false
}
