package openairesponses

import "toolscope/stream"

// findings lists the findings that only this protocol makes.
var findings = []*stream.Diagnosis{
	responseNotOver, finishIncomplete, itemIDRotated, nameChanged, indexWrong,
}

var (
	responseNotOver = &stream.Diagnosis{
		Code: "RESPONSE_NOT_OVER", Severity: stream.Info, By: stream.Provider,
		Meaning: "The response is not complete yet. The body is a snapshot of it.",
		Advice:  "Fetch the response again when it is complete.",
	}
	finishIncomplete = &stream.Diagnosis{
		Code: "FIN_INCOMPLETE", Severity: stream.Info, By: stream.Provider,
		Meaning: "The response is incomplete. The message names the provider's reason.",
		Advice:  "Raise the limit that the message names, or retry the request.",
	}
	itemIDRotated = &stream.Diagnosis{
		Code: "ITEM_ID_ROTATED", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The id of an item changes from event to event. Clients that merge by item_id lose deltas.",
		Advice:  "Make your client merge by output_index.",
	}
	nameChanged = &stream.Diagnosis{
		Code: "NAME_CHANGED", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "A later event has a different name for the call. The tool that a client runs depends on the event that it reads.",
		Advice:  "Don't run the call before you know which name counts, and report the problem to the provider.",
	}
	indexWrong = &stream.Diagnosis{
		Code: "IDX_WRONG", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "An event has the id of one item and the index of another. Clients that merge by index join the items.",
		Advice:  "Make your client merge by item_id where it is known.",
	}
)
