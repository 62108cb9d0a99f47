package aistudio

import (
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// target is the target for histories of AI Studio's page. Its models and messages are Gemini's, so the same rules are
// assumed to apply. Names are as in FunctionDeclaration in Google's API reference, and numbers are doubles. A Struct
// is nested no deeper than protobuf's parsers allow. Calls have signatures, and there is a placeholder for a missing
// one. It is unknown how the service refuses a request.
var target = protocol.Target{
	Name: "aistudio", Title: "Google AI Studio", Protocol: "aistudio",
	Form:          protocol.PositionalForm,
	Names:         protocol.NameRule{Class: "a-zA-Z0-9_.:-", First: "a-zA-Z_", Max: 128},
	Doubles:       true,
	UnorderedKeys: true,
	// The depth is the number of nested messages. The content, the part and the call are three of them. An object is
	// a Struct of entries with Values, and a list is a ListValue of Values (struct.proto). The default limit of
	// protobuf's parsers is 100.
	Depth:         protocol.DepthRule{Limit: 100, Base: 3, Object: 3, Array: 2},
	Reasoning:     protocol.PlainReasoning,
	HasSignatures: true,
	Sentinel:      "skip_thought_signature_validator",
	ErrorFlag:     true, ResultsFollow: true,
	Encode: encodeHistory,
	Decode: decodeHistory,
}

func encodeHistory(messages []protocol.Message) [][]byte {
	return protocol.WriteContents(messages, writePart, func(role string, parts []byte) []byte {
		return positionalMessage{slices.Concat([]byte("["), parts, []byte("]")), stringOrNil(role)}.raw()
	})
}

func writePart(w *json.Writer, p *protocol.Part) {
	fields := make(positionalMessage, 15) // with the indexes in the package comment
	fields[14] = stringOrNil(p.Signature)
	switch {
	case p.Kind == protocol.CallPart && p.RunByProvider && p.Name == codeTool:
		fields[8] = positionalMessage{json.Value("1"), json.AppendQuoted(nil, p.Args)}.raw()
	case p.Kind == protocol.CallPart:
		fields[10] = positionalMessage{json.AppendQuoted(nil, []byte(p.Name)), argsOf(p), stringOrNil(p.ID)}.raw()
	case p.Kind == protocol.ResultPart && p.RunByProvider && p.Name == codeTool:
		outcome := "1"
		if p.Failed {
			outcome = "2"
		}
		fields[9] = positionalMessage{json.Value(outcome), json.AppendQuoted(nil, p.Text)}.raw()
	case p.Kind == protocol.ResultPart:
		object, _ := appendStruct(nil, protocol.WrapResponse(p))
		fields[11] = positionalMessage{json.AppendQuoted(nil, []byte(p.Name)), object, stringOrNil(p.ID)}.raw()
	case p.Kind == protocol.TextPart, p.Kind == protocol.ReasoningPart && (len(p.Text) > 0 || p.Signature != ""):
		fields[1] = json.AppendQuoted(nil, p.Text)
		if p.Kind == protocol.ReasoningPart && len(p.Text) > 0 {
			fields[12] = json.Value("1")
		}
	default:
		return
	}
	w.Raw(fields.raw())
}

// argsOf returns the arguments of a call, or nil if the call has none. It writes arguments that are not an object as
// a string.
func argsOf(p *protocol.Part) json.Value {
	if len(p.Args) == 0 {
		return nil
	}
	if object, ok := appendStruct(nil, p.Args); ok {
		return object
	}
	return json.AppendQuoted(nil, p.Args)
}

const outcomeOK = 1

// protoStructWriter writes a JSON text as a STRUCT of protobuf. It is the inverse of argsReader.
type protoStructWriter struct {
	dst  []byte
	open []level
}

// level is an open object or array.
type level struct {
	list  bool
	elems int
}

// appendStruct appends the STRUCT of an object. If args are not an object, ok is false and nothing is
// appended. Keys, strings and numbers keep their spelling, and pairs keep their order. An empty object or
// array has no field, so its message is [].
func appendStruct(dst, args []byte) (_ []byte, ok bool) {
	var l json.Lexer
	l.Write(args)
	l.Close()
	if l.Syntax() != json.SyntaxObject {
		return dst, false
	}
	w := protoStructWriter{dst: dst}
	start := 0
	for _, t := range l.Tokens().All() {
		w.writeToken(t.Kind, args[start:t.End])
		start = int(t.End)
	}
	return w.dst, true
}

// nulls contains the elements before the field of a VALUE, by the first token of the value.
var nulls = map[json.TokenKind]string{
	json.Number: "null,", json.String: "null,null,", json.True: "null,null,null,", json.False: "null,null,null,",
	json.ObjectOpen: "null,null,null,null,", json.ArrayOpen: "null,null,null,null,null,",
}

// leaves contains the texts of the fields for null, true and false. The only value of the enum for null is 0.
var leaves = map[json.TokenKind]string{json.Null: "0", json.True: "1", json.False: "0"}

func (w *protoStructWriter) writeToken(kind json.TokenKind, text []byte) {
	switch kind {
	case json.Key:
		w.beginElement()
		w.dst = append(append(append(w.dst, '['), text...), ',')
	case json.ObjectOpen, json.ArrayOpen:
		w.beginValue(kind)
		w.dst = append(w.dst, '[')
		w.open = append(w.open, level{list: kind == json.ArrayOpen})
	case json.ObjectClose, json.ArrayClose:
		if w.open[len(w.open)-1].elems > 0 {
			w.dst = append(w.dst, ']')
		}
		w.dst = append(w.dst, ']')
		w.open = w.open[:len(w.open)-1]
		w.endValue()
	case json.String, json.Number, json.True, json.False, json.Null:
		w.beginValue(kind)
		if leaf := leaves[kind]; leaf != "" {
			w.dst = append(w.dst, leaf...)
		} else {
			w.dst = append(w.dst, text...)
		}
		w.endValue()
	}
}

// beginElement begins a pair or an item. The first element also begins the field that contains all elements.
func (w *protoStructWriter) beginElement() {
	in := &w.open[len(w.open)-1]
	if in.elems++; in.elems == 1 {
		w.dst = append(w.dst, '[')
	} else {
		w.dst = append(w.dst, ',')
	}
}

// beginValue begins a VALUE, unless it is the outermost STRUCT.
func (w *protoStructWriter) beginValue(kind json.TokenKind) {
	if len(w.open) == 0 {
		return
	}
	if w.open[len(w.open)-1].list {
		w.beginElement()
	}
	w.dst = append(append(w.dst, '['), nulls[kind]...)
}

// endValue ends a VALUE and, in an object, the pair that contains it.
func (w *protoStructWriter) endValue() {
	switch n := len(w.open); {
	case n == 0:
	case w.open[n-1].list:
		w.dst = append(w.dst, ']')
	default:
		w.dst = append(w.dst, "]]"...)
	}
}

// A positionalMessage contains the fields of a message that is written. Unset fields at the end are omitted.
type positionalMessage []json.Value

func (p positionalMessage) raw() json.Value {
	for len(p) > 0 && p[len(p)-1] == nil {
		p = p[:len(p)-1]
	}
	text := json.Value{'['}
	for i, field := range p {
		if i > 0 {
			text = append(text, ',')
		}
		if field == nil {
			field = json.Value("null")
		}
		text = append(text, field...)
	}
	return append(text, ']')
}

// stringOrNil returns s as a JSON string, or nil if s is empty.
func stringOrNil(s string) json.Value {
	if s == "" {
		return nil
	}
	return json.AppendQuoted(nil, []byte(s))
}

// exactText returns the exact text of an array that is valid JSON. For an array that omits nulls, it returns
// the text with the nulls added.
func exactText(v jsonNodes) json.Value {
	if json.Valid(v.raw()) {
		return v.raw()
	}
	return fillNulls(v).raw()
}

func fillNulls(v jsonNodes) (fields positionalMessage) {
	for e := range v.elements() {
		if e.isArray() {
			fields = append(fields, fillNulls(e).raw())
		} else {
			fields = append(fields, e.raw())
		}
	}
	return fields
}

// decodeHistory reads the contents of a request, at index 1, and its system instruction, at index 5.
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
		if !content.isCut() || content.len() > 1 { // in a complete content, the role follows the parts
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

// setArgs sets the arguments of a call. If positional arguments represent an object, it sets this object, and
// otherwise the unchanged arguments.
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

// responseText returns the text of a result, which is a Struct like arguments.
func responseText(v jsonNodes) (text []byte, failed bool) {
	var p protocol.Part
	if setArgs(&p, v); p.Form == protocol.TextForm {
		return p.Args, false
	}
	return protocol.ResponseText(json.Value(p.Args))
}
