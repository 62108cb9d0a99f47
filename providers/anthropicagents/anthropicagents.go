// Package anthropicagents decodes the event stream of a session of Claude's managed agents.
//
// Wire facts are from the documentation of managed agents at platform.claude.com; the service was not queried. A
// turn is the agent's work until the agent is idle. Calls arrive complete. The server runs its own tools and those
// of MCP servers, and the client runs custom tools.
package anthropicagents

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Protocol returns the protocol of managed agents.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "anthropic-agents",
		Title:    "Claude managed agents",
		Sniff:    sniffFrame,
		Findings: []*stream.Diagnosis{waitsForYou},
		New:      func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o, calls: protocol.Calls{}} },
		Quiet:    []string{"span.*", "session.*", "user.message", "user.interrupt", "agent.thread_*"},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	kind := e.Get("type").Text()
	if !e.Get("processed_at").IsString() {
		return protocol.SniffScore{}
	}
	for _, prefix := range []string{"agent.", "session.", "span.", "user."} {
		if strings.HasPrefix(kind, prefix) {
			return protocol.SniffScore{Points: protocol.Sure, Why: "event type " + kind + " with processed_at"}
		}
	}
	return protocol.SniffScore{}
}

var waitsForYou = &stream.Diagnosis{
	Code: "WAITS_FOR_YOU", Severity: stream.Info, By: stream.Client,
	Meaning: "The session waits for its client to send the result of a custom tool, or permission to run a call.",
	Advice:  "Send the result or the permission for the call. Until then, the agent does nothing.",
}

// decoder reads the events of one session.
type decoder struct {
	*protocol.Out
	turn  *protocol.Turn
	calls protocol.Calls
}

// Frame reads one event.
func (d *decoder) Frame(f stream.Frame) error {
	data := json.Value(f.Data)
	if err := json.Read(data); err != nil {
		return err
	}
	switch kind := data.Get("type").Text(); kind {
	case "agent.message":
		for block := range data.Get("content").Elements() {
			d.ensureTurn().AppendText(block.Get("text"))
		}
	case "agent.thinking":
		d.ensureTurn().AppendReasoning(0, data.Get("text"))
	case "agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use":
		info := stream.CallInfo{ID: data.Get("id").Text(), Name: data.Get("name").Text(), Kind: "server", RunByProvider: true}
		if kind == "agent.custom_tool_use" {
			info.Kind, info.RunByProvider = "function", false
		} else if server := data.Get("mcp_server_name"); server.IsPresent() {
			info.Kind, info.MCPServer = "mcp", server.Text()
		}
		d.calls.Ensure(d.ensureTurn(), info).SealWhole(data.Get("input"))
	case "agent.tool_result", "agent.mcp_tool_result", "user.custom_tool_result":
		d.reportResult(data)
	case "user.tool_confirmation":
		d.readConfirmation(data)
	case "session.error":
		id, message := protocol.ErrorOf(data.Get("error"))
		d.ensureTurn().Fail(id, message)
	case "session.status_idle":
		d.endWork(data.Get("stop_reason"))
	case "session.status_terminated":
		d.turn.Cut("the session was terminated")
	default:
		d.Unknown(kind)
	}
	return nil
}

func (d *decoder) ensureTurn() *protocol.Turn {
	if !d.turn.IsOpen() {
		d.turn = d.Open(stream.Opening{})
	}
	return d.turn
}

func (d *decoder) reportResult(data json.Value) {
	for _, key := range []string{"tool_use_id", "mcp_tool_use_id", "custom_tool_use_id"} {
		if id := data.Get(key); id.IsString() {
			t := d.turn
			if c := d.calls[id.Text()]; c != nil {
				t = c.Turn()
			} else if t == nil {
				t = d.ensureTurn()
			}
			t.AddResultContent(id.Text(), data.Get("is_error").IsTrue(), data.Get("content"))
			return
		}
	}
}

// readConfirmation reads the user's decision about a call.
func (d *decoder) readConfirmation(data json.Value) {
	c := d.calls[data.Get("tool_use_id").Text()]
	if c == nil || !data.Get("result").Is("deny") {
		d.Heartbeat()
		return
	}
	why := data.Get("deny_message").Text()
	c.Reject(why)
	c.Find(protocol.CallDenied, "the user didn't allow the call: %s", stream.Fact(why))
}

// finishCodes are the reasons why the agent is idle.
var finishCodes = protocol.FinishCodes{
	"end_turn": stream.FinishDone, "requires_action": stream.FinishDone, "retries_exhausted": stream.FinishFailed,
}

// endWork ends the turn with the reason why the agent is idle.
func (d *decoder) endWork(reason json.Value) {
	if !d.turn.IsOpen() {
		d.Heartbeat()
		return
	}
	word := reason.Get("type").Text()
	code, known := finishCodes.Of(word)
	d.turn.Finish(word, code)
	if !known {
		d.turn.Find(protocol.FinishUnknown, "stop reason %q is not documented", stream.Fact(word))
	}
	for id := range reason.Get("event_ids").Elements() {
		if c := d.calls[id.Text()]; c != nil {
			c.Find(waitsForYou, "the session waits for a result or permission for this call")
		}
	}
	d.turn.End()
}

// Close cuts off the turn if the agent is not idle.
func (d *decoder) Close() { d.turn.Cut("the stream ended before the agent was idle") }
