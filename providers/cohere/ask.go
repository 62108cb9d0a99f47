package cohere

import "toolscope/providers/protocol"

// writeRequest writes a request of version 2's chat. The response ends with the usage.
func writeRequest(r protocol.Request, _ protocol.HostFeatures) (path string, body []byte) {
	var w protocol.Writer
	w.Open('{').Member("model", r.Model).Flag("stream", true)
	if r.MaxTokens > 0 {
		w.Key("max_tokens").Int(r.MaxTokens)
	}
	w.WriteList("messages", r.WithSystem())
	r.WriteFunctionTools(&w, false)
	return "/v2/chat", w.Close('}').Text
}
