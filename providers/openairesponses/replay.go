package openairesponses

import (
	"strings"

	"toolscope/providers/protocol"
)

// target says how Responses takes history: as a list of items. It accepts arguments as text, complete
// JSON or not. The rules are from OpenAI's published API description (FunctionCallItem,
// FunctionCallOutputItemParam) and its own error messages (AnswerDotAI/fastllm#45,
// continuedev/continue#10092 and #10018, openai/codex#9447). Clients trim underscores from the end of
// an id (badlogic/pi-mono).
var target = protocol.Target{
	Name: "openai-responses", Title: "OpenAI Responses", Protocol: "openai-responses",
	Form:          protocol.TextForm,
	IDs:           protocol.IDRule{Min: 1, Max: 64, Required: true, Trim: "_"},
	Names:         protocol.NameRule{Class: "a-zA-Z0-9_-", Max: 128},
	Freeform:      true,
	HasPreviousID: true,
	Reasoning:     protocol.SignedReasoning,
	Media:         true,
	Refusal: protocol.Refusal{
		ID:          "Invalid 'input[N].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.",
		LongID:      "Invalid 'input[N].call_id': string too long. Expected a string with maximum length 64, but got a string with length {n} instead.",
		Name:        "Invalid 'input[N].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
		LoneCall:    "No tool output found for function call {id}.",
		LoneResult:  "No tool call found for function call output with call_id {id}.",
		NoReasoning: "Item 'fc_...' of type 'function_call' was provided without its required 'reasoning' item: 'rs_...'.",
	},
	Encode:  encodeHistory,
	Request: writeRequest,
	Decode:  decodeHistory,
}

// encodeHistory writes the items of a history.
func encodeHistory(messages []protocol.Message) (out [][]byte) {
	calls := map[string]*protocol.Part{}
	for _, m := range messages {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == protocol.CallPart {
				calls[p.ID] = p
			}
		}
		for rest := m.Parts; len(rest) > 0; {
			n := sameMessage(rest)
			if item := encodeItem(m.Role, rest[:n], calls); item != nil {
				out = append(out, item)
			}
			rest = rest[n:]
		}
	}
	return out
}

// sameMessage returns how many of the parts, at least one, are in one item: the blocks of one message
// are.
func sameMessage(parts []protocol.Part) (n int) {
	for n = 1; n < len(parts) && isBlock(&parts[0]) && isBlock(&parts[n]) && parts[0].Item == parts[n].Item; {
		n++
	}
	return n
}

// isBlock reports whether a part is a block in the content of a message, or becomes one.
func isBlock(p *protocol.Part) bool {
	switch p.Kind {
	case protocol.TextPart, protocol.OtherPart:
		return p.Raw == nil || blocks[p.Raw.Get("type").Text()] != ""
	}
	return false
}

// blocks are the block types in the content of a message, with the field that has the text.
var blocks = map[string]string{
	"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal",
	"input_image": "image_url", "input_file": "file_data", "input_audio": "input_audio", "computer_screenshot": "image_url",
}

// encodeItem writes the item of some parts. It returns nil if there is none: the instructions have
// another place in the request, and images from another protocol are omitted.
func encodeItem(role protocol.Role, parts []protocol.Part, calls map[string]*protocol.Part) []byte {
	p := &parts[0]
	switch {
	case isBlock(p):
		return encodeMessage(role, parts)
	case p.Raw.IsString():
		return nil
	case p.Raw != nil:
		return p.Raw
	case p.Kind == protocol.ReasoningPart:
		return encodeReasoning(p)
	case p.Kind == protocol.CallPart:
		return encodeCall(p)
	}
	return encodeResult(p, calls[p.ID])
}

func encodeMessage(role protocol.Role, parts []protocol.Part) []byte {
	kind := "input_text"
	var w protocol.Writer
	w.Open('{').Member("type", "message")
	if id := itemID("message", parts[0].Item); id != "" {
		w.Member("id", id).Member("status", "completed") // each requires the other
	}
	w.Member("role", role.String()).Key("content").Open('[')
	if role == protocol.Assistant {
		kind = "output_text"
	}
	n := 0
	for i := range parts {
		switch p := &parts[i]; {
		case p.Raw != nil:
			w.Raw(p.Raw)
		case p.Kind == protocol.TextPart:
			w.Open('{').Member("type", kind).Key("text").Bytes(p.Text).Close('}')
		default:
			continue
		}
		n++
	}
	if n == 0 {
		return nil
	}
	return w.Close(']').Close('}').Text
}

func encodeReasoning(p *protocol.Part) []byte {
	id := p.Item
	if id == "" {
		id = p.ID
	}
	var w protocol.Writer
	w.Open('{').Member("type", "reasoning").MemberIfSet("id", itemID("reasoning", id)).Key("summary").Open('[')
	if len(p.Text) > 0 {
		w.Open('{').Member("type", "summary_text").Key("text").Bytes(p.Text).Close('}')
	}
	return w.Close(']').MemberIfSet("encrypted_content", p.Signature).Close('}').Text
}

// idPrefixes are the prefixes of item ids. Other ids are refused: "Invalid 'input[N].id': 'call_x'.
// Expected an ID that begins with 'fc'."
var idPrefixes = map[string]string{
	"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc", "shell_call": "sh",
	"local_shell_call": "lsh", "apply_patch_call": "apc", "computer_call": "cu", "tool_search_call": "tsc", "program": "cm",
}

// itemID returns the id for sending back an item of that type, or "" if this protocol didn't create the
// id. Ids are optional.
func itemID(kind, id string) string {
	if prefix, known := idPrefixes[kind]; known && !strings.HasPrefix(id, prefix) || len(id) > 64 {
		return ""
	}
	return id
}
