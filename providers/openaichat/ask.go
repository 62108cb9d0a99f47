package openaichat

import "toolscope/providers/dialect"

// ask writes a request of Chat Completions, as its many hosts take it: members
// that some of them refuse are there only where the host's quirks say so. The
// instructions have the role system, which every host knows; OpenAI itself takes
// them for those of a developer.
func ask(r dialect.Request, q dialect.Quirks) (path string, body []byte) {
	var w dialect.Writer
	w.Open('{').Some("model", r.Model).Key("stream").Raw([]byte("true"))
	if !q.TellsUsage {
		w.Key("stream_options").Open('{').Key("include_usage").Raw([]byte("true")).Close('}')
	}
	if q.Store {
		w.Key("store").Raw([]byte("false"))
	}
	if r.MaxTokens > 0 {
		name := "max_tokens"
		if q.Completion {
			name = "max_completion_tokens"
		}
		w.Key(name).Int(r.MaxTokens)
	}
	r.WriteCacheKey(&w, q)
	w.WriteList("messages", withSystem(&r))
	dialect.WriteFunctionTools(&w, &r, q.Custom)
	return "/chat/completions", w.Close('}').Text
}

// withSystem is the messages with the instructions before them.
func withSystem(r *dialect.Request) [][]byte {
	if r.System == "" {
		return r.Encoded
	}
	var w dialect.Writer
	w.Open('{').Member("role", "system").Member("content", r.System).Close('}')
	return append([][]byte{w.Text}, r.Encoded...)
}
