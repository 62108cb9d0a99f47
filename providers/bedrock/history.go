package bedrock

import "toolscope/providers/dialect"

// decodeHistory reads the history of a request. Its system prompt is the first message.
func decodeHistory(request []byte) ([]dialect.Message, error) {
	messages, err := dialect.ReadMessages(request, readMessage)
	if system := readBlocks(dialect.Raw(request).Get("system")); len(system) > 0 {
		messages = append([]dialect.Message{{Role: dialect.System, Parts: system}}, messages...)
	}
	return messages, err
}

func readMessage(v dialect.Raw) dialect.Message {
	m := dialect.Message{Role: dialect.User, Raw: v, Parts: readBlocks(v.Get("content"))}
	if v.Get("role").Is("assistant") {
		m.Role = dialect.Assistant
	}
	return m
}

func readBlocks(content dialect.Raw) (parts []dialect.Part) {
	for v := range content.Elements() {
		parts = append(parts, readBlock(v))
	}
	return parts
}

func readBlock(v dialect.Raw) dialect.Part {
	p := dialect.Part{Kind: dialect.OtherPart, Raw: v}
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "text":
			p.Kind, p.Text = dialect.TextPart, s.Value().Unquoted()
		case "citationsContent": // text that says where it is from
			p.Kind = dialect.TextPart
			p.Text, _ = dialect.ResultText(s.Value().Get("content"))
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

func readReasoning(p *dialect.Part, v dialect.Raw) {
	p.Kind = dialect.ReasoningPart
	shown := v.Get("reasoningText")
	p.Text, p.Signature = shown.Get("text").Unquoted(), shown.Get("signature").Text()
	if redacted := v.Get("redactedContent").Text(); redacted != "" {
		p.Signature, p.SignatureOnly = redacted, true
	}
}

func readCall(p *dialect.Part, use dialect.Raw) {
	p.Kind, p.ToolKind = dialect.CallPart, "function"
	p.ID, p.Name = use.Get("toolUseId").Text(), use.Get("name").Text()
	if use.Get("type").Is(serverToolUse) {
		p.ToolKind, p.RunByProvider = "server", true
	}
	p.SetArgs(use.Get("input"))
}

// readResult reads a result. JSON in it is text as it stands; a type has only what the provider's
// own tools found.
func readResult(p *dialect.Part, result dialect.Raw) {
	p.Kind, p.ID = dialect.ResultPart, result.Get("toolUseId").Text()
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
