package agui

import "toolscope/stream"

// findings are the findings that only this protocol reports.
var findings = []*stream.Diagnosis{
	snapshotOnly,
}

var (
	snapshotOnly = &stream.Diagnosis{
		Code: "SNAPSHOT_ONLY", Severity: stream.Info, By: stream.Gateway,
		Meaning: "A snapshot of all messages contains calls that were not streamed. They are usually from earlier runs.",
		Advice:  "Nothing, if the calls are from earlier runs. A client that shows both snapshots and streams shows these calls twice.",
	}
)
