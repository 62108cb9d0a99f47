package formats

import (
	"time"

	"toolscope/capture"
)

// piSession is what pi, and agents made of it, keep of a conversation in
// ~/.pi/agent/sessions/--<cwd>--. pi has the messages of all providers in one form of its own.
var piSession = capture.Format{
	Name:  "pi session",
	Title: "pi, OpenClaw: ~/.pi/agent/sessions/*/*.jsonl",
	Sniff: func(first []byte, whole bool) capture.SniffResult {
		s := sniffKeys(first, whole, "type", "id", "timestamp", "cwd")
		if s.Why = "a header of type session"; s.Is == capture.Yes && !reads(Member(first, "type"), "session") {
			s.Is = capture.No
		}
		return s
	},
	New: func(in *capture.Input) capture.Reader {
		p := &piTalk{talk: newTalk(in, anthropicShape, "pi session", capture.NoDeltas, capture.LateTimes, capture.Reencoded)}
		return &diary{in: in, book: p}
	},
}

// piTalk reads the entries of a session.
type piTalk struct{ *talk }

func (p *piTalk) entry(recs []capture.Record, line []byte) []capture.Record {
	f := pick(line, "type", "id", "timestamp", "message")
	at, m := moment(f[2]), f[3]
	switch {
	case reads(f[0], "session"):
		p.name = aText(f[1])
	case !reads(f[0], "message"):
	default:
		recs = p.message(recs, m, at)
	}
	return recs
}

func (p *piTalk) message(recs []capture.Record, m []byte, at time.Time) []capture.Record {
	f := pick(m, "role", "content", "toolCallId", "toolName", "isError")
	switch {
	case reads(f[0], "assistant"):
		recs = p.model(recs, m, at)
	case reads(f[0], "user"):
		p.hear(theUser, piParts(f[1]), at)
	case reads(f[0], "toolResult"):
		p.hear(theUser, []utterance{{kind: resultPart, id: f[2], name: f[3], text: f[1], failed: string(f[4]) == "true"}}, at)
	}
	return recs
}

// model takes an answer. Its own time is that of the request.
func (p *piTalk) model(recs []capture.Record, m []byte, at time.Time) []capture.Record {
	f := pick(m, "content", "model", "usage", "stopReason", "errorMessage", "timestamp", "responseId")
	r := &reply{model: f[1], id: f[6], parts: piParts(f[0]), usage: piUsage(f[2])}
	asked := moment(f[5])
	if asked.After(at) {
		asked = time.Time{}
	}
	switch {
	case reads(f[3], "aborted"):
		r.cut, r.by, r.why = true, capture.Client, f[4]
	case reads(f[3], "error"):
		r.failure = aText(f[4])
	default:
		r.finish = piFinish(f[3])
	}
	return p.answer(recs, r, asked, at)
}

func piFinish(word []byte) []byte {
	switch {
	case reads(word, "stop"):
		return []byte(`"end_turn"`)
	case reads(word, "toolUse"):
		return []byte(`"tool_use"`)
	case reads(word, "length"):
		return []byte(`"max_tokens"`)
	}
	return nil
}

func piParts(content []byte) (parts []utterance) {
	if text := aText(content); text != nil {
		return []utterance{{kind: textPart, text: text}}
	}
	for b := range Elements(content) {
		f := pick(b, "type", "text", "thinking", "thinkingSignature", "id", "name", "arguments")
		switch {
		case reads(f[0], "toolCall"):
			parts = append(parts, utterance{kind: callPart, id: f[4], name: f[5], args: f[6]})
		case reads(f[0], "thinking"):
			parts = append(parts, utterance{kind: thoughtPart, text: f[2], signature: aText(f[3])})
		case reads(f[0], "text"):
			parts = append(parts, utterance{kind: textPart, text: f[1]})
		default:
			parts = append(parts, utterance{raw: b})
		}
	}
	return parts
}

// piUsage is pi's counts by Anthropic's names: input is what was not cached.
func piUsage(usage []byte) []byte {
	f := pick(usage, "input", "output", "cacheRead", "cacheWrite")
	if f[0] == nil && f[1] == nil {
		return nil
	}
	return object(member{"input_tokens", f[0]}, member{"output_tokens", f[1]},
		member{"cache_read_input_tokens", f[2]}, member{"cache_creation_input_tokens", f[3]})
}
