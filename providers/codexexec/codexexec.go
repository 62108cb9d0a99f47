// Package codexexec decodes what Codex prints with codex exec --json: one JSON object a line, about
// what it did. These are no words of the model's provider. A turn is one task of the user, however
// many responses that took; an item is something that Codex ran, searched or changed, with what came
// of it. Calls that it refused, or could not read, are not among them.
//
// Wire facts are from openai/codex, codex-rs/exec/src/exec_events.rs, and from what Codex 0.169.0
// printed. A call's slot is its place among the turn's items, its seal that the item was told.
package codexexec

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Protocol is the lines of codex exec --json.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "codex-exec",
		Title:    "Codex exec --json",
		Sniff:    sniffFrame,
		Findings: findings,
		New: func(o *protocol.Out) protocol.Decoder {
			d := &decoder{Out: o}
			d.line.bindShape()
			return d
		},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	data := protocol.Raw(e.Data)
	switch kind := data.Get("type").Text(); {
	case kind == "thread.started" && data.Get("thread_id").IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "a thread.started line"}
	case strings.HasPrefix(kind, "item.") && data.Get("item").Get("type").IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "a line about an item"}
	case kind == "turn.started" || kind == "turn.completed" || kind == "turn.failed":
		return protocol.SniffScore{Points: protocol.Likely, Why: "a " + kind + " line"}
	}
	return protocol.SniffScore{}
}

// itemsOnly is the only finding that only these lines make.
var itemsOnly = &stream.Diagnosis{
	Code: "ITEMS_ONLY", Severity: stream.Info, By: stream.Client,
	Meaning: "These lines tell what Codex did, not what the model wrote: names and arguments are Codex's own, and calls that it could not run are missing.",
	Advice:  "Open the rollout of the session in ~/.codex/sessions: it has the model's calls as they were written.",
}

var notice = &stream.Diagnosis{
	Code: "CODEX_NOTICE", Severity: stream.Info, By: stream.Client,
	Meaning: "Codex told its user of something that went wrong on the way.",
	Advice:  "Nothing, if it went on; the last such word before a turn that failed says why.",
}

var findings = []*stream.Diagnosis{itemsOnly, notice}

// An itemKind is what is known of items that stand for a call.
type itemKind struct {
	word   string // what kind of call it is
	args   string // the member that says what was done
	given  string // the member that has what came of it
	server bool   // the provider does it
	json   bool   // args are JSON, and no text
}

var itemKinds = map[string]itemKind{
	"command_execution": {word: "shell", args: "command", given: "aggregated_output"},
	"file_change":       {word: "custom", args: "changes"},
	"mcp_tool_call":     {word: "mcp", args: "arguments", given: "result", json: true},
	"web_search":        {word: "server", args: "query", server: true},
	"collab_tool_call":  {word: "custom", args: "prompt"},
}

// itemNames are where the name of a call stands, if that is not the kind of its item.
var itemNames = map[string]string{"mcp_tool_call": "tool", "collab_tool_call": "tool"}
