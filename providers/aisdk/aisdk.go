// Package aisdk decodes the UI message stream of Vercel's AI SDK, version 5 and later. An application's own
// chat endpoint sends this stream to useChat.
//
// Wire facts are from the SDK's public source (ui-message-chunks.ts, process-ui-message-stream.ts,
// create-ui-message-stream.ts). A turn is one message, from start to finish, with any number of steps that the
// server ran. Start and finish may be missing, and [DONE] ends the stream. A call's slot is the position of its
// toolCallId among the ids in the message. The chunk tool-input-available makes a call final and repeats the input
// as a JSON value.
package aisdk

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns the protocol of the AI SDK's UI message stream.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "ai-sdk",
		Title:    "AI SDK UI message stream",
		Sniff:    sniffFrame,
		Findings: findings,
		New: func(o *protocol.Out) protocol.Decoder {
			d := &decoder{Out: o, calls: map[string]*call{}, approvals: map[string]*call{}}
			d.chunk.bindShape()
			return d
		},
		Marks: wireMarks,
		Quiet: []string{"data-*", "file", "source-*"},
	}
}

// chunkPoints maps the types of chunks to their points in a protocol.SniffScore.
var chunkPoints = map[string]int{
	"start": protocol.Likely, "finish": protocol.Likely, "abort": protocol.Likely, "message-metadata": protocol.Strong,
	"start-step": protocol.Strong, "finish-step": protocol.Strong,
	"text-start": protocol.Strong, "text-delta": protocol.Strong, "text-end": protocol.Strong,
	"reasoning-start": protocol.Strong, "reasoning-delta": protocol.Strong, "reasoning-end": protocol.Strong,
	"tool-input-start": protocol.Strong, "tool-input-delta": protocol.Strong,
	"tool-input-available": protocol.Strong, "tool-input-error": protocol.Strong,
	"tool-approval-request": protocol.Strong, "tool-approval-response": protocol.Strong,
	"tool-output-available": protocol.Strong, "tool-output-error": protocol.Strong, "tool-output-denied": protocol.Strong,
	"source-url": protocol.Strong, "source-document": protocol.Strong,
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	name, callID := e.Get("type").Text(), e.Get("toolCallId")
	if strings.HasPrefix(name, "tool-input-") && callID == nil && e.Get("id") != nil || name == "finish" && e.Get("usage").IsPresent() {
		return protocol.SniffScore{} // this is a part of a language model's stream, which the SDK's gateway sends
	}
	switch points := chunkPoints[name]; {
	case points > 0 && callID.IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "chunk type " + name}
	case points > 0:
		return protocol.SniffScore{Points: points, Why: "chunk type " + name}
	case name == "error" && e.Get("errorText").IsString():
		return protocol.SniffScore{Points: protocol.Strong, Why: "chunk type error with an errorText"}
	case e.HeaderIs("X-Vercel-Ai-Ui-Message-Stream"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "header X-Vercel-Ai-Ui-Message-Stream"}
	case strings.HasPrefix(name, "data-"), name == "file" && e.Get("url").IsString():
		return protocol.SniffScore{Points: protocol.Likely, Why: "chunk type " + name}
	}
	return protocol.SniffScore{}
}

// finishCodes are the SDK's finish reasons. The SDK maps the providers' finish reasons to them.
var finishCodes = protocol.FinishCodes{
	"stop": stream.FinishDone, "tool-calls": stream.FinishDone, "other": stream.FinishOther, "unknown": stream.FinishOther,
	"length": stream.FinishCut, "content-filter": stream.FinishCut,
	"error": stream.FinishFailed,
}

// chunk is one chunk of the stream as it was sent.
type chunk struct {
	shape *json.Shape

	kind, messageID, metadata  json.Value
	callID, name, delta, input json.Value
	server, preliminary        json.Value // server is true if the provider runs the call; preliminary is true if more output follows
	errorText, finish, reason  json.Value
	approvalID, approved       json.Value
}

func (c *chunk) bindShape() {
	c.shape = json.ShapeOf(
		json.Field("type", &c.kind),
		json.Field("toolCallId", &c.callID),
		json.Field("delta", &c.delta).Or("inputTextDelta"),
		json.Field("toolName", &c.name),
		json.Field("input", &c.input),
		json.Field("messageId", &c.messageID),
		json.Field("messageMetadata", &c.metadata),
		json.Field("providerExecuted", &c.server),
		json.Field("preliminary", &c.preliminary),
		json.Field("errorText", &c.errorText),
		json.Field("finishReason", &c.finish),
		json.Field("reason", &c.reason),
		json.Field("approvalId", &c.approvalID),
		json.Field("approved", &c.approved))
}

// findings are the findings that only this protocol reports.
var findings = []*stream.Diagnosis{
	responseAborted, inputRejected, approvalRequested, callApproved, callDenied,
}

var (
	responseAborted = &stream.Diagnosis{
		Code: "ABORTED", Severity: stream.Info, By: stream.Client,
		Meaning: "The application stopped the response: the user pressed stop, or the application itself ended the request.",
		Advice:  "Nothing. Don't run calls that were not complete before the response was stopped.",
	}
	inputRejected = &stream.Diagnosis{
		Code: "INPUT_REJECTED", Severity: stream.Error, By: stream.Model,
		ExplainsState: true,
		Verdict:       "not accepted",
		Meaning:       "The AI SDK doesn't run the call: the input doesn't parse or doesn't match the schema, or the tool is unknown.",
		Advice:        "Read the AI SDK's error. The model receives this error as the result of the call and may try again.",
	}
	approvalRequested = &stream.Diagnosis{
		Code: "APPROVAL_REQUESTED", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The application waits for approval before it runs the call.",
		Advice:  "Approve or deny the call. The application doesn't run the call until you approve it.",
	}
	callApproved = &stream.Diagnosis{
		Code: "CALL_APPROVED", Severity: stream.Info, By: stream.Client,
		Meaning: "A call that was waiting for approval was approved.",
		Advice:  "Nothing: a later response contains the result.",
	}
	callDenied = &stream.Diagnosis{
		Code: "CALL_DENIED", Severity: stream.Info, By: stream.Client,
		Meaning: "The call was denied and did not run.",
		Advice:  "Nothing: the model receives the denial as the call's result.",
	}
)

// wireMarks describes the AI SDK's messages to code that doesn't decode them.
var wireMarks = marks.Protocol{PartTypes: []string{"tool-result", "tool-call"}}
