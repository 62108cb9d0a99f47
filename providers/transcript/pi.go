package transcript

import "toolscope/stream/json"

// readPi returns a reader for the entries of pi and of agents based on it, which store messages from all providers in
// pi's format.
func readPi() func(entry json.Value) *message {
	return func(entry json.Value) *message {
		if entry.Get("type").Is("session") {
			return &message{byUser: true, session: entry.Get("id")}
		}
		f := valuesOf(entry.Get("message"), "role", "content", "toolCallId", "isError", "model", "usage", "stopReason",
			"errorMessage", "responseId")
		m := &message{byUser: true}
		switch {
		case f[0].Is("toolResult"):
			m.parts = []json.Value{resultBlock(f[2], f[1], f[3].IsTrue())}
		case f[0].Is("user"):
			m.parts = piBlocks(f[1])
		case f[0].Is("assistant"):
			m = &message{parts: piBlocks(f[1]), model: f[4], id: f[8], usage: anthropicUsage(f[5], "input", "output", "cacheRead", "cacheWrite")}
			m.finish, m.cut = piFinishes[f[6].Text()], f[6].Is("aborted") || f[6].Is("error")
			if f[6].Is("error") {
				m.failure = withText(f[7])
			}
		}
		return m
	}
}

// piFinishes maps pi's finish reasons to Anthropic's stop reasons.
var piFinishes = map[string]json.Value{
	"stop": quoteText("end_turn"), "toolUse": quoteText("tool_use"), "length": quoteText("max_tokens"),
}

func piBlocks(content json.Value) (blocks []json.Value) {
	if content.HasText() {
		return []json.Value{textBlock(content)}
	}
	for b := range content.Elements() {
		f := valuesOf(b, "type", "thinking", "thinkingSignature", "id", "name", "arguments")
		switch {
		case f[0].Is("toolCall"):
			b = callBlock(f[3], f[4], f[5])
		case f[0].Is("thinking"):
			b = thinkingBlock(f[1], withText(f[2]))
		}
		blocks = append(blocks, b)
	}
	return blocks
}
