package anthropic

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// target describes how Anthropic accepts history. The rules and refusals are those of the Messages API. They are from
// its documentation, its own error messages, and the issue trackers of its SDKs (anthropics/claude-code#6696 and
// #1237, anthropics/anthropic-sdk-typescript#648). Clients cut ids to 64 characters.
var target = protocol.Target{
	Name: "anthropic", Title: "Anthropic Messages", Protocol: "anthropic",
	Form:      protocol.ObjectForm,
	IDs:       protocol.IDRule{Class: "a-zA-Z0-9_-", Max: 64, Required: true, Unique: true},
	Names:     protocol.NameRule{Class: "a-zA-Z0-9_-", Max: 128},
	Reasoning: protocol.SignedReasoning,
	ErrorFlag: true, Media: true, ResultsFollow: true,
	Merges: true, // "consecutive user or assistant turns in your request will be combined" (API reference)
	Refusal: protocol.Refusal{
		Args:        "messages.N.content.M.tool_use.input: Input should be a valid dictionary",
		ID:          "messages.N.content.M.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
		SameID:      "messages.N.content.M: `tool_use` ids must be unique",
		Name:        "tools.N.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
		LoneCall:    "messages.N: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		NoReasoning: "messages.N.content.M.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
		LoneResult:  "messages.N.content.M: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
		// Several code bases quote this error message, e.g. those of langchain-ai and cline.
		SecondResult:   "messages.N.content.M: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}",
		LateResult:     "messages.N: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
		OtherReasoning: "messages.N.content.M: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
		Unsigned:       "messages.N.content.M: Invalid `signature` in `thinking` block",
		Order:          "messages: first message must use the \"user\" role",
		EmptyText:      "messages: text content blocks must be non-empty",
		CacheMarks:     "A maximum of 4 blocks with cache_control may be provided. Found 5.", // tghamm/Anthropic.SDK#50
		TrailingSpace:  "messages: final assistant content cannot end with trailing whitespace",
	},
	Hosts:   []string{"api.anthropic.com"},
	Encode:  encodeHistory,
	Request: writeRequest,
	Decode:  decodeHistory,
}

// encodeHistory writes messages. It omits leading system messages, because a request has a separate field for them,
// but keeps those that were read from a request's messages. A later system message stays among the messages, because
// newer models accept it ("Mid-conversation system messages" at platform.claude.com/docs).
func encodeHistory(messages []protocol.Message) (out [][]byte) {
	leading := true
	for i := range messages {
		m := &messages[i]
		leading = leading && m.Role == protocol.System
		if !leading || m.Raw != nil {
			out = append(out, encodeMessage(m))
		}
	}
	return out
}

func encodeMessage(m *protocol.Message) []byte {
	was := m.Raw.Get("content")
	var w json.Writer
	switch {
	case len(m.Parts) == 0 && was.Empty():
		w.Raw(was)
	case len(m.Parts) == 1 && was.IsString() && m.Parts[0].Kind == protocol.TextPart && m.Parts[0].Raw == nil:
		w.Bytes(m.Parts[0].Text)
	default:
		w.Open('[')
		for i := range m.Parts {
			writeBlock(&w, &m.Parts[i])
		}
		w.Close(']')
	}
	return json.ReplaceMembers(m.Raw, m.RoleMember(), json.Member{Name: "content", Value: w.Text})
}

func writeBlock(w *json.Writer, p *protocol.Part) {
	switch {
	case p.Raw != nil:
		w.Raw(p.Raw)
	case p.Kind == protocol.TextPart:
		w.Open('{').Member("type", "text").Key("text").Bytes(p.Text).Close('}')
	case p.Kind == protocol.ReasoningPart && p.SignatureOnly:
		w.Open('{').Member("type", "redacted_thinking").Member("data", p.Signature).Close('}')
	case p.Kind == protocol.ReasoningPart:
		w.Open('{').Member("type", "thinking").Key("thinking").Bytes(p.Text).Member("signature", p.Signature).Close('}')
	case p.Kind == protocol.CallPart:
		writeCall(w, p)
	case p.Kind == protocol.ResultPart:
		kind := "tool_result"
		if p.RunByProvider && p.ToolKind != "" {
			kind = p.ToolKind
		}
		w.Open('{').Member("type", kind).Member("tool_use_id", p.ID).Key("content").Bytes(p.Text)
		if p.Failed {
			w.Flag("is_error", true)
		}
		w.Close('}')
	}
}

func writeCall(w *json.Writer, p *protocol.Part) {
	kind := "tool_use"
	switch {
	case p.RunByProvider && p.ToolKind == toolBlocks["mcp_tool_use"].Kind:
		kind = "mcp_tool_use"
	case p.RunByProvider:
		kind = "server_tool_use"
	}
	protocol.WriteArgs(w.Open('{').Member("type", kind).Member("id", p.ID).Member("name", p.Name).MemberIfSet("server_name", p.MCPServer).Key("input"), p)
	if p.Parent != "" {
		w.Key("caller").Open('{').Member("type", callerType).Member("tool_id", p.Parent).Close('}')
	}
	w.Close('}')
}

// callerType is the type of caller in a call that was made by code in the code execution tool.
const callerType = "code_execution_20250825"

// decodeHistory reads the history of a request. The system prompt is the first message.
func decodeHistory(request []byte) ([]protocol.Message, error) {
	return protocol.ReadSystemAndMessages(request, readMessage, readBlocks)
}

func readMessage(v json.Value) protocol.Message {
	m := protocol.Message{Role: protocol.User, Raw: v}
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "role":
			switch role := s.Value(); {
			case role.Is("assistant"):
				m.Role = protocol.Assistant
			case role.Is("system"):
				m.Role = protocol.System
			}
		case "content":
			m.Parts = readBlocks(s.Value())
		}
	}
	return m
}

// readBlocks reads the parts of a content field: a string, or a list of blocks.
func readBlocks(content json.Value) (parts []protocol.Part) {
	if content.HasText() {
		return []protocol.Part{{Kind: protocol.TextPart, Text: content.Unquoted()}}
	}
	for v := range content.Elements() {
		parts = append(parts, readBlock(v))
	}
	return parts
}

func readBlock(v json.Value) protocol.Part {
	kind := v.Get("type").Text()
	switch {
	case kind == "text":
		return protocol.Part{Kind: protocol.TextPart, Text: v.Get("text").Unquoted(), Raw: v}
	case kind == "thinking":
		return protocol.Part{Kind: protocol.ReasoningPart, Text: v.Get("thinking").Unquoted(), Signature: v.Get("signature").Text(), Raw: v}
	case kind == "redacted_thinking":
		return protocol.Part{Kind: protocol.ReasoningPart, Signature: v.Get("data").Text(), SignatureOnly: true, Raw: v}
	case toolBlocks[kind].Kind != "":
		return readCall(kind, v)
	case strings.HasSuffix(kind, "tool_result"):
		// If the provider ran the tool and the tool failed, the content is an error instead of a result.
		content := v.Get("content")
		p := protocol.Part{Kind: protocol.ResultPart, ID: v.Get("tool_use_id").Text(), Raw: v}
		p.Failed = v.Get("is_error").IsTrue() || strings.HasSuffix(content.Get("type").Text(), "_error")
		if p.RunByProvider = kind != "tool_result"; p.RunByProvider {
			p.ToolKind = kind
		}
		p.Text, p.Media = protocol.ResultText(content)
		return p
	}
	return protocol.Part{Kind: protocol.OtherPart, Raw: v}
}

func readCall(kind string, v json.Value) protocol.Part {
	p := protocol.Part{Kind: protocol.CallPart, Form: protocol.ObjectForm, ToolKind: toolBlocks[kind].Kind, RunByProvider: toolBlocks[kind].RunByProvider, Raw: v}
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "id":
			p.ID = s.Value().Text()
		case "name":
			p.Name = s.Value().Text()
		case "server_name":
			p.MCPServer = s.Value().Text()
		case "caller":
			p.Parent = s.Value().Get("tool_id").Text()
		case "input":
			p.SetArgs(s.Value())
		}
	}
	return p
}
