package geminiinteractions

import "toolscope/stream"

// findings lists the findings that only this protocol makes.
var findings = []*stream.Diagnosis{
	responseUnfinished,
}

var (
	responseUnfinished = &stream.Diagnosis{
		Code: "RESPONSE_UNFINISHED", Severity: stream.Info, By: stream.Provider,
		Meaning: "The interaction is still running. The body is a snapshot of it.",
		Advice:  "Fetch the interaction again when it has ended.",
	}
)
