package providers

import (
	"slices"

	"toolscope/providers/mcp"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/providers/requestrules"
	"toolscope/providers/schema"
	"toolscope/providers/toolrun"
	"toolscope/stream"
)

// Findings returns every finding that toolscope can report, each once: the findings of package stream, of this
// package and the packages below it, and of the check command. They include the losses of replay.
func Findings() []*stream.Diagnosis {
	all := slices.Concat(stream.Findings, findings, wanted, protocol.Findings, mcp.Findings, toolrun.Findings)
	for _, d := range All {
		all = append(all, d.Findings...)
	}
	all = append(all, schema.Findings...)
	all = append(all, requestrules.Findings...)
	for _, k := range replay.Kinds {
		if !slices.Contains(all, k.Diagnosis) {
			all = append(all, k.Diagnosis)
		}
	}
	return all
}

// findingEvent returns the event of a finding about a turn.
func findingEvent(turn int32, d *stream.Diagnosis, format string, args ...any) stream.Event {
	f := d.Finding(format, args...)
	return stream.Event{Kind: stream.Found, Turn: turn, Slot: stream.NoSlot, What: &f}
}

// findings lists the diagnoses that this package makes. They are the same for all protocols.
var findings = []*stream.Diagnosis{
	sourceNote, faultNote, heldNote, sourceChanged, protocolUnknown, protocolUndecoded, unterminatedFrame, blankLinesMissing, codingBroken,
	codingBomb, cacheBroken, framesIgnored, toolChoiceIgnored, streamIgnored, callLoop,
	resultMadeUp, mediaAsText, budgetToThinking, responseEmpty, stalled, shownCall,
}

var (
	sourceNote = &stream.Diagnosis{
		Code: "SOURCE_NOTE", Severity: stream.Info, By: stream.Toolscope,
		Meaning: "The source reports a fact about itself. For example, a log has no deltas, or the proxy answered the request instead of the provider.",
		Advice:  "Read the message before you rely on the data.",
	}
	faultNote = &stream.Diagnosis{
		Code: "BENT", Severity: stream.Warn, By: stream.Toolscope,
		Verdict: "fault added",
		Meaning: "toolscope injected a fault into this response (--fault). The proxy shows the response as the provider sent it. The client received the faulty response. A file from 'toolscope cut' contains the faulty response.",
		Advice:  "Nothing: the client's next steps result from the fault.",
	}
	heldNote = &stream.Diagnosis{
		Code: "HELD", Severity: stream.Info, By: stream.Toolscope,
		Meaning: "The response was held at a breakpoint (--break, or b on the screen). The client received the response later than toolscope did, or received only part of it.",
		Advice:  "Nothing: toolscope caused the wait. The screen shows the times at which the provider's bytes arrived.",
	}
	sourceChanged = &stream.Diagnosis{
		Code: "SOURCE_CHANGED", Severity: stream.Warn, By: stream.Toolscope,
		Verdict: "file changed",
		Meaning: "toolscope keeps only part of a large file in memory. It tried to read this turn again, but the file is gone or has changed.",
		Advice:  "Open the file again, or a copy that doesn't change.",
	}
	protocolUnknown = &stream.Diagnosis{
		Code: "DIALECT_UNKNOWN", Severity: stream.Warn, By: stream.Toolscope,
		Verdict: "unknown form",
		Meaning: "This version of toolscope doesn't recognise the protocol of the response. toolscope shows the frames as they arrived.",
		Advice:  "Set the protocol with --protocol, if you know it.",
	}
	protocolUndecoded = &stream.Diagnosis{
		Code: "DIALECT_SEEN", Severity: stream.Warn, By: stream.Toolscope,
		Verdict: "not decoded",
		Meaning: "toolscope recognises the protocol, but this version can't decode it. toolscope shows the frames as they arrived.",
		Advice:  "Look at the frames in the wire pane. The calls are unknown.",
	}
	unterminatedFrame = &stream.Diagnosis{
		Code: "UNTERMINATED_FRAME", Severity: stream.Info, By: stream.Gateway,
		Meaning: "No blank line follows the last event. Browsers and some SDKs drop such an event.",
		Advice:  "Nothing, if your client reads the event. Otherwise, make the server end each event with a blank line.",
	}
	blankLinesMissing = &stream.Diagnosis{
		Code: "BLANK_LINES_MISSING", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "merged events",
		Meaning: "The stream has no blank lines between its events. Clients read the whole stream as one event and can't decode it.",
		Advice:  "Make the gateway send a blank line after each event.",
	}
	codingBroken = &stream.Diagnosis{
		Code: "CODING_BROKEN", Severity: stream.Error, By: stream.Gateway,
		Verdict: "bad coding",
		Meaning: "The body can't be decompressed: it is damaged, or its headers name the wrong coding.",
		Advice:  "Send the request with Accept-Encoding: identity, so that the provider sends the body uncompressed.",
	}
	cacheBroken = &stream.Diagnosis{
		Code: "CACHE_BROKEN", Severity: stream.Info, By: stream.Client,
		Meaning: "The request differs from the previous request in the conversation, inside the part that the provider had cached. The provider can't use its cache after the difference.",
		Advice:  "Keep the tools, the system prompt and earlier messages unchanged between requests if the cost matters. Add messages only at the end.",
	}
	codingBomb = &stream.Diagnosis{
		Code: "CODING_BOMB", Severity: stream.Error, By: stream.Provider,
		Verdict: "too large",
		Meaning: "The body decompresses to more than 256 MiB, or to more than 10 MiB and more than 100 times the size that was sent. toolscope doesn't decompress the rest. It keeps the bytes as they were sent.",
		Advice:  "Find the program that sends this body. No model response is this large or this repetitive.",
	}
)

// Findings about the demands of the check command. The traffic doesn't show these demands, so the command itself
// reports the findings.
var (
	// ToolForbidden reports a call of a forbidden tool.
	ToolForbidden = &stream.Diagnosis{
		Code: "TOOL_FORBIDDEN", Severity: stream.Error, By: stream.Model,
		Verdict: "forbidden",
		Meaning: "The model called a tool that is forbidden with --forbid-tool.",
		Advice:  "Find out what led to the call. If the call is acceptable, remove the tool from --forbid-tool.",
	}
	// ToolNotCalled reports an expected tool without a complete call.
	ToolNotCalled = &stream.Diagnosis{
		Code: "TOOL_NOT_CALLED", Severity: stream.Error, By: stream.Model,
		Verdict: "not called",
		Meaning: "A tool that is expected with --expect-tool was not called, or none of its calls is complete.",
		Advice:  "Check which calls the model made instead, and make sure that the request declares the tool.",
	}
	// CostExceeded reports turns that cost more than the limit.
	CostExceeded = &stream.Diagnosis{
		Code: "COST_EXCEEDED", Severity: stream.Error, By: stream.Client,
		Verdict: "over the cost",
		Meaning: "All turns together cost more than --max-cost allows.",
		Advice:  "Find the turns that cost the most, and check how many of their input tokens came from a cache.",
	}
	// CostUnknown reports a cost limit that can't be checked.
	CostUnknown = &stream.Diagnosis{
		Code: "COST_UNKNOWN", Severity: stream.Error, By: stream.Toolscope,
		Verdict: "cost unknown",
		Meaning: "toolscope can't check --max-cost, because the cost of a turn is unknown.",
		Advice:  "Set the prices of the model with --prices.",
	}
)

var wanted = []*stream.Diagnosis{ToolForbidden, ToolNotCalled, CostExceeded, CostUnknown}
