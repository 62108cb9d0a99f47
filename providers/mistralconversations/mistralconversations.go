// Package mistralconversations decodes the event stream of Mistral's Conversations API.
//
// Wire facts are from @mistralai/mistralai 2.7.0. A turn is one response. Each delta of a call repeats the
// call's ids and name. conversation.response.done makes the calls final.
package mistralconversations

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns the protocol of Mistral's Conversations API.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:  "mistral-conversations",
		Title: "Mistral Conversations",
		Sniff: sniffFrame,
		New:   func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o} },
		Quiet: []string{"agent.handoff.*"},
		Marks: marks.Protocol{Events: []marks.Event{
			{Type: "conversation.response.started", Begins: true}, {Type: "function.call.delta"}, {Type: "message.output.delta"},
			{Type: "conversation.response.done", Ends: true, Last: true}, {Type: "conversation.response.error", Ends: true, Last: true},
		}, EventNames: true},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	kind := e.Get("type").Text()
	switch {
	case strings.HasPrefix(kind, "conversation.response."), kind == "function.call.delta", kind == "message.output.delta":
		return protocol.SniffScore{Points: protocol.Sure, Why: "event type " + kind}
	case strings.HasPrefix(kind, "tool.execution.") && e.Get("output_index").IsPresent(), strings.HasPrefix(kind, "agent.handoff."):
		return protocol.SniffScore{Points: protocol.Strong, Why: "event type " + kind}
	}
	return protocol.SniffScore{}
}

// decoder reads one exchange.
type decoder struct {
	*protocol.Out
	turn   *protocol.Turn
	calls  protocol.Calls
	failed bool
}

// Frame reads one event.
func (d *decoder) Frame(f stream.Frame) error {
	data := json.Value(f.Data)
	if err := json.Read(data); err != nil {
		return err
	}
	switch kind := data.Get("type").Text(); kind {
	case "conversation.response.started":
		d.turn.Cut("another response began before this one ended")
		d.ensureTurn().UpdateIDs(data.Get("conversation_id"), nil)
	case "message.output.delta":
		t := d.ensureTurn()
		t.UpdateIDs(nil, data.Get("model"))
		content := data.Get("content")
		if content.Kind() == '{' {
			content = content.Get("text")
		}
		t.AppendText(content)
	case "function.call.delta":
		info := stream.CallInfo{ID: data.Get("tool_call_id").Text(), Name: data.Get("name").Text(), Kind: "function"}
		t := d.ensureTurn()
		t.UpdateIDs(nil, data.Get("model"))
		d.calls.Ensure(t, info).Args(data.Get("arguments"))
	case "tool.execution.started", "tool.execution.delta", "tool.execution.done":
		d.readExecution(kind, data)
	case "conversation.response.error":
		d.ensureTurn().Fail(string(data.Get("code").Append(nil)), data.Get("message").Text())
		d.failed = true
	case "conversation.response.done":
		if d.turn == nil || d.turn.IsOpen() {
			t, u := d.ensureTurn(), data.Get("usage")
			for _, c := range t.OpenCalls() {
				c.Seal()
			}
			t.Usage(stream.Usage{Input: protocol.CountOf(u.Get("prompt_tokens")), Output: protocol.CountOf(u.Get("completion_tokens"))})
			t.End()
		}
	default:
		d.Unknown(kind)
	}
	d.CheckName(f.Event, data.Get("type").OrDefault(nil), f.Named)
	return nil
}

func (d *decoder) ensureTurn() *protocol.Turn {
	if !d.turn.IsOpen() {
		d.turn, d.calls, d.failed = d.Open(stream.Opening{}), protocol.Calls{}, false
	}
	return d.turn
}

// readExecution reads a call that Mistral runs.
func (d *decoder) readExecution(kind string, data json.Value) {
	info := stream.CallInfo{ID: data.Get("id").Text(), Name: data.Get("name").Text(), Kind: "server", RunByProvider: true}
	c := d.calls.Ensure(d.ensureTurn(), info)
	if kind != "tool.execution.done" {
		c.Args(data.Get("arguments"))
		return
	}
	c.Seal()
	c.AddResult(false)
}

// Close cuts off a response that has not ended.
func (d *decoder) Close() {
	if d.failed {
		d.turn.Cut("")
	}
	d.turn.Cut("the stream ended without conversation.response.done")
}
