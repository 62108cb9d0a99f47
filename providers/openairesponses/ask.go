package openairesponses

import (
	"strings"

	"toolscope/providers/protocol"
)

// writeRequest writes a request of Responses. The provider stores nothing, so reasoning must come
// encrypted to be sent back, and the history is in the input.
func writeRequest(r protocol.Request, q protocol.HostFeatures) (path string, body []byte) {
	var w protocol.Writer
	w.Open('{').MemberIfSet("model", r.Model).Flag("stream", true).Flag("store", false)
	if r.MaxTokens > 0 {
		w.Key("max_output_tokens").Int(max(r.MaxTokens, minOutputTokens))
	}
	if q.Encrypted && isReasoningModel(r.Model) {
		w.Key("include").Open('[').String("reasoning.encrypted_content").Close(']')
	}
	r.WriteCacheKey(&w, q)
	w.MemberIfSet("instructions", r.System).WriteList("input", r.EncodedMessages)
	r.WriteTools(&w, "tools", "[", "]", func(w *protocol.Writer, t *protocol.Tool) { writeTool(w, t, q.Custom) })
	return "/responses", w.Close('}').Text
}

// minOutputTokens is the smallest accepted max_output_tokens (OpenAI's published API description).
const minOutputTokens = 16

// isReasoningModel reports whether a model of OpenAI reasons. Other models refuse requests for
// encrypted reasoning.
func isReasoningModel(model string) bool {
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

// writeTool writes a tool, flat. custom says that the provider knows free-text tools. strict is written
// because its default is true, which refuses most schemas that were not written for it.
func writeTool(w *protocol.Writer, t *protocol.Tool, custom bool) {
	w.Open('{')
	if custom && t.Kind == "custom" {
		w.Member("type", "custom").Describe(t)
	} else {
		w.Member("type", "function").Describe(t).Key("parameters").Raw(t.Arguments()).Flag("strict", false)
	}
	w.Close('}')
}
