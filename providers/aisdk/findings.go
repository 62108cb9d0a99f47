package aisdk

import "toolscope/stream"

// findings are the findings that only this protocol reports.
var findings = []*stream.Diagnosis{
	responseAborted, inputRejected, approvalRequested, callApproved, callDenied,
}

var (
	responseAborted = &stream.Diagnosis{
		Code: "ABORTED", Severity: stream.Info, By: stream.Client,
		Meaning: "The application stopped the response: its user pressed stop, or the application gave up.",
		Advice:  "Nothing. Don't run calls that were not complete by then.",
	}
	inputRejected = &stream.Diagnosis{
		Code: "INPUT_REJECTED", Severity: stream.Error, By: stream.Model,
		Meaning: "The SDK doesn't run the call: its input doesn't parse or doesn't match the schema, or the tool is unknown.",
		Advice:  "Read the SDK's error. The model gets it as the result of the call and may try again.",
	}
	approvalRequested = &stream.Diagnosis{
		Code: "APPROVAL_REQUESTED", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The call waits for approval before the application runs it.",
		Advice:  "Approve or deny the request. The call doesn't run before that.",
	}
	callApproved = &stream.Diagnosis{
		Code: "CALL_APPROVED", Severity: stream.Info, By: stream.Client,
		Meaning: "A call that waited for approval was approved.",
		Advice:  "Nothing: its result follows in a later response.",
	}
	callDenied = &stream.Diagnosis{
		Code: "CALL_DENIED", Severity: stream.Info, By: stream.Client,
		Meaning: "The call was denied, and it did not run.",
		Advice:  "Nothing: the model gets the denial as the result.",
	}
)
