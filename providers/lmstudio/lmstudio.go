// Package lmstudio decodes the event stream of LM Studio's own chat API, /api/v1/chat.
//
// Wire facts are from LM Studio's documentation of its REST API; the program was not run. A turn is one response.
// Calls have no ids, so events are matched to calls by their order. LM Studio runs all calls.
package lmstudio

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Protocol returns the protocol of LM Studio's chat.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "lmstudio",
		Title:    "LM Studio chat",
		Sniff:    sniffFrame,
		Findings: []*stream.Diagnosis{callFailed},
		New:      func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o} },
		Quiet: []string{
			"model_load.*", "prompt_processing.*", "message.start", "message.end", "reasoning.start", "reasoning.end", "tool_call.name",
		},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	switch kind := e.Get("type").Text(); {
	case kind == "chat.start" && e.Get("model_instance_id").IsString(), kind == "chat.end" && e.Get("result").Kind() == '{',
		strings.HasPrefix(kind, "tool_call.") && (e.Get("tool").IsString() || e.Get("metadata").Kind() == '{'):
		return protocol.SniffScore{Points: protocol.Sure, Why: "event type " + kind}
	case kind == "error" && errorTypes[e.Get("error").Get("type").Text()]:
		return protocol.SniffScore{Points: protocol.Strong, Why: "an LM Studio error"}
	case kind == "message.delta" && e.Get("content").IsString():
		return protocol.SniffScore{Points: protocol.Likely, Why: "event type " + kind}
	}
	return protocol.SniffScore{}
}

// errorTypes are the types of errors that other protocols don't have.
var errorTypes = map[string]bool{
	"internal_error": true, "mcp_connection_error": true, "plugin_connection_error": true, "model_not_found": true, "job_not_found": true,
}

var callFailed = &stream.Diagnosis{
	Code: "CALL_FAILED", Severity: stream.Info, By: stream.Model,
	Meaning: "LM Studio refused a call: the tool doesn't exist, or the arguments don't match its schema.",
	Advice:  "Read the reason. The model receives the refusal as the result of the call and may try again.",
}

// decoder reads one exchange.
type decoder struct {
	*protocol.Out
	turn   *protocol.Turn
	call   *protocol.Call // the latest call
	failed bool
}

// Frame reads one event.
func (d *decoder) Frame(f stream.Frame) error {
	data := json.Value(f.Data)
	if err := json.Read(data); err != nil {
		return err
	}
	switch kind := data.Get("type").Text(); kind {
	case "chat.start":
		d.turn.Cut("another response began before this one ended")
		d.ensureTurn().UpdateIDs(nil, data.Get("model_instance_id"))
	case "message.delta":
		d.ensureTurn().AppendText(data.Get("content"))
	case "reasoning.delta":
		d.ensureTurn().AppendReasoning(0, data.Get("content"))
	case "tool_call.start":
		d.openCall(data.Get("tool"), data)
	case "tool_call.arguments":
		d.ensureCall(data).SealWhole(data.Get("arguments"))
	case "tool_call.success":
		c := d.ensureCall(data)
		c.SealWhole(data.Get("arguments"))
		c.AddResult(false)
	case "tool_call.failure":
		about, c := data.Get("metadata"), d.call
		if c == nil || !d.turn.IsOpen() {
			c = d.openCall(about.Get("tool_name"), data)
		}
		if args := about.Get("arguments"); !c.Sealed && args.IsPresent() {
			c.Args(args)
		}
		why := data.Get("reason").Text()
		c.Reject(why)
		c.Find(callFailed, "LM Studio refused the call: %s", stream.Fact(why))
	case "error":
		d.failed = true
		id, message := protocol.ErrorOf(data.Get("error"))
		d.ensureTurn().Fail(id, message)
	case "chat.end":
		d.endResponse(data.Get("result"))
	default:
		d.Unknown(kind)
	}
	return nil
}

func (d *decoder) ensureTurn() *protocol.Turn {
	if !d.turn.IsOpen() {
		d.turn, d.call, d.failed = d.Open(stream.Opening{}), nil, false
	}
	return d.turn
}

func (d *decoder) openCall(name, data json.Value) *protocol.Call {
	d.call = d.ensureTurn().NextCall(stream.CallInfo{
		Name: name.Text(), Kind: "server", RunByProvider: true, MCPServer: data.Get("provider_info").Get("server_label").Text(),
	})
	d.call.Keep()
	return d.call
}

// ensureCall returns the latest call. If the start of the call is missing, it opens a call.
func (d *decoder) ensureCall(data json.Value) *protocol.Call {
	if d.call == nil || !d.turn.IsOpen() || !data.Get("tool").Is(d.call.Name) {
		return d.openCall(data.Get("tool"), data)
	}
	return d.call
}

func (d *decoder) endResponse(result json.Value) {
	if d.turn != nil && !d.turn.IsOpen() {
		return
	}
	t, stats := d.ensureTurn(), result.Get("stats")
	t.UpdateIDs(result.Get("response_id"), nil)
	t.Usage(stream.Usage{
		Input: protocol.CountOf(stats.Get("input_tokens")), Output: protocol.CountOf(stats.Get("total_output_tokens")),
		Reasoning: protocol.CountOf(stats.Get("reasoning_output_tokens")),
	})
	if d.failed {
		t.Cut("")
	}
	t.End()
}

// Close cuts off a response that has not ended.
func (d *decoder) Close() { d.turn.Cut("the stream ended without chat.end") }
