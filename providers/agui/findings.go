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
		Advice:  "Nothing, if they are. A client that shows snapshots and streams shows them twice.",
	}
)
