package replay

// Codes are the codes of losses and what each says: those about arguments
// first, then those about calls, then those about what stands around them.
var Codes = []struct{ Code, Says string }{
	{ImpliedEmpty, "nothing, or null, is sent as {}"},
	{ArgsEmptied, "arguments that are no object are sent as {}"},
	{ArgsWrapped, "arguments are put into an object that holds them"},
	{ArgsRepaired, "a parser's guess is sent as what the model wrote"},
	{ConcatFirstOnly, "of several objects written one after another the first is sent"},
	{DoubleEncoded, "the client encodes the text once more"},
	{ArgsAltered, "a client sent other arguments"},
	{FreeformToJSON, "free text is put into an object"},
	{IntPrecision, "an integer that no double holds is rounded"},
	{NumPrecision, "a fraction with more digits than a double has is rounded"},
	{NumRange, "a number is beyond every double"},
	{NumSpelling, "a number is written in another way: 1.0 becomes 1"},
	{StrSpelling, `a string is written in another way: \u00e9 becomes é`},
	{KeyOrder, "the members of an object change their order"},
	{DupKeys, "of members with one key the last is kept"},
	{Whitespace, "spaces and line ends between tokens are gone"},
	{UnicodeSanitized, "what is no Unicode text becomes U+FFFD"},
	{DepthLimit, "the arguments nest deeper than the target reads"},

	{CallDropped, "the call is not in the history"},
	{CallsReordered, "a client sent the calls of a turn in another order"},
	{KindLost, "a call of a special kind is sent as one of a function"},
	{IDRewritten, "the id is another one"},
	{IDTruncated, "the id is cut"},
	{IDCollision, "two calls have one id"},
	{ItemIDDropped, "the id of the item around the call is left out"},
	{NameIllegal, "the target takes no such name"},
	{SignatureDropped, "the signature that proves the model said it is left out"},
	{SignatureSentinel, "a fixed word stands in place of the signature"},
	{ServerToolDropped, "what the provider ran itself is left out"},
	{CallerDropped, "which code made the call is not said"},
	{NamespaceDropped, "where the tool's name is from is not said"},

	{ReasoningToText, "reasoning is sent as answer"},
	{ReasoningDropped, "reasoning is left out"},
	{PartDropped, "media and documents of messages are left out"},
	{MediaResultLoss, "images of a result are left out"},
	{ErrorFlagLoss, "that a result is an error is not said"},
	{OrphanCall, "a call has no result"},
	{OrphanResult, "a result has no call"},
	{AdjacencyFix, "results are moved, or made up"},
	{ParallelSplit, "the calls of one turn are sent as several"},
}

// Severities are all severities, the mildest first.
var Severities = []Severity{Info, Low, Medium, High, Critical}
