package geminiinteractions

import "toolscope/stream"

// findings are those that only this protocol makes.
var findings = []*stream.Diagnosis{
	responseUnfinished,
}

var (
	responseUnfinished = &stream.Diagnosis{
		Code: "RESPONSE_UNFINISHED", Severity: stream.Info, By: stream.Provider,
		Meaning: "The interaction is still running: what is shown is what there was of it.",
		Advice:  "Fetch it again when it has ended.",
	}
)
