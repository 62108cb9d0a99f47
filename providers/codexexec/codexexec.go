// Package codexexec decodes the output of codex exec --json: one JSON object per line, about the actions of Codex.
// The lines are written by Codex, not by the model's provider. A turn is one task from the user, and has any
// number of responses. An item is a command, a search or a change that Codex made, with its result. Calls that
// Codex refused or could not parse are missing.
//
// Wire facts are from openai/codex, codex-rs/exec/src/exec_events.rs, and from the output of Codex 0.169.0. A
// call's slot is its position among the turn's items. A call is final as soon as its item arrives.
package codexexec

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Protocol returns the protocol of codex exec --json.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "codex-exec",
		Title:    "Codex exec --json",
		Sniff:    sniffFrame,
		ByAgent:  true,
		Findings: findings,
		New: func(o *protocol.Out) protocol.Decoder {
			d := &decoder{Out: o}
			d.line.bindShape()
			return d
		},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	switch kind := e.Get("type").Text(); {
	case kind == "thread.started" && e.Get("thread_id").IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "a thread.started line"}
	case strings.HasPrefix(kind, "item.") && e.Get("item").Get("type").IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "a line about an item"}
	case kind == "turn.started" || kind == "turn.completed" || kind == "turn.failed":
		return protocol.SniffScore{Points: protocol.Likely, Why: "a " + kind + " line"}
	}
	return protocol.SniffScore{}
}

// itemsOnly reports, once, that the lines contain only items.
var itemsOnly = &stream.Diagnosis{
	Code: "ITEMS_ONLY", Severity: stream.Info, By: stream.Client,
	Meaning: "The output of codex exec reports Codex's actions, not the model's output. Codex wrote the names and arguments itself. Calls that Codex could not run are missing.",
	Advice:  "Open the session's rollout file in ~/.codex/sessions: that file contains the calls as the model wrote them.",
}

// notice reports a notice that Codex showed its user.
var notice = &stream.Diagnosis{
	Code: "CODEX_NOTICE", Severity: stream.Info, By: stream.Client,
	Meaning: "Codex showed its user a notice about a problem.",
	Advice:  "Nothing, if Codex continued. If a turn failed, the last notice before the failure explains why.",
}

var findings = []*stream.Diagnosis{itemsOnly, notice}

// An itemKind describes items that represent a call.
type itemKind struct {
	word   string // kind of the call
	args   string // field with the arguments
	given  string // field with the result; "" for none
	server bool   // whether the provider runs the call
	json   bool   // whether the arguments are JSON, not plain text
}

var itemKinds = map[string]itemKind{
	"command_execution": {word: "shell", args: "command", given: "aggregated_output"},
	"file_change":       {word: "custom", args: "changes"},
	"mcp_tool_call":     {word: "mcp", args: "arguments", given: "result", json: true},
	"web_search":        {word: "server", args: "query", server: true},
	"collab_tool_call":  {word: "custom", args: "prompt"},
}

// itemNames are the fields that contain the name of a call, for items whose kind is not that name.
var itemNames = map[string]string{"mcp_tool_call": "tool", "collab_tool_call": "tool"}

// line is one line as it was sent.
type line struct {
	shape                         *json.Shape
	kind, item, usage, err, words json.Value
	itemKind, id, text, status    json.Value
	server, message, itemErr      json.Value
}

func (l *line) bindShape() {
	l.shape = json.ShapeOf(
		json.Field("type", &l.kind),
		json.Field("usage", &l.usage),
		json.Object("error", json.Field("message", &l.err)),
		json.Field("message", &l.words),
		json.Object("item",
			json.Field("type", &l.itemKind), json.Field("id", &l.id), json.Field("text", &l.text),
			json.Field("status", &l.status), json.Field("server", &l.server), json.Field("message", &l.message),
			json.Field("error", &l.itemErr)).Into(&l.item))
}

// decoder reads one exchange: the turns of one thread.
type decoder struct {
	*protocol.Out
	line    line
	turn    *protocol.Turn
	calls   map[string]*protocol.Call // calls of the turn, by the id of the item
	notices []string                  // notices that arrived before the turn
	block   int32                     // number of the latest reasoning block
}

// Frame reads one line.
func (d *decoder) Frame(f stream.Frame) error {
	l := &d.line
	if err := l.shape.Read(f.Data); err != nil {
		return err
	}
	switch kind := l.kind.Text(); kind {
	case "thread.started":
	case "turn.started":
		d.turn.Cut("another turn began before this one ended")
		d.openTurn()
	case "item.started", "item.updated", "item.completed":
		d.readItem(kind == "item.completed")
	case "turn.completed", "turn.failed":
		if d.turn == nil || d.turn.IsOpen() {
			t := d.ensureTurn()
			if kind == "turn.failed" {
				t.Fail("", d.line.err.Text())
			} else { // the total usage of all responses in the turn
				t.Usage(stream.Usage{
					Input: protocol.CountOf(l.usage.Get("input_tokens")), Output: protocol.CountOf(l.usage.Get("output_tokens")),
					CacheRead: protocol.CountOf(l.usage.Get("cached_input_tokens")), CacheWrite: protocol.CountOf(l.usage.Get("cache_write_input_tokens")),
					Reasoning: protocol.CountOf(l.usage.Get("reasoning_output_tokens")),
				})
			}
			t.End()
		}
	case "error":
		d.reportNotice(l.words.Text())
	default:
		d.Unknown(kind)
	}
	return nil
}

// Close cuts off a turn that is still open. Notices without a turn get a turn of their own, which is also cut off.
func (d *decoder) Close() {
	if len(d.notices) > 0 {
		d.openTurn()
	}
	d.turn.Cut("the lines ended without turn.completed")
}

func (d *decoder) openTurn() *protocol.Turn {
	d.turn, d.calls = d.Open(stream.Opening{}), map[string]*protocol.Call{}
	d.Once(itemsOnly, "codex exec reports its own actions, not the model's output: the model's name, the times, and calls that Codex could not run are missing")
	for _, words := range d.notices {
		d.turn.Find(notice, "%s", words)
	}
	d.notices = nil
	return d.turn
}

// ensureTurn returns the open turn. If no turn is open, it opens one.
func (d *decoder) ensureTurn() *protocol.Turn {
	if d.turn.IsOpen() {
		return d.turn
	}
	return d.openTurn()
}

// reportNotice reports a notice to the user. A notice may arrive before its turn.
func (d *decoder) reportNotice(words string) {
	if d.turn.IsOpen() {
		d.turn.Find(notice, "%s", words)
		return
	}
	d.notices = append(d.notices, words)
}

// readItem reads an item in its current state.
func (d *decoder) readItem(done bool) {
	l := &d.line
	switch kind := l.itemKind.Text(); kind {
	case "error":
		d.reportNotice(l.message.Text())
	case "agent_message":
		if done {
			d.ensureTurn().AppendText(l.text)
		}
	case "reasoning":
		if done {
			d.block++
			d.ensureTurn().AppendReasoning(d.block, l.text)
		}
	case "todo_list":
	default:
		of, ok := itemKinds[kind]
		if !ok {
			d.Unknown("item " + kind)
			return
		}
		c := d.ensureCall(kind, &of)
		if done {
			d.reportResult(c, &of)
		}
	}
}

// ensureCall returns the call that an item represents. If the call is new, it opens the call with its complete
// arguments.
func (d *decoder) ensureCall(kind string, of *itemKind) *protocol.Call {
	l, t := &d.line, d.ensureTurn()
	id := l.id.Text()
	if c := d.calls[id]; c != nil {
		return c
	}
	info := stream.CallInfo{ID: id, Name: kind, Kind: of.word, MCPServer: l.server.Text(), RunByProvider: of.server, Freeform: !of.json}
	if name := l.item.Get(itemNames[kind]).Text(); name != "" {
		info.Name = name
	}
	c := t.NextCall(info)
	c.Args(l.item.Get(of.args))
	c.Seal()
	d.calls[id] = c
	return c
}

// reportResult reports the result of a completed item.
func (d *decoder) reportResult(c *protocol.Call, of *itemKind) {
	l := &d.line
	given := l.item.Get(of.given)
	if content := given.Get("content"); content.IsPresent() {
		given = content
	}
	if l.itemErr.IsPresent() {
		given = l.itemErr.Get("message")
	}
	failed := l.status.Is("failed") || l.status.Is("declined") || l.itemErr.IsPresent()
	if of.given == "" && !l.status.IsPresent() {
		return // a search has no result
	}
	d.turn.AddResultContent(c.ID, failed, given)
}
