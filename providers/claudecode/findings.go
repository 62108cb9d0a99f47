package claudecode

import "toolscope/stream"

// findings are the findings that only this protocol reports.
var findings = []*stream.Diagnosis{
	sessionCost, usagePartial, permissionDenied,
}

var (
	sessionCost = &stream.Diagnosis{
		Code: "SESSION_COST", Severity: stream.Info, By: stream.Client,
		Meaning: "Claude Code reports the cost of the session so far.",
		Advice:  "Nothing. You can compare it with the cost of the turns.",
	}
	usagePartial = &stream.Diagnosis{
		Code: "USAGE_PARTIAL", Severity: stream.Info, By: stream.Client,
		Meaning: "These lines contain the usage from the start of each message, so the output tokens are too low.",
		Advice:  "Use the sum in the result line.",
	}
	permissionDenied = &stream.Diagnosis{
		Code: "PERMISSION_DENIED", Severity: stream.Info, By: stream.Client,
		Meaning: "Claude Code had no permission to run the call.",
		Advice:  "Allow the tool if it should run. The model gets the refusal as the result.",
	}
)
