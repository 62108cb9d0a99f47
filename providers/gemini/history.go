package gemini

import "toolscope/providers/protocol"

// decodeHistory reads the contents of a request and its system instruction.
func decodeHistory(request []byte) (messages []protocol.Message, err error) {
	s := protocol.Scan(request)
	messages = newReader().readRequest(&s, nil)
	return messages, s.End()
}

// reader reads the parts that the decoder reads, and those that only requests have.
type reader struct {
	shape *protocol.Shape
	in    part
}

func newReader() *reader {
	r := new(reader)
	r.shape = protocol.ShapeOf(r.in.shapeFields()...)
	return r
}

func (r *reader) readRequest(s *protocol.Scanner, messages []protocol.Message) []protocol.Message {
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "request": // Cloud Code
			messages = r.readRequest(s, messages)
		case "systemInstruction", "system_instruction":
			if m := r.readContent(s.Value()); len(m.Parts) > 0 {
				m.Role = protocol.System
				messages = append([]protocol.Message{m}, messages...)
			}
		case "contents":
			eachElement(s, func(content protocol.Raw) { messages = append(messages, r.readContent(content)) })
		}
	}
	return messages
}

// eachElement calls take with each element of the next value. An object counts as a list of one, as in
// Google's own examples.
func eachElement(s *protocol.Scanner, take func(protocol.Raw)) {
	if s.Kind() == '{' {
		if v := s.Value(); v != nil {
			take(v)
		}
		return
	}
	for ok := s.Array(); ok; ok = s.Element() {
		if v := s.Value(); v != nil { // nil if the element is cut off
			take(v)
		}
	}
}

func (r *reader) readContent(v protocol.Raw) protocol.Message {
	m := protocol.Message{Role: protocol.User}
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "role":
			if s.Value().Is("model") {
				m.Role = protocol.Assistant
			}
		case "parts":
			eachElement(&s, func(part protocol.Raw) { m.Parts = append(m.Parts, r.readPart(part)) })
		}
	}
	return m
}

func (r *reader) readPart(v protocol.Raw) protocol.Part {
	if r.shape.Read(v) != nil {
		return protocol.Part{Kind: protocol.OtherPart, Raw: v} // not an object
	}
	in := &r.in
	kind, value := in.kindAndValue()
	p := protocol.Part{Kind: protocol.OtherPart, Signature: in.signature.Text(), Raw: v}
	switch kind {
	case partCall:
		p.Kind, p.ToolKind = protocol.CallPart, "function"
		p.ID, p.Name = in.call.id.Text(), in.call.name.Text()
		setArgs(&p, in.call.args)
	case partCode:
		p.Kind, p.ToolKind, p.RunByProvider, p.Name = protocol.CallPart, "server", true, codeTool
		p.ID = value.Get("id").Text()
		setArgs(&p, value)
	case partTool:
		p.Kind, p.ToolKind, p.RunByProvider = protocol.CallPart, "server", true
		p.ID, p.Name = value.Get("id").Text(), toolType(value)
		setArgs(&p, value.Get("args"))
	case partResult, partAnswer:
		readAnswer(&p, kind, value)
	case partText, partNew:
		readText(&p, in, v)
	}
	return p
}

// setArgs sets the arguments of a call. null counts as missing.
func setArgs(p *protocol.Part, args protocol.Raw) {
	if !args.IsPresent() {
		args = nil
	}
	p.SetArgs(args)
}

// readAnswer reads the result of a call that the provider ran.
func readAnswer(p *protocol.Part, kind partKind, value protocol.Raw) {
	p.Kind, p.RunByProvider, p.ID = protocol.ResultPart, true, value.Get("id").Text()
	p.Failed = hasFailed(kind, value)
	if kind == partResult {
		p.Name, p.Text = codeTool, value.Get("output").Append(nil)
		return
	}
	p.Name = toolType(value)
	p.Text, _ = protocol.ResponseText(value.Get("response"))
}

// readText reads a text, a thought, a result, or a part without any of them.
func readText(p *protocol.Part, in *part, v protocol.Raw) {
	response := v.Get("functionResponse")
	if response == nil {
		response = v.Get("function_response")
	}
	switch {
	case response.Kind() == '{':
		p.Kind, p.ID, p.Name = protocol.ResultPart, response.Get("id").Text(), response.Get("name").Text()
		p.Text, p.Failed = protocol.ResponseText(response.Get("response"))
		for range response.Get("parts").Elements() {
			p.Media++
		}
	case p.Signature != "" && !in.text.HasText():
		p.Kind, p.SignatureOnly = protocol.ReasoningPart, true
	case in.text.IsString():
		p.Text = in.text.Append(nil)
		if p.Kind = protocol.TextPart; in.thought.IsTrue() {
			p.Kind = protocol.ReasoningPart
		}
	}
}
