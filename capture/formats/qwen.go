package formats

import (
	"bytes"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// qwenCode is what Qwen Code keeps of a conversation in ~/.qwen/projects/<cwd>/chats. It keeps the
// provider's messages as Google writes them, whatever provider that was, one on each line.
var qwenCode = capture.Format{
	Name:  "qwen-code session",
	Title: "Qwen Code: ~/.qwen/projects/*/chats/*.jsonl",
	Sniff: sniffQwenCode,
	New: func(in *capture.Input) capture.Reader {
		q := &qwenChat{talk: newTalk(in, geminiShape, "qwen-code session", capture.NoDeltas, capture.LateTimes, capture.NoEnding, capture.Reencoded)}
		return &entryReader{in: in, book: q}
	},
}

// sniffQwenCode looks for the first line that has a message: Claude Code's lines are alike, but for
// what a message is.
func sniffQwenCode(first []byte, whole bool) capture.SniffResult {
	for len(first) > 0 {
		line, rest, ended := bytes.Cut(first, []byte("\n"))
		if !ended && !whole && !isObject(line) {
			break
		}
		f := json.Pick(line, "uuid", "sessionId", "message")
		if f[0] == nil || f[1] == nil {
			return capture.SniffResult{}
		}
		if f[2] != nil {
			if kindOf(json.Find(f[2], "parts")) == '[' {
				return capture.SniffResult{Is: capture.Yes, Why: "lines with uuid, sessionId and a message of parts"}
			}
			return capture.SniffResult{}
		}
		first = rest
	}
	if whole {
		return capture.SniffResult{}
	}
	keys, open := topKeys(first)
	if open || len(keys) > 0 {
		return capture.SniffResult{Is: capture.Maybe}
	}
	return capture.SniffResult{}
}

// qwenChat reads the lines of a conversation.
type qwenChat struct {
	*talk
	waits bool // for an answer
}

func (q *qwenChat) entry(recs []capture.Record, line []byte) []capture.Record {
	f := json.Pick(line, "type", "message", "timestamp", "sessionId", "model", "usageMetadata", "systemPayload")
	kind, at := f[0], parseLogTime(f[2])
	if q.name == nil {
		q.name = nonEmptyText(f[3])
	}
	parts := geminiParts(json.Find(f[1], "parts"))
	switch {
	case hasText(kind, "assistant"):
		recs = q.answer(recs, &modelResponse{model: f[4], parts: parts, usage: f[5]}, time.Time{}, at)
		q.waits = false
	case hasText(kind, "user"), hasText(kind, "tool_result"):
		q.hear(theUser, parts, at)
		q.waits = true
	case hasText(kind, "system"):
		recs = q.failed(recs, json.Find(f[6], "uiEvent"), at)
	}
	return recs
}

// failed takes what was told of a request; only one that failed has no line of its own.
func (q *qwenChat) failed(recs []capture.Record, event []byte, at time.Time) []capture.Record {
	f := json.Pick(event, "event.name", "error_message", "error", "model", "subagent_name")
	if !hasText(f[0], "qwen-code.api_error") || !q.waits || f[4] != nil {
		return recs
	}
	why := nonEmptyText(f[1])
	if why == nil {
		why = nonEmptyText(f[2])
	}
	if why == nil {
		return recs
	}
	heard, results := q.news, q.results
	recs = q.answer(recs, &modelResponse{model: f[3], failure: why}, time.Time{}, at)
	q.news, q.results = heard, results // it is asked again
	return recs
}
