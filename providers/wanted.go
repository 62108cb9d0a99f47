package providers

import "toolscope/stream"

// What may be demanded of a run. Nothing of it is in the bytes: who demands it finds it.
var (
	ToolForbidden = &stream.Diagnosis{
		Code: "TOOL_FORBIDDEN", Severity: stream.Error, By: stream.Model,
		Meaning: "A tool was called that check was told to forbid.",
		Advice:  "Look at what led to the call; if it is right, take the name out of --forbid-tool.",
	}
	ToolNotCalled = &stream.Diagnosis{
		Code: "TOOL_NOT_CALLED", Severity: stream.Error, By: stream.Model,
		Meaning: "A tool that check was told to expect was not called, or no call of it came whole.",
		Advice:  "Look at what the model did in its place, and whether the request offers the tool.",
	}
	CostExceeded = &stream.Diagnosis{
		Code: "COST_EXCEEDED", Severity: stream.Error, By: stream.Client,
		Meaning: "All turns together cost more than --max-cost.",
		Advice:  "See which turns cost most, and what of their input was not read from a cache.",
	}
	CostUnknown = &stream.Diagnosis{
		Code: "COST_UNKNOWN", Severity: stream.Error, By: stream.Toolscope,
		Meaning: "Whether --max-cost is kept cannot be told: of a turn the cost is not known.",
		Advice:  "Give the prices of the model with --prices.",
	}
)

var wanted = []*stream.Diagnosis{ToolForbidden, ToolNotCalled, CostExceeded, CostUnknown}
