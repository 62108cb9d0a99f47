package protocol

import (
	"slices"

	"toolscope/stream/json"
)

// A Message is one message in the history of a request, in a form common to all protocols. A history is a
// list of messages.
type Message struct {
	Role    Role
	Parts   []Part
	Aborted bool // the message is a response that was aborted

	// Raw is the JSON object from which the message was read. It is nil if the message was not read from
	// JSON, or if one of its parts has the object as its Raw. Details that parts can't represent are written
	// back from Raw: a name, citations, or whether the content was a string, a list or null. Other protocols
	// ignore Raw.
	Raw json.Value
}

// RoleMember returns the role field for writing the message. It keeps the original word for the role, because
// a protocol may have several words for one role.
func (m *Message) RoleMember() json.Member {
	value := json.AppendQuoted(nil, []byte(m.Role.String()))
	if was := m.Raw.Get("role"); was != nil {
		value = was
	}
	return json.Member{Name: "role", Value: value}
}

// Role is the author of a message.
type Role uint8

const (
	System Role = iota
	User        // also used for tool results, whatever their role on the wire
	Assistant
)

// String returns the name of the role: system, user or assistant.
func (r Role) String() string { return [...]string{"system", "user", "assistant"}[r] }

// PartKind is the kind of a Part.
type PartKind uint8

const (
	TextPart PartKind = iota
	ReasoningPart
	CallPart
	ResultPart
	OtherPart // media, documents and unknown parts: only Raw contains their content
)

// A Part is one part of a message. The kind decides which fields are used. A field that the protocol doesn't
// have is empty.
type Part struct {
	Kind PartKind
	Text []byte // text, reasoning or the text of a result

	ID            string     // id that a call and its result share; for reasoning, the id of its element in reasoning_details
	Item          string     // id of the part's item, if it differs from ID
	Name          string     // name of the tool
	Namespace     string     // namespace of the tool, if Name doesn't contain it
	ToolKind      string     // kind of a call, as in stream.Call; type of a provider's result on the wire
	Parent        string     // id of the call whose code made this call
	MCPServer     string     // MCP server that runs the call
	Args          []byte     // arguments of a call: the text, or the exact bytes of the value
	Form          ArgsForm   // form of Args on the wire
	Author        ArgsAuthor // author of Args, for a call
	Unseen        bool       // toolscope missed bytes of the call, so Args may be incomplete
	Aborted       bool       // the response ended before the call was final; also set for the call's pending result
	RunByProvider bool       // the provider runs the call
	Failed        bool       // the result is an error
	Media         int        // number of blocks in a result that are not text
	Signature     string     // signature, which must be sent back unchanged with the part
	SignatureOnly bool       // the part is reasoning with only a signature, without text

	// Raw is the JSON value on the wire that contains only this part. It is a content block, a call, an item,
	// a message with one result, or a string with all reasoning of its message. It is nil if there is no such
	// value, or if the part has changed since it was read.
	Raw json.Value
}

// SetArgs sets the arguments of a call from their value on the wire. If the value is a string, the arguments
// are its text.
func (p *Part) SetArgs(value json.Value) {
	if p.Form, p.Args = ObjectForm, value; value.IsString() {
		p.Form, p.Args = TextForm, value.Unquoted()
	}
}

// ArgsAuthor is the author of a call's arguments. A client may rewrite the arguments before it sends the call
// back.
type ArgsAuthor uint8

const (
	SomeAuthor   ArgsAuthor = iota // unknown: a history doesn't show the author, and the response was not seen
	ModelAuthor                    // the model wrote these arguments
	ClientAuthor                   // the client changed the arguments that the model wrote
)

// ArgsForm is the form of a call's arguments in the history of a protocol.
type ArgsForm uint8

const (
	TextForm       ArgsForm = iota // a JSON string that contains the arguments as JSON
	ObjectForm                     // an object
	PositionalForm                 // protocol buffers as arrays (AI Studio)
)

// String returns the name of the form: string, object or arrays.
func (f ArgsForm) String() string { return [...]string{"string", "object", "arrays"}[f] }

// ResultText returns the text in a result's content, which is a string or a list of blocks. It also returns the
// number of blocks that are not text.
func ResultText(content json.Value) (text []byte, media int) {
	switch {
	case !content.IsPresent():
		return nil, 0
	case content.Kind() != '[':
		return content.Append(nil), 0
	}
	for block := range content.Elements() {
		switch t := block.Get("text"); {
		case t.IsString():
			text = t.Append(text)
		case block.IsString():
			text = block.Append(text)
		default:
			media++
		}
	}
	return text, media
}

// ReadSystemAndMessages returns the system prompt, if the request has one, and the messages that ReadMessages returns.
func ReadSystemAndMessages(request []byte, read func(json.Value) Message, readBlocks func(json.Value) []Part) ([]Message, error) {
	messages, err := ReadMessages(request, read)
	if system := readBlocks(json.Value(request).Get("system")); len(system) > 0 {
		messages = append([]Message{{Role: System, Parts: system}}, messages...)
	}
	return messages, err
}

// ReadMessages reads the messages of a request. If the request is cut off, it returns the complete
// messages and the error.
func ReadMessages(request []byte, read func(json.Value) Message) (messages []Message, err error) {
	s := json.Scan(request)
	for ok := s.Object(); ok; ok = s.Member() {
		if string(s.Key()) != "messages" {
			continue
		}
		for ok := s.Array(); ok; ok = s.Element() {
			if v := s.Value(); v.Kind() == '{' {
				messages = append(messages, read(v))
			}
		}
	}
	return messages, s.End()
}

// ReadChat reads the messages of a request in which each message with the role tool is the result of one call.
// Such a message becomes a user message, with the part that the function result returns. The function parts
// reads the parts of any other message.
func ReadChat(request []byte, result func(json.Value) Part, parts func(json.Value) []Part) ([]Message, error) {
	return ReadMessages(request, func(v json.Value) Message {
		switch role := v.Get("role"); {
		case role.Is("tool"):
			return Message{Role: User, Parts: []Part{result(v)}}
		case role.Is("assistant"):
			return Message{Role: Assistant, Raw: v, Parts: parts(v)}
		case role.Is("system"):
			return Message{Role: System, Raw: v, Parts: parts(v)}
		default:
			return Message{Role: User, Raw: v, Parts: parts(v)}
		}
	})
}

// WriteMessages writes the messages. The function result writes each result as a separate message, before the
// message that contains it. The function write writes that message with its other parts.
func WriteMessages(messages []Message, result func(*Part) []byte, write func(*Message, []Part) []byte) (out [][]byte) {
	for i := range messages {
		m := &messages[i]
		var rest []Part
		for j := range m.Parts {
			switch p := &m.Parts[j]; {
			case p.Kind != ResultPart:
				rest = append(rest, *p)
			case p.Raw != nil:
				out = append(out, p.Raw)
			default:
				out = append(out, result(p))
			}
		}
		if len(rest) > 0 || len(m.Parts) == 0 {
			out = append(out, write(m, rest))
		}
	}
	return out
}

// ReadContent reads the content of a message: a string, or a list of parts, each with a type.
func ReadContent(content json.Value) (parts []Part) {
	if content.IsString() {
		if !content.Empty() {
			parts = []Part{{Kind: TextPart, Text: content.Unquoted()}}
		}
		return parts
	}
	for v := range content.Elements() {
		p := Part{Kind: OtherPart, Raw: v}
		switch kind := v.Get("type"); {
		case kind.Is("text"):
			p.Kind, p.Text = TextPart, v.Get("text").Unquoted()
		case kind.Is("thinking"): // a string, or a list of texts
			p.Kind = ReasoningPart
			p.Text, _ = ResultText(v.Get("thinking"))
		}
		parts = append(parts, p)
	}
	return parts
}

// Content returns the content that represents parts. The parameter was is the content from which the parts were read.
// The result is a list if that content is a list, or if one string can't contain the parts. Otherwise, it is a
// string. Several texts become one string only if joined is set. Without parts, Content returns the original content
// if it has no parts either, and otherwise nil.
func Content(was json.Value, parts []Part, joined bool) []byte {
	if len(parts) == 0 {
		if len(ReadContent(was)) > 0 {
			return nil
		}
		return was
	}
	list := was.Kind() == '[' || len(parts) > 1 && !joined
	var text []byte
	for i := range parts {
		list = list || parts[i].Raw != nil
		text = append(text, parts[i].Text...)
	}
	var w json.Writer
	if !list {
		return w.Bytes(text).Text
	}
	w.Open('[')
	for i := range parts {
		if p := &parts[i]; p.Raw != nil {
			w.Raw(p.Raw)
		} else {
			w.Open('{').Member("type", "text").Key("text").Bytes(p.Text).Close('}')
		}
	}
	return w.Close(']').Text
}

// ResponseText returns the text of a result in Google's protocols. The result is an object. Its text is in
// the field output, or in the field error if the call failed. If the object has any other fields, the object
// itself is the text (FunctionResponse in go-genai's types.go).
func ResponseText(response json.Value) (text []byte, failed bool) {
	var output, err json.Value
	members := 0
	s := response.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		key, value := string(s.Key()), s.Value()
		switch {
		case !value.IsPresent():
			continue
		case key == "output":
			output = value
		case key == "error":
			err = value
		}
		members++
	}
	switch {
	case members == 1 && output != nil:
		return output.Append(nil), false
	case members == 1 && err != nil:
		return err.Append(nil), true
	}
	return response.Append(nil), err != nil
}

// WrapResponse returns the object that represents a result in Google's protocols. ResponseText reads such an object.
func WrapResponse(result *Part) json.Value {
	name := "output"
	if result.Failed {
		name = "error"
	}
	var w json.Writer
	return w.Open('{').Key(name).Bytes(result.Text).Close('}').Text
}

// WriteContents writes messages in the form of Google's protocols. All results for a turn are in one message,
// and each result has the name of its tool. System messages are omitted, because they have a separate place
// in the request. The function part writes one part. It may write nothing, for example for an image from
// another protocol. The function content makes a message from its parts, which are the content of an array.
func WriteContents(messages []Message, part func(*json.Writer, *Part), content func(role string, parts []byte) []byte) (out [][]byte) {
	names := callNames(messages)
	for _, m := range MergeResults(messages) {
		if m.Role == System {
			continue
		}
		var parts json.Writer
		for _, p := range m.Parts {
			if p.Kind == ResultPart && p.Name == "" {
				p.Name = names[p.ID]
			}
			if p.Raw != nil {
				parts.Raw(p.Raw)
			} else {
				part(&parts, &p)
			}
		}
		if len(parts.Text) == 0 && len(m.Parts) > 0 {
			continue
		}
		role := "user"
		if m.Role == Assistant {
			role = "model"
		}
		out = append(out, content(role, parts.Text))
	}
	return out
}

// callNames returns the tool names of the calls in a history, by call id.
func callNames(messages []Message) map[string]string {
	names := map[string]string{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Kind == CallPart && p.ID != "" {
				names[p.ID] = p.Name
			}
		}
	}
	return names
}

// MergeResults joins consecutive messages with results, for protocols that require all results for a turn in
// one message. A message is not joined if one of its parts has a Raw.
func MergeResults(messages []Message) (joined []Message) {
	before := false // results can be added to the last message in joined
	for _, m := range messages {
		results := onlyResults(m)
		if n := len(joined) - 1; before && results {
			joined[n].Parts = append(joined[n].Parts, m.Parts...)
			continue
		}
		m.Parts = slices.Clip(m.Parts) // appending copies, so the caller's array doesn't change
		joined, before = append(joined, m), results
	}
	return joined
}

// onlyResults reports whether a message has only results of tools that the client ran, all without a Raw.
func onlyResults(m Message) bool {
	for _, p := range m.Parts {
		if p.Kind != ResultPart || p.RunByProvider || p.Raw != nil {
			return false
		}
	}
	return m.Role == User && len(m.Parts) > 0
}

// FunctionCall is a call in OpenAI's form, which other protocols have adopted:
// {"id":…,"function":{"name":…,"arguments":…}}.
type FunctionCall struct{ ID, Name, Args json.Value }

// Fields returns the bindings of a call's fields for a Shape.
func (c *FunctionCall) Fields() []json.Binding {
	return []json.Binding{
		json.Field("id", &c.ID),
		json.Object("function", json.Field("name", &c.Name), json.Field("arguments", &c.Args)),
	}
}

// Read reads the call from the object v.
func (c *FunctionCall) Read(v json.Value) {
	s := v.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "id":
			c.ID = s.Value()
		case "function":
			for ok := s.Object(); ok; ok = s.Member() {
				switch string(s.Key()) {
				case "name":
					c.Name = s.Value()
				case "arguments":
					c.Args = s.Value()
				}
			}
		}
	}
}

// ListOf reports whether the next value of s is an empty list, or a list whose first element is an object
// with one of the fields in members. The value may be cut off after that field.
func ListOf(s json.Scanner, members map[string]bool) bool {
	if s.Kind() != '[' {
		return false
	}
	if !s.Array() {
		return true
	}
	for ok := s.Object(); ok; ok = s.Member() {
		if members[string(s.Key())] {
			return true
		}
	}
	return false
}

// WriteArgs writes the arguments of a call in their form: text as a string, and any other form as JSON, or {}
// if there are no arguments.
func WriteArgs(w *json.Writer, p *Part) *json.Writer {
	switch {
	case p.Form == TextForm:
		return w.Bytes(p.Args)
	case len(p.Args) == 0:
		return w.Open('{').Close('}')
	}
	return w.Raw(p.Args)
}
