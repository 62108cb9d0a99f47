package bedrock

import "toolscope/providers/protocol"

// decodeHistory reads the history of a request. The system prompt is the first message.
func decodeHistory(request []byte) ([]protocol.Message, error) {
	messages, err := protocol.ReadMessages(request, readMessage)
	if system := readBlocks(protocol.Raw(request).Get("system")); len(system) > 0 {
		messages = append([]protocol.Message{{Role: protocol.System, Parts: system}}, messages...)
	}
	return messages, err
}

func readMessage(v protocol.Raw) protocol.Message {
	m := protocol.Message{Role: protocol.User, Raw: v, Parts: readBlocks(v.Get("content"))}
	if v.Get("role").Is("assistant") {
		m.Role = protocol.Assistant
	}
	return m
}

func readBlocks(content protocol.Raw) (parts []protocol.Part) {
	for v := range content.Elements() {
		parts = append(parts, readBlock(v))
	}
	return parts
}

func readBlock(v protocol.Raw) protocol.Part {
	p := protocol.Part{Kind: protocol.OtherPart, Raw: v}
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "text":
			p.Kind, p.Text = protocol.TextPart, s.Value().Unquoted()
		case "citationsContent": // text with its sources
			p.Kind = protocol.TextPart
			p.Text, _ = protocol.ResultText(s.Value().Get("content"))
		case "reasoningContent":
			readReasoning(&p, s.Value())
		case "toolUse":
			readCall(&p, s.Value())
		case "toolResult":
			readResult(&p, s.Value())
		}
	}
	return p
}

func readReasoning(p *protocol.Part, v protocol.Raw) {
	p.Kind = protocol.ReasoningPart
	shown := v.Get("reasoningText")
	p.Text, p.Signature = shown.Get("text").Unquoted(), shown.Get("signature").Text()
	if redacted := v.Get("redactedContent").Text(); redacted != "" {
		p.Signature, p.SignatureOnly = redacted, true
	}
}

func readCall(p *protocol.Part, use protocol.Raw) {
	p.Kind, p.ToolKind = protocol.CallPart, "function"
	p.ID, p.Name = use.Get("toolUseId").Text(), use.Get("name").Text()
	if use.Get("type").Is(serverToolUse) {
		p.ToolKind, p.RunByProvider = "server", true
	}
	p.SetArgs(use.Get("input"))
}

// readResult reads a result. JSON in it is kept as its exact text. Only results of the provider's own
// tools have a type.
func readResult(p *protocol.Part, result protocol.Raw) {
	p.Kind, p.ID = protocol.ResultPart, result.Get("toolUseId").Text()
	p.Failed = result.Get("status").Is("error")
	p.ToolKind = result.Get("type").Text()
	p.RunByProvider = p.ToolKind != ""
	for block := range result.Get("content").Elements() {
		if value := block.Get("json"); value != nil {
			p.Text = append(p.Text, value...)
		} else if text := block.Get("text"); text.IsString() {
			p.Text = text.Append(p.Text)
		} else {
			p.Media++
		}
	}
}
