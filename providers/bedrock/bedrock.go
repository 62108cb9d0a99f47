// Package bedrock decodes AWS Bedrock's Converse and ConverseStream: the events of the binary stream,
// with their name in the message's headers; the same events as SDKs print them, each a JSON object with
// the name as its key; and complete bodies.
//
// The slot of a call is its contentBlockIndex. contentBlockStop makes the arguments final. The response
// ends with messageStop, but a metadata event with the usage normally follows, so the turn waits for
// it. InvokeModel sends the protocol of the model inside an envelope, which this package doesn't read.
//
// Wire facts are from AWS's published service model of bedrock-runtime (ConverseStreamOutput,
// ConverseResponse, TokenUsage) as in botocore.
package bedrock

import (
	"net/url"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Protocol is the Bedrock Converse protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:  "bedrock",
		Title: "Bedrock Converse",
		Sniff: sniffFrame,
		New:   newDecoder,
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
	case event != nil && slices.Contains(eventNames, name) &&
		(name != "metadata" || event.Get("usage").Get("inputTokens").Count().Reported):
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
		return protocol.SniffScore{Points: protocol.Weak, Why: "a header of AWS"}
	}
	return protocol.SniffScore{}
}

// eventAndFields returns the name and fields of an event, like event.name. The fields are nil if the
// data is not a JSON object.
func eventAndFields(e protocol.SniffInput) (name string, event protocol.Raw) {
	name, event = string(e.Event), e.Data
	s := protocol.Scan(e.Data)
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

func isEventStream(contentType []string) bool {
	return len(contentType) > 0 && strings.HasPrefix(contentType[0], "application/vnd.amazon.eventstream")
}

// pathParts splits /model/{id}/{operation}. An id may be an ARN, which contains slashes after decoding.
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

// readModel returns the model in the path: the response doesn't name it.
func readModel(path string, _ []byte) string {
	id, _ := pathParts(path)
	if plain, err := url.PathUnescape(id); err == nil {
		return plain
	}
	return id
}

// readTools returns the tools of toolConfig. The provider runs a systemTool.
func readTools(request []byte) (tools []protocol.Tool) {
	list := protocol.Raw(request).Get("toolConfig").Get("tools").Scan()
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

// endings are the stop reasons. Calls of malformed output, or of a response that a guardrail stopped,
// must not be run.
var endings = protocol.FinishReasons{
	What: "stop reason", Calls: "tool_use", Done: "end_turn",
	Codes: map[string]stream.Code{
		"end_turn": stream.FinishDone, "tool_use": stream.FinishDone, "stop_sequence": stream.FinishDone,
		"max_tokens": stream.FinishCut, "model_context_window_exceeded": stream.FinishCut,
		"guardrail_intervened": stream.FinishRefused, "content_filtered": stream.FinishRefused,
		"malformed_model_output": stream.FinishRefused, "malformed_tool_use": stream.FinishRefused,
	},
}
