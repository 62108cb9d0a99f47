package replay

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Kinds are all there are: those about arguments first, then those about calls, then those about
// what stands around them.
var Kinds = []*Kind{
	ImpliedEmpty, ArgsEmptied, ArgsWrapped, ArgsRepaired, ConcatFirstOnly, DoubleEncoded, ArgsAltered,
	FreeformToJSON, ArgsUnseen, ArgsUnknown, IntPrecision, NumPrecision, NumRange, NumSpelling, StrSpelling, KeyOrder, DupKeys, Whitespace,
	UnicodeSanitized, DepthLimit,
	CallDropped, CallAsText, CallsReordered, KindLost, IDRewritten, IDTruncated, IDCollision, ItemIDDropped, NameRewritten, NameIllegal,
	SignatureDropped, SignatureSentinel, ServerToolDropped, CallerDropped, NamespaceDropped,
	ReasoningToText, ReasoningDropped, PartDropped, MediaResultLoss, ErrorFlagLoss, OrphanCall, OrphanResult,
	AdjacencyFix, ParallelSplit,
}

var (
	ImpliedEmpty = &Kind{&stream.Diagnosis{
		Code: "IMPLIED_EMPTY", Severity: stream.Info, By: stream.Client,
		Meaning: "Arguments that are nothing, or null, are sent as {}.",
		Advice:  "Nothing: it is what they mean.",
	}, Info, "nothing, or null, is sent as {}"}
	ArgsEmptied = &Kind{&stream.Diagnosis{
		Code: "ARGS_REPLACED_BY_EMPTY", Severity: stream.Error, By: stream.Client,
		Meaning: "Arguments that are no object are sent back as {}: the model sees a call it never wrote, and its mistake is hidden from it.",
		Advice:  "Send back what the model wrote, wrapped if it must be an object, and answer with an error.",
	}, Critical, "arguments that are no object are sent as {}"}
	ArgsWrapped = &Kind{&stream.Diagnosis{
		Code: "ARGS_WRAPPED", Severity: stream.Warn, By: stream.Client,
		Meaning: "Arguments that do not parse are put into an object that holds them as text.",
		Advice:  "Nothing, if the target takes objects only: the model can still read what it wrote.",
	}, Medium, "arguments are put into an object that holds them"}
	ArgsRepaired = &Kind{&stream.Diagnosis{
		Code: "ARGS_REPAIRED", Severity: stream.Warn, By: stream.Client,
		Meaning: "What a parser guessed is sent back as what the model wrote.",
		Advice:  "Send the text as it was, and answer with an error; a guess may do something else than was meant.",
	}, High, "a parser's guess is sent as what the model wrote"}
	ConcatFirstOnly = &Kind{&stream.Diagnosis{
		Code: "CONCAT_FIRST_ONLY", Severity: stream.Error, By: stream.Client,
		Meaning: "Of several objects in one call only the first is sent back; the others are gone without a word.",
		Advice:  "Split them into several calls, or refuse the call.",
	}, Critical, "of several objects written one after another the first is sent"}
	DoubleEncoded = &Kind{&stream.Diagnosis{
		Code: "DOUBLE_ENCODED", Severity: stream.Error, By: stream.Client,
		Meaning: "The client encodes the arguments as a JSON string once more: who decodes them once has a string, not an object.",
		Advice:  "Send the text of the arguments as it came; it is JSON already.",
	}, Critical, "the client encodes the text once more"}
	ArgsAltered = &Kind{&stream.Diagnosis{
		Code: "ARGS_ALTERED", Severity: stream.Error, By: stream.Client,
		Meaning: "A client sent other arguments back than the model wrote.",
		Advice:  "Find what rewrites the history between the response and the next request.",
	}, Critical, "a client sent other arguments"}
	ArgsUnseen = &Kind{&stream.Diagnosis{
		Code: "ARGS_UNSEEN", Severity: stream.Warn, By: stream.Toolscope,
		Meaning: "Toolscope missed bytes of the call: what a client would send back of it cannot be known.",
		Advice:  "Record the response again; nothing is said of the model, the provider or the client.",
	}, Medium, "bytes of the call were not seen"}
	ArgsUnknown = &Kind{&stream.Diagnosis{
		Code: "ARGS_UNKNOWN", Severity: stream.Warn, By: stream.Toolscope,
		Meaning: "What this client makes of such arguments has neither been seen nor read.",
		Advice:  "Run it and see: print tells what a later request has of the call.",
	}, Medium, "what the client makes of such arguments is not known"}
	FreeformToJSON = &Kind{&stream.Diagnosis{
		Code: "FREEFORM_TO_JSON", Severity: stream.Warn, By: stream.Client,
		Meaning: "Free text, which this kind of tool takes, is put into an object.",
		Advice:  "Nothing, if the target knows no such tools; the model sees its text in another form.",
	}, High, "free text is put into an object"}
	IntPrecision = &Kind{protocol.IntPrecision, High, "an integer that no double holds is rounded"}
	NumPrecision = &Kind{&stream.Diagnosis{
		Code: "NUM_PRECISION", Severity: stream.Info, By: stream.Client,
		Meaning: "A fraction with more digits than a double has is rounded.",
		Advice:  "Declare it as a string in the schema if its last digits matter.",
	}, Low, "a fraction with more digits than a double has is rounded"}
	NumRange = &Kind{&stream.Diagnosis{
		Code: "NUM_RANGE", Severity: stream.Warn, By: stream.Client,
		Meaning: "A number is beyond every double: it becomes infinite, null or an error.",
		Advice:  "Declare it as a string in the schema.",
	}, High, "a number is beyond every double"}
	NumSpelling = &Kind{&stream.Diagnosis{
		Code: "NUM_SPELLING", Severity: stream.Info, By: stream.Client,
		Meaning: "A number is written in another way, as 1 for 1.0: the value is the same, the text is not.",
		Advice:  "Nothing, unless a prompt cache or a signature depends on the bytes.",
	}, Low, "a number is written in another way: 1.0 becomes 1"}
	StrSpelling = &Kind{&stream.Diagnosis{
		Code: "STR_SPELLING", Severity: stream.Info, By: stream.Client,
		Meaning: "A string is written in another way: its value is the same.",
		Advice:  "Nothing, unless a prompt cache depends on the bytes.",
	}, Info, "a string is written in another way: \\u00e9 becomes é"}
	KeyOrder = &Kind{&stream.Diagnosis{
		Code: "KEY_ORDER", Severity: stream.Info, By: stream.Client,
		Meaning: "The members of an object change their order.",
		Advice:  "Nothing, unless a prompt cache depends on the bytes: then keep the text as it came.",
	}, Low, "the members of an object change their order"}
	DupKeys    = &Kind{stream.DupKeys, Medium, "of members with one key the last is kept"}
	Whitespace = &Kind{&stream.Diagnosis{
		Code: "WHITESPACE", Severity: stream.Info, By: stream.Client,
		Meaning: "Spaces and line ends between the tokens of the arguments are gone.",
		Advice:  "Nothing, unless a prompt cache depends on the bytes.",
	}, Info, "spaces and line ends between tokens are gone"}
	UnicodeSanitized = &Kind{&stream.Diagnosis{
		Code: "UNICODE_SANITIZED", Severity: stream.Info, By: stream.Client,
		Meaning: "Bytes or escapes that are no Unicode text become U+FFFD.",
		Advice:  "Nothing: JSON cannot carry them.",
	}, Low, "what is no Unicode text becomes U+FFFD"}
	DepthLimit = &Kind{&stream.Diagnosis{
		Code: "DEPTH_LIMIT", Severity: stream.Warn, By: stream.Client,
		Meaning: "The arguments nest deeper than the target reads: it refuses the whole request.",
		Advice:  "Send them as a text inside an object, or declare a flatter schema.",
	}, High, "the arguments nest deeper than the target reads"}
)

var (
	CallDropped = &Kind{&stream.Diagnosis{
		Code: "CALL_DROPPED", Severity: stream.Error, By: stream.Client,
		Meaning: "The call is left out of the history: the model sees that it never asked.",
		Advice:  "Send the call along with its result, even if it failed.",
	}, Critical, "the call is not in the history"}
	CallAsText = &Kind{&stream.Diagnosis{
		Code: "CALL_AS_TEXT", Severity: stream.Warn, By: stream.Client,
		Meaning: "A text tells of the call and of its result: the provider sees no call, and the model may write its next one as such a text.",
		Advice:  "Send the call as a call, and its result as that of a tool.",
	}, High, "the call and its result are sent as text"}
	CallsReordered = &Kind{&stream.Diagnosis{
		Code: "CALLS_REORDERED", Severity: stream.Warn, By: stream.Client,
		Meaning: "A client sent the calls of a turn in another order than the model made them.",
		Advice:  "Keep the order: signatures and prompt caches depend on it.",
	}, Medium, "a client sent the calls of a turn in another order"}
	KindLost = &Kind{&stream.Diagnosis{
		Code: "KIND_LOST", Severity: stream.Warn, By: stream.Client,
		Meaning: "A call of a special kind, as of a custom tool or a shell, is sent as one of a function.",
		Advice:  "Nothing, if the target has no such kind.",
	}, Medium, "a call of a special kind is sent as one of a function"}
	IDRewritten = &Kind{&stream.Diagnosis{
		Code: "ID_REWRITTEN", Severity: stream.Info, By: stream.Client,
		Meaning: "The id of the call is another one in the history.",
		Advice:  "Nothing, if the result has the same new id.",
	}, Low, "the id is another one"}
	IDTruncated = &Kind{&stream.Diagnosis{
		Code: "ID_TRUNCATED", Severity: stream.Warn, By: stream.Client,
		Meaning: "The id of the call is cut to the length the target takes.",
		Advice:  "Check that it still differs from the others.",
	}, Medium, "the id is cut"}
	IDCollision = &Kind{&stream.Diagnosis{
		Code: "ID_COLLISION", Severity: stream.Error, By: stream.Client,
		Meaning: "Two calls have one id in the history: a result cannot say which it answers.",
		Advice:  "Number them when you rewrite ids.",
	}, Critical, "two calls have one id"}
	ItemIDDropped = &Kind{&stream.Diagnosis{
		Code: "ITEM_ID_DROPPED", Severity: stream.Info, By: stream.Client,
		Meaning: "The id of the item around the call is left out.",
		Advice:  "Nothing: only a stored response needs it.",
	}, Info, "the id of the item around the call is left out"}
	NameRewritten = &Kind{&stream.Diagnosis{
		Code: "NAME_REWRITTEN", Severity: stream.Warn, By: stream.Client,
		Meaning: "The call goes under another name than the model called: it sees itself ask for a tool it never asked for.",
		Advice:  "Send the name that the model wrote, and say in the result what was wrong.",
	}, High, "the call goes under another name"}
	NameIllegal = &Kind{&stream.Diagnosis{
		Code: "NAME_ILLEGAL", Severity: stream.Warn, By: stream.Client,
		Meaning: "The target takes no tool of that name: it refuses the request.",
		Advice:  "Rename the tool, in the declaration and in the history alike.",
	}, High, "the target takes no such name"}
	SignatureDropped = &Kind{&stream.Diagnosis{
		Code: "SIGNATURE_DROPPED", Severity: stream.Warn, By: stream.Client,
		Meaning: "The signature that proves that the model said it is left out: its own provider refuses the history without it.",
		Advice:  "Send signatures back to the provider they came from; to another they are worth nothing.",
	}, High, "the signature that proves the model said it is left out"}
	SignatureSentinel = &Kind{&stream.Diagnosis{
		Code: "SIGNATURE_SENTINEL", Severity: stream.Warn, By: stream.Client,
		Meaning: "A fixed word that switches the check off stands in place of the signature.",
		Advice:  "Use it for calls that other models made, never for the provider's own.",
	}, Medium, "a fixed word stands in place of the signature"}
	ServerToolDropped = &Kind{&stream.Diagnosis{
		Code: "SERVER_TOOL_DROPPED", Severity: stream.Warn, By: stream.Client,
		Meaning: "What the provider ran itself is left out, as the target has no equivalent.",
		Advice:  "Put what the model must know of it into a text.",
	}, Medium, "what the provider ran itself is left out"}
	CallerDropped = &Kind{&stream.Diagnosis{
		Code: "CALLER_DROPPED", Severity: stream.Warn, By: stream.Client,
		Meaning: "Which code made the call is not said.",
		Advice:  "Nothing, if the target runs no code of the model.",
	}, Medium, "which code made the call is not said"}
	NamespaceDropped = &Kind{&stream.Diagnosis{
		Code: "NAMESPACE_DROPPED", Severity: stream.Warn, By: stream.Client,
		Meaning: "Where the tool's name is from is not said: tools of several servers may have one name.",
		Advice:  "Put the namespace into the name, in the declaration and in the history alike.",
	}, Medium, "where the tool's name is from is not said"}
)

var (
	ReasoningToText = &Kind{&stream.Diagnosis{
		Code: "REASONING_TO_TEXT", Severity: stream.Warn, By: stream.Client,
		Meaning: "Reasoning is sent as text that the model takes for its answer.",
		Advice:  "Leave it out, unless the target reads reasoning.",
	}, Medium, "reasoning is sent as answer"}
	ReasoningDropped = &Kind{&stream.Diagnosis{
		Code: "REASONING_DROPPED", Severity: stream.Warn, By: stream.Client,
		Meaning: "Reasoning is left out of the history.",
		Advice:  "Send it back to the provider it came from; to another there is no way.",
	}, Medium, "reasoning is left out"}
	PartDropped = &Kind{&stream.Diagnosis{
		Code: "PART_DROPPED", Severity: stream.Warn, By: stream.Client,
		Meaning: "Images, sound or documents of messages are left out.",
		Advice:  "Send them in the form the target takes.",
	}, Medium, "media and documents of messages are left out"}
	MediaResultLoss = &Kind{&stream.Diagnosis{
		Code: "MEDIA_RESULT_LOSS", Severity: stream.Warn, By: stream.Client,
		Meaning: "Images of a result are left out.",
		Advice:  "Send them in a message of the user behind the result.",
	}, Medium, "images of a result are left out"}
	ErrorFlagLoss = &Kind{&stream.Diagnosis{
		Code: "ERROR_FLAG_LOSS", Severity: stream.Info, By: stream.Client,
		Meaning: "That a result is an error is not said, as the target has no field for it.",
		Advice:  "Say it in the text of the result.",
	}, Low, "that a result is an error is not said"}
	OrphanCall = &Kind{&stream.Diagnosis{
		Code: "ORPHAN_CALL", Severity: stream.Error, By: stream.Client,
		Meaning: "A call has no result in the history: most providers refuse the request.",
		Advice:  "Answer every call, if need be with an error that says that it did not run.",
	}, Critical, "a call has no result"}
	OrphanResult = &Kind{protocol.OrphanResult, Critical, "a result has no call"}
	AdjacencyFix = &Kind{&stream.Diagnosis{
		Code: "ADJACENCY_FIX", Severity: stream.Warn, By: stream.Client,
		Meaning: "Results are moved to where the target wants them, or made up.",
		Advice:  "Keep results right behind their calls.",
	}, Medium, "results are moved, or made up"}
	ParallelSplit = &Kind{&stream.Diagnosis{
		Code: "PARALLEL_SPLIT", Severity: stream.Warn, By: stream.Client,
		Meaning: "Calls that the model made together are sent as if it had made them one after another.",
		Advice:  "Keep them in one message: signatures and some providers depend on it.",
	}, High, "the calls of one turn are sent as several"}
)
