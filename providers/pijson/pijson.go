// Package pijson decodes the output of pi --mode json.
//
// Wire facts are from the output of pi 0.73.1. A turn is one message of the model. A call's slot is its contentIndex.
// The deltas are the model's; the arguments in other fields were parsed by pi, which repairs them. toolcall_end makes a
// call final.
package pijson

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Protocol returns the protocol of pi.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:  "pi-json",
		Title: "pi --mode json",
		Sniff: sniffFrame,
		New:   func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o} },
		Quiet: []string{
			"session", "agent_*", "turn_start", "message_start", "message_end", "tool_execution_start", "tool_execution_update", "queue_*", "compaction_*", "auto_*",
		},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	line := json.Value(e.Data)
	switch kind := line.Get("type").Text(); {
	case kind == "message_update" && line.Get("assistantMessageEvent").Get("type").IsString(),
		kind == "tool_execution_end" && line.Get("toolCallId").IsString(),
		kind == "message_end" && line.Get("message").Get("stopReason").IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "a " + kind + " line"}
	case kind == "session" && line.Get("version").IsPresent() && line.Get("cwd").IsString(),
		kind == "agent_start" || kind == "agent_end" || kind == "turn_start" || kind == "turn_end",
		kind == "message_start" && line.Get("message").Get("role").IsString(),
		kind == "tool_execution_start" && line.Get("toolCallId").IsString():
		return protocol.SniffScore{Points: protocol.Likely, Why: "a " + kind + " line"}
	}
	return protocol.SniffScore{}
}

// decoder reads one run.
type decoder struct {
	*protocol.Out
	turn *protocol.Turn
}

// Frame reads one line.
func (d *decoder) Frame(f stream.Frame) error {
	line := json.Value(f.Data)
	if err := json.Read(line); err != nil {
		return err
	}
	message := line.Get("message")
	switch kind := line.Get("type").Text(); kind {
	case "message_start":
		if message.Get("role").Is("assistant") {
			d.turn.Cut("another message began before this one ended")
			d.openTurn(message)
		}
	case "message_update":
		d.readUpdate(line.Get("assistantMessageEvent"), message)
	case "message_end":
		if message.Get("role").Is("assistant") {
			d.endMessage(message)
		}
	case "turn_end":
		d.turn.End()
	case "tool_execution_end":
		t := d.turn
		if t == nil {
			t = d.openTurn(nil)
		}
		t.AddResultContent(line.Get("toolCallId").Text(), line.Get("isError").IsTrue(), line.Get("result").Get("content"))
	default:
		d.Unknown(kind)
	}
	return nil
}

// Close cuts a message without its end.
func (d *decoder) Close() { d.turn.Cut("the lines ended without message_end") }

func (d *decoder) openTurn(message json.Value) *protocol.Turn {
	d.turn = d.Open(stream.Opening{ID: message.Get("responseId").Text(), Model: message.Get("model").Text()})
	return d.turn
}

// readUpdate reads a delta of the message.
func (d *decoder) readUpdate(e, message json.Value) {
	t := d.turn
	if !t.IsOpen() {
		t = d.openTurn(message)
	}
	n := e.Get("contentIndex").Int32()
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
			c.Find(protocol.DoneMismatch.WithSeverity(stream.Info), "pi read different arguments from the deltas; toolscope shows the deltas: %s", protocol.Clip(whole.Get("arguments")))
		}
	}
}

// elementAt returns an element of a list, nil if there is none.
func elementAt(list json.Value, n int32) json.Value {
	for e := range list.Elements() {
		if n--; n < 0 {
			return e
		}
	}
	return nil
}

// endMessage reads the end of a message: its stop reason, usage, or error.
func (d *decoder) endMessage(message json.Value) {
	if d.turn != nil && !d.turn.IsOpen() {
		return
	}
	t := d.turn
	if t == nil {
		t = d.openTurn(message)
	}
	u := message.Get("usage")
	t.Usage(stream.Usage{
		Input: protocol.CountOf(u.Get("input")), Output: protocol.CountOf(u.Get("output")),
		CacheRead: protocol.CountOf(u.Get("cacheRead")), CacheWrite: protocol.CountOf(u.Get("cacheWrite")),
	})
	word := message.Get("stopReason").Text()
	t.Finish(word, map[string]stream.Code{
		"stop": stream.FinishDone, "toolUse": stream.FinishDone, "length": stream.FinishCut,
		"error": stream.FinishFailed, "aborted": stream.FinishFailed,
	}[word])
	if word != "error" && word != "aborted" {
		t.End()
		return
	}
	why := message.Get("errorMessage").Text()
	if why != "" {
		t.Find(protocol.AgentError, "pi ended the message: %s", stream.Fact(why))
	}
	t.Cut("")
}
