// Package aigateway decodes the language-model parts that Vercel's AI Gateway streams to the AI SDK.
//
// Wire facts are from vercel/ai (packages/provider/src/language-model, versions 2 to 4, and packages/gateway), and
// from the output of @ai-sdk/gateway 3.0.232 with ai 6.0.326. A turn is one response. The ids of the parts
// distinguish calls. The part named tool-call makes a call final. The SDK runs the call with the input in this
// part, even if the deltas were different. Without this part, the SDK doesn't run the call.
package aigateway

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns the AI Gateway's protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "ai-gateway",
		Title:    "AI Gateway, AI SDK language model",
		Sniff:    sniffFrame,
		Findings: []*stream.Diagnosis{modelWarning},
		New:      func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o} },
		Tools:    readTools,
		Marks: marks.Protocol{
			Events: []marks.Event{
				{Type: "stream-start", Begins: true}, {Type: "response-metadata"}, {Type: "tool-input-end"}, {Type: "tool-call"},
			},
		},
		Quiet:         []string{"raw", "source", "file", "tool-approval-request"},
		HistoryTarget: &target,
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	kind := e.Get("type").Text()
	call, id := e.Get("toolCallId"), e.Get("id")
	switch {
	case kind == "tool-call" && call.IsString() && e.Get("input").IsString(),
		strings.HasPrefix(kind, "tool-input-") && id.IsString() && call == nil,
		kind == "tool-result" && call.IsString() && e.Get("result").IsPresent():
		return protocol.SniffScore{Points: protocol.Sure, Why: "part type " + kind}
	case kind == "stream-start", kind == "response-metadata", kind == "finish" && e.Get("usage").IsPresent():
		return protocol.SniffScore{Points: protocol.Strong, Why: "part type " + kind}
	case kind == "" && e.Get("content").Kind() == '[' && e.Get("finishReason").IsPresent() && e.Get("usage").IsPresent():
		return protocol.SniffScore{Points: protocol.Strong, Why: "a result with content and finishReason"}
	case strings.HasSuffix(e.Path, "/ai/language-model"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	case kind == "error" && strings.HasPrefix(e.Get("error").Get("name").Text(), "Gateway"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "a gateway error"}
	}
	return protocol.SniffScore{}
}

var modelWarning = &stream.Diagnosis{
	Code: "MODEL_WARNING", Severity: stream.Info, By: stream.Gateway,
	Meaning: "The SDK's model reports that it doesn't support a setting in the request, or that it changed the setting.",
	Advice:  "Remove the setting, or choose a model that supports it.",
}

// finishes are the SDK's finish reasons.
var finishes = protocol.FinishReasons{
	What: "finish reason", Calls: "tool-calls", Done: "stop",
	Codes: map[string]stream.Code{
		"stop": stream.FinishDone, "tool-calls": stream.FinishDone, "other": stream.FinishOther, "unknown": stream.FinishOther,
		"length": stream.FinishCut, "content-filter": stream.FinishCut, "error": stream.FinishFailed,
	},
}

// readTools returns the tools that a request declares.
func readTools(request []byte) (tools []protocol.Tool) {
	for tool := range json.Value(request).Get("tools").Elements() {
		if t := protocol.FunctionTool(tool, "inputSchema"); t.Name != "" {
			tools = append(tools, t)
		}
	}
	return tools
}

// target reads the history in requests. toolscope never writes history for the AI Gateway.
var target = protocol.Target{Name: "ai-gateway", Title: "AI Gateway", Protocol: "ai-gateway", Decode: readHistory, TakesUnpaired: true}

func readHistory(request []byte) (messages []protocol.Message, err error) {
	for m := range json.Value(request).Get("prompt").Elements() {
		message := protocol.Message{Raw: m, Role: protocol.User}
		switch role := m.Get("role"); {
		case role.Is("system"):
			message.Role = protocol.System
		case role.Is("assistant"):
			message.Role = protocol.Assistant
		}
		if content := m.Get("content"); content.IsString() {
			message.Parts = []protocol.Part{{Kind: protocol.TextPart, Text: content.Append(nil)}}
		}
		for p := range m.Get("content").Elements() {
			message.Parts = append(message.Parts, readPart(p))
		}
		messages = append(messages, message)
	}
	return messages, json.Read(request)
}

func readPart(p json.Value) protocol.Part {
	part := protocol.Part{Kind: protocol.OtherPart, Raw: p, ID: p.Get("toolCallId").Text(), Name: p.Get("toolName").Text()}
	switch p.Get("type").Text() {
	case "text":
		part.Kind, part.Text = protocol.TextPart, p.Get("text").Append(nil)
	case "reasoning":
		part.Kind, part.Text = protocol.ReasoningPart, p.Get("text").Append(nil)
	case "tool-call":
		part.Kind, part.Args, part.Form = protocol.CallPart, p.Get("input"), protocol.ObjectForm
		part.RunByProvider = p.Get("providerExecuted").IsTrue()
	case "tool-result":
		output := p.Get("output")
		part.Kind, part.Failed = protocol.ResultPart, strings.HasPrefix(output.Get("type").Text(), "error")
		part.Text, part.Media = protocol.ResultText(output.Get("value"))
	}
	return part
}
