package agentlines

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// pi describes the output of pi --mode json, as pi 0.73.1 prints it. A turn is one message of the model. A call's
// slot is its contentIndex. The deltas contain the model's own text. The arguments in other fields were parsed and
// possibly repaired by pi. toolcall_end makes a call final.
var pi = agent{
	name: "pi-json", title: "pi --mode json", last: "message_end",
	quiet: []string{
		"session", "agent_*", "turn_start", "message_start", "message_end", "tool_execution_start", "tool_execution_update", "queue_*", "compaction_*", "auto_*",
	},
	sniff: func(kind string, e protocol.SniffInput) int {
		switch {
		case kind == "message_update" && e.Get("assistantMessageEvent").Get("type").IsString(),
			kind == "tool_execution_end" && e.Get("toolCallId").IsString(),
			kind == "message_end" && e.Get("message").Get("stopReason").IsString():
			return protocol.Sure
		case kind == "session" && e.Get("version").IsPresent() && e.Get("cwd").IsString(),
			kind == "agent_start" || kind == "agent_end" || kind == "turn_start" || kind == "turn_end",
			kind == "message_start" && e.Get("message").Get("role").IsString(),
			kind == "tool_execution_start" && e.Get("toolCallId").IsString():
			return protocol.Likely
		}
		return 0
	},
	read: func(r *run, kind string, line json.Value) bool {
		message := line.Get("message")
		r.id, r.model = message.Get("responseId").Text(), message.Get("model").Text()
		switch kind {
		case "message_start":
			if message.Get("role").Is("assistant") {
				r.turn.Cut("another message began before this one ended")
				r.openTurn()
			}
		case "message_update":
			r.readPiUpdate(line.Get("assistantMessageEvent"))
		case "message_end":
			if message.Get("role").Is("assistant") {
				r.endPiMessage(message)
			}
		case "turn_end":
			r.turn.End()
		case "tool_execution_end":
			r.addResult(r.lastTurn(), line.Get("toolCallId"), line.Get("isError").IsTrue(), line.Get("result").Get("content"), nil)
		default:
			return false
		}
		return true
	},
}

// readPiUpdate reads an event within a message: a delta, or the start or the end of a call.
func (r *run) readPiUpdate(e json.Value) {
	t, n := r.ensureTurn(), e.Get("contentIndex").Int32()
	switch kind := e.Get("type").Text(); kind {
	case "text_delta":
		t.AppendText(e.Get("delta"))
	case "thinking_delta":
		t.AppendReasoning(n, e.Get("delta"))
	case "toolcall_start", "toolcall_delta", "toolcall_end":
		whole := e.Get("toolCall")
		if whole == nil {
			whole = elementAt(e.Get("partial").Get("content"), n)
		}
		c := t.FindCall(n)
		if c == nil {
			c = t.OpenCall(n, stream.CallInfo{ID: whole.Get("id").Text(), Name: whole.Get("name").Text(), Kind: "function"})
			c.Keep()
		} else if id := whole.Get("id").Text(); c.ID == "" && id != "" {
			c.Meta(stream.CallInfo{ID: id, Name: whole.Get("name").Text()})
		}
		if kind == "toolcall_delta" {
			c.Args(e.Get("delta"))
		} else if kind == "toolcall_end" && !c.SealWhole(whole.Get("arguments")) {
			c.Find(protocol.DoneMismatch.WithSeverity(stream.Info), "pi's complete arguments differ from the deltas; toolscope shows the deltas: %s", protocol.Clip(whole.Get("arguments")))
		}
	}
}

// elementAt returns the element of a list at index n, or nil.
func elementAt(list json.Value, n int32) json.Value {
	for e := range list.Elements() {
		if n--; n < 0 {
			return e
		}
	}
	return nil
}

// piFinishCodes are pi's stop reasons.
var piFinishCodes = protocol.FinishCodes{
	"stop": stream.FinishDone, "toolUse": stream.FinishDone, "length": stream.FinishCut,
	"error": stream.FinishFailed, "aborted": stream.FinishCancelled,
}

// endPiMessage reads the end of a message: its stop reason, usage and error.
func (r *run) endPiMessage(message json.Value) {
	if r.hasEnded() {
		return
	}
	t := r.ensureTurn()
	t.Usage(usageOf(message.Get("usage"), "input", "output", "cacheRead", "cacheWrite"))
	word := message.Get("stopReason").Text()
	code, known := piFinishCodes.Of(word)
	t.Finish(word, code)
	if !known {
		t.Find(protocol.FinishUnknown, "stop reason %q is not documented", stream.Fact(word))
	}
	if word != "error" && word != "aborted" {
		t.End()
		return
	}
	if why := message.Get("errorMessage").Text(); why != "" {
		t.Find(protocol.AgentError, "pi ended the message: %s", stream.Fact(why))
	}
	t.Cut("")
}
