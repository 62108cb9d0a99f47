package ollama

import "toolscope/providers/dialect"

// ask writes a request of Ollama's chat. The counts come with the last line
// unasked.
func ask(r dialect.Request, _ dialect.Quirks) (path string, body []byte) {
	var w dialect.Writer
	w.Open('{').Member("model", r.Model).Key("stream").Raw([]byte("true"))
	if r.MaxTokens > 0 {
		w.Key("options").Open('{').Key("num_predict").Int(r.MaxTokens).Close('}')
	}
	messages := r.Encoded
	if r.System != "" {
		var m dialect.Writer
		m.Open('{').Member("role", "system").Member("content", r.System).Close('}')
		messages = append([][]byte{m.Text}, messages...)
	}
	w.WriteList("messages", messages)
	dialect.WriteFunctionTools(&w, &r, false)
	return "/api/chat", w.Close('}').Text
}
