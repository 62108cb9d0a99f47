package gemini

import (
	"net/url"
	"strings"

	"toolscope/providers/protocol"
)

// writeRequest writes a request of streamGenerateContent, as an event stream. The model is in its path.
// Every chunk of the response has the usage.
func writeRequest(r protocol.Request, _ protocol.HostFeatures) (path string, body []byte) {
	var w protocol.Writer
	w.Open('{').WriteList("contents", r.EncodedMessages)
	if system := r.Instructions(); system != "" {
		w.Key("systemInstruction").Open('{').Key("parts").Open('[').Open('{').Member("text", system).Close('}').Close(']').Close('}')
	}
	if r.MaxTokens > 0 {
		w.Key("generationConfig").Open('{').Key("maxOutputTokens").Int(r.MaxTokens).Close('}')
	}
	r.WriteTools(&w, "tools", `[{"functionDeclarations":[`, `]}]`, writeTool)
	name := strings.TrimPrefix(r.Model, "models/")
	kind := "models/"
	if tuned, ok := strings.CutPrefix(name, "tunedModels/"); ok {
		name, kind = tuned, "tunedModels/"
	}
	return "/v1beta/" + kind + url.PathEscape(name) + ":streamGenerateContent?alt=sse", w.Close('}').Text
}

func writeTool(w *protocol.Writer, t *protocol.Tool) {
	w.Open('{').Describe(t)
	if schema := googleSchema(t.Arguments()); schema != nil {
		w.Key("parameters").Raw(schema)
	}
	w.Close('}')
}
