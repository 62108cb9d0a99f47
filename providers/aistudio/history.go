package aistudio

import "toolscope/providers/dialect"

// decodeHistory reads the contents of a request, at 1, and its system instruction, at 5.
func decodeHistory(request []byte) (messages []dialect.Message, err error) {
	var p parser
	v, err := p.parse(request)
	if err != nil {
		v = p.nodes
	}
	if system := readContent(v.element(5)); len(system.Parts) > 0 {
		system.Role = dialect.System
		messages = append(messages, system)
	}
	for content := range v.element(1).elements() {
		if !content.isCut() || content.len() > 1 { // whose it is stands behind its parts
			messages = append(messages, readContent(content))
		}
	}
	return messages, err
}

func readContent(v jsonNodes) dialect.Message {
	m := dialect.Message{Role: dialect.User}
	if v.element(1).raw().Is("model") {
		m.Role = dialect.Assistant
	}
	for part := range v.element(0).elements() {
		if part.isArray() && !part.isCut() {
			m.Parts = append(m.Parts, readPart(part))
		}
	}
	return m
}

func readPart(v jsonNodes) dialect.Part {
	p := dialect.Part{Kind: dialect.OtherPart, Signature: v.element(14).raw().Text(), Raw: exactText(v)}
	said, call, result, code, printed := v.element(1), fieldAtEither(v, 10, 3), fieldAtEither(v, 11, 4), v.element(8), v.element(9)
	switch {
	case call != nil:
		p.Kind, p.ToolKind, p.Name, p.ID = dialect.CallPart, "function", call.element(0).raw().Text(), call.element(2).raw().Text()
		setArgs(&p, call.element(1))
	case result != nil:
		p.Kind, p.Name, p.ID = dialect.ResultPart, result.element(0).raw().Text(), result.element(2).raw().Text()
		p.Text, p.Failed = responseText(result.element(1))
	case code.isArray():
		p.Kind, p.ToolKind, p.RunByProvider, p.Name = dialect.CallPart, "server", true, codeTool
		p.Args = code.element(1).raw().Append(nil)
	case printed.isArray():
		n, _ := printed.element(0).asInt()
		p.Kind, p.RunByProvider, p.Name, p.Failed = dialect.ResultPart, true, codeTool, n != outcomeOK
		p.Text = printed.element(1).raw().Append(nil)
	case p.Signature != "" && (said.raw().Empty() || onlySigned(v)):
		p.Kind, p.SignatureOnly = dialect.ReasoningPart, true
	case said.isString():
		p.Text = said.raw().Append(nil)
		if p.Kind = dialect.TextPart; v.element(12).isTrue() {
			p.Kind = dialect.ReasoningPart
		}
	}
	return p
}

// setArgs takes the arguments of a call: as the object that positional ones mean, or as they stand
// if they mean none.
func setArgs(p *dialect.Part, args jsonNodes) {
	p.Form = dialect.PositionalForm
	switch {
	case args.isNull():
	case args.isArray():
		var r argsReader
		if p.Args = exactText(args); r.read(args) == nil {
			p.Args = r.text
		}
	default:
		if p.Form = dialect.ObjectForm; args.isString() {
			p.Form = dialect.TextForm
		}
		p.Args = args.raw().Append(nil)
	}
}

// responseText is the text of a result, which is a Struct as arguments are.
func responseText(v jsonNodes) (text []byte, failed bool) {
	var p dialect.Part
	if setArgs(&p, v); p.Form == dialect.TextForm {
		return p.Args, false
	}
	return dialect.ResponseText(dialect.Raw(p.Args))
}
