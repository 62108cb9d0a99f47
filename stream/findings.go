package stream

// Findings are all that the fold itself can make: what is seen without knowing the protocol.
var Findings = []*Diagnosis{
	ProtocolViolation, FrameFault, NoTerminator, ClientGone, ConnectionLost, StoppedHere, NoAnswer, RecordGap,
	ProviderError, FinishContradicts, Interleaved, EarlyWrong,
	ArgsCut, ArgsBroken, ArgsTrailing, ArgsConcat, ArgsPlaceholder, ArgsMissingBrace, ArgsFinalDup, ArgsCumulative,
	ArgsDouble, ArgsNotObject, ArgsBadUTF8, EmptyKey, DupKeys,
	NameMissing, HiddenCharacters, ParallelWrapper, IDDup, IDDupAcrossTurns,
}

// Of the stream.
var (
	ProtocolViolation = &Diagnosis{
		Code: "PROTOCOL_VIOLATION", Severity: Error, OtherSeverities: []Severity{Warn}, By: Gateway,
		Meaning: "Events came in an order that the protocol does not allow; strict clients stop here, others guess.",
		Advice:  "Look at the events around it: something between the model and you builds this stream wrongly, or its beginning is missing.",
	}
	FrameFault = &Diagnosis{
		Code: "FRAME_UNDECODABLE", Severity: Error, By: Provider,
		Meaning: "A frame of the stream is not what the protocol says a frame is; it was kept, and nothing was read from it.",
		Advice:  "Look at its bytes in the wire pane: often they are an error page, or two frames that ran into each other.",
	}
	NoTerminator = &Diagnosis{
		Code: "NO_TERMINATOR", Severity: Error, OtherSeverities: []Severity{Info, Warn}, By: Provider,
		Meaning: "The bytes end before the protocol says that the response is over.",
		Advice:  "Ask again, and run no call of this response that was not sealed: nobody said that its arguments are whole.",
	}
	ProviderError = &Diagnosis{
		Code: "PROVIDER_ERROR", Severity: Error, By: Provider,
		Meaning: "The provider reports an error, refuses the request, or stops the response by a filter.",
		Advice:  "Read its own words in the message, and run no call that was not sealed before it.",
	}
	FinishContradicts = &Diagnosis{
		Code: "FIN_CONTRADICTED", Severity: Error, By: Provider,
		Short:   "stops, but said to be done",
		Meaning: "The provider says that the response is done, but the arguments of a call stop in the middle.",
		Advice:  "Take it as cut by a limit that was not told: raise the token limit and ask again.",
	}
	Interleaved = &Diagnosis{
		Code: "INTERLEAVED", Severity: Info, By: Provider,
		Meaning: "Pieces of several calls take turns on the wire; only the index or id tells whose they are.",
		Advice:  "Nothing, if your client keeps calls by their index or id; one that appends to the latest call mixes them up.",
	}
	EarlyWrong = &Diagnosis{
		Code: "EARLY_WRONG", Severity: Warn, By: Client,
		Short:   "parsed too early",
		Meaning: "The arguments parsed as an object before they were whole: a client that runs a call as soon as it parses runs another call than the model wrote.",
		Advice:  "Run calls when the protocol seals them, never when their arguments first parse.",
	}
)

// Of a call's arguments.
var (
	ArgsCut = &Diagnosis{
		Code: "ARGS_CUT", Severity: Error, OtherSeverities: []Severity{Info, Warn}, By: Provider,
		Short:   "cut",
		Meaning: "The arguments stop before they are whole: a limit, an error or a broken connection cut the response.",
		Advice:  "Do not run the call and do not close its braces by guessing: raise the limit or ask again.",
	}
	ArgsBroken = &Diagnosis{
		Code: "ARGS_BROKEN", Severity: Error, By: Model,
		Short:   "not JSON",
		Meaning: "The arguments stop being JSON at the byte that is marked, and nothing that follows can mend them.",
		Advice:  "Tell the model in a tool result what is wrong; a client that sends {} back instead hides the mistake from it.",
	}
	ArgsTrailing = &Diagnosis{
		Code: "ARGS_TRAILING", Severity: Error, By: Model,
		Short:   "more after the object",
		Meaning: "A whole object is followed by something that is not JSON.",
		Advice:  "Do not run the call on the object alone: what follows says that the model, or whoever parsed its text, went wrong.",
	}
	ArgsConcat = &Diagnosis{
		Code: "ARGS_CONCAT", Severity: Error, By: Gateway,
		Short:   "another object begins",
		Meaning: "Several whole objects stand in one call: calls made in parallel were merged on the way.",
		Advice:  "Find the host that reuses an index for several calls, or switch parallel calls off; never run the first object alone.",
	}
	ArgsPlaceholder = &Diagnosis{
		Code: "ARGS_PLACEHOLDER_PREFIX", Severity: Warn, By: Gateway,
		Short:   "the real object begins",
		Meaning: "An empty object stands before the real arguments: a placeholder was not replaced when the stream was translated.",
		Advice:  "Take the second object, and report it to whoever translates the stream.",
	}
	ArgsMissingBrace = &Diagnosis{
		Code: "ARGS_MISSING_BRACE", Severity: Error, By: Gateway,
		Short:   "another object begins",
		Meaning: "A second object begins inside the first: two calls were merged and the end of the first was lost.",
		Advice:  "Run neither; ask again, if need be with parallel calls switched off.",
	}
	ArgsFinalDup = &Diagnosis{
		Code: "ARGS_FINAL_DUP", Severity: Warn, By: Gateway,
		Short:   "the same once more",
		Meaning: "After the pieces the whole arguments came a second time, as if they were one more piece.",
		Advice:  "Keep the text once; update the host that serves the model.",
	}
	ArgsCumulative = &Diagnosis{
		Code: "ARGS_CUMULATIVE", Severity: Warn, By: Gateway,
		Meaning: "Each piece repeats all arguments so far instead of continuing them.",
		Advice:  "Replace what you have by each piece instead of appending it, or update the host that serves the model.",
	}
	ArgsDouble = &Diagnosis{
		Code: "ARGS_DOUBLE", Severity: Warn, By: Model,
		Short:   "a string that holds JSON",
		Meaning: "The arguments are a JSON string that holds the JSON: they were encoded twice before they came.",
		Advice:  "Parse the text twice to run the call, and send it back in history as the object.",
	}
	ArgsNotObject = &Diagnosis{
		Code: "ARGS_NOTOBJECT", Severity: Warn, By: Model,
		Short:   "not an object",
		Meaning: "The arguments are valid JSON, but no object: Anthropic and Google refuse them in history.",
		Advice:  "Refuse the call in a tool result, and see the replay preview for what each provider would take.",
	}
	ArgsBadUTF8 = &Diagnosis{
		Code: "ARGS_BAD_UTF8", Severity: Warn, By: Provider,
		Short:   "not UTF-8",
		Meaning: "The arguments hold bytes that are not UTF-8: a character was cut in pieces, and each client replaces them in its own way.",
		Advice:  "Compare the bytes before you write them to a file; report it to whoever serves the model.",
	}
	EmptyKey = &Diagnosis{
		Code: "EMPTY_KEY", Severity: Warn, By: Model,
		Short:   "an empty key",
		Meaning: "A key of the arguments is empty: some models write a call without arguments so.",
		Advice:  "Run the call with {}, and take the key out before it goes back: Bedrock refuses it in history.",
	}
	DupKeys = &Diagnosis{
		Code: "DUP_KEYS", Severity: Warn, By: Model,
		Short:   "the key once more",
		Meaning: "An object has one key twice: most parsers keep the last value, some the first, and what is sent back has only one of them.",
		Advice:  "Do not let one parser check the call and another run it; tell the model in a tool result.",
	}
)

// Of a call's name and id.
var (
	NameMissing = &Diagnosis{
		Code: "NAME_MISSING", Severity: Error, By: Gateway,
		Meaning: "A call ended without a name: nobody can say which tool it is for.",
		Advice:  "Do not run it; look on the wire for where the name was lost.",
	}
	HiddenCharacters = &Diagnosis{
		Code: "HIDDEN_CHARACTERS", Severity: Warn, By: Model,
		Meaning: "A name or an id holds characters that a terminal hides or obeys.",
		Advice:  "Compare names byte for byte, and never print them as they are.",
	}
	ParallelWrapper = &Diagnosis{
		Code: "PARALLEL_WRAPPER", Severity: Warn, By: Model,
		Meaning: "The model used a tool nobody declared, whose arguments list several calls.",
		Advice:  "Run the calls inside it one by one, or answer that there is no such tool.",
	}
	IDDup = &Diagnosis{
		Code: "ID_DUP", Severity: Warn, By: Gateway,
		Meaning: "Two calls of one response have the same id: a result cannot say which of them it answers.",
		Advice:  "Give one of them an id of your own before the history goes back.",
	}
	IDDupAcrossTurns = &Diagnosis{
		Code: "ID_DUP_ACROSS_TURNS", Severity: Info, By: Gateway,
		Meaning: "The id was used in an earlier response too: the host counts from the beginning again.",
		Advice:  "Keep ids apart by response; make them unique before you send the history to Anthropic, which refuses repeated ones.",
	}
)
