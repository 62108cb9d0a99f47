// Package geminicli decodes the output of gemini --output-format stream-json: lines about the work of the agent.
//
// Wire facts are from the output of Gemini CLI 0.61.0. A turn is one run with any number of responses. Calls come
// complete. A result line ends the run.
package geminicli

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Protocol returns the protocol of Gemini CLI's lines.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:  "gemini-cli",
		Title: "Gemini CLI stream-json",
		Sniff: sniffFrame,
		New:   func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o, calls: protocol.Calls{}} },
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	line := json.Value(e.Data)
	has := func(key string) bool { return line.Get(key).IsString() }
	switch kind := line.Get("type").Text(); {
	case !has("timestamp"):
	case kind == "init" && has("session_id") && has("model"),
		kind == "tool_use" && has("tool_id") && has("tool_name"), kind == "tool_result" && has("tool_id") && has("status"),
		kind == "error" && has("severity"), kind == "result" && has("status") && line.Get("stats").IsPresent():
		return protocol.SniffScore{Points: protocol.Sure, Why: "a " + kind + " line"}
	case kind == "message" && has("role") && has("content"):
		return protocol.SniffScore{Points: protocol.Likely, Why: "a " + kind + " line"}
	}
	return protocol.SniffScore{}
}

// decoder reads one run.
type decoder struct {
	*protocol.Out
	clock protocol.Clock
	turn  *protocol.Turn
	calls protocol.Calls
}

// Frame reads one line. Lines before the first object are for the user.
func (d *decoder) Frame(f stream.Frame) error {
	line := json.Value(f.Data)
	if line.Kind() != '{' && d.turn == nil {
		d.Heartbeat()
		return nil
	}
	if err := json.Read(line); err != nil {
		return err
	}
	d.clock.StampAt(d.Out, line.Get("timestamp"))
	switch kind := line.Get("type").Text(); kind {
	case "init":
		d.ensureTurn().UpdateIDs(nil, line.Get("model"))
	case "message":
		if line.Get("role").Is("assistant") {
			d.ensureTurn().AppendText(line.Get("content"))
		}
	case "tool_use":
		info := stream.CallInfo{ID: line.Get("tool_id").Text(), Name: line.Get("tool_name").Text(), Kind: "function"}
		d.calls.Ensure(d.ensureTurn(), info).SealWhole(line.Get("parameters"))
	case "tool_result":
		output, failed := line.Get("output"), line.Get("status").Is("error")
		if message := line.Get("error").Get("message"); failed && message.IsPresent() {
			output = message
		}
		d.ensureTurn().AddResultContent(line.Get("tool_id").Text(), failed, output)
	case "error":
		d.ensureTurn().Find(protocol.AgentError, "Gemini CLI reports: %s", stream.Fact(line.Get("message").Text()))
	case "result":
		d.endRun(line)
	default:
		d.Unknown(kind)
	}
	return nil
}

func (d *decoder) ensureTurn() *protocol.Turn {
	if !d.turn.IsOpen() {
		d.turn = d.Open(stream.Opening{})
		d.Once(protocol.NoModelWords, "Gemini CLI reports its work: one turn may contain several responses, and the arguments are as Gemini CLI read them")
	}
	return d.turn
}

// endRun reads the end of the run, with the usage of all its responses.
func (d *decoder) endRun(line json.Value) {
	if d.turn != nil && !d.turn.IsOpen() {
		return
	}
	t, stats := d.ensureTurn(), line.Get("stats")
	t.Usage(stream.Usage{
		Input: protocol.CountOf(stats.Get("input_tokens")), Output: protocol.CountOf(stats.Get("output_tokens")),
		CacheRead: protocol.CountOf(stats.Get("cached")),
	})
	if !line.Get("status").Is("error") {
		t.End()
		return
	}
	t.Find(protocol.AgentError, "the run failed: %s", stream.Fact(line.Get("error").Get("message").Text()))
	t.Cut("")
}

// Close cuts a run without its result.
func (d *decoder) Close() { d.turn.Cut("the lines ended without a result line") }
