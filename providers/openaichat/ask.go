package openaichat

import "toolscope/providers/protocol"

// writeRequest writes a request of Chat Completions for its many providers. Fields that some of them
// refuse are written only if the provider's HostFeatures allow them. The instructions have the role
// system, which every provider knows; OpenAI reads them as a developer's.
func writeRequest(r protocol.Request, q protocol.HostFeatures) (path string, body []byte) {
	var w protocol.Writer
	w.Open('{').MemberIfSet("model", r.Model).Flag("stream", true)
	if !q.TellsUsage {
		w.Key("stream_options").Open('{').Flag("include_usage", true).Close('}')
	}
	if q.Store {
		w.Flag("store", false)
	}
	if r.MaxTokens > 0 {
		name := "max_tokens"
		if q.Completion {
			name = "max_completion_tokens"
		}
		w.Key(name).Int(r.MaxTokens)
	}
	r.WriteCacheKey(&w, q)
	w.WriteList("messages", r.WithSystem())
	r.WriteFunctionTools(&w, q.Custom)
	return "/chat/completions", w.Close('}').Text
}
