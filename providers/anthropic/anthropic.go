// Package anthropic decodes the Anthropic Messages protocol: its event stream and its complete bodies,
// from Anthropic, from Vertex, and from many gateways.
//
// Wire facts are from Anthropic's public SDKs and documentation (event flow in message.go and
// messageutil.go of anthropic-sdk-go; "Streaming Messages" and "Fine-grained tool streaming" at
// platform.claude.com/docs). The slot of a call is the index of its content block. content_block_stop
// makes the arguments final.
package anthropic

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Protocol is the Anthropic Messages protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "anthropic",
		Title:    "Anthropic Messages",
		Sniff:    sniffFrame,
		Findings: findings,
		New:      newDecoder,
		Tools:    readTools,

		Targets: []protocol.Target{target},
	}
}

// eventTypes are the event types of the stream. A gateway may add others.
var eventTypes = map[string]bool{
	"message_start": true, "content_block_start": true, "content_block_delta": true,
	"content_block_stop": true, "message_delta": true, "message_stop": true,
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	kind := protocol.Raw(e.Data).Get("type")
	switch {
	case eventTypes[kind.Text()]:
		return protocol.SniffScore{Points: protocol.Sure, Why: "event type " + kind.Text()}
	case kind.Is("message") && protocol.Raw(e.Data).Get("role").Is("assistant"):
		return protocol.SniffScore{Points: protocol.Sure, Why: "a message body"}
	case kind.Is("error") && protocol.Raw(e.Data).Get("error").Kind() == '{':
		return protocol.SniffScore{Points: protocol.Likely, Why: "an error envelope"}
	case eventTypes[string(e.Event)]:
		return protocol.SniffScore{Points: protocol.Strong, Why: "event name " + string(e.Event)}
	case strings.HasSuffix(e.Path, "/v1/messages"), strings.Contains(e.Path, "publishers/anthropic/"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	}
	for name := range e.Header {
		if strings.HasPrefix(name, "Anthropic-") {
			return protocol.SniffScore{Points: protocol.Likely, Why: "header " + name}
		}
	}
	if kind.Is("ping") {
		return protocol.SniffScore{Points: protocol.Weak, Why: "event type ping"}
	}
	return protocol.SniffScore{}
}

// endings are the stop reasons. "sensitive" is known only from clients.
var endings = protocol.FinishReasons{
	What: "stop reason", Calls: "tool_use", Done: "end_turn",
	Codes: map[string]stream.Code{
		"end_turn": stream.FinishDone, "tool_use": stream.FinishDone, "stop_sequence": stream.FinishDone,
		"pause_turn": stream.FinishDone, "compaction": stream.FinishDone,
		"max_tokens": stream.FinishCut, "model_context_window_exceeded": stream.FinishCut,
		"refusal": stream.FinishRefused, "sensitive": stream.FinishRefused,
	},
}

// toolBlocks are the block types that contain a call, with the kind of the call.
var toolBlocks = map[string]stream.CallInfo{
	"tool_use":        {Kind: "function"},
	"server_tool_use": {Kind: "server", RunByProvider: true},
	"mcp_tool_use":    {Kind: "mcp", RunByProvider: true},
}
