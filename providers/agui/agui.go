// Package agui decodes AG-UI, the Agent-User Interaction protocol: what agent back ends (LangGraph,
// CrewAI, Mastra, Pydantic AI, TanStack AI …) send to a front end as server-sent events.
//
// Wire facts are from the protocol's public SDK (events.ts; chunks/transform.ts for the events
// named CHUNK; verify.ts for what a client refuses), and for the members TanStack AI adds from its
// documentation. A turn is one run. A call's slot is the place of its toolCallId in the run,
// TOOL_CALL_END is its seal; a call of chunks ends when something else begins. Members are written
// in camel case, by some servers in snake case.
package agui

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Protocol is AG-UI.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "ag-ui",
		Title:    "AG-UI",
		Sniff:    sniffFrame,
		Findings: findings,
		New:      newDecoder,
	}
}

// An eventKind is what is known of an event type.
type eventKind struct {
	points  int  // points for AG-UI, as in dialect.Score
	between bool // it does not end a call that comes in chunks
}

var eventKinds = map[string]eventKind{
	// A client's SDK takes any of these as the end of such a call; but an error, or a run that
	// begins again, is no evidence that its arguments are whole.
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
	kind := protocol.Raw(e.Data).Get("type").Text()
	if points := eventKinds[kind].points; points > 0 {
		return protocol.SniffScore{Points: points, Why: "event type " + kind}
	}
	return protocol.SniffScore{}
}

// finishCodes are what TanStack AI calls the ends of a run, and what the protocol calls one that
// waits for a person.
var finishCodes = map[string]stream.Code{
	"stop": stream.FinishDone, "tool_calls": stream.FinishDone, "success": stream.FinishDone, "interrupt": stream.FinishDone,
	"length": stream.FinishCut, "content_filter": stream.FinishCut,
}
