// Package copilotcli decodes the events of GitHub Copilot CLI: the output of copilot --output-format json, and the
// events.jsonl of its sessions.
//
// Wire facts are from the output of Copilot CLI 1.0.102. A turn is one response of the model. The output has deltas
// of the arguments and times in milliseconds; saved sessions contain only complete calls. The message of the model makes
// its calls final. Copilot replaces the values of secrets by asterisks, also inside arguments.
package copilotcli

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Protocol returns the protocol of Copilot CLI.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:  "copilot-cli",
		Title: "Copilot CLI events",
		Sniff: sniffFrame,
		New:   func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o, calls: protocol.Calls{}} },
		Quiet: []string{"user.*", "session.*", "hook.*", "subagent.*", "system.*", "skill.*", "tool.*", "assistant.*", "model.*", "permission.*"},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	line := json.Value(e.Data)
	kind, data := line.Get("type").Text(), line.Get("data")
	switch {
	case kind == "result" && line.Get("exitCode").IsPresent() && line.Get("sessionId").IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "a result line with an exitCode"}
	case data.Kind() != '{' || !line.Get("id").IsString() || !line.Get("timestamp").IsString():
	case strings.HasPrefix(kind, "assistant."), kind == "session.start" && data.Get("producer").Is("copilot-agent"):
		return protocol.SniffScore{Points: protocol.Sure, Why: "a line of type " + kind}
	case strings.HasPrefix(kind, "tool.execution_"), kind == "user.message", strings.HasPrefix(kind, "session."), strings.HasPrefix(kind, "model."):
		return protocol.SniffScore{Points: protocol.Likely, Why: "a line of type " + kind}
	}
	return protocol.SniffScore{}
}

// decoder reads one run.
type decoder struct {
	*protocol.Out
	clock   protocol.Clock
	turn    *protocol.Turn
	calls   protocol.Calls
	model   string
	spoken  bool // the turn has deltas of text
	failure string
}

// Frame reads one line.
func (d *decoder) Frame(f stream.Frame) error {
	line := json.Value(f.Data)
	if err := json.Read(line); err != nil {
		return err
	}
	d.clock.StampAt(d.Out, line.Get("timestamp"))
	data := line.Get("data")
	switch kind := line.Get("type").Text(); kind {
	case "session.start", "session.model_change", "model.call_start":
		for _, key := range []string{"selectedModel", "newModel", "model"} {
			if model := data.Get(key); model.HasText() {
				d.model = model.Text()
			}
		}
	case "assistant.turn_start":
		d.turn.Cut("another turn began before this one ended")
		d.openTurn()
	case "assistant.message_delta":
		d.ensureTurn().AppendText(data.Get("deltaContent"))
		d.spoken = true
	case "assistant.tool_call_delta":
		d.ensureCall(data, "toolName").Args(data.Get("inputDelta"))
	case "assistant.message":
		d.readMessage(data)
	case "tool.execution_complete":
		d.reportResult(data)
	case "assistant.usage":
		d.reportUsage(data)
	case "session.usage_record":
		d.reportUsage(data.Get("usage"))
	case "assistant.turn_end":
		if d.turn.IsOpen() {
			d.turn.End()
		}
	case "session.error", "abort":
		d.failure = data.Get("message").Text() + data.Get("reason").Text()
		d.Find(protocol.AgentError, "Copilot reports: %s", stream.Fact(d.failure))
	case "result":
		if d.failure == "" {
			d.turn.End()
		}
	default:
		d.Unknown(kind)
	}
	return nil
}

// Close cuts a turn without its end.
func (d *decoder) Close() {
	d.turn.Cut("the lines ended without assistant.turn_end")
}

func (d *decoder) openTurn() *protocol.Turn {
	d.turn, d.spoken, d.failure = d.Open(stream.Opening{Model: d.model}), false, ""
	return d.turn
}

// ensureTurn returns the open turn. It opens one if the lines begin in the middle of a turn.
func (d *decoder) ensureTurn() *protocol.Turn {
	if d.turn.IsOpen() {
		return d.turn
	}
	return d.openTurn()
}

func (d *decoder) ensureCall(data json.Value, name string) *protocol.Call {
	info := stream.CallInfo{ID: data.Get("toolCallId").Text(), Name: data.Get(name).Text(), Kind: "function"}
	if data.Get("toolType").Is("custom") || data.Get("type").Is("custom") {
		info.Kind, info.Freeform = "custom", true
	}
	return d.calls.Ensure(d.ensureTurn(), info)
}

// readMessage reads the message that ends a response. Its copy of the arguments may differ from the deltas: Copilot
// masks secrets.
func (d *decoder) readMessage(data json.Value) {
	t := d.ensureTurn()
	t.UpdateIDs(data.Get("apiCallId"), data.Get("model"))
	t.AppendReasoning(0, data.Get("reasoningText"))
	if !d.spoken {
		t.AppendText(data.Get("content"))
	}
	for r := range data.Get("toolRequests").Elements() {
		c := d.ensureCall(r, "name")
		if args := r.Get("arguments"); !c.SealWhole(args) && !strings.Contains(string(args), "******") {
			c.Find(protocol.DoneMismatch.WithSeverity(stream.Info), "the complete arguments differ from the deltas; toolscope shows the deltas: %s", protocol.Clip(args))
		}
	}
}

func (d *decoder) reportResult(data json.Value) {
	t := d.turn
	if t == nil {
		t = d.openTurn()
	}
	result, failed := data.Get("result").Get("content"), string(data.Get("success")) == "false"
	if failed {
		if message := data.Get("error").Get("message"); message.IsPresent() {
			result = message
		}
	}
	t.AddResultContent(data.Get("toolCallId").Text(), failed, result)
}

func (d *decoder) reportUsage(u json.Value) {
	if d.turn == nil || !u.Get("inputTokens").IsPresent() {
		return
	}
	d.turn.Usage(stream.Usage{
		Input: protocol.CountOf(u.Get("inputTokens")), Output: protocol.CountOf(u.Get("outputTokens")),
		CacheRead: protocol.CountOf(u.Get("cacheReadTokens")), CacheWrite: protocol.CountOf(u.Get("cacheWriteTokens")),
	})
}
