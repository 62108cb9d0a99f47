package ollama

import "toolscope/providers/protocol"

// writeRequest writes a request of Ollama's chat. The last line of the response has the token counts.
func writeRequest(r protocol.Request, _ protocol.HostFeatures) (path string, body []byte) {
	var w protocol.Writer
	w.Open('{').Member("model", r.Model).Flag("stream", true)
	if r.MaxTokens > 0 {
		w.Key("options").Open('{').Key("num_predict").Int(r.MaxTokens).Close('}')
	}
	w.WriteList("messages", r.WithSystem())
	r.WriteFunctionTools(&w, false)
	return "/api/chat", w.Close('}').Text
}
