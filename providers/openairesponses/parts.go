package openairesponses

import (
	"bytes"
	"fmt"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// growingObject builds the object of a patch call or shell call as text, while one of its fields arrives in deltas.
// First, everything before that field is appended as announced, and then the field itself. Each delta is a JSON
// string, so the bytes between its quotes can be appended unchanged. The final item contains the exact bytes of the
// object.
type growingObject struct {
	object json.Value // the object as announced, with the growing field empty
	begun  bool
	off    bool   // no more parts can be appended: only the final item is used
	inside bool   // a part is open
	next   int64  // number of the open part, or of the next one if none is open
	start  int    // start of the open part's text
	tail   []byte // text after the last part
}

// growingMember is a field that arrives in deltas: a string, or a list of strings.
type growingMember struct {
	name string
	path string // the field's path in the item
	list bool
}

var (
	patchDiff     = growingMember{"diff", "operation.diff", false}
	shellCommands = growingMember{"commands", "action.commands", true}
)

// partNumber returns the number of a part. Some providers omit the number of the first part.
func (d *decoder) partNumber() int64 {
	n, _ := d.ev.part.Int()
	return n
}

// partDelta reads a delta of part n of a growing field.
func (it *item) partDelta(m growingMember, n int64, delta json.Value) {
	came := len(it.args)
	if delta.IsString() && it.openPart(m, n) {
		it.args = append(it.args, delta[1:len(delta)-1]...)
		it.call.ArgsText(it.args[came:], it.wireSource(m, n, delta))
		it.from = deltasCopy
	}
}

// openPart opens part n unless it is already open, and appends the text that precedes it. It reports whether the part
// can grow.
func (it *item) openPart(m growingMember, n int64) bool {
	g := &it.grow
	switch {
	case g.off || it.done:
		return g.inside
	case g.inside && n == g.next:
		return true
	case g.inside || n != g.next:
		g.off, g.inside = true, false
		return false
	case g.begun:
		it.args = append(it.args, ',')
	default:
		var head []byte
		if head, g.tail, g.begun = m.splitObject(g.object); !g.begun {
			g.off = true
			return false
		}
		it.args = append(it.args, head...)
	}
	it.args = append(it.args, '"')
	g.inside, g.start = true, len(it.args)
	return true
}

// partDone reads the complete text of part n.
func (it *item) partDone(m growingMember, n int64, text json.Value, from string) {
	g := &it.grow
	if !g.inside {
		it.partDelta(m, n, text)
	}
	if !g.inside || n != g.next {
		return
	}
	came := json.Value(`"` + string(it.args[g.start:]) + `"`)
	if text.IsString() && !came.Is(text.Text()) {
		fixed := append(it.args[:g.start:g.start], text[1:len(text)-1]...)
		it.reportMismatch(fixed, from, false)
		it.args, it.from = fixed, from
		it.call.Rewrite(fixed, it.wireSource(m, n, text))
	}
	g.inside = false
	g.next++
	end := []byte{'"'}
	if !m.list {
		end, g.tail = append(end, g.tail...), nil
	}
	it.appendArguments(end, nil)
}

// closeText returns text followed by the end of the open part, if any, and the end of the announced object.
func (g *growingObject) closeText(text []byte) []byte {
	text = bytes.Clone(text)
	if g.inside {
		text = append(text, '"')
	}
	return append(text, g.tail...)
}

// wireSource returns the path of part n and, after a space, the delta as it was sent.
func (it *item) wireSource(m growingMember, n int64, delta json.Value) []byte {
	buf := append(it.turn.buf[:0], m.path...)
	if m.list {
		buf = fmt.Appendf(buf, "[%d]", n)
	}
	it.turn.buf = append(append(buf, ' '), delta...)
	return it.turn.buf
}

// splitObject splits an object at the place where the field grows. This is the field's value, or the place after the
// last field if the object doesn't contain the field. The result ok is false if the field is not empty.
func (m growingMember) splitObject(object json.Value) (head, tail []byte, ok bool) {
	value := object.Get(m.name)
	if value != nil {
		at := cap(object) - cap(value) // both are slices of the same bytes
		head, tail = object[:at:at], object[at+len(value):]
	} else if s := object.Scan(); s.Object() {
		head = fmt.Appendf(bytes.TrimRight(object[:len(object)-1:len(object)-1], " \t\r\n"), `,"%s":`, m.name)
		tail = []byte{'}'}
	} else {
		head, tail = fmt.Appendf(nil, `{"%s":`, m.name), []byte{'}'}
	}
	if !m.list {
		return head, tail, value == nil || value.Empty()
	}
	s := value.Scan()
	return append(head, '['), append([]byte{']'}, tail...), value == nil || s.Kind() == '[' && !s.Array()
}

// textSection is a list of parts that contains text of an item.
type textSection uint8

const (
	contentText   textSection = iota // the content of a message
	reasoningText                    // the content of reasoning
	summaryText                      // the summary of reasoning
)

// part identifies a part of an item's text by its section and by its number in the section.
type part struct {
	in textSection
	n  int64
}

func (d *decoder) readTextDelta(it *item) {
	it.appendText(part{contentText, d.partNumber()}, d.ev.delta)
}
func (d *decoder) readTextDone(it *item) {
	it.appendTextOnce(part{contentText, d.partNumber()}, d.ev.text)
}

// appendText appends a delta to the text of a part.
func (it *item) appendText(p part, text json.Value) {
	if it.textSeen == nil {
		it.textSeen = map[part]bool{}
	}
	it.textSeen[p] = true
	if !text.HasText() {
		return
	}
	it.turn.last = it
	if p.in == contentText {
		it.turn.AppendText(text)
	} else {
		it.turn.AppendReasoning(it.slot, text)
	}
}

// appendTextOnce appends the complete text of a part if no delta of the part has arrived.
func (it *item) appendTextOnce(p part, text json.Value) {
	if !it.textSeen[p] {
		it.appendText(p, text)
	}
}

func (it *item) appendMissingSection(in textSection, parts json.Value) {
	s := parts.Scan()
	for n, ok := int64(0), s.Array(); ok; n, ok = n+1, s.Element() {
		value := s.Value()
		text := value.Get("text")
		if !text.IsString() {
			if text = value.Get("refusal"); text.HasText() {
				it.turn.NoteRefusal()
			}
		}
		it.appendTextOnce(part{in, n}, text)
	}
}

// signReasoning reports the encrypted reasoning of a final item, and its id. The encrypted reasoning belongs to the
// item's text if that text came last. Otherwise, it belongs to reasoning that is not shown. Its copies differ from event
// to event, and only the copy in output_item.done is used. If the provider keeps the reasoning, there is only the id.
func (it *item) signReasoning(w *wireItem) {
	if it.kind != "reasoning" || it.signed || !w.encrypted.HasText() && (it.named || it.idOf(w) == "") {
		return
	}
	it.named, it.signed = true, w.encrypted.HasText()
	code := stream.SignedShown
	if it.turn.last != it {
		code = stream.SignedHidden
	}
	it.turn.SignLast(w.encrypted, it.idOf(w), code)
}

// builtIn maps the types of the tools that the protocol itself defines to the item types of their calls.
var builtIn = map[string]string{
	"web_search": "web_search_call", "web_search_preview": "web_search_call", "web_search_2025_08_26": "web_search_call",
	"web_search_preview_2025_03_11": "web_search_call", "file_search": "file_search_call",
	"code_interpreter": "code_interpreter_call", "image_generation": "image_generation_call",
	"shell": "shell_call", "local_shell": "local_shell_call", "apply_patch": "apply_patch_call",
	"computer": "computer_call", "computer_use_preview": "computer_call",
	"tool_search": "tool_search_call", "programmatic_tool_calling": "program",
}

// readTools returns the tools of a request body, or of a client's WebSocket messages. They include tools that the
// input adds, and tools that the client's tool search found. The tools of an MCP server are in the response instead.
func readTools(request []byte) (all []protocol.Tool) {
	read := func(f stream.Frame) {
		body := json.Value(bytes.Clone(f.Data)) // a copy, because the tools keep slices of it as schemas
		if nested := body.Get("response"); nested.Kind() == '{' {
			body = nested
		}
		all = appendTools(all, body.Get("tools"), "")
		for item := range body.Get("input").Elements() {
			if kind := item.Get("type"); kind.Is("tool_search_output") || kind.Is("additional_tools") {
				all = appendTools(all, item.Get("tools"), "")
			}
		}
	}
	var values stream.Values
	values.Write(request, read)
	values.Close(read)
	return all
}

// appendTools appends the tools in a list. The parameter space is the tools' namespace.
func appendTools(all []protocol.Tool, list json.Value, space string) []protocol.Tool {
	for tool := range list.Elements() {
		switch kind := tool.Get("type").Text(); {
		case kind == "function":
			if nested := tool.Get("function"); nested.Kind() == '{' { // as in Chat Completions
				tool = nested
			}
			t := protocol.FunctionTool(tool, "parameters")
			t.Namespace = space
			all = append(all, t)
		case kind == "custom":
			all = append(all, protocol.Tool{Name: tool.Get("name").Text(), Namespace: space, Kind: "custom", Description: tool.Get("description").Text()})
		case kind == "namespace":
			all = appendTools(all, tool.Get("tools"), tool.Get("name").Text())
		case builtIn[kind] != "":
			all = append(all, protocol.Tool{Name: builtIn[kind], Kind: "server"})
		}
	}
	return all
}
