package formats

import (
	"bytes"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// qwenCode reads the conversations that Qwen Code keeps in ~/.qwen/projects/<cwd>/chats. Each line has one
// message, as in Google's API, whatever the provider is.
var qwenCode = capture.Format{
	Name:  "qwen-code session",
	Title: "Qwen Code: ~/.qwen/projects/*/chats/*.jsonl",
	Sniff: sniffQwenCode,
	New: func(in *capture.Input) capture.Reader {
		log := newSessionLog(in, "qwen-code session", capture.NoDeltas, capture.LateTimes, capture.NoEnding, capture.Reencoded)
		return &entryReader{in: in, book: &qwenReader{sessionLog: log}}
	},
}

// sniffQwenCode looks for the first line that has a message. Lines of Claude Code look the same except for the
// message.
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
				return capture.SniffResult{Is: capture.Yes, Why: "lines with uuid, sessionId and a message with parts"}
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

// qwenReader reads the lines of a conversation.
type qwenReader struct {
	*sessionLog
	waits    bool // the user is waiting for a response
	hasUsage bool // the open response has usage already
}

func (q *qwenReader) entry(recs []capture.Record, line []byte) []capture.Record {
	q.recs = recs
	f := json.Pick(line, "type", "message", "timestamp", "systemPayload", "agentId", "usageMetadata")
	kind, parts, at := f[0], json.Find(f[1], "parts"), parseLogTime(f[2])
	if !hasText(kind, "assistant") {
		q.endExchange("", "", "")
	}
	switch hasUsage := f[5] != nil; {
	case hasText(kind, "assistant"):
		if q.open != nil && !(q.hasUsage && hasUsage) { // a sub-agent's text and its calls are on separate lines
			q.open.add(q.input.RecordTime(at), line)
			q.hasUsage = q.hasUsage || hasUsage
		} else {
			q.writeResponse(time.Time{}, at, line)
			q.hasUsage = hasUsage
		}
		if f[4] == nil {
			q.endExchange("", "", "")
		}
		q.addEntry(line, at, false)
		q.waits = false
	case hasText(kind, "user"), hasText(kind, "tool_result"):
		if json.FirstElement(parts) != nil {
			q.addEntry(line, at, hasGeminiResult(parts))
		}
		q.waits = true
	case hasText(kind, "system") && q.waits && isQwenFailure(json.Find(f[3], "uiEvent")):
		said, results := q.pending, q.hasResults
		q.writeResponse(time.Time{}, at, line)
		q.endExchange("", "", "")
		q.waits = false
		q.pending, q.hasResults = said, results // the next request sends this entry again
	}
	return q.recs
}

// isQwenFailure reports whether an event has the reason why a request of the main agent failed. A failed
// request has no line of its own.
func isQwenFailure(event []byte) bool {
	f := json.Pick(event, "event.name", "error_message", "error", "subagent_name")
	return hasText(f[0], "qwen-code.api_error") && f[3] == nil && (nonEmptyText(f[1]) != nil || nonEmptyText(f[2]) != nil)
}
