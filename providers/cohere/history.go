package cohere

import "toolscope/providers/dialect"

func decode(request []byte) ([]dialect.Message, error) {
	return dialect.ReadMessages(request, readMessage)
}

// readMessage reads one message. That of a tool is the user's: a part with the
// message as its Raw. The plan of the model is its reasoning.
func readMessage(v dialect.Raw) dialect.Message {
	role, tool := dialect.RoleOf(v)
	if tool {
		return dialect.Message{Role: role, Parts: []dialect.Part{readResult(v)}}
	}
	m := dialect.Message{Role: role, Raw: v}
	if plan := v.Get("tool_plan"); plan.IsString() && !plan.Empty() {
		m.Parts = append(m.Parts, dialect.Part{Kind: dialect.ReasoningPart, Text: plan.Unquoted(), Raw: plan})
	}
	m.Parts = append(m.Parts, dialect.ReadContent(v.Get("content"))...)
	calls := v.Get("tool_calls").Scan()
	for ok := calls.Array(); ok; ok = calls.Element() {
		m.Parts = append(m.Parts, readCall(calls.Value()))
	}
	return m
}

func readCall(v dialect.Raw) dialect.Part {
	var call dialect.FunctionCall
	s := v.Scan()
	call.Read(&s)
	p := dialect.Part{Kind: dialect.CallPart, ID: call.ID.Text(), Name: call.Name.Text(), Tool: "function", Raw: v}
	if call.Args.Given() {
		p.Args = call.Args.Append(nil)
	}
	if call.Args.Given() && !call.Args.IsString() { // it would be refused
		p.Form = dialect.ObjectForm
	}
	return p
}

// readResult reads a result. A document in it is text: a string, or the object
// that it is.
func readResult(v dialect.Raw) dialect.Part {
	p := dialect.Part{Kind: dialect.ResultPart, ID: v.Get("tool_call_id").Text(), Raw: v}
	content := v.Get("content")
	if content.IsString() {
		p.Text = content.Unquoted()
		return p
	}
	s := content.Scan()
	for ok := s.Array(); ok; ok = s.Element() {
		block := s.Value()
		if data := block.Get("document").Get("data"); data.Given() {
			p.Text = data.Append(p.Text)
		} else if text := block.Get("text"); text.IsString() {
			p.Text = text.Append(p.Text)
		} else {
			p.Media++
		}
	}
	return p
}
