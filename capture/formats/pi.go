package formats

import (
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// piSession is what pi, and agents made of it, keep of a conversation in
// ~/.pi/agent/sessions/--<cwd>--. pi has the messages of all providers in one form of its own.
var piSession = capture.Format{
	Name:  "pi session",
	Title: "pi, OpenClaw: ~/.pi/agent/sessions/*/*.jsonl",
	Sniff: func(first []byte, whole bool) capture.SniffResult {
		s := sniffKeys(first, whole, "type", "id", "timestamp", "cwd")
		if s.Why = "a header of type session"; s.Is == capture.Yes && !hasText(json.Find(first, "type"), "session") {
			s.Is = capture.No
		}
		return s
	},
	New: func(in *capture.Input) capture.Reader {
		p := &piTalk{talk: newTalk(in, anthropicShape, "pi session", capture.NoDeltas, capture.LateTimes, capture.Reencoded)}
		return &entryReader{in: in, book: p}
	},
}

// piTalk reads the entries of a session.
type piTalk struct{ *talk }

func (p *piTalk) entry(recs []capture.Record, line []byte) []capture.Record {
	f := json.Pick(line, "type", "id", "timestamp", "message")
	at, m := parseLogTime(f[2]), f[3]
	switch {
	case hasText(f[0], "session"):
		p.name = nonEmptyText(f[1])
	case !hasText(f[0], "message"):
	default:
		recs = p.message(recs, m, at)
	}
	return recs
}

func (p *piTalk) message(recs []capture.Record, m []byte, at time.Time) []capture.Record {
	f := json.Pick(m, "role", "content", "toolCallId", "toolName", "isError")
	switch {
	case hasText(f[0], "assistant"):
		recs = p.model(recs, m, at)
	case hasText(f[0], "user"):
		p.hear(theUser, piParts(f[1]), at)
	case hasText(f[0], "toolResult"):
		p.hear(theUser, []messagePart{{kind: resultPart, id: f[2], name: f[3], text: f[1], failed: string(f[4]) == "true"}}, at)
	}
	return recs
}

// model takes an answer. Its own time is that of the request.
func (p *piTalk) model(recs []capture.Record, m []byte, at time.Time) []capture.Record {
	f := json.Pick(m, "content", "model", "usage", "stopReason", "errorMessage", "timestamp", "responseId")
	r := &modelResponse{model: f[1], id: f[6], parts: piParts(f[0]), usage: piUsage(f[2])}
	asked := parseLogTime(f[5])
	if asked.After(at) {
		asked = time.Time{}
	}
	switch {
	case hasText(f[3], "aborted"):
		r.cut, r.by, r.why = true, capture.Client, f[4]
	case hasText(f[3], "error"):
		r.failure = nonEmptyText(f[4])
	default:
		r.finish = piFinish(f[3])
	}
	return p.answer(recs, r, asked, at)
}

func piFinish(word []byte) []byte {
	switch {
	case hasText(word, "stop"):
		return []byte(`"end_turn"`)
	case hasText(word, "toolUse"):
		return []byte(`"tool_use"`)
	case hasText(word, "length"):
		return []byte(`"max_tokens"`)
	}
	return nil
}

func piParts(content []byte) (parts []messagePart) {
	if text := nonEmptyText(content); text != nil {
		return []messagePart{{kind: textPart, text: text}}
	}
	for b := range json.Elements(content) {
		f := json.Pick(b, "type", "text", "thinking", "thinkingSignature", "id", "name", "arguments")
		switch {
		case hasText(f[0], "toolCall"):
			parts = append(parts, messagePart{kind: callPart, id: f[4], name: f[5], args: f[6]})
		case hasText(f[0], "thinking"):
			parts = append(parts, messagePart{kind: thoughtPart, text: f[2], signature: nonEmptyText(f[3])})
		case hasText(f[0], "text"):
			parts = append(parts, messagePart{kind: textPart, text: f[1]})
		default:
			parts = append(parts, messagePart{raw: b})
		}
	}
	return parts
}

// piUsage is pi's counts by Anthropic's names: input is what was not cached.
func piUsage(usage []byte) []byte {
	f := json.Pick(usage, "input", "output", "cacheRead", "cacheWrite")
	if f[0] == nil && f[1] == nil {
		return nil
	}
	return objectOf(member{"input_tokens", f[0]}, member{"output_tokens", f[1]},
		member{"cache_read_input_tokens", f[2]}, member{"cache_creation_input_tokens", f[3]})
}
