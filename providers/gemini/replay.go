package gemini

import (
	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// target describes how generateContent accepts history, in the Gemini API and in Vertex. The rules for names are from
// Google's API reference (FunctionDeclaration). Refusals are the service's own messages
// (google-gemini/gemini-cli#4504, the tests of googleapis/nodejs-vertexai, and for signatures
// lbjlaq/Antigravity-Manager#3202). The placeholder signature is documented for calls by another model ("Thought
// signatures" at ai.google.dev).
var target = protocol.Target{
	Name: "gemini", Title: "Google Gemini", Protocol: "gemini",
	Form:          protocol.ObjectForm,
	Names:         protocol.NameRule{Class: "a-zA-Z0-9_.:-", First: "a-zA-Z_", Max: 128},
	Doubles:       true,
	UnorderedKeys: true,
	Depth:         structDepth,
	Reasoning:     protocol.PlainReasoning,
	HasSignatures: true,
	Sentinel:      "skip_thought_signature_validator",
	ErrorFlag:     true, Media: true, ResultsFollow: true,
	Refusal: protocol.Refusal{
		Args:           "Invalid value at 'contents[N].parts[M].function_call.args' (type.googleapis.com/google.protobuf.Struct), \"...\"",
		Name:           "GenerateContentRequest.tools[N].function_declarations[M].name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.",
		LoneCall:       wrongCount,
		SecondResult:   wrongCount,
		LoneResult:     "Please ensure that function response turn comes immediately after a function call turn.",
		Depth:          "Message too deep. Max recursion depth reached for key '...'", // of protobuf's JsonStreamParser
		Unsigned:       "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:{name}`, position N.",
		OtherReasoning: "Thought signature is not valid.",
		Order:          "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
	},
	Hosts:   []string{"generativelanguage.googleapis.com", "aiplatform.googleapis.com", "cloudcode-pa.googleapis.com"},
	Encode:  encodeHistory,
	Request: writeRequest,
	Decode:  decodeHistory,
}

const wrongCount = "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."

// structDepth is the maximum nesting of a google.protobuf.Struct. By default, protobuf's parsers accept up to 100
// levels of nested messages, not counting the outermost message (default_recursion_limit_ in coded_stream.cc,
// DEFAULT_RECURSION_LIMIT in CodedInputStream.java). The content, the part and the call take up three levels.
// According to struct.proto, an object takes up three levels: it is a Struct, whose fields are map entries, each a
// message with a Value. A list takes up two levels: it is a ListValue of Values. So 32 nested objects fit. In
// practice, the limit was hit slightly above 30 (crossplane/function-sdk-python#129).
var structDepth = protocol.DepthRule{Limit: 100, Base: 3, Object: 3, Array: 2}

func encodeHistory(messages []protocol.Message) [][]byte {
	return protocol.WriteContents(messages, writePart, func(role string, parts []byte) []byte {
		var w json.Writer
		return w.Open('{').Member("role", role).Key("parts").Open('[').Raw(parts).Close(']').Close('}').Text
	})
}

// writePart writes a part. It omits parts of the kind OtherPart, and reasoning with neither text nor
// signature.
func writePart(w *json.Writer, p *protocol.Part) {
	if p.Kind == protocol.OtherPart || p.Kind == protocol.ReasoningPart && len(p.Text) == 0 && p.Signature == "" {
		return
	}
	w.Open('{')
	switch p.Kind {
	case protocol.CallPart:
		writeCall(w, p)
	case protocol.ResultPart:
		writeResult(w, p)
	default:
		w.Key("text").Bytes(p.Text)
		if p.Kind == protocol.ReasoningPart && len(p.Text) > 0 {
			w.Flag("thought", true)
		}
	}
	w.MemberIfSet("thoughtSignature", p.Signature).Close('}')
}

func writeCall(w *json.Writer, p *protocol.Part) {
	switch {
	case p.RunByProvider && p.Name == codeTool:
		w.Key("executableCode").Value(p.Args)
		return
	case p.RunByProvider:
		w.Key("toolCall").Open('{').MemberIfSet("id", p.ID).Member("toolType", p.Name)
	default:
		w.Key("functionCall").Open('{').MemberIfSet("id", p.ID).Member("name", p.Name)
	}
	if len(p.Args) > 0 {
		w.Key("args").Value(p.Args)
	}
	w.Close('}')
}

func writeResult(w *json.Writer, p *protocol.Part) {
	switch {
	case p.RunByProvider && p.Name == codeTool:
		outcome := outcomeOK
		if p.Failed {
			outcome = "OUTCOME_FAILED"
		}
		w.Key("codeExecutionResult").Open('{').MemberIfSet("id", p.ID).Member("outcome", outcome).Key("output").Bytes(p.Text).Close('}')
		return
	case p.RunByProvider:
		w.Key("toolResponse").Open('{').MemberIfSet("id", p.ID).Member("toolType", p.Name)
	default:
		w.Key("functionResponse").Open('{').MemberIfSet("id", p.ID).Member("name", p.Name)
	}
	w.Key("response").Raw(protocol.WrapResponse(p)).Close('}')
}

// decodeHistory reads the contents of a request and its system instruction.
func decodeHistory(request []byte) (messages []protocol.Message, err error) {
	s := json.Scan(request)
	r := new(reader)
	r.shape = json.ShapeOf(r.in.shapeFields()...)
	messages = r.readRequest(&s, nil)
	return messages, s.End()
}

// reader reads the parts that the decoder also reads, and the parts that only requests have.
type reader struct {
	shape *json.Shape
	in    part
}

func (r *reader) readRequest(s *json.Scanner, messages []protocol.Message) []protocol.Message {
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
			eachElement(s, func(content json.Value) { messages = append(messages, r.readContent(content)) })
		}
	}
	return messages
}

// eachElement calls the function take with each element of the next value. It treats an object as a list of one
// element, because Google's own examples do so.
func eachElement(s *json.Scanner, take func(json.Value)) {
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

func (r *reader) readContent(v json.Value) protocol.Message {
	m := protocol.Message{Role: protocol.User}
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "role":
			if s.Value().Is("model") {
				m.Role = protocol.Assistant
			}
		case "parts":
			eachElement(&s, func(part json.Value) { m.Parts = append(m.Parts, r.readPart(part)) })
		}
	}
	return m
}

func (r *reader) readPart(v json.Value) protocol.Part {
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

// setArgs sets the arguments of a call. It treats null as missing.
func setArgs(p *protocol.Part, args json.Value) {
	if !args.IsPresent() {
		args = nil
	}
	p.SetArgs(args)
}

// readAnswer reads the result of a call that the provider ran.
func readAnswer(p *protocol.Part, kind partKind, value json.Value) {
	p.Kind, p.RunByProvider, p.ID = protocol.ResultPart, true, value.Get("id").Text()
	p.Failed = hasFailed(kind, value)
	if kind == partResult {
		p.Name, p.Text = codeTool, value.Get("output").Append(nil)
		return
	}
	p.Name = toolType(value)
	p.Text, _ = protocol.ResponseText(value.Get("response"))
}

// readText reads text, a thought, a result, or a part without any of them.
func readText(p *protocol.Part, in *part, v json.Value) {
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
