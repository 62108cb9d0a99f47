package gemini

import "toolscope/stream"

// findings are those that only this protocol makes.
var findings = []*stream.Diagnosis{
	patchOverwrites, patchGoesBack, patchUnclosed, patchUnreadable, implicitEnd, signatureMissing,
}

var (
	patchOverwrites = &stream.Diagnosis{
		Code: "PATCH_OVERWRITES", Severity: stream.Warn, By: stream.Provider,
		Meaning: "A piece of the arguments gives again what was complete already: clients that append end with other arguments than those that replace.",
		Advice:  "Compare what your client made of the call with what is shown.",
	}
	patchGoesBack = &stream.Diagnosis{
		Code: "PATCH_GOES_BACK", Severity: stream.Info, By: stream.Provider,
		Meaning: "A piece of the arguments goes back to what stood already: the text so far was void.",
		Advice:  "Do not show or run arguments before the call ends.",
	}
	patchUnclosed = &stream.Diagnosis{
		Code: "PATCH_UNCLOSED", Severity: stream.Info, By: stream.Provider,
		Meaning: "The call ended although more of its last string was announced.",
		Advice:  "Check the last string: it may lack its end.",
	}
	patchUnreadable = &stream.Diagnosis{
		Code: "PATCH_UNREADABLE", Severity: stream.Error, By: stream.Provider,
		Meaning: "A piece of the arguments has a path or a value that cannot be read: a value is lost.",
		Advice:  "Do not run the call; look at the piece on the wire.",
	}
	implicitEnd = &stream.Diagnosis{
		Code: "IMPLICIT_END", Severity: stream.Warn, By: stream.Provider,
		Meaning: "Another call began before this one was ended: nothing says that it is whole.",
		Advice:  "Check that the arguments fit the schema before you run it.",
	}
	signatureMissing = &stream.Diagnosis{
		Code: "SIGNATURE_MISSING", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The first call of the turn has no thoughtSignature, without which Gemini 3 refuses the history.",
		Advice:  "Find where the signature got lost: whatever stands between must pass it on unchanged.",
	}
)
