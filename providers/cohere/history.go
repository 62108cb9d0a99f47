package cohere

import "toolscope/providers/protocol"

func decodeHistory(request []byte) ([]protocol.Message, error) {
	return protocol.ReadChat(request, readResult, readParts)
}

// readParts reads the parts of a message. The plan of the model is reasoning.
func readParts(v protocol.Raw) (parts []protocol.Part) {
	if plan := v.Get("tool_plan"); plan.IsString() && !plan.Empty() {
		parts = append(parts, protocol.Part{Kind: protocol.ReasoningPart, Text: plan.Unquoted(), Raw: plan})
	}
	parts = append(parts, protocol.ReadContent(v.Get("content"))...)
	for call := range v.Get("tool_calls").Elements() {
		parts = append(parts, readCall(call))
	}
	return parts
}

func readCall(v protocol.Raw) protocol.Part {
	var call protocol.FunctionCall
	call.Read(v)
	p := protocol.Part{Kind: protocol.CallPart, ID: call.ID.Text(), Name: call.Name.Text(), ToolKind: "function", Raw: v}
	if call.Args.IsPresent() {
		p.SetArgs(call.Args)
	}
	return p
}

// readResult reads a result. A document in it counts as text: a string, or the JSON of an object.
func readResult(v protocol.Raw) protocol.Part {
	p := protocol.Part{Kind: protocol.ResultPart, ID: v.Get("tool_call_id").Text(), Raw: v}
	content := v.Get("content")
	if content.IsString() {
		p.Text = content.Unquoted()
		return p
	}
	for block := range content.Elements() {
		if data := block.Get("document").Get("data"); data.IsPresent() {
			p.Text = data.Append(p.Text)
		} else if text := block.Get("text"); text.IsString() {
			p.Text = text.Append(p.Text)
		} else {
			p.Media++
		}
	}
	return p
}
