// Package geminiinteractions decodes Google's Interactions API: its event stream and its whole
// bodies.
//
// Wire facts are from Google's reference and SDKs ("Interactions API" and "Streaming interactions"
// at ai.google.dev; interactions in js-genai). An interaction is a list of steps. A call is a step
// and its slot the step's index; its arguments are {} where the step starts and a JSON text in the
// deltas, or, of a call that the provider runs, an object in one delta; step.stop is its seal. An
// older form of the stream says content where this one says step.
package geminiinteractions

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Protocol is the Interactions API.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:          "gemini-interactions",
		Title:         "Gemini Interactions",
		Sniff:         sniffFrame,
		Findings:      findings,
		New:           newDecoder,
		Tools:         readTools,
		Model:         readModel,
		HistoryTarget: &target,
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	var kind, object, status, steps protocol.Raw
	other := false // version 1 of Cohere's protocol has event types too
	s := protocol.Scan(e.Data)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "event_type":
			kind = s.Value()
		case "is_finished":
			other = true
		case "object":
			object = s.Value()
		case "status":
			status = s.Value()
		case "steps", "outputs":
			steps = s.Value()
		}
	}
	name, event := kind.Text(), string(e.Event)
	switch {
	case strings.HasPrefix(name, "interaction."), strings.HasPrefix(name, "step."), strings.HasPrefix(name, "content."):
		return protocol.SniffScore{Points: protocol.Sure, Why: "event type " + name}
	case object.Is("interaction"):
		return protocol.SniffScore{Points: protocol.Sure, Why: "an interaction"}
	case steps.Kind() == '[' && status.IsString():
		return protocol.SniffScore{Points: protocol.Strong, Why: "steps and a status"}
	case name == "error":
		return protocol.SniffScore{Points: protocol.Likely, Why: "event type " + name}
	case strings.HasPrefix(event, "interaction."), strings.HasPrefix(event, "step."):
		return protocol.SniffScore{Points: protocol.Strong, Why: "event name " + event}
	case strings.HasSuffix(e.Path, "/interactions"), strings.Contains(e.Path, "/interactions/"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	case name != "" && !other:
		return protocol.SniffScore{Points: protocol.Weak, Why: "event type " + name}
	}
	return protocol.SniffScore{}
}

// endings are the states an interaction can end in.
var endings = protocol.FinishReasons{
	What: "status", Calls: "requires_action", Done: "completed",
	Codes: map[string]stream.Code{
		"completed": stream.FinishDone, "requires_action": stream.FinishDone,
		"incomplete": stream.FinishCut, "budget_exceeded": stream.FinishCut,
		"failed": stream.FinishFailed, "cancelled": stream.FinishFailed,
	},
}

// ignoredTypes are the kinds of steps, contents and deltas that are known and tell nothing by themselves.
var ignoredTypes = map[string]bool{
	"thought": true, "model_output": true, "user_input": true, "image": true, "audio": true, "video": true, "document": true,
	"thought_signature": true, "text_annotation": true, "text_annotation_delta": true,
}

// callOf is what a step, content or delta of that kind proposes as a call; ok says that it does.
func callOf(kind string) (info stream.CallInfo, ok bool) {
	name, isCall := strings.CutSuffix(kind, "_call")
	switch kind {
	case "function_call":
		return stream.CallInfo{Kind: "function"}, true
	case "mcp_server_tool_call":
		return stream.CallInfo{Kind: "mcp", RunByProvider: true}, true
	}
	return stream.CallInfo{Kind: "server", RunByProvider: true, Name: name}, isCall
}

// readModel is the model, or the agent, that a request asks for.
func readModel(_ string, request []byte) string {
	if m := protocol.Raw(request).Get("model").Text(); m != "" {
		return m
	}
	return protocol.Raw(request).Get("agent").Text()
}

// readTools are the tools a request declares, flat, with parameters as JSON Schema; those the provider
// runs are called after their type.
func readTools(request []byte) (list []protocol.Tool) {
	s := protocol.Raw(request).Get("tools").Scan()
	for ok := s.Array(); ok; ok = s.Element() {
		tool := s.Value()
		switch kind := tool.Get("type").Text(); kind {
		case "":
		case "function":
			list = append(list, protocol.Tool{
				Name: tool.Get("name").Text(), Kind: "function", Description: tool.Get("description").Text(), Schema: tool.Get("parameters"),
			})
		case "mcp_server": // its tools are not told
		default:
			list = append(list, protocol.Tool{Name: kind, Kind: "server"})
		}
	}
	return list
}
