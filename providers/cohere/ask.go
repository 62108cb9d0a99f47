package cohere

import "toolscope/providers/dialect"

// ask writes a request of version 2's chat. The usage comes at its end unasked.
func ask(r dialect.Request, _ dialect.Quirks) (path string, body []byte) {
	var w dialect.Writer
	w.Open('{').Member("model", r.Model).Key("stream").Raw([]byte("true"))
	if r.MaxTokens > 0 {
		w.Key("max_tokens").Int(r.MaxTokens)
	}
	messages := r.Encoded
	if r.System != "" {
		var m dialect.Writer
		m.Open('{').Member("role", "system").Member("content", r.System).Close('}')
		messages = append([][]byte{m.Text}, messages...)
	}
	w.WriteList("messages", messages)
	dialect.WriteFunctionTools(&w, &r, false)
	return "/v2/chat", w.Close('}').Text
}
