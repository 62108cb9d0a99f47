package anthropic

import (
	"strings"

	"toolscope/providers/dialect"
)

// decodeHistory reads the history of a request. Its system prompt is the first message.
func decodeHistory(request []byte) ([]dialect.Message, error) {
	messages, err := dialect.ReadMessages(request, readMessage)
	if system := readBlocks(dialect.Raw(request).Get("system")); len(system) > 0 {
		messages = append([]dialect.Message{{Role: dialect.System, Parts: system}}, messages...)
	}
	return messages, err
}

func readMessage(v dialect.Raw) dialect.Message {
	m := dialect.Message{Role: dialect.User, Raw: v}
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "role":
			switch role := s.Value(); {
			case role.Is("assistant"):
				m.Role = dialect.Assistant
			case role.Is("system"):
				m.Role = dialect.System
			}
		case "content":
			m.Parts = readBlocks(s.Value())
		}
	}
	return m
}

// readBlocks are the parts of a content: a string, or a list of blocks.
func readBlocks(content dialect.Raw) (parts []dialect.Part) {
	if content.HasText() {
		return []dialect.Part{{Kind: dialect.TextPart, Text: content.Unquoted()}}
	}
	for v := range content.Elements() {
		parts = append(parts, readBlock(v))
	}
	return parts
}

func readBlock(v dialect.Raw) dialect.Part {
	kind := v.Get("type").Text()
	switch {
	case kind == "text":
		return dialect.Part{Kind: dialect.TextPart, Text: v.Get("text").Unquoted(), Raw: v}
	case kind == "thinking":
		return dialect.Part{Kind: dialect.ReasoningPart, Text: v.Get("thinking").Unquoted(), Signature: v.Get("signature").Text(), Raw: v}
	case kind == "redacted_thinking":
		return dialect.Part{Kind: dialect.ReasoningPart, Signature: v.Get("data").Text(), SignatureOnly: true, Raw: v}
	case toolBlocks[kind].Kind != "":
		return readCall(kind, v)
	case strings.HasSuffix(kind, "tool_result"):
		return readResult(kind, v)
	}
	return dialect.Part{Kind: dialect.OtherPart, Raw: v}
}

func readCall(kind string, v dialect.Raw) dialect.Part {
	p := dialect.Part{Kind: dialect.CallPart, Form: dialect.ObjectForm, ToolKind: toolBlocks[kind].Kind, RunByProvider: toolBlocks[kind].RunByProvider, Raw: v}
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

// readResult reads the result of a tool. A tool that the provider ran says that it failed by an
// error in place of what it found.
func readResult(kind string, v dialect.Raw) dialect.Part {
	content := v.Get("content")
	p := dialect.Part{Kind: dialect.ResultPart, ID: v.Get("tool_use_id").Text(), Raw: v}
	p.Failed = v.Get("is_error").IsTrue() || strings.HasSuffix(content.Get("type").Text(), "_error")
	if p.RunByProvider = kind != "tool_result"; p.RunByProvider {
		p.ToolKind = kind
	}
	p.Text, p.Media = dialect.ResultText(content)
	return p
}
