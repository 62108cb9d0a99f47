package replay

import (
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Severity says how serious a loss is.
type Severity uint8

// Severities, the mildest first.
const (
	Info Severity = iota
	Low
	Medium
	High
	Critical
)

// Severities lists all severities, the mildest first.
var Severities = []Severity{Info, Low, Medium, High, Critical}

var severityWords = [...]string{"info", "low", "medium", "high", "critical"}

// String returns the name of the severity.
func (s Severity) String() string { return severityWords[s] }

// FindSeverity returns the severity with the given name.
func FindSeverity(name string) (Severity, bool) {
	i := slices.Index(severityWords[:], name)
	return Severity(max(i, 0)), i >= 0
}

// A Kind of loss includes the diagnosis for the finding that the loss causes when a later request shows it. Kinds
// have finer severities than findings.
type Kind struct {
	*stream.Diagnosis
	Severity    Severity
	Description string // the change in a few words
}

// newLoss returns a loss of this kind. The arguments are the same as for stream.Messagef.
func (k *Kind) newLoss(format string, args ...any) Loss {
	m := stream.Messagef(format, args...)
	return Loss{Kind: k, Message: m.Text, Quoted: m.Quoted, facts: m.Facts}
}

// A Loss is one change that a replay makes.
type Loss struct {
	*Kind
	Message string       // one sentence
	Quoted  stream.Spans // the ranges of Message that are captured text
	Call    int          // number of the call in the Source, from 1; 0 if the loss is not about a call
	Other   string       // another call that the loss concerns and that is not sent: "call 2"
	Start   int          // range of bytes in the call's arguments; no range if End is 0
	End     int
	facts   string // as in stream.Message
}

// message returns the message, with the ranges that are quoted or are facts.
func (l *Loss) message() stream.Message {
	return stream.Message{Text: l.Message, Quoted: l.Quoted, Facts: l.facts}
}

// Kinds lists all kinds of losses: first the losses of arguments, then the losses of calls, then the losses of other
// parts.
var Kinds = []*Kind{
	ImpliedEmpty, ArgsEmptied, ArgsWrapped, ArgsRepaired, ConcatFirstOnly, DoubleEncoded, ArgsAltered,
	FreeformToJSON, ArgsUnseen, ArgsUnknown, IntPrecision, NumPrecision, NumRange, NumSpelling, StrSpelling, KeyOrder, DupKeys, Whitespace,
	UnicodeSanitized, NestedTooDeep,
	CallDropped, CallAsText, CallsReordered, KindLost, IDRewritten, IDTruncated, IDCollision, ItemIDDropped, NameRewritten, NameIllegal,
	SignatureDropped, SignatureSentinel, ServerToolDropped, CallerDropped, NamespaceDropped,
	ReasoningToText, ReasoningDropped, ReasoningAltered, PartDropped, MediaResultLoss, ErrorFlagLoss, OrphanCall, OrphanResult,
	AdjacencyFix, ParallelSplit,
}

// Kinds of losses in arguments.
var (
	ImpliedEmpty = &Kind{&stream.Diagnosis{
		Code: "IMPLIED_EMPTY", Severity: stream.Info, By: stream.Client,
		Meaning: "Empty arguments or null are sent as {}.",
		Advice:  "Nothing: empty arguments and null mean the same as {}.",
	}, Info, "empty arguments or null are sent as {}"}
	ArgsEmptied = &Kind{&stream.Diagnosis{
		Code: "ARGS_REPLACED_BY_EMPTY", Verdict: "sent back {}", Severity: stream.Error, By: stream.Client,
		Meaning: "Arguments that are not an object are sent back as {}. The model reads a call that it didn't write, and can't see its own error.",
		Advice:  "Send the model's text back, inside an object if the target accepts only objects. Return an error as the result.",
	}, Critical, "arguments that are not an object are sent as {}"}
	ArgsWrapped = &Kind{&stream.Diagnosis{
		Code: "ARGS_WRAPPED", Verdict: "args wrapped", Severity: stream.Warn, By: stream.Client,
		Meaning: "The client puts arguments that don't parse into an object, as text.",
		Advice:  "Nothing, if the target accepts only objects: the model can still read its own text.",
	}, Medium, "arguments are wrapped in an object"}
	ArgsRepaired = &Kind{&stream.Diagnosis{
		Code: "ARGS_REPAIRED", Verdict: "args repaired", Severity: stream.Warn, By: stream.Client,
		Meaning: "The client sends back a parser's guess as if the model had written it.",
		Advice:  "Send the original text, and return an error as the result. A call with guessed arguments may do something that the model didn't intend.",
	}, High, "a parser's guess is sent as if the model had written it"}
	ConcatFirstOnly = &Kind{&stream.Diagnosis{
		Code: "CONCAT_FIRST_ONLY", Verdict: "calls lost", Severity: stream.Error, By: stream.Client,
		Meaning: "One call contains several objects, and the client sends back only the first. It silently drops the others.",
		Advice:  "Split the objects into several calls, or refuse the call.",
	}, Critical, "only the first of several consecutive objects is sent"}
	DoubleEncoded = &Kind{&stream.Diagnosis{
		Code: "DOUBLE_ENCODED", Verdict: "encoded twice", Severity: stream.Error, OtherSeverities: []stream.Severity{stream.Info, stream.Warn}, By: stream.Client,
		SeverityNote: protocol.RequestSeverityNote,
		Meaning:      "The client encodes the arguments as a JSON string again. A program that decodes them once gets a string, not an object.",
		Advice:       "Send the text of the arguments as it arrived: the text is already JSON.",
	}, Critical, "the client encodes the text again"}
	ArgsAltered = &Kind{&stream.Diagnosis{
		Code: "ARGS_ALTERED", Verdict: "args changed", Severity: stream.Error, By: stream.Client,
		Meaning: "A client sent back arguments that the model didn't write.",
		Advice:  "Find the code that changes the history between the response and the next request.",
	}, Critical, "a client sent arguments that the model didn't write"}
	ArgsUnseen = &Kind{&stream.Diagnosis{
		Code: "ARGS_UNSEEN", Verdict: "args unseen", Severity: stream.Warn, By: stream.Toolscope,
		Meaning: "toolscope missed bytes of the call, so the arguments that a client would send back are unknown.",
		Advice:  "Record the response again. This finding doesn't mean that the model, the provider or the client is at fault.",
	}, Medium, "toolscope missed bytes of the call"}
	ArgsUnknown = &Kind{&stream.Diagnosis{
		Code: "ARGS_UNKNOWN", Verdict: "args unknown", Severity: stream.Warn, By: stream.Toolscope,
		Meaning: "It is unknown how this client treats these arguments: the client was not tested with them, and its source was not read.",
		Advice:  "Run the client and record its traffic. A later request then shows how the call is sent back.",
	}, Medium, "the client's treatment of these arguments is unknown"}
	FreeformToJSON = &Kind{&stream.Diagnosis{
		Code: "FREEFORM_TO_JSON", Verdict: "text to JSON", Severity: stream.Warn, By: stream.Client,
		Meaning: "The client puts free text, which this kind of tool accepts, into an object.",
		Advice:  "Nothing, if the target has no free-text tools. The model reads its text in a different form.",
	}, High, "free text is put into an object"}
	IntPrecision = &Kind{protocol.IntPrecision, High, "an integer with too many digits for a double is rounded"}
	NumPrecision = &Kind{&stream.Diagnosis{
		Code: "NUM_PRECISION", Severity: stream.Info, By: stream.Client,
		Meaning: "A fraction with too many digits for a double is rounded.",
		Advice:  "Declare the number as a string in the schema if its last digits matter.",
	}, Low, "a fraction with too many digits for a double is rounded"}
	NumRange = &Kind{&stream.Diagnosis{
		Code: "NUM_RANGE", Verdict: "number range", Severity: stream.Warn, By: stream.Client,
		Meaning: "A number is too large for a double, so it becomes infinity, null or an error.",
		Advice:  "Declare the number as a string in the schema.",
	}, High, "a number is too large for a double"}
	NumSpelling = &Kind{&stream.Diagnosis{
		Code: "NUM_SPELLING", Severity: stream.Info, By: stream.Client,
		Meaning: "A number is written differently, e.g. 1 instead of 1.0. The value is the same, but the text is different.",
		Advice:  "Nothing, unless a prompt cache or a signature depends on the bytes.",
	}, Low, "a number is written differently: 1.0 becomes 1"}
	StrSpelling = &Kind{&stream.Diagnosis{
		Code: "STR_SPELLING", Severity: stream.Info, By: stream.Client,
		Meaning: "A string has different escapes, but the same value.",
		Advice:  "Nothing, unless a prompt cache depends on the bytes.",
	}, Info, "a string is written with different escapes: \\u00e9 becomes é"}
	KeyOrder = &Kind{&stream.Diagnosis{
		Code: "KEY_ORDER", Severity: stream.Info, By: stream.Client,
		Meaning: "The fields of an object are in a different order.",
		Advice:  "Nothing, unless a prompt cache depends on the bytes. In that case, keep the original text.",
	}, Low, "the fields of an object are in a different order"}
	DupKeys    = &Kind{stream.DupKeys, Medium, "only the last of several fields with the same key is kept"}
	Whitespace = &Kind{&stream.Diagnosis{
		Code: "WHITESPACE", Severity: stream.Info, By: stream.Client,
		Meaning: "Spaces and line breaks between the tokens of the arguments are removed.",
		Advice:  "Nothing, unless a prompt cache depends on the bytes.",
	}, Info, "spaces and line breaks between tokens are removed"}
	UnicodeSanitized = &Kind{&stream.Diagnosis{
		Code: "UNICODE_SANITIZED", Severity: stream.Info, By: stream.Client,
		Meaning: "Bytes or escapes that are not valid Unicode become U+FFFD.",
		Advice:  "Nothing: JSON can't represent such bytes.",
	}, Low, "invalid Unicode becomes U+FFFD"}
	NestedTooDeep = &Kind{&stream.Diagnosis{
		Code: "DEPTH_LIMIT", Verdict: "too deep", Severity: stream.Warn, By: stream.Client,
		Meaning: "The arguments are nested more deeply than the target accepts. The target refuses the request.",
		Advice:  "Send the arguments as text inside an object, or declare a flatter schema.",
	}, High, "the arguments are nested too deeply"}
)

// Kinds of losses in calls.
var (
	CallDropped = &Kind{&stream.Diagnosis{
		Code: "CALL_DROPPED", Verdict: "call dropped", Severity: stream.Error, By: stream.Client,
		Meaning: "The client leaves the call out of the history, so the model doesn't know about the call.",
		Advice:  "Send the call with its result, even if the call failed.",
	}, Critical, "the call is not in the history"}
	CallAsText = &Kind{&stream.Diagnosis{
		Code: "CALL_AS_TEXT", Verdict: "sent as text", Severity: stream.Warn, By: stream.Client,
		Meaning: "The client sends the call and its result as text. The provider doesn't recognise the call, and the model may write the next call as text too.",
		Advice:  "Send the call as a call, and its result as a tool result.",
	}, High, "the call and its result are sent as text"}
	CallsReordered = &Kind{&stream.Diagnosis{
		Code: "CALLS_REORDERED", Verdict: "reordered", Severity: stream.Warn, By: stream.Client,
		Meaning: "A client sent the calls of a turn in a different order from the model's.",
		Advice:  "Keep the order: signatures and prompt caches depend on it.",
	}, Medium, "a client sent the calls of a turn in a different order"}
	KindLost = &Kind{&stream.Diagnosis{
		Code: "KIND_LOST", Verdict: "kind lost", Severity: stream.Warn, By: stream.Client,
		Meaning: "The client sends a call of a special kind, e.g. to a custom tool or a shell, as a function call.",
		Advice:  "Nothing, if the target has no such kind of call.",
	}, Medium, "a call of a special kind is sent as a function call"}
	IDRewritten = &Kind{&stream.Diagnosis{
		Code: "ID_REWRITTEN", Severity: stream.Info, By: stream.Client,
		Meaning: "The call has a different id in the history.",
		Advice:  "Nothing, if the result has the same new id.",
	}, Low, "the call gets a different id"}
	IDTruncated = &Kind{&stream.Diagnosis{
		Code: "ID_TRUNCATED", Verdict: "id cut", Severity: stream.Warn, By: stream.Client,
		Meaning: "The client shortens the id of the call to the length that the target accepts.",
		Advice:  "Check that the shortened id still differs from other ids.",
	}, Medium, "the id is shortened"}
	IDCollision = &Kind{&stream.Diagnosis{
		Code: "ID_COLLISION", Verdict: "same id twice", Severity: stream.Error, OtherSeverities: []stream.Severity{stream.Info, stream.Warn}, By: stream.Client,
		SeverityNote: protocol.RequestSeverityNote,
		Meaning:      "Two calls have the same id in the history, so it is unclear which call a result belongs to.",
		Advice:       "Add a different number to each id when you rewrite ids.",
	}, Critical, "two calls have the same id"}
	ItemIDDropped = &Kind{&stream.Diagnosis{
		Code: "ITEM_ID_DROPPED", Severity: stream.Info, By: stream.Client,
		Meaning: "The client leaves out the id of the item that contains the call.",
		Advice:  "Nothing: the id is needed only for responses that the provider stores.",
	}, Info, "the id of the call's item is left out"}
	NameRewritten = &Kind{&stream.Diagnosis{
		Code: "NAME_REWRITTEN", Verdict: "name changed", Severity: stream.Warn, By: stream.Client,
		Meaning: "The client sends the call under a name that the model didn't write. The model reads a call to a tool that it didn't call.",
		Advice:  "Send the name that the model wrote, and describe the error in the result.",
	}, High, "the call is sent under a different name"}
	NameIllegal = &Kind{&stream.Diagnosis{
		Code: "NAME_ILLEGAL", Verdict: "illegal name", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info, stream.Error}, By: stream.Client,
		SeverityNote: protocol.RequestSeverityNote,
		Meaning:      "The target doesn't accept the tool's name and refuses the request.",
		Advice:       "Rename the tool in the declaration and in the history.",
	}, High, "the target doesn't accept the name"}
	SignatureDropped = &Kind{&stream.Diagnosis{
		Code: "SIGNATURE_DROPPED", Verdict: "no signature", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info, stream.Error}, By: stream.Client,
		SeverityNote: protocol.RequestSeverityNote,
		Meaning:      "A signature proves that the model wrote this part. The client leaves the signature out, and without it the model's provider refuses the history.",
		Advice:       "Send a signature back to the provider that created it. Other providers can't use the signature.",
	}, High, "the signature of a part is left out"}
	SignatureSentinel = &Kind{&stream.Diagnosis{
		Code: "SIGNATURE_SENTINEL", Verdict: "no signature", Severity: stream.Warn, By: stream.Client,
		Meaning: "A fixed word replaces the signature. This word turns off the provider's signature check.",
		Advice:  "Use the fixed word for calls from other models, never for calls from the provider's own models.",
	}, Medium, "a fixed word replaces the signature"}
	ServerToolDropped = &Kind{&stream.Diagnosis{
		Code: "SERVER_TOOL_DROPPED", Verdict: "call dropped", Severity: stream.Warn, By: stream.Client,
		Meaning: "The client leaves out the call of a tool that the provider ran, because the target has no equivalent.",
		Advice:  "Put the facts that the model needs into the text of a message.",
	}, Medium, "a tool that the provider ran is left out"}
	CallerDropped = &Kind{&stream.Diagnosis{
		Code: "CALLER_DROPPED", Verdict: "caller lost", Severity: stream.Warn, By: stream.Client,
		Meaning: "The client leaves out the id of the code that made the call.",
		Advice:  "Nothing, if the target doesn't run the model's code.",
	}, Medium, "the id of the code that made the call is left out"}
	NamespaceDropped = &Kind{&stream.Diagnosis{
		Code: "NAMESPACE_DROPPED", Verdict: "no namespace", Severity: stream.Warn, By: stream.Client,
		Meaning: "The client leaves out the namespace of the tool, so tools from different servers may have the same name.",
		Advice:  "Include the namespace in the tool's name, in both the declaration and the history.",
	}, Medium, "the tool's namespace is left out"}
)

// Kinds of losses in reasoning, results and other parts, and in the order of messages.
var (
	ReasoningToText = &Kind{&stream.Diagnosis{
		Code: "REASONING_TO_TEXT", Verdict: "thought sent", Severity: stream.Warn, By: stream.Client,
		Meaning: "The client sends reasoning as ordinary text. The model reads this text as part of its response.",
		Advice:  "Leave out the reasoning if the target doesn't read it.",
	}, Medium, "reasoning is sent as text of the response"}
	ReasoningDropped = &Kind{&stream.Diagnosis{
		Code: "REASONING_DROPPED", Verdict: "thoughts lost", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info, stream.Error}, By: stream.Client,
		SeverityNote: protocol.RequestSeverityNote,
		Meaning:      "The client leaves the reasoning out of the history.",
		Advice:       "Send reasoning back to the provider that it came from. Other providers can't use the reasoning.",
	}, Medium, "reasoning is left out"}
	ReasoningAltered = &Kind{&stream.Diagnosis{
		Code: "REASONING_ALTERED", Verdict: "other thought", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info, stream.Error}, By: stream.Client,
		SeverityNote: protocol.RequestSeverityNote,
		Meaning:      "The client changes reasoning or its signature before it sends them back, or moves the reasoning to a different place among the calls. The provider notices the change and refuses the request.",
		Advice:       "Send reasoning back byte for byte, in the order in which it arrived. Don't trim, merge or redact the reasoning.",
	}, High, "reasoning or its signature is changed or moved"}
	PartDropped = &Kind{&stream.Diagnosis{
		Code: "PART_DROPPED", Verdict: "part lost", Severity: stream.Warn, By: stream.Client,
		Meaning: "The client leaves out images, sound or documents in messages.",
		Advice:  "Send images, sound and documents in the form that the target accepts.",
	}, Medium, "media and documents in messages are left out"}
	MediaResultLoss = &Kind{&stream.Diagnosis{
		Code: "MEDIA_RESULT_LOSS", Verdict: "media lost", Severity: stream.Warn, By: stream.Client,
		Meaning: "The client leaves out images in a result.",
		Advice:  "Send the images in a user message after the result.",
	}, Medium, "images in a result are left out"}
	ErrorFlagLoss = &Kind{&stream.Diagnosis{
		Code: "ERROR_FLAG_LOSS", Severity: stream.Info, By: stream.Client,
		Meaning: "The client leaves out the error flag of a result, because the target has no field for this flag.",
		Advice:  "Put the error into the text of the result.",
	}, Low, "the error flag of a result is left out"}
	OrphanCall = &Kind{&stream.Diagnosis{
		Code: "ORPHAN_CALL", Verdict: "orphan call", Severity: stream.Error, OtherSeverities: []stream.Severity{stream.Info, stream.Warn}, By: stream.Client,
		SeverityNote: protocol.RequestSeverityNote,
		Meaning:      "A call has no result in the history. Most providers refuse the request.",
		Advice:       "Add a result for every call. If a call didn't run, state that in the result.",
	}, Critical, "a call has no result"}
	OrphanResult = &Kind{protocol.OrphanResult, Critical, "a result has no call"}
	AdjacencyFix = &Kind{&stream.Diagnosis{
		Code: "ADJACENCY_FIX", Verdict: "wrong place", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info, stream.Error}, By: stream.Client,
		SeverityNote: protocol.RequestSeverityNote,
		Meaning:      "The client moves results to the place that the target requires, or invents missing results.",
		Advice:       "Keep each result directly after its call.",
	}, Medium, "results are moved or made up"}
	ParallelSplit = &Kind{&stream.Diagnosis{
		Code: "PARALLEL_SPLIT", Verdict: "calls split", Severity: stream.Warn, By: stream.Client,
		Meaning: "The client sends calls that the model made together as if the model had made them one after another.",
		Advice:  "Keep the calls in one message. Signatures and some providers depend on this grouping.",
	}, High, "the calls of one turn are sent in several messages"}
)
