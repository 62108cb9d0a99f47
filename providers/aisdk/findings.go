package aisdk

import "toolscope/stream"

// findings are those that only this protocol makes.
var findings = []*stream.Diagnosis{
	responseAborted, inputRejected, approvalRequested, callApproved, callDenied,
}

var (
	responseAborted = &stream.Diagnosis{
		Code: "ABORTED", Severity: stream.Info, By: stream.Client,
		Meaning: "The application stopped the response: somebody pressed stop, or it gave up.",
		Advice:  "Nothing; run no call that was not whole by then.",
	}
	inputRejected = &stream.Diagnosis{
		Code: "INPUT_REJECTED", Severity: stream.Error, By: stream.Model,
		Meaning: "The SDK does not run the call: its input does not parse, does not fit the schema, or the tool is unknown.",
		Advice:  "Read the SDK's own words; the model gets them as the call's result and may try again.",
	}
	approvalRequested = &stream.Diagnosis{
		Code: "APPROVAL_REQUESTED", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The call waits for somebody's approval before the application runs it.",
		Advice:  "Answer the request; until then nothing has run.",
	}
	callApproved = &stream.Diagnosis{
		Code: "CALL_APPROVED", Severity: stream.Info, By: stream.Client,
		Meaning: "Somebody approved a call that waited for it.",
		Advice:  "Nothing: its result comes in a later response.",
	}
	callDenied = &stream.Diagnosis{
		Code: "CALL_DENIED", Severity: stream.Info, By: stream.Client,
		Meaning: "Somebody did not approve the call, and it did not run.",
		Advice:  "Nothing: the model is told that it was denied.",
	}
)
