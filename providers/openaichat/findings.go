package openaichat

import "toolscope/stream"

// findings lists the findings that only this protocol makes.
var findings = []*stream.Diagnosis{
	indexNegative, indexChanged, indexAndIDMissing, indexSparse, idIsNull, idEmpty, idRepeated, idLate,
	nameEmptied, nameRepeated, nameFragmented, nameGlued, legacyCall, finishRewritten, upstreamError,
	reasoningTwice, reasoningDetails, usageInChoice, usageCumulative, usageUnclear, costByok,
}

var (
	indexNegative = &stream.Diagnosis{
		Code: "IDX_NEG", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The index of a call is negative. It is read as 0.",
		Advice:  "Nothing, if your client doesn't use it as a list position.",
	}
	indexChanged = &stream.Diagnosis{
		Code: "IDX_CHANGED", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "Later deltas of a call have a different index. Only the id shows which call they belong to.",
		Advice:  "Make your client use a delta's id, if there is one, instead of its index.",
	}
	indexAndIDMissing = &stream.Diagnosis{
		Code: "IDX_ID_MISSING", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "Several calls have neither an index nor an id. Only a name shows where a call begins.",
		Advice:  "Turn parallel calls off for this provider, or update its software.",
	}
	indexSparse = &stream.Diagnosis{
		Code: "IDX_SPARSE", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "The indexes of the calls have gaps or don't start at 0. Clients that use them as list positions crash or create empty calls.",
		Advice:  "Make your client keep calls in a map by index.",
	}
	idIsNull = &stream.Diagnosis{
		Code: "ID_STRING_NULL", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "The id of a call is the word \"null\", so the call has no id.",
		Advice:  "Create one id for the call and use it in the history, for the call and its result.",
	}
	idEmpty = &stream.Diagnosis{
		Code: "ID_EMPTY", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Later deltas of a call have an empty id, which doesn't replace the first.",
		Advice:  "Nothing, if your client ignores empty ids. Otherwise it may start a new call.",
	}
	idRepeated = &stream.Diagnosis{
		Code: "ID_REPEATED", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Later deltas of a call repeat its id. The id must not be appended.",
		Advice:  "Nothing, if your client sets the id instead of appending it.",
	}
	idLate = &stream.Diagnosis{
		Code: "ID_LATE", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The id or name of a call came after its first argument bytes, which had to wait for it.",
		Advice:  "Nothing, if your client keeps deltas until the name comes.",
	}
	nameEmptied = &stream.Diagnosis{
		Code: "NAME_EMPTY_CONT", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Later deltas of a call have an empty name, which doesn't replace the first.",
		Advice:  "Nothing, if your client ignores empty names.",
	}
	nameRepeated = &stream.Diagnosis{
		Code: "NAME_REPEATED", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Later deltas of a call repeat its name. Clients that append it call a tool that doesn't exist.",
		Advice:  "Make your client set the name instead of appending it.",
	}
	nameFragmented = &stream.Diagnosis{
		Code: "NAME_FRAGMENTED", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "The name came in several deltas. The first is kept, and clients disagree on whether to append the others.",
		Advice:  "Compare the name with the tools that were declared.",
	}
	nameGlued = &stream.Diagnosis{
		Code: "NAME_GLUED", Severity: stream.Error, By: stream.Gateway,
		Meaning: "The name consists of several tools' names: calls with the same index were merged.",
		Advice:  "Run none of the calls. Update the provider's software, or turn parallel calls off.",
	}
	legacyCall = &stream.Diagnosis{
		Code: "LEGACY_FUNCTION_CALL", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The call was sent as function_call, the old form, which has no id and allows one call.",
		Advice:  "Nothing, if your client reads this form. Otherwise make the provider send tool_calls.",
	}
	finishRewritten = &stream.Diagnosis{
		Code: "FIN_REWRITTEN", Severity: stream.Error, By: stream.Gateway,
		Meaning: "The gateway's finish reason says that the response is complete, but the upstream's says that it was cut off.",
		Advice:  "Use native_finish_reason, and check each call of this response before you run it.",
	}
	upstreamError = &stream.Diagnosis{
		Code: "UPSTREAM_ERROR", Severity: stream.Info, By: stream.Provider,
		Meaning: "The gateway passes on the error message of its upstream.",
		Advice:  "Read the upstream's message. It says more than the gateway's own error.",
	}
	reasoningTwice = &stream.Diagnosis{
		Code: "REASONING_FIELDS", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The same reasoning is in two fields. toolscope shows one of them.",
		Advice:  "Make your client read only one of the fields. Otherwise it shows the reasoning twice.",
	}
	reasoningDetails = &stream.Diagnosis{
		Code: "REASONING_DETAILS", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The response has encrypted or signed reasoning, which the model needs back unchanged with its calls.",
		Advice:  "Keep reasoning_details unchanged and send it back in the history.",
	}
	usageInChoice = &stream.Diagnosis{
		Code: "USAGE_IN_CHOICE", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The usage is inside a choice instead of the chunk. Clients that read it from the chunk count nothing.",
		Advice:  "Make your client read the usage in both places.",
	}
	usageCumulative = &stream.Diagnosis{
		Code: "USAGE_CUMULATIVE", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Many chunks repeat the usage. The last one counts.",
		Advice:  "Don't add the numbers up: the sum is too high.",
	}
	usageUnclear = &stream.Diagnosis{
		Code: "USAGE_UNCLEAR", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The numbers of the usage contradict each other, so the billed amount is uncertain.",
		Advice:  "Compare with the provider's bill before you rely on the cost.",
	}
	costByok = &stream.Diagnosis{
		Code: "COST_BYOK", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The reported cost is only what the gateway charges. You pay its upstream with another key.",
		Advice:  "Add the upstream's charges for that key.",
	}
)
