package agentlines

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// droid describes the output of droid exec --output-format stream-json, as Factory droid 0.215.0 prints it. Calls
// arrive complete. The first line looks like Claude Code's.
var droid = agent{
	name: "droid-exec", title: "droid exec stream-json", who: "droid", last: "a completion line",
	sniff: func(kind string, e protocol.SniffInput) int {
		has := func(key string) bool { return e.Get(key).IsString() }
		switch {
		case !has("session_id"):
		case kind == "tool_call" && has("id") && has("toolId"), kind == "tool_result" && has("id") && has("toolId"),
			kind == "completion" && e.Get("numTurns").IsPresent():
			return protocol.Sure
		case kind == "message" && has("role") && has("text"), kind == "reasoning" && has("text"):
			return protocol.Likely
		}
		return 0
	},
	read: func(r *run, kind string, line json.Value) bool {
		switch kind {
		case "system":
			r.model = line.Get("model").Text()
			r.Heartbeat()
		case "message":
			if line.Get("role").Is("assistant") {
				r.ensureTurn().AppendText(line.Get("text"))
			}
		case "reasoning":
			r.ensureTurn().AppendReasoning(0, line.Get("text"))
		case "tool_call":
			name := line.Get("toolName")
			if !name.HasText() {
				name = line.Get("toolId")
			}
			r.ensureCall(line.Get("id"), name).SealWhole(line.Get("parameters"))
		case "tool_result":
			r.addResult(r.ensureTurn(), line.Get("id"), line.Get("isError").IsTrue(), line.Get("value"), line.Get("error").Get("message"))
		case "error":
			r.ensureTurn().Find(protocol.AgentError, "droid reports: %s", stream.Fact(line.Get("message").Text()))
		case "completion":
			if !r.hasEnded() {
				u := line.Get("usage")
				r.ensureTurn().Usage(usageOf(u, "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"))
				r.turn.End()
			}
		default:
			return false
		}
		return true
	},
}
