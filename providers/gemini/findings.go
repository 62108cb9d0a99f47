package gemini

import "toolscope/stream"

// findings lists the findings that only this protocol makes.
var findings = []*stream.Diagnosis{
	patchOverwrites, patchGoesBack, patchUnclosed, patchUnreadable, implicitEnd, signatureMissing,
}

var (
	patchOverwrites = &stream.Diagnosis{
		Code: "PATCH_OVERWRITES", Severity: stream.Warn, By: stream.Provider,
		Meaning: "A delta sets a value again that was already complete. Clients that append the new value get different arguments from clients that replace the old value.",
		Advice:  "Compare your client's arguments with the ones that toolscope shows.",
	}
	patchGoesBack = &stream.Diagnosis{
		Code: "PATCH_GOES_BACK", Severity: stream.Info, By: stream.Provider,
		Meaning: "A delta changes earlier arguments, so the text before it is no longer valid.",
		Advice:  "Don't show or run arguments before the call ends.",
	}
	patchUnclosed = &stream.Diagnosis{
		Code: "PATCH_UNCLOSED", Severity: stream.Info, By: stream.Provider,
		Meaning: "The call ended although more of its last string was announced.",
		Advice:  "Check the last string: it may lack its end.",
	}
	patchUnreadable = &stream.Diagnosis{
		Code: "PATCH_UNREADABLE", Severity: stream.Error, By: stream.Provider,
		Meaning: "The path or the value of a delta can't be read, so a value of the arguments is lost.",
		Advice:  "Don't run the call. Check the delta in the wire pane.",
	}
	implicitEnd = &stream.Diagnosis{
		Code: "IMPLICIT_END", Severity: stream.Warn, By: stream.Provider,
		Meaning: "Another call began before this one ended, so nothing says that its arguments are complete.",
		Advice:  "Check that the arguments match the schema before you run the call.",
	}
	signatureMissing = &stream.Diagnosis{
		Code: "SIGNATURE_MISSING", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The first call of the turn has no thoughtSignature, without which Gemini 3 refuses the history.",
		Advice:  "Find the gateway that lost the signature. It must pass it on unchanged.",
	}
)
