package agentlines

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// gemini describes the output of gemini --output-format stream-json, as Gemini CLI 0.61.0 prints it. Calls
// arrive complete. The last line contains the usage of all responses.
var gemini = agent{
	name: "gemini-cli", title: "Gemini CLI stream-json", who: "Gemini CLI", last: "a result line",
	sniff: func(kind string, e protocol.SniffInput) int {
		has := func(key string) bool { return e.Get(key).IsString() }
		switch {
		case !has("timestamp"):
		case kind == "init" && has("session_id") && has("model"),
			kind == "tool_use" && has("tool_id") && has("tool_name"), kind == "tool_result" && has("tool_id") && has("status"),
			kind == "error" && has("severity"), kind == "result" && has("status") && e.Get("stats").IsPresent():
			return protocol.Sure
		case kind == "message" && has("role") && has("content"):
			return protocol.Likely
		}
		return 0
	},
	read: func(r *run, kind string, line json.Value) bool {
		switch kind {
		case "init":
			r.ensureTurn().UpdateIDs(nil, line.Get("model"))
		case "message":
			if line.Get("role").Is("assistant") {
				r.ensureTurn().AppendText(line.Get("content"))
			}
		case "tool_use":
			r.ensureCall(line.Get("tool_id"), line.Get("tool_name")).SealWhole(line.Get("parameters"))
		case "tool_result":
			r.addResult(r.ensureTurn(), line.Get("tool_id"), line.Get("status").Is("error"), line.Get("output"), line.Get("error").Get("message"))
		case "error":
			r.ensureTurn().Find(protocol.AgentError, "Gemini CLI reports: %s", stream.Fact(line.Get("message").Text()))
		case "result":
			if r.hasEnded() {
				return true
			}
			r.ensureTurn().Usage(usageOf(line.Get("stats"), "input_tokens", "output_tokens", "cached", ""))
			if !line.Get("status").Is("error") {
				r.turn.End()
				return true
			}
			r.turn.Find(protocol.AgentError, "the run failed: %s", stream.Fact(line.Get("error").Get("message").Text()))
			r.turn.Cut("")
		default:
			return false
		}
		return true
	},
}
