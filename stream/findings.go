package stream

// Findings lists all diagnoses that the fold itself makes: those that need no knowledge of the protocol.
var Findings = []*Diagnosis{
	ProtocolViolation, FrameFault, NoTerminator, ClientGone, ConnectionLost, StoppedHere, NoAnswer, RecordGap,
	ProviderError, FinishContradicts, Interleaved, EarlyWrong,
	ArgsCut, ArgsBroken, ArgsTrailing, ArgsConcat, ArgsPlaceholder, ArgsMissingBrace, ArgsFinalDup, ArgsCumulative,
	ArgsDouble, ArgsNotObject, ArgsBadUTF8, EmptyKey, DupKeys,
	NameMissing, HiddenCharacters, ParallelWrapper, IDDup, IDDupAcrossTurns,
}

// Diagnoses of the stream.
var (
	ProtocolViolation = &Diagnosis{
		Code: "PROTOCOL_VIOLATION", Severity: Error, OtherSeverities: []Severity{Warn}, By: Gateway,
		SeverityNote: "warn if clients are known to continue, e.g. when the beginning of the stream is missing",
		Meaning:      "Events arrived in an order that the protocol doesn't allow. Strict clients stop at such an event; others guess.",
		Advice:       "Check the events around this place: a gateway may build the stream incorrectly, or the beginning of the stream may be missing.",
	}
	FrameFault = &Diagnosis{
		Code: "FRAME_UNDECODABLE", Severity: Error, By: Provider,
		Meaning: "A frame doesn't follow the protocol. toolscope shows the frame, but reads nothing from it.",
		Advice:  "Check the frame's bytes in the wire pane. They are often an error page or two merged frames.",
	}
	NoTerminator = &Diagnosis{
		Code: "NO_TERMINATOR", Severity: Error, OtherSeverities: []Severity{Info, Warn}, By: Provider,
		SeverityNote: "info if a finish reason or the end of the message came; warn if Claude Code was stopped between two messages",
		Meaning:      "The bytes end before the protocol says that the response is complete.",
		Advice:       "Retry the request, and don't run calls of this response whose arguments were not final.",
	}
	ProviderError = &Diagnosis{
		Code: "PROVIDER_ERROR", Severity: Error, By: Provider,
		Meaning: "The provider reports an error, refuses the request, or stops the response with a filter.",
		Advice:  "Read the provider's error in the message, and don't run calls whose arguments were not final before the error.",
	}
	FinishContradicts = &Diagnosis{
		Code: "FIN_CONTRADICTED", Severity: Error, By: Provider,
		Short:   "stops, but reported done",
		Meaning: "The provider says that the response is complete, but the arguments of a call stop in the middle.",
		Advice:  "Treat the call as cut off by an unreported limit. Raise the token limit and retry the request.",
	}
	Interleaved = &Diagnosis{
		Code: "INTERLEAVED", Severity: Info, By: Provider,
		Meaning: "Deltas of several calls alternate on the wire. Only the index or id tells which call a delta belongs to.",
		Advice:  "Nothing, if your client keeps calls by index or id. A client that appends each delta to the latest call mixes the calls up.",
	}
	EarlyWrong = &Diagnosis{
		Code: "EARLY_WRONG", Severity: Warn, By: Client,
		Short:   "parsed too early",
		Meaning: "The arguments parsed as an object before they were complete. A client that runs a call as soon as it parses runs a different call from the one the model wrote.",
		Advice:  "Run a call when the protocol says that its arguments are final, not when they first parse.",
	}
)

// Diagnoses of a call's arguments.
var (
	ArgsCut = &Diagnosis{
		Code: "ARGS_CUT", Severity: Error, OtherSeverities: []Severity{Info, Warn}, By: Provider,
		SeverityNote: "info if the client went away; warn if toolscope saw no more of the response",
		Short:        "cut",
		Meaning:      "The arguments stop before they are complete: a limit, an error or a lost connection cut the response.",
		Advice:       "Don't run the call and don't guess the missing brackets. Raise the limit or retry the request.",
	}
	ArgsBroken = &Diagnosis{
		Code: "ARGS_BROKEN", Severity: Error, By: Model,
		Short:   "not JSON",
		Meaning: "The arguments stop being JSON at the marked byte. No later byte can repair them.",
		Advice:  "Report the error to the model in a tool result. A client that sends {} back instead hides the error from the model.",
	}
	ArgsTrailing = &Diagnosis{
		Code: "ARGS_TRAILING", Severity: Error, By: Model,
		Short:   "text after the object",
		Meaning: "A complete object is followed by text that is not JSON.",
		Advice:  "Don't run the call with the object alone. The extra text shows that the model, or the parser of the model's text, made an error.",
	}
	ArgsConcat = &Diagnosis{
		Code: "ARGS_CONCAT", Severity: Error, By: Gateway,
		Short:   "another object begins",
		Meaning: "One call contains several complete objects: parallel calls were merged before they arrived.",
		Advice:  "Find the gateway that reuses an index for several calls, or turn parallel calls off. Don't run the first object alone.",
	}
	ArgsPlaceholder = &Diagnosis{
		Code: "ARGS_PLACEHOLDER_PREFIX", Severity: Warn, By: Gateway,
		Short:   "the real object begins",
		Meaning: "An empty object comes before the real arguments: a placeholder was not replaced when the stream was translated.",
		Advice:  "Use the second object, and report the problem to the operator of the gateway that translates the stream.",
	}
	ArgsMissingBrace = &Diagnosis{
		Code: "ARGS_MISSING_BRACE", Severity: Error, By: Gateway,
		Short:   "another object begins",
		Meaning: "A second object begins inside the first: two calls were merged and the end of the first was lost.",
		Advice:  "Run neither call. Retry the request, with parallel calls turned off if needed.",
	}
	ArgsFinalDup = &Diagnosis{
		Code: "ARGS_FINAL_DUP", Severity: Warn, By: Gateway,
		Short:   "sent a second time",
		Meaning: "The complete arguments arrived a second time after the deltas, as if they were another delta.",
		Advice:  "Use the text once, and update the software that serves the model.",
	}
	ArgsCumulative = &Diagnosis{
		Code: "ARGS_CUMULATIVE", Severity: Warn, By: Gateway,
		Meaning: "Each delta repeats all arguments so far instead of continuing them.",
		Advice:  "Replace the text with each delta instead of appending it, or update the software that serves the model.",
	}
	ArgsDouble = &Diagnosis{
		Code: "ARGS_DOUBLE", Severity: Warn, By: Model,
		Short:   "double-encoded JSON",
		Meaning: "The arguments are a JSON string that contains the real JSON: they were double-encoded before they arrived.",
		Advice:  "Decode the arguments twice before you run the call, and send the object back in the history.",
	}
	ArgsNotObject = &Diagnosis{
		Code: "ARGS_NOTOBJECT", Severity: Warn, By: Model,
		Short:   "not an object",
		Meaning: "The arguments are valid JSON but not an object. Anthropic and Google refuse them in a history.",
		Advice:  "Refuse the call in a tool result. The replay preview shows what each provider would accept.",
	}
	ArgsBadUTF8 = &Diagnosis{
		Code: "ARGS_BAD_UTF8", Severity: Warn, By: Provider,
		Short:   "not UTF-8",
		Meaning: "The arguments contain bytes that are not UTF-8: a character was split. Each client replaces the bytes differently.",
		Advice:  "Check the bytes before you write them to a file, and report the problem to the provider.",
	}
	EmptyKey = &Diagnosis{
		Code: "EMPTY_KEY", Severity: Warn, By: Model,
		Short:   "an empty key",
		Meaning: "A key of the arguments is empty. Some models write a call without arguments this way.",
		Advice:  "Run the call with {}, and remove the key before you send the call back: Bedrock refuses it in a history.",
	}
	DupKeys = &Diagnosis{
		Code: "DUP_KEYS", Severity: Warn, By: Model,
		Short:   "duplicate key",
		Meaning: "An object has the same key twice. Most parsers keep the last value, some the first. Only one of the values is sent back.",
		Advice:  "Don't check a call with one parser and run it with another. Report the key to the model in a tool result.",
	}
)

// Diagnoses of a call's name and id.
var (
	NameMissing = &Diagnosis{
		Code: "NAME_MISSING", Severity: Error, By: Gateway,
		Meaning: "A call ended without a name, so its tool is unknown.",
		Advice:  "Don't run the call. Check in the wire pane where the name was lost.",
	}
	HiddenCharacters = &Diagnosis{
		Code: "HIDDEN_CHARACTERS", Severity: Warn, By: Model,
		Meaning: "A name or an id contains characters that a terminal hides or treats as commands.",
		Advice:  "Compare names byte by byte, and escape them before you print them.",
	}
	ParallelWrapper = &Diagnosis{
		Code: "PARALLEL_WRAPPER", Severity: Warn, By: Model,
		Meaning: "The model called a tool that was not declared, whose arguments list several calls.",
		Advice:  "Run the calls in its arguments one by one, or report to the model that the tool doesn't exist.",
	}
	IDDup = &Diagnosis{
		Code: "ID_DUP", Severity: Warn, By: Gateway,
		Meaning: "Two calls of one response have the same id, so a result can't show which call it belongs to.",
		Advice:  "Give one of the calls a new id before you send the history back.",
	}
	IDDupAcrossTurns = &Diagnosis{
		Code: "ID_DUP_ACROSS_TURNS", Severity: Info, By: Gateway,
		Meaning: "An earlier response used the same id: the ids start again with each response.",
		Advice:  "Look up calls by response and id. Make the ids unique before you send the history to Anthropic, which refuses duplicates.",
	}
)
