package openaichat

import "toolscope/stream"

// findings are those that only this protocol makes.
var findings = []*stream.Diagnosis{
	indexNegative, indexChanged, indexAndIDMissing, indexSparse, idIsNull, idEmpty, idRepeated, idLate,
	nameEmptied, nameRepeated, nameFragmented, nameGlued, legacyCall, finishRewritten, upstreamError,
	reasoningTwice, reasoningDetails, usageInChoice, usageCumulative, usageUnclear, costByok,
}

var (
	indexNegative = &stream.Diagnosis{
		Code: "IDX_NEG", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The index of a call is negative: it is read as 0.",
		Advice:  "Nothing, if your client does not use it as a place in a list.",
	}
	indexChanged = &stream.Diagnosis{
		Code: "IDX_CHANGED", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "Later pieces of a call have another index: only the id says whose they are.",
		Advice:  "Have your client go by the id where a piece has one.",
	}
	indexAndIDMissing = &stream.Diagnosis{
		Code: "IDX_ID_MISSING", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "Several calls have neither an index nor an id: only a name tells where one begins.",
		Advice:  "Switch parallel calls off for this host, or update it.",
	}
	indexSparse = &stream.Diagnosis{
		Code: "IDX_SPARSE", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "The indexes of the calls have holes or do not begin at 0: clients that size a list by them crash or make calls that are none.",
		Advice:  "Have your client keep calls in a map by index.",
	}
	idIsNull = &stream.Diagnosis{
		Code: "ID_STRING_NULL", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "The id of a call is the word \"null\": there is no id.",
		Advice:  "Make up one id for the call and use it for call and result alike.",
	}
	idEmpty = &stream.Diagnosis{
		Code: "ID_EMPTY", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Later pieces of a call carry an empty id, which does not replace the first.",
		Advice:  "Nothing, if your client ignores empty ids; one that does not begins a new call.",
	}
	idRepeated = &stream.Diagnosis{
		Code: "ID_REPEATED", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The id is repeated on later pieces of the call: it is not to be appended.",
		Advice:  "Nothing, if your client sets the id instead of appending it.",
	}
	idLate = &stream.Diagnosis{
		Code: "ID_LATE", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The id or name of a call came after its first argument bytes, which had to wait for it.",
		Advice:  "Nothing, if your client keeps pieces until the name comes.",
	}
	nameEmptied = &stream.Diagnosis{
		Code: "NAME_EMPTY_CONT", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Later pieces of a call carry an empty name, which does not replace the first.",
		Advice:  "Nothing, if your client ignores empty names.",
	}
	nameRepeated = &stream.Diagnosis{
		Code: "NAME_REPEATED", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The name is repeated on later pieces of the call: clients that append it call a tool that does not exist.",
		Advice:  "Have your client set the name instead of appending it.",
	}
	nameFragmented = &stream.Diagnosis{
		Code: "NAME_FRAGMENTED", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "The name came in pieces: the first is kept, and clients disagree on whether to append the others.",
		Advice:  "Compare the name with the tools that were declared.",
	}
	nameGlued = &stream.Diagnosis{
		Code: "NAME_GLUED", Severity: stream.Error, By: stream.Gateway,
		Meaning: "The name is several tools' names written one after another: calls that shared an index were merged.",
		Advice:  "Run none of them; update the host, or switch parallel calls off.",
	}
	legacyCall = &stream.Diagnosis{
		Code: "LEGACY_FUNCTION_CALL", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The call was sent as function_call, the old form, which has no id and allows one call.",
		Advice:  "Nothing, if your client reads it; otherwise ask the host for tool_calls.",
	}
	finishRewritten = &stream.Diagnosis{
		Code: "FIN_REWRITTEN", Severity: stream.Error, By: stream.Gateway,
		Meaning: "The gateway's finish reason says that all is well, but the upstream's own says that the response was cut.",
		Advice:  "Go by native_finish_reason, and run no call of this response unchecked.",
	}
	upstreamError = &stream.Diagnosis{
		Code: "UPSTREAM_ERROR", Severity: stream.Info, By: stream.Provider,
		Meaning: "The gateway passes on the words of the provider behind it.",
		Advice:  "Read them: they say more than the gateway's own error.",
	}
	reasoningTwice = &stream.Diagnosis{
		Code: "REASONING_FIELDS", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Reasoning comes in two fields at once with the same text: one is shown.",
		Advice:  "Have your client read one of them, or it shows everything twice.",
	}
	reasoningDetails = &stream.Diagnosis{
		Code: "REASONING_DETAILS", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Encrypted or signed reasoning came: the model needs it back unmodified with its calls.",
		Advice:  "Keep reasoning_details as it is and send it back in the history.",
	}
	usageInChoice = &stream.Diagnosis{
		Code: "USAGE_IN_CHOICE", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The usage is inside a choice instead of the chunk: clients that look in the chunk count nothing.",
		Advice:  "Read both places.",
	}
	usageCumulative = &stream.Diagnosis{
		Code: "USAGE_CUMULATIVE", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The usage is repeated on many chunks: the last one counts.",
		Advice:  "Never add them up: a client that does so over-counts.",
	}
	usageUnclear = &stream.Diagnosis{
		Code: "USAGE_UNCLEAR", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The numbers of the usage contradict each other: what is billed is not certain.",
		Advice:  "Compare with the host's own bill before you rely on the cost.",
	}
	costByok = &stream.Diagnosis{
		Code: "COST_BYOK", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The cost told is the gateway's own: the provider behind it is paid with another key.",
		Advice:  "Add what the provider bills on that key.",
	}
)
