package openairesponses

import (
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// does is what an event about an item does.
type does uint8

const (
	nothing does = iota // repeats, or news of no interest
	adds
	ends
	argsDelta
	argsDone
	codeDone // the code of a code interpreter call
	textDelta
	textDone
	diffDelta
	diffDone
	commandBegins
	commandDelta
	commandDone
)

// itemEvent is an event about an item: what it does, and to which type of item.
type itemEvent struct {
	does does
	kind string
}

// The events that begin and end an item, without "response.".
const (
	itemAdded = "output_item.added"
	itemDone  = "output_item.done"
)

// itemEvents are the events about items, without "response.".
var itemEvents = map[string]itemEvent{
	itemAdded: {adds, ""},
	itemDone:  {ends, ""},

	"function_call_arguments.delta":    {argsDelta, "function_call"},
	"function_call_arguments.done":     {argsDone, "function_call"},
	"custom_tool_call_input.delta":     {argsDelta, "custom_tool_call"},
	"custom_tool_call_input.done":      {argsDone, "custom_tool_call"},
	"mcp_call_arguments.delta":         {argsDelta, "mcp_call"},
	"mcp_call_arguments.done":          {argsDone, "mcp_call"},
	"code_interpreter_call_code.delta": {argsDelta, "code_interpreter_call"},
	"code_interpreter_call_code.done":  {codeDone, "code_interpreter_call"},

	"apply_patch_call_operation_diff.delta": {diffDelta, "apply_patch_call"},
	"apply_patch_call_operation_diff.done":  {diffDone, "apply_patch_call"},
	"shell_call_command.added":              {commandBegins, "shell_call"},
	"shell_call_command.delta":              {commandDelta, "shell_call"},
	"shell_call_command.done":               {commandDone, "shell_call"},

	"output_text.delta":            {textDelta, "message"},
	"output_text.done":             {textDone, "message"},
	"refusal.delta":                {textDelta, "message"},
	"refusal.done":                 {textDone, "message"},
	"reasoning_text.delta":         {textDelta, "reasoning"},
	"reasoning_text.done":          {textDone, "reasoning"},
	"reasoning_summary_text.delta": {textDelta, summary},
	"reasoning_summary_text.done":  {textDone, summary},

	"content_part.added": {}, "content_part.done": {}, "output_text.annotation.added": {},
	"reasoning_summary_part.added": {}, "reasoning_summary_part.done": {},
	"mcp_call.in_progress": {}, "mcp_call.completed": {}, "mcp_call.failed": {},
	"mcp_list_tools.in_progress": {}, "mcp_list_tools.completed": {}, "mcp_list_tools.failed": {},
	"code_interpreter_call.in_progress": {}, "code_interpreter_call.interpreting": {}, "code_interpreter_call.completed": {},
	"web_search_call.in_progress": {}, "web_search_call.searching": {}, "web_search_call.completed": {},
	"file_search_call.in_progress": {}, "file_search_call.searching": {}, "file_search_call.completed": {},
	"image_generation_call.in_progress": {}, "image_generation_call.generating": {},
	"image_generation_call.partial_image": {}, "image_generation_call.completed": {},
	"shell_call_output_content.delta": {}, "shell_call_output_content.done": {},
	"audio.delta": {}, "audio.done": {}, "audio.transcript.delta": {}, "audio.transcript.done": {},
}

// summary stands for the type of an item whose summary, not content, is meant.
const summary = "summary"

// itemEvent takes an event about an item; false if it is none.
func (d *decoder) itemEvent(name []byte, ev *wireEvent) bool {
	if len(name) < len("response.") {
		return false
	}
	e, ok := itemEvents[string(name[len("response."):])]
	if !ok || string(name[:len("response.")]) != "response." {
		return false
	}
	if e.does == nothing {
		return true
	}
	t := d.ensure(ev, name)
	switch e.does {
	case adds:
		d.added(t, ev)
		return true
	case ends:
		d.doneItem(t, ev)
		return true
	}
	kind := e.kind
	if kind == summary {
		kind = "reasoning"
	}
	it := d.find(t, ev, kind)
	if it == nil {
		it = d.unannounced(t, ev, kind)
	}
	if e.does == textDelta || e.does == textDone {
		d.textEvent(t, it, ev, e)
	} else {
		d.argsEvent(t, it, ev, e, name)
	}
	return true
}

// argsEvent takes an event about a call's arguments.
func (d *decoder) argsEvent(t *turn, it *item, ev *wireEvent, e itemEvent, kind []byte) {
	from := func() string { return strings.TrimPrefix(string(kind), "response.") }
	switch e.does {
	case argsDelta:
		if d.buf = d.buf[:0]; ev.delta.Given() {
			d.buf = ev.delta.Append(d.buf)
		}
		d.args(t, it, d.buf, "")
		it.from = theDeltas
	case argsDone:
		d.doneArgs(t, it, ev.whole, from())
	case codeDone:
		d.doneArgs(t, it, ev.code, from())
	case diffDelta:
		d.partDelta(t, it, patchDiff, 0, ev.delta)
	case diffDone:
		d.partDone(t, it, patchDiff, 0, ev.whole, from())
	case commandBegins, commandDelta:
		text := ev.delta
		if e.does == commandBegins {
			text = ev.whole
		}
		d.partDelta(t, it, shellCommands, number(ev.part), text)
	case commandDone:
		d.partDone(t, it, shellCommands, number(ev.part), ev.whole, from())
	}
}

// number is the number of a part; some hosts leave out that of the first.
func number(part dialect.Raw) int64 {
	if len(part) == 0 {
		return 0
	}
	n, _ := part.Int()
	return n
}

func (d *decoder) doneArgs(t *turn, it *item, value dialect.Raw, from string) {
	if value.Given() {
		d.takeCopy(t, it, value, "", from)
	}
}

// unannounced begins the item of an event that came before output_item.added.
func (d *decoder) unannounced(t *turn, ev *wireEvent, kind string) *item {
	index, indexed := ev.index.Int()
	if !indexed {
		index = noIndex
	}
	it := d.addItem(t, &wireItem{id: ev.itemID}, index)
	call, isCall := callKinds[kind]
	if !isCall {
		return it
	}
	t.items.kindIs(it, kind)
	it.call, it.isCall = call, true
	d.openCall(t, it, &wireItem{})
	d.about(t, it, stream.ProtocolViolation, "arguments came before output_item.added")
	return it
}

// part is a part of an item's content, or of its summary.
type part struct {
	summary bool
	n       int64
}

// textEvent takes text or reasoning: the deltas, or what repeats them if none came.
func (d *decoder) textEvent(t *turn, it *item, ev *wireEvent, e itemEvent) {
	text, this := ev.delta, part{e.kind == summary, number(ev.part)}
	if e.does == textDone {
		if it.told[this] {
			return
		}
		text = ev.text
	}
	it.tell(this)
	if e.kind == "message" {
		d.write(t, it, stream.TextDelta, text)
	} else {
		d.write(t, it, stream.ThinkDelta, text)
	}
}

func (d *decoder) write(t *turn, it *item, kind stream.EventKind, text dialect.Raw) {
	if d.buf = text.Append(d.buf[:0]); len(d.buf) > 0 && text.IsString() {
		t.last = it
		d.emit(stream.Event{Kind: kind, Turn: t.number, Text: d.text.Hold(d.buf)})
	}
}

func (it *item) tell(p part) {
	if it.told == nil {
		it.told = map[part]bool{}
	}
	it.told[p] = true
}

// restOfText writes what an item holds and no event before brought.
func (d *decoder) restOfText(t *turn, it *item, w *wireItem) {
	kind := stream.TextDelta
	switch it.kind {
	case "message":
	case "reasoning":
		kind = stream.ThinkDelta
	default:
		return
	}
	for i, list := range [...]dialect.Raw{w.content, w.summary} {
		parts := list.Scan()
		for n, ok := int64(0), parts.Array(); ok; n, ok = n+1, parts.Element() {
			value, this := parts.Value(), part{i == 1, n}
			if it.told[this] {
				continue
			}
			it.tell(this)
			d.write(t, it, kind, value.Get("text"))
			d.write(t, it, kind, value.Get("refusal"))
		}
	}
}
