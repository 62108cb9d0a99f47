package openairesponses

import "toolscope/stream"

// findings are those that only this protocol makes.
var findings = []*stream.Diagnosis{
	responseNotOver, finishIncomplete, itemIDRotated, nameChanged, indexWrong,
}

var (
	responseNotOver = &stream.Diagnosis{
		Code: "RESPONSE_NOT_OVER", Severity: stream.Info, By: stream.Provider,
		Meaning: "The body is a snapshot of a response that is still being made.",
		Advice:  "Fetch it again when it has ended.",
	}
	finishIncomplete = &stream.Diagnosis{
		Code: "FIN_INCOMPLETE", Severity: stream.Info, By: stream.Provider,
		Meaning: "The response is incomplete, and the message has the provider's word why.",
		Advice:  "Raise the limit it names, or ask again.",
	}
	itemIDRotated = &stream.Diagnosis{
		Code: "ITEM_ID_ROTATED", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The id of an item changes from event to event: clients that go by item_id lose pieces.",
		Advice:  "Go by output_index.",
	}
	nameChanged = &stream.Diagnosis{
		Code: "NAME_CHANGED", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "A later event names the call differently: which tool a client runs depends on where it reads the name.",
		Advice:  "Do not run the call before you know which name counts; report it to the host.",
	}
	indexWrong = &stream.Diagnosis{
		Code: "IDX_WRONG", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "An event has the id of one item and the index of another: clients that go by the index glue items together.",
		Advice:  "Go by item_id where it is known.",
	}
)
