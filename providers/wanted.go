package providers

import "toolscope/stream"

// Demands of the check command. The bytes show none of them: the command reports these findings itself.
var (
	// ToolForbidden reports a call of a forbidden tool.
	ToolForbidden = &stream.Diagnosis{
		Code: "TOOL_FORBIDDEN", Severity: stream.Error, By: stream.Model,
		Meaning: "The model called a tool that check forbids (--forbid-tool).",
		Advice:  "Find out what led to the call. If the call is right, remove the name from --forbid-tool.",
	}
	// ToolNotCalled reports an expected tool without a complete call.
	ToolNotCalled = &stream.Diagnosis{
		Code: "TOOL_NOT_CALLED", Severity: stream.Error, By: stream.Model,
		Meaning: "A tool that check expects (--expect-tool) was not called, or none of its calls is complete.",
		Advice:  "Check what the model did instead, and whether the request declares the tool.",
	}
	// CostExceeded reports turns that cost more than the limit.
	CostExceeded = &stream.Diagnosis{
		Code: "COST_EXCEEDED", Severity: stream.Error, By: stream.Client,
		Meaning: "All turns together cost more than --max-cost allows.",
		Advice:  "Find the turns that cost most, and check how much of their input was not read from a cache.",
	}
	// CostUnknown reports a limit that can't be checked.
	CostUnknown = &stream.Diagnosis{
		Code: "COST_UNKNOWN", Severity: stream.Error, By: stream.Toolscope,
		Meaning: "toolscope can't check --max-cost, because the cost of a turn is unknown.",
		Advice:  "Set the prices of the model with --prices.",
	}
)

var wanted = []*stream.Diagnosis{ToolForbidden, ToolNotCalled, CostExceeded, CostUnknown}
