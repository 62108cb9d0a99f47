package aistudio

import "toolscope/providers/protocol"

// decodeHistory reads the contents of a request, at index 1, and its system instruction, at 5.
func decodeHistory(request []byte) (messages []protocol.Message, err error) {
	var p parser
	v, err := p.parse(request)
	if err != nil {
		v = p.nodes
	}
	if system := readContent(v.element(5)); len(system.Parts) > 0 {
		system.Role = protocol.System
		messages = append(messages, system)
	}
	for content := range v.element(1).elements() {
		if !content.isCut() || content.len() > 1 { // its role follows its parts
			messages = append(messages, readContent(content))
		}
	}
	return messages, err
}

func readContent(v jsonNodes) protocol.Message {
	m := protocol.Message{Role: protocol.User}
	if v.element(1).raw().Is("model") {
		m.Role = protocol.Assistant
	}
	for part := range v.element(0).elements() {
		if part.isArray() && !part.isCut() {
			m.Parts = append(m.Parts, readPart(part))
		}
	}
	return m
}

func readPart(v jsonNodes) protocol.Part {
	p := protocol.Part{Kind: protocol.OtherPart, Signature: v.element(14).raw().Text(), Raw: exactText(v)}
	said, call, result, code, printed := v.element(1), fieldAtEither(v, 10, 3), fieldAtEither(v, 11, 4), v.element(8), v.element(9)
	switch {
	case call != nil:
		p.Kind, p.ToolKind, p.Name, p.ID = protocol.CallPart, "function", call.element(0).raw().Text(), call.element(2).raw().Text()
		setArgs(&p, call.element(1))
	case result != nil:
		p.Kind, p.Name, p.ID = protocol.ResultPart, result.element(0).raw().Text(), result.element(2).raw().Text()
		p.Text, p.Failed = responseText(result.element(1))
	case code.isArray():
		p.Kind, p.ToolKind, p.RunByProvider, p.Name = protocol.CallPart, "server", true, codeTool
		p.Args = code.element(1).raw().Append(nil)
	case printed.isArray():
		n, _ := printed.element(0).asInt()
		p.Kind, p.RunByProvider, p.Name, p.Failed = protocol.ResultPart, true, codeTool, n != outcomeOK
		p.Text = printed.element(1).raw().Append(nil)
	case p.Signature != "" && (said.raw().Empty() || onlySigned(v)):
		p.Kind, p.SignatureOnly = protocol.ReasoningPart, true
	case said.isString():
		p.Text = said.raw().Append(nil)
		if p.Kind = protocol.TextPart; v.element(12).isTrue() {
			p.Kind = protocol.ReasoningPart
		}
	}
	return p
}

// setArgs sets the arguments of a call: as the object that positional arguments mean, or unchanged if
// they mean none.
func setArgs(p *protocol.Part, args jsonNodes) {
	p.Form = protocol.PositionalForm
	switch {
	case args.isNull():
	case args.isArray():
		var r argsReader
		if p.Args = exactText(args); r.read(args) == nil {
			p.Args = r.text
		}
	default:
		if p.Form = protocol.ObjectForm; args.isString() {
			p.Form = protocol.TextForm
		}
		p.Args = args.raw().Append(nil)
	}
}

// responseText returns the text of a result, which is a Struct as arguments are.
func responseText(v jsonNodes) (text []byte, failed bool) {
	var p protocol.Part
	if setArgs(&p, v); p.Form == protocol.TextForm {
		return p.Args, false
	}
	return protocol.ResponseText(protocol.Raw(p.Args))
}
