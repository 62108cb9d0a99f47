package anthropic

import (
	"strings"

	"toolscope/providers/protocol"
)

// decodeHistory reads the history of a request. The system prompt is the first message.
func decodeHistory(request []byte) ([]protocol.Message, error) {
	messages, err := protocol.ReadMessages(request, readMessage)
	if system := readBlocks(protocol.Raw(request).Get("system")); len(system) > 0 {
		messages = append([]protocol.Message{{Role: protocol.System, Parts: system}}, messages...)
	}
	return messages, err
}

func readMessage(v protocol.Raw) protocol.Message {
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

// readBlocks reads the parts of a content: a string, or a list of blocks.
func readBlocks(content protocol.Raw) (parts []protocol.Part) {
	if content.HasText() {
		return []protocol.Part{{Kind: protocol.TextPart, Text: content.Unquoted()}}
	}
	for v := range content.Elements() {
		parts = append(parts, readBlock(v))
	}
	return parts
}

func readBlock(v protocol.Raw) protocol.Part {
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
		return readResult(kind, v)
	}
	return protocol.Part{Kind: protocol.OtherPart, Raw: v}
}

func readCall(kind string, v protocol.Raw) protocol.Part {
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

// readResult reads the result of a tool. If a tool that the provider ran has failed, its content is an
// error instead of a result.
func readResult(kind string, v protocol.Raw) protocol.Part {
	content := v.Get("content")
	p := protocol.Part{Kind: protocol.ResultPart, ID: v.Get("tool_use_id").Text(), Raw: v}
	p.Failed = v.Get("is_error").IsTrue() || strings.HasSuffix(content.Get("type").Text(), "_error")
	if p.RunByProvider = kind != "tool_result"; p.RunByProvider {
		p.ToolKind = kind
	}
	p.Text, p.Media = protocol.ResultText(content)
	return p
}
