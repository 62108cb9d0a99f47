// Package cohere decodes Cohere's chat protocol, version 2: its event stream and its complete bodies.
//
// The slot of a call is the index of its tool-call events. tool-call-end makes the arguments final. The field
// tool_calls is an object in tool-call events, and a list in bodies. tool_plan, the model's text before its calls,
// is read as reasoning. message-end is the terminator; a gateway may add [DONE] after it.
//
// Wire facts are from Cohere's published SDKs and API reference (V2ChatStreamResponse,
// ChatMessageEndEventDelta, Usage).
package cohere

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns version 2 of Cohere's protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:  "cohere",
		Title: "Cohere v2",
		Sniff: sniffFrame,
		New:   func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o, ev: newEvent()} },
		Marks: wireMarks,
		Tools: protocol.FunctionTools,
		Model: func(_ string, request []byte) string { return json.Value(request).Get("model").Text() }, // not in the response

		Targets: []protocol.Target{target},
	}
}

// eventTypes are the event types that identify the stream.
var eventTypes = map[string]bool{
	"message-start": true, "message-end": true, "tool-plan-delta": true,
	"content-start": true, "content-delta": true, "content-end": true,
	"tool-call-start": true, "tool-call-delta": true, "tool-call-end": true,
	"citation-start": true, "citation-end": true,
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	kind, reason := e.Get("type").Text(), e.Get("finish_reason").Text()
	_, finishes := endings.Codes[reason]
	switch {
	case !e.IsWhole():
	case eventTypes[kind] && (e.Get("delta").Kind() == '{' || protocol.CountOf(e.Get("index")).Reported):
		return protocol.SniffScore{Points: protocol.Sure, Why: "event type " + kind}
	case e.Get("message").Kind() == '{' && finishes:
		return protocol.SniffScore{Points: protocol.Sure, Why: "a body with message and finish_reason " + reason}
	case kind == "" && eventTypes[string(e.Event)]:
		return protocol.SniffScore{Points: protocol.Strong, Why: "event name " + string(e.Event)}
	}
	if strings.HasSuffix(e.Path, "/v2/chat") {
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	}
	return protocol.SniffScore{}
}

// endings are the finish reasons.
var endings = protocol.FinishReasons{
	What: "finish reason", Calls: "TOOL_CALL", Done: "COMPLETE",
	Codes: map[string]stream.Code{
		"COMPLETE": stream.FinishDone, "STOP_SEQUENCE": stream.FinishDone, "TOOL_CALL": stream.FinishDone,
		"MAX_TOKENS": stream.FinishCut,
		"ERROR":      stream.FinishFailed, "TIMEOUT": stream.FinishFailed,
	},
}

// event is one event of the stream or a complete body, as it was sent.
type event struct {
	shape *json.Shape

	kind, index, delta     json.Value
	id, finish, usage, err json.Value // fields of the delta, or of a body at its top level
	body                   json.Value // the field named message in a body; if it is a string, it is an error

	message message
}

// message is the message in a delta or in a body.
type message struct {
	plan           json.Value
	content        json.Value // a string or a list, in bodies and message-start; an object in a delta
	text, thinking json.Value // fields of the content object
	calls          json.Value // a list, in bodies and message-start; an object in a delta
	call           protocol.FunctionCall
}

func newEvent() *event {
	ev := new(event)
	ev.shape = json.ShapeOf(append(ev.shapeFields(),
		json.Field("type", &ev.kind),
		json.Field("index", &ev.index),
		json.Object("delta", append(ev.shapeFields(), json.Object("message", ev.message.shapeFields()...))...).Into(&ev.delta),
		json.Object("message", ev.message.shapeFields()...).Into(&ev.body))...)
	return ev
}

// shapeFields returns the fields in the delta of an event and at the top level of a body.
func (ev *event) shapeFields() []json.Binding {
	return []json.Binding{
		json.Field("id", &ev.id),
		json.Field("finish_reason", &ev.finish),
		json.Field("usage", &ev.usage),
		json.Field("error", &ev.err),
	}
}

func (m *message) shapeFields() []json.Binding {
	return []json.Binding{
		json.Field("tool_plan", &m.plan),
		json.Object("content", json.Field("text", &m.text), json.Field("thinking", &m.thinking)).Into(&m.content),
		json.Object("tool_calls", m.call.Fields()...).Into(&m.calls),
	}
}

// firstCall returns the call in a delta. The call is an object or, contrary to the protocol, the first element of a
// list.
func (m *message) firstCall() protocol.FunctionCall {
	for v := range m.calls.Elements() {
		var first protocol.FunctionCall
		first.Read(v)
		return first
	}
	return m.call
}

// writeRequest writes a request for version 2 of the chat protocol. Its response ends with the usage.
func writeRequest(r protocol.Request, _ protocol.HostFeatures) (path string, body []byte) {
	var w json.Writer
	w.Open('{').Member("model", r.Model).Flag("stream", true)
	if r.MaxTokens > 0 {
		w.Key("max_tokens").Int(r.MaxTokens)
	}
	w.WriteList("messages", r.WithSystem())
	r.WriteFunctionTools(&w, false)
	return "/v2/chat", w.Close('}').Text
}

// wireMarks describes Cohere's protocol to code that doesn't decode it. Its streams end like those of Chat
// Completions.
var wireMarks = marks.Protocol{
	Events: []marks.Event{
		{Type: "message-start", Begins: true},
		{Type: "content-start"}, {Type: "content-delta"}, {Type: "content-end"},
		{Type: "tool-plan-delta"},
		{Type: "tool-call-start"}, {Type: "tool-call-delta"}, {Type: "tool-call-end"},
		{Type: "citation-start"}, {Type: "citation-end"},
		{Type: "message-end", Ends: true, Last: true},
		{Type: "stream-start", Begins: true, Common: true},
	},
	TypeKeys: []string{"type", "event_type"}, IDKeys: []string{"id"}, BlockKeys: []string{"index"}, Ending: "finish_reason",
	Arguments: []marks.Place{{Path: "arguments"}},
	TextKeys:  []string{"arguments", "text", "content"},
	Refusal: marks.Refusal{
		Paths:  []string{"/v2/chat"},
		Bodies: []string{"message-start"},
		Body:   func(_ int, message string) any { return map[string]any{"message": message} },
	},
}
