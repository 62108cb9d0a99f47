// Package bedrock decodes AWS Bedrock's Converse and ConverseStream. It reads three forms: the events of the
// binary stream, with their names in the message's headers; the same events as SDKs print them, each a JSON object
// with the name as its key; and complete bodies.
//
// The slot of a call is its contentBlockIndex. contentBlockStop makes the arguments final. The response ends
// with messageStop, but a metadata event with the usage normally follows, so the turn stays open for that
// event. InvokeModel sends the model's own protocol inside an envelope, which this package doesn't read.
//
// Wire facts are from AWS's published service model of bedrock-runtime (ConverseStreamOutput, ConverseResponse,
// TokenUsage) as contained in botocore.
package bedrock

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns the Bedrock Converse protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:  "bedrock",
		Title: "Bedrock Converse",
		Sniff: sniffFrame,
		New: func(o *protocol.Out) protocol.Decoder {
			d := &decoder{Out: o}
			d.ev.bindShape()
			return d
		},
		Marks: wireMarks,
		Tools: readTools,
		Model: readModel,

		Targets: []protocol.Target{target},
	}
}

// serverToolUse is the type of a call that the provider runs.
const serverToolUse = "server_tool_use"

// eventNames are the events of the stream.
var eventNames = []string{
	"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata",
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	name, event := eventAndFields(e)
	_, operation := pathParts(e.Path)
	switch {
	case event != nil && slices.Contains(eventNames, name) && (name != "metadata" || isMetadata(e, event)):
		return protocol.SniffScore{Points: protocol.Sure, Why: "event " + name}
	case event.Get("output").Get("message").Kind() == '{' && event.Get("stopReason").IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "a body with output.message and stopReason"}
	case event.Get("output").Get("message").Get("role").Is("assistant"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "a body with output.message"}
	case strings.HasSuffix(name, "Exception"):
		return protocol.SniffScore{Points: protocol.Likely, Why: "exception " + name}
	case strings.HasPrefix(operation, "converse"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	case operation != "":
		return protocol.SniffScore{Points: protocol.Weak, Why: "path " + e.Path}
	case e.HeaderIs("X-Amzn-Errortype"), isEventStream(e.Header["Content-Type"]):
		return protocol.SniffScore{Points: protocol.Weak, Why: "an AWS header"}
	}
	return protocol.SniffScore{}
}

// eventAndFields returns the name and the fields of an event. It finds the name in the same way as event.name does.
// If the data is not a JSON object, the fields are nil.
func eventAndFields(e protocol.SniffInput) (name string, event json.Value) {
	name, event = string(e.Event), e.Data
	s := json.Scan(e.Data)
	for ok := s.Object(); ok; ok = s.Member() {
		if s.Kind() == '{' && slices.Contains(eventNames, string(s.Key())) {
			name, event = string(s.Key()), s.Value()
		}
	}
	if s.End() != nil {
		return name, nil
	}
	return name, event
}

// isMetadata reports whether an event is Bedrock's metadata event. Other protocols also have a field named metadata.
func isMetadata(e protocol.SniffInput, event json.Value) bool {
	named := string(e.Event) == "metadata" || event.Get("metrics").Kind() == '{'
	return named && protocol.CountOf(event.Get("usage").Get("inputTokens")).Reported
}

func isEventStream(contentType []string) bool {
	return len(contentType) > 0 && strings.HasPrefix(contentType[0], "application/vnd.amazon.eventstream")
}

// pathParts returns the id and the operation of a path /model/{id}/{operation}. An id may be an ARN, which may
// contain slashes once it is decoded. For any other path, both results are "".
func pathParts(path string) (id, operation string) {
	_, rest, ok := strings.Cut(path, "/model/")
	slash := strings.LastIndexByte(rest, '/')
	if !ok || slash < 0 {
		return "", ""
	}
	switch operation = rest[slash+1:]; operation {
	case "converse", "converse-stream", "invoke", "invoke-with-response-stream":
		return rest[:slash], operation
	}
	return "", ""
}

// readModel returns the model in the request's path, because the response doesn't contain the model.
func readModel(path string, _ []byte) string {
	id, _ := pathParts(path)
	if plain, err := url.PathUnescape(id); err == nil {
		return plain
	}
	return id
}

// readTools returns the tools in toolConfig. The provider runs a systemTool.
func readTools(request []byte) (tools []protocol.Tool) {
	list := json.Value(request).Get("toolConfig").Get("tools").Scan()
	for ok := list.Array(); ok; ok = list.Element() {
		tool := list.Value()
		spec, system := tool.Get("toolSpec"), tool.Get("systemTool")
		switch {
		case spec.Get("name").IsString():
			schema := spec.Get("inputSchema").Get("json")
			if !schema.IsPresent() {
				schema = nil
			}
			tools = append(tools, protocol.Tool{
				Name: spec.Get("name").Text(), Kind: "function", Description: spec.Get("description").Text(), Schema: schema,
			})
		case system.Get("name").IsString():
			tools = append(tools, protocol.Tool{Name: system.Get("name").Text(), Kind: "server"})
		}
	}
	return tools
}

// endings are the stop reasons. The calls in malformed output, or in a response that a guardrail stopped, must not be
// run.
var endings = protocol.FinishReasons{
	What: "stop reason", Calls: "tool_use", Done: "end_turn",
	Codes: map[string]stream.Code{
		"end_turn": stream.FinishDone, "tool_use": stream.FinishDone, "stop_sequence": stream.FinishDone,
		"max_tokens": stream.FinishCut, "model_context_window_exceeded": stream.FinishCut,
		"guardrail_intervened": stream.FinishRefused, "content_filtered": stream.FinishRefused,
		"malformed_model_output": stream.FinishRefused, "malformed_tool_use": stream.FinishRefused,
	},
}

// event is one event of the stream or a complete body, as it was sent.
type event struct {
	shape *json.Shape

	index, start, stopReason, usage, trace, tier json.Value
	output, message, errType                     json.Value

	delta  delta
	inside []json.Value // for each of eventNames, the object under the event's name, or nil
}

// delta is a union: exactly one of its fields is present.
type delta struct {
	text, toolUse, reasoning, aside json.Value
	other                           json.Value // name of an unknown field

	input                         json.Value // field of toolUse
	thinking, signature, redacted json.Value // fields of reasoning; calls have no signature
}

// bindShape binds the fields of ev to its shape.
func (ev *event) bindShape() {
	delta := &ev.delta
	members := []json.Binding{
		json.Field("contentBlockIndex", &ev.index),
		json.Object("delta",
			json.Field("text", &delta.text),
			json.Object("toolUse", json.Field("input", &delta.input)).Into(&delta.toolUse),
			json.Object("reasoningContent",
				json.Field("text", &delta.thinking),
				json.Field("signature", &delta.signature),
				json.Field("redactedContent", &delta.redacted)).Into(&delta.reasoning),
			json.Field("citation", &delta.aside).Or("toolResult", "image"),
			json.Other(&delta.other)),
		json.Field("start", &ev.start),
		json.Field("stopReason", &ev.stopReason),
		json.Field("usage", &ev.usage),
		json.Field("trace", &ev.trace),
		json.Field("serviceTier", &ev.tier),
		json.Field("output", &ev.output),
		json.Field("message", &ev.message).Or("Message"),
		json.Field("__type", &ev.errType),
	}
	ev.inside = make([]json.Value, len(eventNames))
	all := members
	for i, name := range eventNames {
		all = append(all, json.Object(name, members...).Into(&ev.inside[i]))
	}
	ev.shape = json.ShapeOf(all...)
}

// name returns the name of the event: the key of the object that contains the event's fields, or the name in the
// framing.
func (ev *event) name(framed []byte) string {
	for i, name := range eventNames {
		if string(framed) == name || ev.inside[i].Kind() == '{' {
			return name
		}
	}
	return string(framed)
}

// writeRequest writes a request for ConverseStream. The path contains the model, escaped because ARNs contain
// slashes and colons.
func writeRequest(r protocol.Request, _ protocol.HostFeatures) (path string, body []byte) {
	var w json.Writer
	w.Open('{').WriteList("messages", r.EncodedMessages)
	if system := r.Instructions(); system != "" {
		w.Key("system").Open('[').Open('{').Member("text", system).Close('}').Close(']')
	}
	if r.MaxTokens > 0 {
		w.Key("inferenceConfig").Open('{').Key("maxTokens").Int(r.MaxTokens).Close('}')
	}
	r.WriteTools(&w, "toolConfig", `{"tools":[`, `]}`, func(w *json.Writer, t *protocol.Tool) {
		protocol.Describe(w.Open('{').Key("toolSpec").Open('{'), t)
		w.Key("inputSchema").Open('{').Key("json").Raw(t.Arguments()).Close('}').Close('}').Close('}')
	})
	return "/model/" + url.PathEscape(r.Model) + "/converse-stream", w.Close('}').Text
}

// wireMarks describes Bedrock's protocol to code that doesn't decode it. Clients recognise an error by its header:
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html#API_runtime_ConverseStream_Errors
var wireMarks = marks.Protocol{
	RequestKeys: []string{"inferenceConfig", "toolConfig"},
	HistoryKeys: []string{"messages"}, ToolKeys: []string{"toolConfig"},
	Rules: []marks.Rule{
		{Is: marks.Body, When: "output.message.role=assistant stopReason"},
		{Is: marks.Chunk, When: "messageStart.role=assistant"}, // in the invocation log, the events are a list
	},
	Sent: []marks.Sent{{
		List: "messages", When: "role=assistant content.*.toolUse", Body: `{"output":{"message":MESSAGE}}`,
	}},
	Refusal: marks.Refusal{
		Paths:  []string{"/converse", "/invoke"},
		Bodies: []string{":event-type"},
		Header: func(status int) (name, value string) {
			words := map[int]string{
				400: "ValidationException", 403: "AccessDeniedException", 404: "ResourceNotFoundException",
				408: "ModelTimeoutException", 424: "ModelErrorException", 429: "ThrottlingException",
				503: "ServiceUnavailableException",
			}
			return "X-Amzn-Errortype", cmp.Or(words[status], "InternalServerException")
		},
		Body: func(_ int, message string) any { return map[string]any{"message": message} },
	},
}
