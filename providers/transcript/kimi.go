package transcript

import "toolscope/stream/json"

// readDroid returns a reader for the entries of Factory droid, which stores messages from all providers in
// Anthropic's form.
func readDroid() func(entry json.Value) *message {
	read := readMessage()
	return func(entry json.Value) *message {
		if entry.Get("type").Is("session_start") {
			return &message{byUser: true, session: entry.Get("id")}
		}
		m := read(entry.Get("message"))
		m.model = entry.Get("message").Get("modelId")
		return m
	}
}

// readKimi returns a reader for the entries of Kimi Code.
func readKimi() func(entry json.Value) *message {
	read := readMessage()
	return func(entry json.Value) *message {
		m := new(message)
		switch event := entry.Get("event"); {
		case entry.Get("message") != nil:
			m = read(entry.Get("message"))
		case event == nil:
			m.model = entry.Get("model") // model of the request
		case event.Get("type").Is("tool.call"):
			m.parts = []json.Value{callBlock(event.Get("toolCallId"), event.Get("name"), event.Get("args"))}
		case event.Get("type").Is("tool.result"):
			result := event.Get("result")
			m.byUser = true
			m.parts = []json.Value{resultBlock(event.Get("toolCallId"), result.Get("output"), result.Get("isError").IsTrue())}
		case event.Get("type").Is("step.end"):
			m.usage, m.finish = anthropicUsage(event.Get("usage"), "inputOther", "output", "inputCacheRead", "inputCacheCreation"), kimiFinishes[event.Get("finishReason").Text()]
		case event.Get("part") != nil:
			m.readBlock(event.Get("part"))
		}
		if agent := withText(entry.Get("agentId")); agent != nil && !agent.Is("main") {
			m.agent = agent
		}
		return m
	}
}

// kimiFinishes maps Kimi's finish reasons to Anthropic's stop reasons.
var kimiFinishes = map[string]json.Value{
	"tool_use": quoteText("tool_use"), "end_turn": quoteText("end_turn"), "max_tokens": quoteText("max_tokens"),
}
