package agentlines

import (
	"cmp"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// copilot describes the output of copilot --output-format json, as GitHub Copilot CLI 1.0.102 prints it. A turn is
// one response of the model. The line with the complete message makes the message's calls final. Copilot replaces
// secrets with asterisks, even within arguments.
var copilot = agent{
	name: "copilot-cli", title: "Copilot CLI events", client: "copilot", last: "assistant.turn_end",
	quiet: []string{"user.*", "session.*", "hook.*", "subagent.*", "system.*", "skill.*", "tool.*", "assistant.*", "model.*", "permission.*"},
	sniff: func(kind string, e protocol.SniffInput) int {
		data := e.Get("data")
		switch {
		case kind == "result" && e.Get("exitCode").IsPresent() && e.Get("sessionId").IsString():
			return protocol.Sure
		case data.Kind() != '{' || !e.Get("id").IsString() || !e.Get("timestamp").IsString():
		case strings.HasPrefix(kind, "assistant."), kind == "session.start" && data.Get("producer").Is("copilot-agent"):
			return protocol.Sure
		case strings.HasPrefix(kind, "tool.execution_"), kind == "user.message", strings.HasPrefix(kind, "session."), strings.HasPrefix(kind, "model."):
			return protocol.Likely
		}
		return 0
	},
	// The lines of a sub-agent contain its agentId. In older versions, they contain only the id of the call that
	// started the sub-agent.
	subAgent: func(kind string, line json.Value) (id, call string) {
		data := line.Get("data")
		call = data.Get("parentToolCallId").Text()
		if kind == "subagent.started" {
			call = cmp.Or(call, data.Get("toolCallId").Text())
		}
		if id = line.Get("agentId").Text(); id == "" && !strings.HasPrefix(kind, "subagent.") {
			id = call
		}
		return id, call
	},
	read: func(r *run, kind string, line json.Value) bool {
		data := line.Get("data")
		switch kind {
		case "session.start", "session.model_change", "model.call_start":
			for _, key := range []string{"selectedModel", "newModel", "model"} {
				if model := data.Get(key); model.HasText() {
					r.model = model.Text()
				}
			}
		case "assistant.turn_start":
			r.turn.Cut("another turn began before this one ended")
			r.openTurn()
		case "assistant.message_delta":
			r.ensureTurn().AppendText(data.Get("deltaContent"))
			r.hasText = true
		case "assistant.tool_call_delta":
			r.ensureCopilotCall(data, "toolName").Args(data.Get("inputDelta"))
		case "assistant.message":
			r.readCopilotMessage(data)
		case "tool.execution_complete":
			r.addResult(r.lastTurn(), data.Get("toolCallId"), string(data.Get("success")) == "false",
				data.Get("result").Get("content"), data.Get("error").Get("message"))
		case "assistant.usage":
			r.reportCopilotUsage(data)
		case "session.usage_record":
			r.reportCopilotUsage(data.Get("usage"))
		case "assistant.turn_end":
			if r.turn.IsOpen() {
				r.turn.End()
			}
		case "session.error", "abort":
			r.failed = true
			r.Find(protocol.AgentError, "Copilot reports: %s", stream.Fact(data.Get("message").Text()+data.Get("reason").Text()))
		case "result":
			if !r.failed {
				r.turn.End()
			}
		default:
			return false
		}
		return true
	},
}

func (r *run) ensureCopilotCall(data json.Value, name string) *protocol.Call {
	info := stream.CallInfo{ID: data.Get("toolCallId").Text(), Name: data.Get(name).Text(), Kind: "function"}
	if data.Get("toolType").Is("custom") || data.Get("type").Is("custom") {
		info.Kind, info.Freeform = "custom", true
	}
	return r.calls.Ensure(r.ensureTurn(), info)
}

// readCopilotMessage reads the message that ends a response. The message repeats the arguments, which may differ from
// the deltas because Copilot masks secrets.
func (r *run) readCopilotMessage(data json.Value) {
	t := r.ensureTurn()
	t.UpdateIDs(data.Get("apiCallId"), data.Get("model"))
	t.AppendReasoning(0, data.Get("reasoningText"))
	if !r.hasText {
		t.AppendText(data.Get("content"))
	}
	for request := range data.Get("toolRequests").Elements() {
		c := r.ensureCopilotCall(request, "name")
		if args := request.Get("arguments"); !c.SealWhole(args) && !strings.Contains(string(args), "******") {
			c.Find(protocol.DoneMismatch.WithSeverity(stream.Info), "the complete arguments differ from the deltas; toolscope shows the deltas: %s", protocol.Clip(args))
		}
	}
}

func (r *run) reportCopilotUsage(u json.Value) {
	if r.turn != nil && u.Get("inputTokens").IsPresent() {
		r.turn.Usage(usageOf(u, "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"))
	}
}
