package bedrock

import (
	"net/url"

	"toolscope/providers/dialect"
)

// ask writes a request of ConverseStream. The model stands in its path, where
// ARNs have slashes and colons of their own.
func ask(r dialect.Request, _ dialect.Quirks) (path string, body []byte) {
	var w dialect.Writer
	w.Open('{').WriteList("messages", r.Encoded)
	if system := r.Instructions(); system != "" {
		w.Key("system").Open('[').Open('{').Member("text", system).Close('}').Close(']')
	}
	if r.MaxTokens > 0 {
		w.Key("inferenceConfig").Open('{').Key("maxTokens").Int(r.MaxTokens).Close('}')
	}
	declare(&w, &r)
	return "/model/" + url.PathEscape(r.Model) + "/converse-stream", w.Close('}').Text
}

func declare(w *dialect.Writer, r *dialect.Request) {
	if r.Declared != nil {
		w.Key("toolConfig").Raw(r.Declared)
		return
	}
	var list [][]byte
	for i := range r.Tools {
		if t := &r.Tools[i]; t.Declarable() {
			var tool dialect.Writer
			tool.Open('{').Key("toolSpec").Open('{').Member("name", t.Name).Some("description", t.Description).
				Key("inputSchema").Open('{').Key("json").Raw(t.Arguments()).Close('}').Close('}').Close('}')
			list = append(list, tool.Text)
		}
	}
	if len(list) > 0 { // an empty list is refused
		w.Key("toolConfig").Open('{').WriteList("tools", list).Close('}')
	}
}
