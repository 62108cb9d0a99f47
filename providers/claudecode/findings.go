package claudecode

import "toolscope/stream"

// findings are those that only this protocol makes.
var findings = []*stream.Diagnosis{
	sessionCost, usagePartial, permissionDenied,
}

var (
	sessionCost = &stream.Diagnosis{
		Code: "SESSION_COST", Severity: stream.Info, By: stream.Client,
		Meaning: "Claude Code says what the session has cost so far.",
		Advice:  "Nothing: compare it with the cost of the turns, if you like.",
	}
	usagePartial = &stream.Diagnosis{
		Code: "USAGE_PARTIAL", Severity: stream.Info, By: stream.Client,
		Meaning: "These lines tell the usage as it was when a message began: its output tokens are too few.",
		Advice:  "Take the sum from the result line.",
	}
	permissionDenied = &stream.Diagnosis{
		Code: "PERMISSION_DENIED", Severity: stream.Info, By: stream.Client,
		Meaning: "Claude Code had no permission to run the call.",
		Advice:  "Allow the tool if it should run; the model is told that it did not.",
	}
)
