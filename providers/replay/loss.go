package replay

// Severity says how bad a loss is.
type Severity uint8

const (
	Info Severity = iota
	Low
	Medium
	High
	Critical
)

var severityWords = [...]string{"info", "low", "medium", "high", "critical"}

func (s Severity) String() string { return severityWords[s] }

// FindSeverity is the severity of that name.
func FindSeverity(name string) (Severity, bool) {
	for i, word := range severityWords {
		if word == name {
			return Severity(i), true
		}
	}
	return 0, false
}

// A Loss is one thing that replay changes.
type Loss struct {
	Code     string
	Severity Severity
	Message  string // one sentence
	Call     int    // in the Source, from 1; 0 when it is about no call
	Start    int    // the bytes of the call's arguments it is about: none when End is 0
	End      int
}

// Codes of losses.
const (
	ImpliedEmpty      = "IMPLIED_EMPTY"          // nothing, or null, is sent as {}
	ArgsEmptied       = "ARGS_REPLACED_BY_EMPTY" // arguments that are no object are sent as {}
	ArgsWrapped       = "ARGS_WRAPPED"           // put into an object that holds them as text
	ArgsRepaired      = "ARGS_REPAIRED"          // a parser's guess is sent as what the model wrote
	ConcatFirstOnly   = "CONCAT_FIRST_ONLY"      // of several objects the first is sent
	DoubleEncoded     = "DOUBLE_ENCODED"         // the client encodes the text once more
	ArgsAltered       = "ARGS_ALTERED"           // other arguments, in an observed request
	CallsReordered    = "CALLS_REORDERED"        // calls change places, in an observed request
	CallDropped       = "CALL_DROPPED"           // the call is not in the history
	FreeformToJSON    = "FREEFORM_TO_JSON"       // free text is put into an object
	KindLost          = "KIND_LOST"              // a call of a special kind is sent as one of a function
	IntPrecision      = "INT_PRECISION"          // an integer that no double holds
	NumPrecision      = "NUM_PRECISION"          // a fraction with more digits than a double has
	NumRange          = "NUM_RANGE"              // a number beyond every double
	NumSpelling       = "NUM_SPELLING"           // 1.0 becomes 1
	StrSpelling       = "STR_SPELLING"           // \u00e9 becomes é
	KeyOrder          = "KEY_ORDER"              // members change their order
	DupKeys           = "DUP_KEYS"               // of members with one key the last is kept
	Whitespace        = "WHITESPACE"             // spaces and line ends between tokens
	UnicodeSanitized  = "UNICODE_SANITIZED"      // what is no Unicode text becomes U+FFFD
	DepthLimit        = "DEPTH_LIMIT"            // nested deeper than the target reads
	IDRewritten       = "ID_REWRITTEN"           // the id is another
	IDTruncated       = "ID_TRUNCATED"           // the id is cut
	IDCollision       = "ID_COLLISION"           // two calls have one id
	ItemIDDropped     = "ITEM_ID_DROPPED"        // the id of the item around the call
	NameIllegal       = "NAME_ILLEGAL"           // the target takes no such name
	SignatureDropped  = "SIGNATURE_DROPPED"      // what proves that the model said it
	SignatureSentinel = "SIGNATURE_SENTINEL"     // a fixed word stands in its place
	ReasoningToText   = "REASONING_TO_TEXT"      // reasoning is sent as answer
	ReasoningDropped  = "REASONING_DROPPED"      // reasoning is left out
	ServerToolDropped = "SERVER_TOOL_DROPPED"    // what the provider ran itself
	CallerDropped     = "CALLER_DROPPED"         // which code made the call
	NamespaceDropped  = "NAMESPACE_DROPPED"      // where the tool's name is from
	PartDropped       = "PART_DROPPED"           // media and documents of messages
	MediaResultLoss   = "MEDIA_RESULT_LOSS"      // images of a result
	ErrorFlagLoss     = "ERROR_FLAG_LOSS"        // that a result is an error
	OrphanCall        = "ORPHAN_CALL"            // a call without a result
	OrphanResult      = "ORPHAN_RESULT"          // a result without its call
	AdjacencyFix      = "ADJACENCY_FIX"          // results were moved or made up
	ParallelSplit     = "PARALLEL_SPLIT"         // the calls of one turn are sent as several
)

// severities are how bad each loss is.
var severities = map[string]Severity{
	ImpliedEmpty: Info, ArgsEmptied: Critical, ArgsWrapped: Medium, ArgsRepaired: High, ConcatFirstOnly: Critical,
	DoubleEncoded: Critical, ArgsAltered: Critical, CallsReordered: Medium, CallDropped: Critical, FreeformToJSON: High, KindLost: Medium, IntPrecision: High,
	NumPrecision: Low, NumRange: High, NumSpelling: Low, StrSpelling: Info, KeyOrder: Low, DupKeys: Medium,
	Whitespace: Info, UnicodeSanitized: Low, DepthLimit: High, IDRewritten: Low, IDTruncated: Medium, IDCollision: Critical,
	ItemIDDropped: Info, NameIllegal: High, SignatureDropped: High, SignatureSentinel: Medium, ReasoningToText: Medium,
	ReasoningDropped: Medium, ServerToolDropped: Medium, CallerDropped: Medium, NamespaceDropped: Medium, PartDropped: Medium,
	MediaResultLoss: Medium, ErrorFlagLoss: Low, OrphanCall: Critical, OrphanResult: Critical, AdjacencyFix: Medium,
	ParallelSplit: High,
}

// SeverityOf is how bad a loss of that code is.
func SeverityOf(code string) Severity { return severities[code] }
