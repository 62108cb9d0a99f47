package openairesponses

import (
	"bytes"
	"errors"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// decodeHistory reads the input of a request and its instructions. Over a WebSocket a client sends many
// requests. A request that names the previous response continues the earlier ones.
func decodeHistory(request []byte) (messages []protocol.Message, err error) {
	read := func(f stream.Frame) {
		if f.Kind == stream.FrameResidue {
			err = errors.New(f.Why)
			return
		}
		var h history
		s := protocol.Scan(bytes.Clone(f.Data)) // parts keep the bytes that they were read from
		h.readRequest(&s)
		err = s.End()
		switch {
		case h.isContinued:
			messages = append(messages, h.messages...)
		case len(h.messages) > 0: // other requests start a new history
			messages = h.messages
		}
	}
	var values stream.Values
	values.Write(request, read)
	values.Close(read)
	return messages, err
}

// history is the history of one request.
type history struct {
	messages    []protocol.Message
	calls       []protocol.Part
	open        bool // the next item may belong to the last message
	isContinued bool // the request names the previous response
	wire        wireItem
}

func (h *history) readRequest(s *protocol.Scanner) {
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "response": // some clients put the request into it
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

// addParts adds parts to the last message if they can belong to it: consecutive items of the model form
// one message, and so do consecutive results.
func (h *history) addParts(role protocol.Role, joins bool, parts ...protocol.Part) {
	n := len(h.messages) - 1
	if n >= 0 && joins && h.open && h.messages[n].Role == role {
		h.messages[n].Parts = append(h.messages[n].Parts, parts...)
		return
	}
	h.messages = append(h.messages, protocol.Message{Role: role, Parts: parts})
	h.open = joins
}

func (h *history) readItem(v protocol.Raw) {
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

// readMessage reads a message as one part for each block. The Raw of a single block is the complete
// item. A message with unknown blocks becomes one part.
func readMessage(v protocol.Raw, w *wireItem) (role protocol.Role, parts []protocol.Part) {
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
	for _, list := range [...]protocol.Raw{w.summary, w.content} {
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
		var list protocol.Writer
		p.Args = list.Open('{').Key(wrap).Raw(value).Close('}').Text
	}
	return p
}
