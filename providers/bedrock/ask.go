package bedrock

import (
	"net/url"

	"toolscope/providers/dialect"
)

// writeRequest writes a request of ConverseStream. The model stands in its path, where ARNs have slashes and
// colons of their own.
func writeRequest(r dialect.Request, _ dialect.HostFeatures) (path string, body []byte) {
	var w dialect.Writer
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

func writeTool(w *dialect.Writer, t *dialect.Tool) {
	w.Open('{').Key("toolSpec").Open('{').Describe(t)
	w.Key("inputSchema").Open('{').Key("json").Raw(t.Arguments()).Close('}').Close('}').Close('}')
}
