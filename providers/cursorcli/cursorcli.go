// Package cursorcli decodes the output of Cursor's CLI with --output-format stream-json: lines about the work of the
// agent.
//
// Wire facts are from Cursor's documentation of the output format; the program was not run. A turn is one run with any
// number of responses. A call comes complete when it starts, and again with its result.
package cursorcli

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Protocol returns the protocol of Cursor's lines.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:  "cursor-cli",
		Title: "Cursor CLI stream-json",
		Sniff: sniffFrame,
		New:   func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o, calls: protocol.Calls{}} },
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	line := json.Value(e.Data)
	if line.Get("type").Is("tool_call") && line.Get("call_id").IsString() && line.Get("tool_call").Kind() == '{' {
		return protocol.SniffScore{Points: protocol.Sure, Why: "a tool_call line with a call_id"}
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
	case "user":
		d.Heartbeat()
	case "assistant":
		for block := range line.Get("message").Get("content").Elements() {
			d.ensureTurn().AppendText(block.Get("text"))
		}
	case "thinking":
		d.ensureTurn().AppendReasoning(0, line.Get("text"))
	case "tool_call":
		for key, value := range json.Members(line.Get("tool_call")) {
			if json.Value(value).Kind() == '{' {
				d.readCall(line, key, value)
			}
		}
	case "result":
		d.endRun(line)
	default:
		d.Unknown(kind)
	}
	return nil
}

// readCall reads the start or the end of a call. Its key is the tool's name with ToolCall, or function.
func (d *decoder) readCall(line json.Value, key string, call json.Value) {
	name, args := strings.TrimSuffix(key, "ToolCall"), call.Get("args")
	if key == "function" {
		name, args = call.Get("name").Text(), call.Get("arguments")
	}
	c := d.calls.Ensure(d.ensureTurn(), stream.CallInfo{ID: line.Get("call_id").Text(), Name: name, Kind: "function"})
	c.SealWhole(args)
	result := call.Get("result")
	if refused := result.Get("rejected"); refused.IsPresent() {
		why := refused.Get("reason").Text()
		c.Reject(why)
		c.Find(protocol.CallDenied, "the user didn't allow the call: %s", stream.Fact(why))
	} else if failed := result.Get("error"); failed.IsPresent() {
		c.Turn().AddResultContent(c.ID, true, failed)
	} else if done := result.Get("success"); done.IsPresent() {
		c.Turn().AddResultContent(c.ID, false, done)
	}
}

func (d *decoder) ensureTurn() *protocol.Turn {
	if !d.turn.IsOpen() {
		d.turn = d.Open(stream.Opening{Model: d.model})
		d.Once(protocol.NoModelWords, "Cursor reports its work: one turn may contain several responses, and the arguments are as Cursor read them")
	}
	return d.turn
}

func (d *decoder) endRun(line json.Value) {
	switch {
	case d.turn != nil && !d.turn.IsOpen():
	case line.Get("is_error").IsTrue():
		d.ensureTurn().Find(protocol.AgentError, "the run failed: %s", stream.Fact(line.Get("result").Text()))
		d.turn.Cut("")
	default:
		d.ensureTurn().End()
	}
}

// Close cuts a run without its result.
func (d *decoder) Close() { d.turn.Cut("the lines ended without a result line") }
