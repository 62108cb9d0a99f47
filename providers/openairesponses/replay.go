package openairesponses

import (
	"strings"

	"toolscope/providers/protocol"
)

// target is where the history of Responses goes: a list of items. It takes arguments as the text
// they are, whole JSON or not. Rules are OpenAI's published API description's (FunctionCallItem,
// FunctionCallOutputItemParam) and its own error messages' (AnswerDotAI/fastllm#45,
// continuedev/continue#10092 and #10018, openai/codex#9447); underscores at the end of an id are
// what clients cut (badlogic/pi-mono).
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

// sameMessage is how many of the parts, at least one, stand in one item: the blocks of one message
// do.
func sameMessage(parts []protocol.Part) (n int) {
	for n = 1; n < len(parts) && isBlock(&parts[0]) && isBlock(&parts[n]) && parts[0].Item == parts[n].Item; {
		n++
	}
	return n
}

// isBlock reports whether a part stands in the content of a message, or would.
func isBlock(p *protocol.Part) bool {
	switch p.Kind {
	case protocol.TextPart, protocol.OtherPart:
		return p.Raw == nil || blocks[p.Raw.Get("type").Text()] != ""
	}
	return false
}

// blocks are the types of what stands in the content of a message, and the member that is its text.
var blocks = map[string]string{
	"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal",
	"input_image": "image_url", "input_file": "file_data", "input_audio": "input_audio", "computer_screenshot": "image_url",
}

// encodeItem writes the item of some parts; nil if there is none, as of the instructions, which
// stand beside the input, or of another protocol's image.
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
		w.Member("id", id).Member("status", "completed") // where one is, the other must be
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

// idPrefixes are what the ids of items begin with. One that begins otherwise is refused: "Invalid
// 'input[N].id': 'call_x'. Expected an ID that begins with 'fc'."
var idPrefixes = map[string]string{
	"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc", "shell_call": "sh",
	"local_shell_call": "lsh", "apply_patch_call": "apc", "computer_call": "cu", "tool_search_call": "tsc", "program": "cm",
}

// itemID is the id an item of that type goes back with: none at all if it is not one that this
// protocol gave it. Ids are optional.
func itemID(kind, id string) string {
	if prefix, known := idPrefixes[kind]; known && !strings.HasPrefix(id, prefix) || len(id) > 64 {
		return ""
	}
	return id
}
