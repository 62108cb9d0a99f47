package host

import (
	"strings"

	"toolscope/providers/protocol"
)

// Recognise guesses the host of a request from its body. It returns nil if the body fits no protocol.
func Recognise(body []byte) *Host {
	r := protocol.Raw(body)
	name := protocolOf(r)
	if name == "" {
		return nil
	}
	model := r.Get("model").Text()
	for i := range All {
		if t := All[i].HistoryTarget(); t != nil && t.Protocol == name && All[i].Has(model) {
			return &All[i]
		}
	}
	return For(name)
}

// signs are fields that only the requests of one protocol have.
var signs = []struct {
	dialect string
	members []string
}{
	{"gemini", []string{"contents", "generationConfig", "systemInstruction", "system_instruction"}},
	{"bedrock", []string{"toolConfig", "inferenceConfig", "additionalModelRequestFields"}},
	{"openai-responses", []string{"input", "instructions", "previous_response_id", "max_output_tokens"}},
	{"ollama", []string{"keep_alive", "options", "think"}},
	{"anthropic", []string{"anthropic_version", "system", "stop_sequences", "thinking"}},
	{"openai-chat", []string{"stream_options", "max_completion_tokens", "functions", "n", "parallel_tool_calls"}},
	{"cohere", []string{"documents", "citation_options", "safety_mode", "strict_tools"}},
}

// protocolOf returns the protocol of a request by its body, "" if it fits none.
func protocolOf(body protocol.Raw) string {
	if body.Kind() != '{' {
		return ""
	}
	for _, s := range signs {
		for _, member := range s.members {
			if body.Get(member).IsPresent() {
				return s.dialect
			}
		}
	}
	if body.Get("messages").Kind() != '[' {
		return ""
	}
	switch shape := shapeOf(body.Get("tools")); {
	case shape == "anthropic":
		return shape
	case strings.HasPrefix(body.Get("model").Text(), "claude-"):
		return "anthropic"
	case strings.HasPrefix(body.Get("model").Text(), "command-"):
		return "cohere"
	}
	if blocksOfAnthropic(body) {
		return "anthropic"
	}
	return "openai-chat"
}

// blocksOfAnthropic reports whether a message has a block that only Anthropic's messages have.
func blocksOfAnthropic(body protocol.Raw) bool {
	for message := range body.Get("messages").Elements() {
		for block := range message.Get("content").Elements() {
			switch block.Get("type").Text() {
			case "tool_use", "tool_result", "thinking", "redacted_thinking":
				return true
			}
		}
	}
	return false
}

// modelOf returns the model that a request names, "" if it names none.
func modelOf(d *protocol.Protocol, path string, body []byte) string {
	if d != nil && d.Model != nil {
		if name := d.Model(path, body); name != "" {
			return name
		}
	}
	return protocol.Raw(body).Get("model").Text()
}

// RawRequest returns the URL for a body that the user wrote, and its model: the given one, else the
// body's own. The body is sent unchanged.
func (h *Host) RawRequest(body []byte, model, address string) (url, asked string) {
	if asked = model; asked == "" {
		asked = protocol.Raw(body).Get("model").Text()
	}
	if asked == "" {
		asked = h.Model
	}
	path, _ := h.HistoryTarget().BuildRequest(protocol.Request{Model: asked}, h.Quirks)
	return Join(address, path), asked
}
