// Package agui decodes AG-UI, the Agent-User Interaction protocol: the server-sent events that agent
// back ends (LangGraph, CrewAI, Mastra, Pydantic AI, TanStack AI …) send to a front end.
//
// Wire facts are from the protocol's public SDK: events.ts, chunks/transform.ts for the events named CHUNK, and
// verify.ts for the rules that a client enforces. The facts about TanStack AI's additional fields are from its
// documentation. A turn is one run. A call's slot is its position in the run, and TOOL_CALL_END makes the call
// final. A call that arrives in chunks has no end event. It ends at the next event for which eventKinds doesn't
// set between. Keys are in camel case, but some servers write them in snake case.
package agui

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns AG-UI.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "ag-ui",
		Title:    "AG-UI",
		Sniff:    sniffFrame,
		Findings: findings,
		New: func(o *protocol.Out) protocol.Decoder {
			d := &decoder{Out: o, calls: map[string]*protocol.Call{}, others: map[string]bool{}}
			d.ev.bindShape()
			return d
		},
		Marks: wireMarks,
		Quiet: []string{"RAW", "CUSTOM", "STATE_*", "ACTIVITY_*"},
	}
}

// An eventKind describes an event type.
type eventKind struct {
	points  int  // points for AG-UI in a protocol.SniffScore
	between bool // whether the event can arrive between a call's chunks without ending the call
}

var eventKinds = map[string]eventKind{
	// The client SDK ends a chunked call at each of the next three events. But an error or a new run is not evidence
	// that the call's arguments are complete.
	"RUN_STARTED": {protocol.Sure, true}, "RUN_FINISHED": {points: protocol.Sure}, "RUN_ERROR": {protocol.Sure, true},
	"STEP_STARTED": {points: protocol.Strong}, "STEP_FINISHED": {points: protocol.Strong},

	"TEXT_MESSAGE_START": {points: protocol.Sure}, "TEXT_MESSAGE_CONTENT": {points: protocol.Sure},
	"TEXT_MESSAGE_END": {points: protocol.Sure}, "TEXT_MESSAGE_CHUNK": {points: protocol.Sure},

	"THINKING_START": {points: protocol.Sure}, "THINKING_END": {points: protocol.Sure},
	"THINKING_TEXT_MESSAGE_START": {points: protocol.Sure}, "THINKING_TEXT_MESSAGE_CONTENT": {points: protocol.Sure},
	"THINKING_TEXT_MESSAGE_END": {points: protocol.Sure},
	"REASONING_START":           {points: protocol.Sure}, "REASONING_END": {points: protocol.Sure},
	"REASONING_MESSAGE_START": {points: protocol.Sure}, "REASONING_MESSAGE_CONTENT": {points: protocol.Sure},
	"REASONING_MESSAGE_END": {points: protocol.Sure}, "REASONING_MESSAGE_CHUNK": {points: protocol.Sure},
	"REASONING_ENCRYPTED_VALUE": {protocol.Sure, true},

	"TOOL_CALL_START": {points: protocol.Sure}, "TOOL_CALL_ARGS": {points: protocol.Sure}, "TOOL_CALL_END": {points: protocol.Sure},
	"TOOL_CALL_CHUNK": {protocol.Sure, true}, "TOOL_CALL_RESULT": {points: protocol.Sure},

	"STATE_SNAPSHOT": {points: protocol.Sure}, "STATE_DELTA": {points: protocol.Sure}, "MESSAGES_SNAPSHOT": {points: protocol.Sure},
	"ACTIVITY_SNAPSHOT": {protocol.Sure, true}, "ACTIVITY_DELTA": {protocol.Sure, true},
	"SUBAGENT_STARTED": {protocol.Sure, true}, "SUBAGENT_FINISHED": {protocol.Sure, true}, "SUBAGENT_ERROR": {protocol.Sure, true},
	"RAW": {protocol.Likely, true}, "CUSTOM": {points: protocol.Likely},
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	kind := e.Get("type").Text()
	if points := eventKinds[kind].points; points > 0 {
		return protocol.SniffScore{Points: points, Why: "event type " + kind}
	}
	return protocol.SniffScore{}
}

// finishCodes are TanStack AI's finish reasons for a run, and the protocol's outcomes: success, and interrupt when a
// run waits for a person.
var finishCodes = protocol.FinishCodes{
	"stop": stream.FinishDone, "tool_calls": stream.FinishDone, "success": stream.FinishDone, "interrupt": stream.FinishDone,
	"length": stream.FinishCut, "content_filter": stream.FinishCut,
}

// event is one event as it was sent.
type event struct {
	shape *json.Shape

	kind, timestamp                    json.Value
	runID, model, finish, outcome      json.Value
	message, code, err, usage          json.Value
	messageID, role, messages          json.Value
	callID, name, delta, input, result json.Value
	subtype, entityID, encrypted       json.Value
}

// bindShape binds the fields of ev to its shape.
func (ev *event) bindShape() {
	ev.shape = json.ShapeOf(
		json.Field("type", &ev.kind),
		json.Field("timestamp", &ev.timestamp),
		json.Field("toolCallId", &ev.callID).Or("tool_call_id"),
		json.Field("toolCallName", &ev.name).Or("tool_call_name", "toolName"),
		json.Field("messageId", &ev.messageID).Or("message_id"),
		json.Field("role", &ev.role),
		json.Field("delta", &ev.delta),
		json.Field("input", &ev.input),
		json.Field("result", &ev.result),
		json.Field("messages", &ev.messages),
		json.Field("subtype", &ev.subtype),
		json.Field("entityId", &ev.entityID).Or("entity_id"),
		json.Field("encryptedValue", &ev.encrypted).Or("encrypted_value"),

		json.Field("runId", &ev.runID).Or("run_id"),
		json.Field("model", &ev.model),
		json.Field("finishReason", &ev.finish).Or("finish_reason"),
		json.Field("outcome", &ev.outcome),
		json.Field("message", &ev.message),
		json.Field("code", &ev.code),
		json.Field("error", &ev.err),
		json.Field("usage", &ev.usage))
}

// findings are the findings that only this protocol reports.
var findings = []*stream.Diagnosis{
	snapshotOnly,
}

var (
	snapshotOnly = &stream.Diagnosis{
		Code: "SNAPSHOT_ONLY", Severity: stream.Info, By: stream.Gateway,
		Meaning: "A snapshot of all messages contains calls that were not streamed. Such calls are usually from earlier runs.",
		Advice:  "Nothing, if the calls are from earlier runs. A client that shows both the snapshot and the stream shows these calls twice.",
	}
)

// wireMarks describes AG-UI to code that doesn't decode it.
var wireMarks = marks.Protocol{
	Events: []marks.Event{
		{Type: "RUN_STARTED", Begins: true},
		{Type: "TEXT_MESSAGE_START"}, {Type: "TOOL_CALL_START"}, {Type: "TOOL_CALL_ARGS"}, {Type: "TOOL_CALL_END"},
		{Type: "RUN_FINISHED", Ends: true, Last: true},
		{Type: "RUN_ERROR", Ends: true, Last: true},
	},
	TypeKeys: []string{"type"},
}
