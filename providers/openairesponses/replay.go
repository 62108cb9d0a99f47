package openairesponses

import (
	"bytes"
	"errors"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// target describes how the Responses protocol accepts history: as a list of items. It accepts any text as arguments,
// even incomplete JSON. The rules are from OpenAI's published API description (FunctionCallItem,
// FunctionCallOutputItemParam) and from OpenAI's error messages (AnswerDotAI/fastllm#45, continuedev/continue#10092
// and #10018, openai/codex#9447). Clients trim underscores from the end of an id (badlogic/pi-mono).
var target = protocol.Target{
	Name: "openai-responses", Title: "OpenAI Responses", Protocol: "openai-responses",
	Form:          protocol.TextForm,
	IDs:           protocol.IDRule{Min: 1, Max: 64, Required: true, Trim: "_"},
	Names:         protocol.NameRule{Class: "a-zA-Z0-9_-", Max: 128},
	Freeform:      true,
	HasPreviousID: true,
	Reasoning:     protocol.SignedReasoning,
	Media:         true,
	Refusal: protocol.Refusal{
		ArgsObject:     "Invalid type for 'input[N].arguments': expected a string, but got an object instead.",
		ID:             "Invalid 'input[N].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.",
		LongID:         "Invalid 'input[N].call_id': string too long. Expected a string with maximum length 64, but got a string with length {n} instead.",
		Name:           "Invalid 'input[N].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
		LoneCall:       "No tool output found for function call {id}.",
		LoneResult:     "No tool call found for function call output with call_id {id}.",
		NoReasoning:    "Item 'fc_...' of type 'function_call' was provided without its required 'reasoning' item: 'rs_...'.",
		SameItem:       "Duplicate item found with id {id}. Remove duplicate items from your input and try again.",
		LoneReasoning:  "Item '{id}' of type 'reasoning' was provided without its required following item.",
		OtherReasoning: "The encrypted content could not be verified.",
	},
	Hosts:   []string{"api.openai.com"},
	Encode:  encodeHistory,
	Request: writeRequest,
	Decode:  decodeHistory,
}

// encodeHistory writes messages as items.
func encodeHistory(messages []protocol.Message) (out [][]byte) {
	calls := map[string]*protocol.Part{}
	for _, m := range messages {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == protocol.CallPart {
				calls[p.ID] = p
			}
		}
		for rest := m.Parts; len(rest) > 0; {
			n := 1 // number of parts that belong to one item: several parts only if they are blocks of the same message
			for n < len(rest) && isBlock(&rest[0]) && isBlock(&rest[n]) && rest[0].Item == rest[n].Item {
				n++
			}
			if item := encodeItem(m.Role, rest[:n], calls); item != nil {
				out = append(out, item)
			}
			rest = rest[n:]
		}
	}
	return out
}

// isBlock reports whether a part is a block in the content of a message, or can become one.
func isBlock(p *protocol.Part) bool {
	switch p.Kind {
	case protocol.TextPart, protocol.OtherPart:
		return p.Raw == nil || blocks[p.Raw.Get("type").Text()] != ""
	}
	return false
}

// blocks maps the block types in the content of a message to the field that contains the text or the data.
var blocks = map[string]string{
	"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal",
	"input_image": "image_url", "input_file": "file_data", "input_audio": "input_audio", "computer_screenshot": "image_url",
}

// encodeItem writes parts as one item. It returns nil if no item is needed: the instructions are in another field of
// the request, and images from another protocol are omitted.
func encodeItem(role protocol.Role, parts []protocol.Part, calls map[string]*protocol.Part) []byte {
	p := &parts[0]
	switch {
	case isBlock(p):
		return encodeMessage(role, parts)
	case p.Raw.IsString():
		return nil
	case p.Raw != nil:
		return p.Raw
	case p.Kind == protocol.ReasoningPart:
		return encodeReasoning(p)
	case p.Kind == protocol.CallPart:
		return encodeCall(p)
	}
	return encodeResult(p, calls[p.ID])
}

func encodeMessage(role protocol.Role, parts []protocol.Part) []byte {
	kind := "input_text"
	var w json.Writer
	w.Open('{').Member("type", "message")
	if id := itemID("message", parts[0].Item); id != "" {
		w.Member("id", id).Member("status", "completed") // an id needs a status, and a status needs an id
	}
	w.Member("role", role.String()).Key("content").Open('[')
	if role == protocol.Assistant {
		kind = "output_text"
	}
	n := 0
	for i := range parts {
		switch p := &parts[i]; {
		case p.Raw != nil:
			w.Raw(p.Raw)
		case p.Kind == protocol.TextPart:
			w.Open('{').Member("type", kind).Key("text").Bytes(p.Text).Close('}')
		default:
			continue
		}
		n++
	}
	if n == 0 {
		return nil
	}
	return w.Close(']').Close('}').Text
}

func encodeReasoning(p *protocol.Part) []byte {
	id := p.Item
	if id == "" {
		id = p.ID
	}
	var w json.Writer
	w.Open('{').Member("type", "reasoning").MemberIfSet("id", itemID("reasoning", id)).Key("summary").Open('[')
	if len(p.Text) > 0 {
		w.Open('{').Member("type", "summary_text").Key("text").Bytes(p.Text).Close('}')
	}
	return w.Close(']').MemberIfSet("encrypted_content", p.Signature).Close('}').Text
}

// idPrefixes maps item types to the prefixes of their ids. OpenAI refuses other ids: "Invalid 'input[N].id':
// 'call_x'. Expected an ID that begins with 'fc'."
var idPrefixes = map[string]string{
	"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc", "shell_call": "sh",
	"local_shell_call": "lsh", "apply_patch_call": "apc", "computer_call": "cu", "tool_search_call": "tsc", "program": "cm",
}

// itemID returns the id with which an item of the given type is sent back. It returns "" if the id lacks the type's
// prefix or is longer than 64 bytes. Ids are optional.
func itemID(kind, id string) string {
	if prefix, known := idPrefixes[kind]; known && !strings.HasPrefix(id, prefix) || len(id) > 64 {
		return ""
	}
	return id
}

// decodeHistory reads the input and the instructions of a request. Over a WebSocket, a client sends many requests. A
// request that contains the id of the previous response continues the earlier requests.
func decodeHistory(request []byte) (messages []protocol.Message, err error) {
	read := func(f stream.Frame) {
		if f.Kind == stream.FrameResidue {
			err = errors.New(f.Why)
			return
		}
		var h history
		s := json.Scan(bytes.Clone(f.Data)) // a copy, because parts keep slices of it
		h.readRequest(&s)
		err = s.End()
		switch {
		case h.isContinued:
			messages = append(messages, h.messages...)
		case len(h.messages) > 0: // a request that doesn't continue starts a new history
			messages = h.messages
		}
	}
	var values stream.Values
	values.Write(request, read)
	values.Close(read)
	return messages, err
}

// history collects the messages in one request.
type history struct {
	messages    []protocol.Message
	calls       []protocol.Part
	open        bool // the next item may belong to the last message
	isContinued bool // the request contains the id of the previous response
	wire        wireItem
}

func (h *history) readRequest(s *json.Scanner) {
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "response": // some clients put the request inside this field
			h.readRequest(s)
		case "previous_response_id":
			h.isContinued = s.Value().IsString()
		case "instructions":
			if v := s.Value(); v.IsString() {
				system := protocol.Part{Text: v.Append(nil), Raw: v}
				h.messages = append([]protocol.Message{{Role: protocol.System, Parts: []protocol.Part{system}}}, h.messages...)
			}
		case "input":
			if s.Kind() == '"' {
				h.addParts(protocol.User, false, protocol.Part{Text: s.Value().Append(nil)})
			}
			for ok := s.Array(); ok; ok = s.Element() {
				if v := s.Value(); v != nil { // nil if the item is cut off
					h.readItem(v)
				}
			}
		}
	}
}

// addParts adds parts to the last message if they can belong to it, and otherwise adds a message. Consecutive items
// of the model form one message. So do consecutive results.
func (h *history) addParts(role protocol.Role, joins bool, parts ...protocol.Part) {
	n := len(h.messages) - 1
	if n >= 0 && joins && h.open && h.messages[n].Role == role {
		h.messages[n].Parts = append(h.messages[n].Parts, parts...)
		return
	}
	h.messages = append(h.messages, protocol.Message{Role: role, Parts: parts})
	h.open = joins
}

func (h *history) readItem(v json.Value) {
	w := &h.wire
	w.read(v)
	switch kind := w.kind.Text(); {
	case kind == "message", kind == "" && v.Get("role") != nil:
		role, parts := readMessage(v, w)
		h.addParts(role, role == protocol.Assistant, parts...)
	case kind == "additional_tools":
		h.addParts(protocol.System, false, protocol.Part{Kind: protocol.OtherPart, Raw: v})
	case kind == "reasoning":
		h.addParts(protocol.Assistant, true, readReasoning(w))
	case strings.HasSuffix(kind, "_output"), kind == "mcp_approval_response":
		p := h.readResult(w)
		role := protocol.User
		if p.RunByProvider {
			role = protocol.Assistant
		}
		h.addParts(role, true, p)
	default:
		p := protocol.Part{Kind: protocol.OtherPart, Raw: v}
		if c, ok := callOf(kind, w); ok {
			p = readCall(w, c)
			h.calls = append(h.calls, p)
		}
		h.addParts(protocol.Assistant, true, p)
	}
}

// readMessage reads a message as one part per block. If there is only one block, the Raw field of its part is the
// complete item. A message with unknown blocks becomes one part.
func readMessage(v json.Value, w *wireItem) (role protocol.Role, parts []protocol.Part) {
	switch name := v.Get("role"); {
	case name.Is("assistant"):
		role = protocol.Assistant
	case name.Is("system"), name.Is("developer"):
		role = protocol.System
	default:
		role = protocol.User
	}
	whole := protocol.Part{Item: w.id.Text(), Raw: v}
	for block := range w.content.Elements() {
		member := blocks[block.Get("type").Text()]
		if member == "" {
			whole.Kind = protocol.OtherPart
			return role, []protocol.Part{whole}
		}
		p := protocol.Part{Kind: protocol.OtherPart, Item: whole.Item, Raw: block}
		if member == "text" || member == "refusal" {
			p.Kind, p.Text = protocol.TextPart, block.Get(member).Append(nil)
		}
		parts = append(parts, p)
	}
	switch len(parts) {
	case 0:
		if w.content.IsString() {
			whole.Text = w.content.Append(nil)
		}
		parts = []protocol.Part{whole}
	case 1:
		parts[0].Raw = v
	}
	return role, parts
}

// readReasoning reads the text of a reasoning item: the summary, and the reasoning itself if the model
// shows it.
func readReasoning(w *wireItem) protocol.Part {
	p := protocol.Part{Kind: protocol.ReasoningPart, Item: w.id.Text(), Signature: w.encrypted.Text(), Raw: w.raw}
	for _, list := range [...]json.Value{w.summary, w.content} {
		for v := range list.Elements() {
			p.Text = v.Get("text").Append(p.Text)
		}
	}
	p.SignatureOnly = len(p.Text) == 0 && p.Signature != ""
	return p
}

// readCall reads the item of a call in the same way as the decoder.
func readCall(w *wireItem, c callKind) protocol.Part {
	p := protocol.Part{
		Kind: protocol.CallPart, ToolKind: c.word, ID: w.callID.Text(), Item: w.id.Text(), Name: w.name.Text(),
		Namespace: w.space.Text(), MCPServer: w.host.Text(), Parent: w.caller.Text(), Signature: w.fingerprint.Text(), RunByProvider: c.byProvider(w), Raw: w.raw,
	}
	if p.ID == "" || p.ID == p.Item {
		p.ID, p.Item = w.id.Text(), ""
	}
	if p.Name == "" && c.word == "server" {
		p.Name = w.kind.Text()
	}
	value, wrap := w.callArguments()
	if !value.IsPresent() {
		return p
	}
	p.SetArgs(value)
	if wrap != "" {
		var list json.Writer
		p.Args = list.Open('{').Key(wrap).Raw(value).Close('}').Text
	}
	return p
}

// finished contains the types of call items that must have a status.
var finished = map[string]bool{
	"local_shell_call": true, "apply_patch_call": true, "computer_call": true, "code_interpreter_call": true,
	"web_search_call": true, "file_search_call": true, "image_generation_call": true,
}

// nameless contains the types of call items without a call_id. If such a call has a result, the result contains the
// item's id.
var nameless = map[string]bool{
	"mcp_call": true, "mcp_approval_request": true, "code_interpreter_call": true, "web_search_call": true,
	"file_search_call": true, "image_generation_call": true,
}

// itemType returns the type of the item that represents a call.
func itemType(p *protocol.Part) string {
	switch p.ToolKind {
	case "custom":
		return "custom_tool_call"
	case "mcp":
		return "mcp_call"
	case "mcp_approval":
		return "mcp_approval_request"
	case "server":
		if c, ok := callOf(p.Name, nil); ok && c.word == "server" {
			return p.Name
		}
	}
	return "function_call"
}

// encodeCall writes the item of a call. If the provider runs the call, the item lacks the fields that a Part can't
// represent, such as the id of a container.
func encodeCall(p *protocol.Part) []byte {
	kind := itemType(p)
	c, _ := callOf(kind, nil)
	var w json.Writer
	w.Open('{').Member("type", kind)
	if nameless[kind] || isProviderSearch(p) {
		w.MemberIfSet("id", p.ID)
	} else {
		w.MemberIfSet("id", itemID(kind, p.Item)).Member("call_id", p.ID)
	}
	if c.word != "server" {
		w.Member("name", p.Name)
	}
	writeArgs(&w, kind, c, p)
	switch {
	case c.word == "mcp", c.word == "mcp_approval":
		w.Member("server_label", p.MCPServer)
	default:
		w.MemberIfSet("namespace", p.Namespace)
	}
	if p.Parent != "" {
		w.Key("caller").Open('{').Member("type", "program").Member("caller_id", p.Parent).Close('}')
	}
	switch kind {
	case "program":
		w.Member("fingerprint", p.Signature)
	case "computer_call":
		w.Key("pending_safety_checks").Open('[').Close(']')
	case "tool_search_call":
		w.Member("execution", executionOf(p))
	}
	if finished[kind] {
		w.Member("status", "completed")
	}
	return w.Close('}').Text
}

// isProviderSearch reports whether a call is a tool search of the provider. Such a call has no id other than the
// item's id.
func isProviderSearch(p *protocol.Part) bool {
	return p.Name == "tool_search_call" && p.RunByProvider && p.Item == ""
}

func executionOf(p *protocol.Part) string {
	if p.RunByProvider {
		return "server"
	}
	return "client"
}

// writeArgs writes the field with the arguments. It is the inverse of wireItem.callArguments.
func writeArgs(w *json.Writer, kind string, c callKind, p *protocol.Part) {
	for _, list := range [...]struct{ kind, member string }{{"computer_call", "actions"}, {"file_search_call", "queries"}} {
		if value := json.Value(p.Args).Get(list.member); kind == list.kind && value.Kind() == '[' {
			w.Key(list.member).Raw(value)
			return
		}
	}
	switch {
	case c.word != "server", c.freeform:
		w.Key(c.member).Bytes(p.Args)
	case c.member != "" && len(p.Args) > 0:
		w.Key(c.member).Value(p.Args)
	}
}

// encodeResult writes the item of a result. The item's type depends on the call. If the call is not among
// the messages, call is nil, and the type depends on the result itself.
func encodeResult(p, call *protocol.Part) []byte {
	if call == nil {
		call = p
	}
	kind := itemType(call)
	var w json.Writer
	switch w.Open('{'); kind {
	case "local_shell_call": // this type has the field id instead of call_id
		w.Member("type", "local_shell_call_output").Member("id", p.ID).Key("output").Bytes(p.Text)
	case "shell_call":
		code := 0
		if p.Failed {
			code = 1
		}
		w.Member("type", "shell_call_output").Member("call_id", p.ID).Key("output").Open('[').Open('{').
			Key("stdout").Bytes(p.Text).Member("stderr", "").
			Key("outcome").Open('{').Member("type", "exit").Key("exit_code").Int(code).Close('}').Close('}').Close(']')
	case "apply_patch_call":
		w.Member("type", "apply_patch_call_output").Member("call_id", p.ID).Member("status", statusOf(p, "failed")).
			Key("output").Bytes(p.Text)
	case "computer_call":
		w.Member("type", "computer_call_output").Member("call_id", p.ID).
			Key("output").Open('{').Member("type", "computer_screenshot").Close('}')
	case "tool_search_call":
		writeFound(&w, p, call)
	case "program":
		w.Member("type", "program_output").MemberIfSet("id", p.Item).Member("call_id", p.ID).Key("result").Bytes(p.Text).
			Member("status", statusOf(p, "incomplete"))
	case "mcp_approval_request":
		approve := "true"
		if p.Failed {
			approve = "false"
		}
		w.Member("type", "mcp_approval_response").Member("approval_request_id", p.ID).Key("approve").Raw([]byte(approve)).
			MemberIfSet("reason", string(p.Text))
	default:
		w.Member("type", kind+"_output").Member("call_id", p.ID).Key("output").Bytes(p.Text)
	}
	return w.Close('}').Text
}

func statusOf(p *protocol.Part, failed string) string {
	if p.Failed {
		return failed
	}
	return "completed"
}

// writeFound writes the tools that a tool search found, which are the result of the search.
func writeFound(w *json.Writer, p, call *protocol.Part) {
	w.Member("type", "tool_search_output")
	if !isProviderSearch(call) {
		w.Member("call_id", p.ID)
	}
	w.Member("execution", executionOf(call)).Member("status", "completed").Key("tools")
	if tools := json.Value(p.Text); tools.Kind() == '[' {
		w.Value(tools)
	} else {
		w.Open('[').Close(']')
	}
}
