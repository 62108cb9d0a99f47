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
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// Protocol is AG-UI.
func Protocol() dialect.Protocol {
	return dialect.Protocol{
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
	"RUN_STARTED": {dialect.Sure, true}, "RUN_FINISHED": {points: dialect.Sure}, "RUN_ERROR": {dialect.Sure, true},
	"STEP_STARTED": {points: dialect.Strong}, "STEP_FINISHED": {points: dialect.Strong},

	"TEXT_MESSAGE_START": {points: dialect.Sure}, "TEXT_MESSAGE_CONTENT": {points: dialect.Sure},
	"TEXT_MESSAGE_END": {points: dialect.Sure}, "TEXT_MESSAGE_CHUNK": {points: dialect.Sure},

	"THINKING_START": {points: dialect.Sure}, "THINKING_END": {points: dialect.Sure},
	"THINKING_TEXT_MESSAGE_START": {points: dialect.Sure}, "THINKING_TEXT_MESSAGE_CONTENT": {points: dialect.Sure},
	"THINKING_TEXT_MESSAGE_END": {points: dialect.Sure},
	"REASONING_START":           {points: dialect.Sure}, "REASONING_END": {points: dialect.Sure},
	"REASONING_MESSAGE_START": {points: dialect.Sure}, "REASONING_MESSAGE_CONTENT": {points: dialect.Sure},
	"REASONING_MESSAGE_END": {points: dialect.Sure}, "REASONING_MESSAGE_CHUNK": {points: dialect.Sure},
	"REASONING_ENCRYPTED_VALUE": {dialect.Sure, true},

	"TOOL_CALL_START": {points: dialect.Sure}, "TOOL_CALL_ARGS": {points: dialect.Sure}, "TOOL_CALL_END": {points: dialect.Sure},
	"TOOL_CALL_CHUNK": {dialect.Sure, true}, "TOOL_CALL_RESULT": {points: dialect.Sure},

	"STATE_SNAPSHOT": {points: dialect.Sure}, "STATE_DELTA": {points: dialect.Sure}, "MESSAGES_SNAPSHOT": {points: dialect.Sure},
	"ACTIVITY_SNAPSHOT": {dialect.Sure, true}, "ACTIVITY_DELTA": {dialect.Sure, true},
	"SUBAGENT_STARTED": {dialect.Sure, true}, "SUBAGENT_FINISHED": {dialect.Sure, true}, "SUBAGENT_ERROR": {dialect.Sure, true},
	"RAW": {dialect.Likely, true}, "CUSTOM": {points: dialect.Likely},
}

func sniffFrame(e dialect.SniffInput) dialect.SniffScore {
	kind := dialect.Raw(e.Data).Get("type").Text()
	if points := eventKinds[kind].points; points > 0 {
		return dialect.SniffScore{Points: points, Why: "event type " + kind}
	}
	return dialect.SniffScore{}
}

// finishCodes are what TanStack AI calls the ends of a run, and what the protocol calls one that
// waits for a person.
var finishCodes = map[string]stream.Code{
	"stop": stream.FinishDone, "tool_calls": stream.FinishDone, "success": stream.FinishDone, "interrupt": stream.FinishDone,
	"length": stream.FinishCut, "content_filter": stream.FinishCut,
}
