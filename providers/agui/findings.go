package agui

import "toolscope/stream"

// findings are those that only this protocol makes.
var findings = []*stream.Diagnosis{
	snapshotOnly,
}

var (
	snapshotOnly = &stream.Diagnosis{
		Code: "SNAPSHOT_ONLY", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Calls stand in a snapshot of all messages and were not streamed; as a rule they are of earlier runs.",
		Advice:  "Nothing, if they are: a client that shows both shows them twice.",
	}
)
