// Package codexexec decodes the output of codex exec --json: one JSON object per line, about the actions of Codex.
// The lines are written by Codex, not by the model's provider. A turn is one task from the user, and has any
// number of responses. An item is a command, a search or a change that Codex made, with its result. Calls that
// Codex refused or could not parse are missing.
//
// Wire facts are from openai/codex, codex-rs/exec/src/exec_events.rs, and from the output of Codex 0.169.0. A
// call's slot is its position among the turn's items. A call is final as soon as its item arrives.
package codexexec

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Protocol returns the protocol of codex exec --json.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "codex-exec",
		Title:    "Codex exec --json",
		Sniff:    sniffFrame,
		ByAgent:  true,
		Findings: findings,
		New: func(o *protocol.Out) protocol.Decoder {
			d := &decoder{Out: o}
			d.line.bindShape()
			return d
		},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	switch kind := e.Get("type").Text(); {
	case kind == "thread.started" && e.Get("thread_id").IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "a thread.started line"}
	case strings.HasPrefix(kind, "item.") && e.Get("item").Get("type").IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "a line about an item"}
	case kind == "turn.started" || kind == "turn.completed" || kind == "turn.failed":
		return protocol.SniffScore{Points: protocol.Likely, Why: "a " + kind + " line"}
	}
	return protocol.SniffScore{}
}

// itemsOnly reports, once, that the lines contain only items.
var itemsOnly = &stream.Diagnosis{
	Code: "ITEMS_ONLY", Severity: stream.Info, By: stream.Client,
	Meaning: "The output of codex exec reports Codex's actions, not the model's output. Codex wrote the names and arguments itself. Calls that Codex could not run are missing.",
	Advice:  "Open the session's rollout file in ~/.codex/sessions: that file contains the calls as the model wrote them.",
}

// notice reports a notice that Codex showed its user.
var notice = &stream.Diagnosis{
	Code: "CODEX_NOTICE", Severity: stream.Info, By: stream.Client,
	Meaning: "Codex showed its user a notice about a problem.",
	Advice:  "Nothing, if Codex continued. If a turn failed, the last notice before the failure explains why.",
}

var findings = []*stream.Diagnosis{itemsOnly, notice}

// An itemKind describes items that represent a call.
type itemKind struct {
	word   string // kind of the call
	args   string // field with the arguments
	given  string // field with the result; "" for none
	server bool   // whether the provider runs the call
	json   bool   // whether the arguments are JSON, not plain text
}

var itemKinds = map[string]itemKind{
	"command_execution": {word: "shell", args: "command", given: "aggregated_output"},
	"file_change":       {word: "custom", args: "changes"},
	"mcp_tool_call":     {word: "mcp", args: "arguments", given: "result", json: true},
	"web_search":        {word: "server", args: "query", server: true},
	"collab_tool_call":  {word: "custom", args: "prompt"},
}

// itemNames are the fields that contain the name of a call, for items whose kind is not that name.
var itemNames = map[string]string{"mcp_tool_call": "tool", "collab_tool_call": "tool"}
