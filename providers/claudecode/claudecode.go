// Package claudecode decodes the output of claude -p --output-format stream-json: one JSON object per line.
// With --include-partial-messages, the lines also contain the events of the model's own stream.
//
// Wire facts are from programs that read these lines, and from the public documentation of the Agent SDK,
// which describes the lines as message types. A turn is one message of the model. The field
// parent_tool_use_id distinguishes the main agent and each sub-agent. Their lines alternate, so several turns
// may be open at once. A stream_event line contains an event of the inner protocol, and each agent has a
// decoder for this protocol. An assistant line repeats one complete content block of a message, and confirms
// the streamed block. If nothing was streamed, the inner decoder reads the events that would have streamed
// the block. So the inner protocol determines the slot of a call, and when the call is final. A user line
// contains the results of tools, and a result line ends the request.
package claudecode

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns the protocol of Claude Code's stream-json. The parameter inner is the model's own protocol.
func Protocol(inner protocol.Protocol) protocol.Protocol {
	return protocol.Protocol{
		Name:          "claude-code",
		Title:         "Claude Code stream-json",
		Sniff:         sniffFrame,
		Findings:      findings,
		ParallelTurns: true,
		ByAgent:       true,
		Client:        "claude-code",
		Marks:         wireMarks,
		Quiet: []string{
			"system", "tool_progress", "tool_use_summary", "rate_limit_event", "keep_alive", "auth_status", "prompt_suggestion", "control_*",
		},
		New: func(o *protocol.Out) protocol.Decoder {
			d := &decoder{
				Out: o, inner: inner.New,
				byParent: map[string]*agent{}, calls: map[string]*protocol.Call{}, streamed: map[string]bool{},
			}
			d.line.bindShape()
			return d
		},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	if !e.IsWhole() {
		return protocol.SniffScore{}
	}
	session, uuid, parent, message := e.Get("session_id"), e.Get("uuid"), e.Get("parent_tool_use_id"), e.Get("message")
	ofSession := session.IsString() || parent != nil
	own := uuid.IsString() || parent != nil // other agents have lines with the same type names
	switch kind := e.Get("type").Text(); kind {
	case "stream_event":
		if e.Get("event").Kind() == '{' {
			return protocol.SniffScore{Points: protocol.Sure, Why: "a stream_event line"}
		}
	case "assistant", "user":
		if message.Kind() == '{' && ofSession && (own || isAnthropic(message)) {
			return protocol.SniffScore{Points: protocol.Sure, Why: "a line with a message of the " + kind}
		}
	case "system", "result":
		own = own || e.Get("tools").Kind() == '[' && (e.Get("permissionMode") != nil || e.Get("mcp_servers") != nil) ||
			e.Get("usage").Kind() == '{' || e.Get("num_turns") != nil
		if e.Get("subtype").IsString() && ofSession && own {
			return protocol.SniffScore{Points: protocol.Sure, Why: "a " + kind + " line"}
		}
	case "":
	default:
		if session.IsString() && uuid.IsString() {
			return protocol.SniffScore{Points: protocol.Likely, Why: "a line of a session"}
		}
	}
	return protocol.SniffScore{}
}

// wireMarks describes Claude Code's messages to code that doesn't decode them.
var wireMarks = marks.Protocol{PartKeys: []string{"toolUseResult"}}

// isAnthropic reports whether a message is in Anthropic's protocol, or contains results of its tools.
func isAnthropic(message json.Value) bool {
	if message.Get("id").IsString() || message.Get("model").IsString() {
		return true
	}
	s := message.Get("content").Scan()
	return s.Array() && s.Value().Get("tool_use_id").IsString()
}

// findings are the findings that only this protocol reports.
var findings = []*stream.Diagnosis{
	sessionCost, usagePartial,
}

var (
	sessionCost = &stream.Diagnosis{
		Code: "SESSION_COST", Severity: stream.Info, By: stream.Client,
		Meaning: "Claude Code reports the cost of the session so far.",
		Advice:  "Nothing. You can compare this cost with the cost of the turns.",
	}
	usagePartial = &stream.Diagnosis{
		Code: "USAGE_PARTIAL", Severity: stream.Info, By: stream.Client,
		Meaning: "Claude Code reports the usage as it was at the start of each message, so the output token counts are too low.",
		Advice:  `Use the token total in the line of type "result".`,
	}
)
