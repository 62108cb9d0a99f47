package agentlines

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// cursor describes the output of Cursor's CLI with --output-format stream-json. The facts are from its documentation;
// the program was not run. A line with the complete call comes when the call starts, and another one, with the
// result, when it ends.
var cursor = agent{
	name: "cursor-cli", title: "Cursor CLI stream-json", who: "Cursor", last: "a result line",
	sniff: func(kind string, e protocol.SniffInput) int {
		if kind == "tool_call" && e.Get("call_id").IsString() && e.Get("tool_call").Kind() == '{' {
			return protocol.Sure
		}
		return 0
	},
	read: func(r *run, kind string, line json.Value) bool {
		switch kind {
		case "system":
			r.model = line.Get("model").Text()
			r.Heartbeat()
		case "user":
			r.Heartbeat()
		case "assistant":
			for block := range line.Get("message").Get("content").Elements() {
				r.ensureTurn().AppendText(block.Get("text"))
			}
		case "thinking":
			r.ensureTurn().AppendReasoning(0, line.Get("text"))
		case "tool_call":
			for key, value := range json.Members(line.Get("tool_call")) {
				if json.Value(value).Kind() == '{' {
					r.readCursorCall(line.Get("call_id"), key, value)
				}
			}
		case "result":
			if r.hasEnded() {
				return true
			}
			if !line.Get("is_error").IsTrue() {
				r.ensureTurn().End()
				return true
			}
			r.ensureTurn().Find(protocol.AgentError, "the run failed: %s", stream.Fact(line.Get("result").Text()))
			r.turn.Cut("")
		default:
			return false
		}
		return true
	},
}

// readCursorCall reads the start or the end of a call. The call's key is "function", or the tool's name followed by
// "ToolCall".
func (r *run) readCursorCall(id json.Value, key string, call json.Value) {
	name, args := strings.TrimSuffix(key, "ToolCall"), call.Get("args")
	if key == "function" {
		name, args = call.Get("name").Text(), call.Get("arguments")
	}
	c := r.calls.Ensure(r.ensureTurn(), stream.CallInfo{ID: id.Text(), Name: name, Kind: "function"})
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
