package openairesponses

import (
	"strings"

	"toolscope/providers/dialect"
)

// ask writes a request of Responses. Nothing is stored, so that reasoning has to
// come encrypted to be sent back; the history is in the input.
func ask(r dialect.Request, q dialect.Quirks) (path string, body []byte) {
	var w dialect.Writer
	w.Open('{').Some("model", r.Model).Key("stream").Raw([]byte("true")).Key("store").Raw([]byte("false"))
	if r.MaxTokens > 0 {
		w.Key("max_output_tokens").Int(max(r.MaxTokens, leastTokens))
	}
	if q.Encrypted && reasons(r.Model) {
		w.Key("include").Open('[').String("reasoning.encrypted_content").Close(']')
	}
	r.WriteCacheKey(&w, q)
	w.Some("instructions", r.System).WriteList("input", r.Encoded)
	declare(&w, &r, q)
	return "/responses", w.Close('}').Text
}

// leastTokens is the smallest max_output_tokens that is taken (OpenAI's
// published API description).
const leastTokens = 16

// reasons reports whether a model of OpenAI's reasons: others refuse to be asked
// for encrypted reasoning.
func reasons(model string) bool {
	model = model[strings.LastIndexByte(model, '/')+1:]
	if strings.Contains(model, "-chat") {
		return false
	}
	for _, family := range [...]string{"gpt-5", "gpt-6", "o1", "o3", "o4", "codex-"} {
		if strings.HasPrefix(model, family) {
			return true
		}
	}
	return false
}

// declare writes the tools, flat. strict is said because it is the default, and
// refuses most schemas that were not written for it.
func declare(w *dialect.Writer, r *dialect.Request, q dialect.Quirks) {
	if r.Declared != nil {
		w.Key("tools").Raw(r.Declared)
		return
	}
	var list [][]byte
	for i := range r.Tools {
		t := &r.Tools[i]
		if !t.Declarable() {
			continue
		}
		var tool dialect.Writer
		if tool.Open('{'); t.Kind == "custom" && q.Custom {
			tool.Member("type", "custom").Member("name", t.Name).Some("description", t.Description)
		} else {
			tool.Member("type", "function").Member("name", t.Name).Some("description", t.Description).
				Key("parameters").Raw(t.Arguments()).Key("strict").Raw([]byte("false"))
		}
		list = append(list, tool.Close('}').Text)
	}
	if len(list) > 0 {
		w.WriteList("tools", list)
	}
}
