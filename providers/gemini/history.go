package gemini

import "toolscope/providers/dialect"

// decodeHistory reads the contents of a request, and its system instruction.
func decodeHistory(request []byte) (messages []dialect.Message, err error) {
	s := dialect.Scan(request)
	messages = newReader().readRequest(&s, nil)
	return messages, s.End()
}

// reader reads parts as the decoder does, and those that only requests have.
type reader struct {
	shape *dialect.Shape
	in    part
}

func newReader() *reader {
	r := new(reader)
	r.shape = dialect.ShapeOf(r.in.shapeFields()...)
	return r
}

func (r *reader) readRequest(s *dialect.Scanner, messages []dialect.Message) []dialect.Message {
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "request": // Cloud Code
			messages = r.readRequest(s, messages)
		case "systemInstruction", "system_instruction":
			if m := r.readContent(s.Value()); len(m.Parts) > 0 {
				m.Role = dialect.System
				messages = append([]dialect.Message{m}, messages...)
			}
		case "contents":
			eachElement(s, func(content dialect.Raw) { messages = append(messages, r.readContent(content)) })
		}
	}
	return messages
}

// eachElement calls take with the elements of the next value. An object stands for a list of one, as in
// Google's own examples.
func eachElement(s *dialect.Scanner, take func(dialect.Raw)) {
	if s.Kind() == '{' {
		if v := s.Value(); v != nil {
			take(v)
		}
		return
	}
	for ok := s.Array(); ok; ok = s.Element() {
		if v := s.Value(); v != nil { // of one that breaks off nothing is left
			take(v)
		}
	}
}

func (r *reader) readContent(v dialect.Raw) dialect.Message {
	m := dialect.Message{Role: dialect.User}
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "role":
			if s.Value().Is("model") {
				m.Role = dialect.Assistant
			}
		case "parts":
			eachElement(&s, func(part dialect.Raw) { m.Parts = append(m.Parts, r.readPart(part)) })
		}
	}
	return m
}

func (r *reader) readPart(v dialect.Raw) dialect.Part {
	if r.shape.Read(v) != nil {
		return dialect.Part{Kind: dialect.OtherPart, Raw: v} // it is no object
	}
	in := &r.in
	kind, value := in.kindAndValue()
	p := dialect.Part{Kind: dialect.OtherPart, Signature: in.signature.Text(), Raw: v}
	switch kind {
	case partCall:
		p.Kind, p.ToolKind = dialect.CallPart, "function"
		p.ID, p.Name = in.call.id.Text(), in.call.name.Text()
		setArgs(&p, in.call.args)
	case partCode:
		p.Kind, p.ToolKind, p.RunByProvider, p.Name = dialect.CallPart, "server", true, codeTool
		p.ID = value.Get("id").Text()
		setArgs(&p, value)
	case partTool:
		p.Kind, p.ToolKind, p.RunByProvider = dialect.CallPart, "server", true
		p.ID, p.Name = value.Get("id").Text(), toolType(value)
		setArgs(&p, value.Get("args"))
	case partResult, partAnswer:
		readAnswer(&p, kind, value)
	case partText, partNew:
		readText(&p, in, v)
	}
	return p
}

// setArgs takes the arguments of a call; null is as good as none.
func setArgs(p *dialect.Part, args dialect.Raw) {
	if !args.IsPresent() {
		args = nil
	}
	p.SetArgs(args)
}

// readAnswer takes the result of a call that the provider ran.
func readAnswer(p *dialect.Part, kind partKind, value dialect.Raw) {
	p.Kind, p.RunByProvider, p.ID = dialect.ResultPart, true, value.Get("id").Text()
	p.Failed = hasFailed(kind, value)
	if kind == partResult {
		p.Name, p.Text = codeTool, value.Get("output").Append(nil)
		return
	}
	p.Name = toolType(value)
	p.Text, _ = dialect.ResponseText(value.Get("response"))
}

// readText takes a text, a thought, a result, or none of them.
func readText(p *dialect.Part, in *part, v dialect.Raw) {
	response := v.Get("functionResponse")
	if response == nil {
		response = v.Get("function_response")
	}
	switch {
	case response.Kind() == '{':
		p.Kind, p.ID, p.Name = dialect.ResultPart, response.Get("id").Text(), response.Get("name").Text()
		p.Text, p.Failed = dialect.ResponseText(response.Get("response"))
		for range response.Get("parts").Elements() {
			p.Media++
		}
	case p.Signature != "" && !in.text.HasText():
		p.Kind, p.SignatureOnly = dialect.ReasoningPart, true
	case in.text.IsString():
		p.Text = in.text.Append(nil)
		if p.Kind = dialect.TextPart; in.thought.IsTrue() {
			p.Kind = dialect.ReasoningPart
		}
	}
}
