// Package openairesponses decodes the OpenAI Responses protocol: its event stream over SSE, the same
// events as WebSocket messages, and complete bodies, from OpenAI, Azure, Copilot, OpenRouter, xAI, LM
// Studio and other providers.
//
// Wire facts are from OpenAI's published API description and SDKs, and from recorded streams. The
// output is a list of items. A call is an item. Its slot is the item's output_index, because some
// providers change item ids from event to event. response.output_item.done makes the arguments final.
// The earlier event arguments.done has a copy of them, and so has the later response.completed.
package openairesponses

import (
	"bytes"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Protocol is the Responses protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "openai-responses",
		Title:    "OpenAI Responses",
		Sniff:    sniffFrame,
		Findings: findings,
		New:      newDecoder,
		Tools:    readTools,

		Targets: []protocol.Target{target},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	var kind, object, err, number, lane, status, message, id, output protocol.Raw
	_ = protocol.Read(e.Data, // data that is cut off has the fields before the cut
		protocol.Value("type", &kind), protocol.Value("object", &object), protocol.Value("error", &err),
		protocol.Value("sequence_number", &number), protocol.Value("stream_id", &lane), protocol.Value("status", &status),
		protocol.Value("message", &message), protocol.Value("id", &id), protocol.Value("output", &output))
	_, numbered := number.Int()
	_, coded := status.Int()
	word := kind.Text()
	switch {
	case strings.HasPrefix(word, "response."):
		return protocol.SniffScore{Points: protocol.Sure, Why: "event type " + word}
	case object.Is("response"):
		return protocol.SniffScore{Points: protocol.Sure, Why: "a response body"}
	case output.Kind() == '[' && strings.HasPrefix(id.Text(), "resp_"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "the output of a response"}
	case connectionEvents[word] && (numbered || word != "keepalive"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "event type " + word}
	case word == "error" && (numbered || coded || lane.IsString() || message.IsString() || err.Get("code").IsString() || err.Get("param") != nil):
		return protocol.SniffScore{Points: protocol.Strong, Why: "an error event"}
	case bytes.HasPrefix(e.Event, []byte("response.")):
		return protocol.SniffScore{Points: protocol.Strong, Why: "event name " + string(e.Event)}
	case strings.HasSuffix(e.Path, "/responses"), strings.Contains(e.Path, "/responses/"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	}
	return protocol.SniffScore{}
}

// connectionEvents are about the connection, not about a response.
var connectionEvents = map[string]bool{"keepalive": true, "rate_limits.updated": true, "codex.rate_limits": true}

// finishCodes are the final statuses of a response.
var finishCodes = map[string]stream.Code{
	"completed": stream.FinishDone, "incomplete": stream.FinishCut,
	"failed": stream.FinishFailed, "cancelled": stream.FinishFailed,
}

// callKind describes an item type that is a call.
type callKind struct {
	word     string // kind of the call
	member   string // field with its arguments
	freeform bool   // the arguments are a program or a text, not JSON
	runner   runBy
}

// runBy says which party runs the calls of a kind.
type runBy uint8

const (
	byClient        runBy = iota
	byProvider            // the item also has the outcome
	byProviderApart       // the result is a separate item
	byEnvironment         // the provider, if the environment is its own container
	byExecution           // the party that the item names
)

// byProvider reports whether the provider runs a call of this kind.
func (c callKind) byProvider(w *wireItem) bool {
	switch c.runner {
	case byEnvironment:
		return w.environment.IsPresent() && !w.environment.Is("local")
	case byExecution:
		return !w.execution.Is("client")
	}
	return c.runner != byClient
}

// callKinds are the item types that are calls. Those of kind server are tools that the protocol itself
// defines.
var callKinds = map[string]callKind{
	"function_call":         {"function", "arguments", false, byClient},
	"custom_tool_call":      {"custom", "input", true, byClient},
	"mcp_call":              {"mcp", "arguments", false, byProvider},
	"mcp_approval_request":  {"mcp_approval", "arguments", false, byClient},
	"code_interpreter_call": {"server", "code", true, byProvider},
	"program":               {"server", "code", true, byProviderApart},
	"shell_call":            {"server", "action", false, byEnvironment},
	"local_shell_call":      {"server", "action", false, byClient},
	"apply_patch_call":      {"server", "operation", false, byClient},
	"computer_call":         {"server", "action", false, byClient},
	"tool_search_call":      {"server", "arguments", false, byExecution},
	"web_search_call":       {"server", "action", false, byProvider},
	"file_search_call":      {"server", "queries", false, byProvider},
	"image_generation_call": {"server", "", false, byProvider},
}

// callOf returns the call kind of an item type; ok says that the type is a call. An unknown type is a
// call if its name ends in _call. The client runs it if it has an id for a result to name.
func callOf(kind string, w *wireItem) (c callKind, ok bool) {
	if c, ok = callKinds[kind]; ok || !strings.HasSuffix(kind, "_call") {
		return c, ok
	}
	c = callKind{"server", "action", false, byProvider}
	if w != nil && w.callID.IsPresent() {
		c.runner = byClient
	}
	return c, true
}

// otherItems are the item types that are not calls.
var otherItems = map[string]bool{
	"message": true, "reasoning": true, "mcp_list_tools": true, "compaction": true, "mcp_approval_response": true,
}
