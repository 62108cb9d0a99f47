package stream

// Severity grades a finding.
type Severity uint8

const (
	Info  Severity = iota // a deviation worth knowing, harmless
	Warn                  // a client that is not careful goes wrong here
	Error                 // cut, lost, contradictory or refused
)

func (s Severity) String() string { return [...]string{"info", "warn", "error"}[s] }

// NoOffset is the Offset of a finding that points at no argument byte.
const NoOffset = -1

// A Finding is a named diagnosis with its evidence. Code is stable; the table
// below lists those the fold itself can make, dialects add their own.
type Finding struct {
	Code     string
	Severity Severity
	Message  string // one sentence: what happened and what goes wrong because of it
	Event    int    // number of the event that showed it
	Offset   int    // byte of the call's arguments it points at, or NoOffset
}

// Findings of the fold: what can be seen without knowing the protocol.
const (
	ProtocolViolation = "PROTOCOL_VIOLATION" // events in an order no protocol allows
	Interleaved       = "INTERLEAVED"        // deltas of several calls take turns
	NameMissing       = "NAME_MISSING"       // a call ended without a name
	HiddenCharacters  = "HIDDEN_CHARACTERS"  // a name or id holds what a terminal would not show
	ArgsCut           = "ARGS_CUT"           // the arguments stop before they are whole
	ArgsBroken        = "ARGS_BROKEN"        // the arguments stop being JSON
	ArgsTrailing      = "ARGS_TRAILING"      // something follows the object
	ArgsConcat        = "ARGS_CONCAT"        // several objects in one call
	ArgsPlaceholder   = "ARGS_PLACEHOLDER_PREFIX"
	ArgsMissingBrace  = "ARGS_MISSING_BRACE"
	ArgsFinalDup      = "ARGS_FINAL_DUP"
	ArgsCumulative    = "ARGS_CUMULATIVE"
	ArgsDouble        = "ARGS_DOUBLE"    // a string that holds the JSON
	ArgsNotObject     = "ARGS_NOTOBJECT" // JSON, but no object
	EarlyWrong        = "EARLY_WRONG"    // they parse before they are whole
	ArgsBadUTF8       = "ARGS_BAD_UTF8"
	EmptyKey          = "EMPTY_KEY"
	DupKeys           = "DUP_KEYS" // an object has a key twice
	ParallelWrapper   = "PARALLEL_WRAPPER"
	FinishContradicts = "FIN_CONTRADICTED" // the finish word says done, the arguments are cut
	ProviderError     = "PROVIDER_ERROR"
	NoTerminator      = "NO_TERMINATOR" // the bytes end before the protocol says so
	FrameFault        = "FRAME_UNDECODABLE"
	IDDup             = "ID_DUP"
	IDDupAcrossTurns  = "ID_DUP_ACROSS_TURNS"
)
