package bedrock

import (
	"net/url"

	"toolscope/providers/protocol"
)

// writeRequest writes a request of ConverseStream. The model is in its path, escaped: ARNs contain
// slashes and colons.
func writeRequest(r protocol.Request, _ protocol.HostFeatures) (path string, body []byte) {
	var w protocol.Writer
	w.Open('{').WriteList("messages", r.EncodedMessages)
	if system := r.Instructions(); system != "" {
		w.Key("system").Open('[').Open('{').Member("text", system).Close('}').Close(']')
	}
	if r.MaxTokens > 0 {
		w.Key("inferenceConfig").Open('{').Key("maxTokens").Int(r.MaxTokens).Close('}')
	}
	r.WriteTools(&w, "toolConfig", `{"tools":[`, `]}`, writeTool)
	return "/model/" + url.PathEscape(r.Model) + "/converse-stream", w.Close('}').Text
}

func writeTool(w *protocol.Writer, t *protocol.Tool) {
	w.Open('{').Key("toolSpec").Open('{').Describe(t)
	w.Key("inputSchema").Open('{').Key("json").Raw(t.Arguments()).Close('}').Close('}').Close('}')
}
