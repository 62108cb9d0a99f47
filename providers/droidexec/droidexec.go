// Package droidexec decodes the output of droid exec --output-format stream-json: lines about the work of the agent.
//
// Wire facts are from the output of Factory droid 0.215.0. A turn is one run with any number of responses. Calls come
// complete. A completion line ends the run. Its first line is like Claude Code's.
package droidexec

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Protocol returns the protocol of droid's lines.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:  "droid-exec",
		Title: "droid exec stream-json",
		Sniff: sniffFrame,
		New:   func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o, calls: protocol.Calls{}} },
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	line := json.Value(e.Data)
	has := func(key string) bool { return line.Get(key).IsString() }
	switch kind := line.Get("type").Text(); {
	case !has("session_id"):
	case kind == "tool_call" && has("id") && has("toolId"), kind == "tool_result" && has("id") && has("toolId"),
		kind == "completion" && line.Get("numTurns").IsPresent():
		return protocol.SniffScore{Points: protocol.Sure, Why: "a " + kind + " line"}
	case kind == "message" && has("role") && has("text"), kind == "reasoning" && has("text"):
		return protocol.SniffScore{Points: protocol.Likely, Why: "a " + kind + " line"}
	}
	return protocol.SniffScore{}
}

// decoder reads one run.
type decoder struct {
	*protocol.Out
	turn  *protocol.Turn
	calls protocol.Calls
	model string
}

// Frame reads one line.
func (d *decoder) Frame(f stream.Frame) error {
	line := json.Value(f.Data)
	if err := json.Read(line); err != nil {
		return err
	}
	switch kind := line.Get("type").Text(); kind {
	case "system":
		d.model = line.Get("model").Text()
		d.Heartbeat()
	case "message":
		if line.Get("role").Is("assistant") {
			d.ensureTurn().AppendText(line.Get("text"))
		}
	case "reasoning":
		d.ensureTurn().AppendReasoning(0, line.Get("text"))
	case "tool_call":
		info := stream.CallInfo{ID: line.Get("id").Text(), Name: line.Get("toolName").Text(), Kind: "function"}
		if info.Name == "" {
			info.Name = line.Get("toolId").Text()
		}
		d.calls.Ensure(d.ensureTurn(), info).SealWhole(line.Get("parameters"))
	case "tool_result":
		value := line.Get("value")
		if message := line.Get("error").Get("message"); message.IsPresent() {
			value = message
		}
		d.ensureTurn().AddResultContent(line.Get("id").Text(), line.Get("isError").IsTrue(), value)
	case "error":
		d.ensureTurn().Find(protocol.AgentError, "droid reports: %s", stream.Fact(line.Get("message").Text()))
	case "completion":
		if d.turn == nil || d.turn.IsOpen() {
			u := line.Get("usage")
			d.ensureTurn().Usage(stream.Usage{
				Input: protocol.CountOf(u.Get("input_tokens")), Output: protocol.CountOf(u.Get("output_tokens")),
				CacheRead: protocol.CountOf(u.Get("cache_read_input_tokens")), CacheWrite: protocol.CountOf(u.Get("cache_creation_input_tokens")),
			})
			d.turn.End()
		}
	default:
		d.Unknown(kind)
	}
	return nil
}

func (d *decoder) ensureTurn() *protocol.Turn {
	if !d.turn.IsOpen() {
		d.turn = d.Open(stream.Opening{Model: d.model})
		d.Once(protocol.NoModelWords, "droid reports its work: one turn may contain several responses, and the arguments are as droid read them")
	}
	return d.turn
}

// Close cuts a run without its completion.
func (d *decoder) Close() { d.turn.Cut("the lines ended without a completion line") }
