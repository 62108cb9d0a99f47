package providers

import "toolscope/stream"

// What may be demanded of a run. Nothing of it is in the bytes: who demands it finds it.
var (
	ToolForbidden = &stream.Diagnosis{
		Code: "TOOL_FORBIDDEN", Severity: stream.Error, By: stream.Model,
		Means: "A tool was called that check was told to forbid.",
		Do:    "Look at what led to the call; if it is right, take the name out of --forbid-tool.",
	}
	ToolNotCalled = &stream.Diagnosis{
		Code: "TOOL_NOT_CALLED", Severity: stream.Error, By: stream.Model,
		Means: "A tool that check was told to expect was not called, or no call of it came whole.",
		Do:    "Look at what the model did in its place, and whether the request offers the tool.",
	}
	CostExceeded = &stream.Diagnosis{
		Code: "COST_EXCEEDED", Severity: stream.Error, By: stream.Client,
		Means: "All turns together cost more than --max-cost.",
		Do:    "See which turns cost most, and what of their input was not read from a cache.",
	}
	CostUnknown = &stream.Diagnosis{
		Code: "COST_UNKNOWN", Severity: stream.Error, By: stream.Toolscope,
		Means: "Whether --max-cost is kept cannot be told: of a turn the cost is not known.",
		Do:    "Give the prices of the model with --prices.",
	}
)

var wanted = []*stream.Diagnosis{ToolForbidden, ToolNotCalled, CostExceeded, CostUnknown}
