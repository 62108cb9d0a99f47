package protocol

import (
	"toolscope/stream"
)

// Findings lists the findings that several protocols make.
var Findings = []*stream.Diagnosis{
	MessageRestarted, ResponseRestarted, EventNameMissing, EventNameMismatch,
	CountedOnly, FinishUnknown, FinishWithoutCall, FinishStop, FinishError, FinishMissing, GenerationRejected, TextToolCall,
	IndexMissing, IndexType, IndexReused, IndexSparse, IDMissing, CallIDChanged, NotSealed, ItemDoneMissing, ItemNotStreamed, OrphanResult,
	ArgsObject, ArgsString, ArgsNull, ArgsMissing, ArgsEmpty, CallSplit, SignatureMissing, DoneMismatch, IntPrecision,
	NoModelWords, AgentError, CallDenied, NameGlued,
}

// RequestSeverityNote explains when a finding about a request has an unusual severity.
const RequestSeverityNote = "error if the provider refused the request because of this problem; warn if the provider refused the request for another reason; info if another host accepted the request"

// Findings about the stream.
var (
	MessageRestarted = &stream.Diagnosis{
		Code: "MESSAGE_RESTARTED", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info}, By: stream.Gateway,
		Verdict:      "began again",
		SeverityNote: "info in AI SDK streams, whose clients keep the last id",
		Meaning:      "A second message began in the same body before the first ended: a gateway inserted a retry, or two streams were merged.",
		Advice:       "Don't run calls from the first message. Find the gateway that retries without telling the client.",
	}
	ResponseRestarted = &stream.Diagnosis{
		Code: "RESPONSE_RESTARTED", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "began again",
		Meaning: "Another response begins in the same body before the first response has ended.",
		Advice:  "Read the body as two responses. A client that reads the body as one response mixes up the calls of both responses.",
	}
	EventNameMissing = &stream.Diagnosis{
		Code: "EVENT_NAME_MISSING", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The events have no \"event:\" line. Clients that handle events by name ignore such events.",
		Advice:  "Nothing, if your client uses the type in the body. Otherwise, make the gateway send an \"event:\" line with each event.",
	}
	EventNameMismatch = &stream.Diagnosis{
		Code: "EVENT_NAME_MISMATCH", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "wrong event",
		Meaning: "The name of an event differs from the type in its body. Clients read different events from the same bytes.",
		Advice:  "Use the type in the body, as most clients do. Report the problem to the operator of the gateway.",
	}
	CountedOnly = &stream.Diagnosis{
		Code: "COUNTED_ONLY", Severity: stream.Info, By: stream.Toolscope,
		Meaning: "The response has more calls or findings than toolscope keeps. toolscope only counts the rest, but keeps all bytes.",
		Advice:  "Check the program that sent the response: a model doesn't write this many calls.",
	}
	FinishUnknown = &stream.Diagnosis{
		Code: "FIN_UNKNOWN", Severity: stream.Info, By: stream.Provider,
		Meaning: "The finish reason of the response is not documented.",
		Advice:  "Check how your client handles an unknown reason. Many clients treat an unknown reason as a normal end.",
	}
	FinishWithoutCall = &stream.Diagnosis{
		Code: "FIN_TOOLCALLS_NO_CALL", Severity: stream.Error, By: stream.Gateway,
		Verdict: "call lost",
		Meaning: "The finish reason announces a call, but the response contains no call: the call was lost before it arrived.",
		Advice:  "Retry the request, and read the response's text: a provider that can't parse a call may leave the call in the text.",
	}
	NameGlued = &stream.Diagnosis{
		Code: "NAME_GLUED", Severity: stream.Error, By: stream.Gateway,
		Verdict: "merged names",
		Meaning: "The name consists of the names of several tools: calls with the same index were merged.",
		Advice:  "Run none of the calls. Update the provider's software, or turn parallel calls off.",
	}
	FinishStop = &stream.Diagnosis{
		Code: "FIN_STOP", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The response contains calls, but its finish reason doesn't announce calls. Clients that wait for such a finish reason never run the calls.",
		Advice:  "Make your client look for calls in the response instead of checking the finish reason.",
	}
	FinishError = &stream.Diagnosis{
		Code: "FIN_ERROR", Severity: stream.Error, By: stream.Provider,
		ExplainsState: true,
		Verdict:       "failed",
		Meaning:       "The finish reason of the response is an error.",
		Advice:        "Retry the request, and don't run calls whose arguments were not final before the error.",
	}
	FinishMissing = &stream.Diagnosis{
		Code: "FIN_NULL", Severity: stream.Warn, By: stream.Gateway,
		ExplainsState: true,
		Verdict:       "no finish",
		Meaning:       "The response has no finish reason, so nothing confirms that its calls are complete.",
		Advice:        "Before you run a call, check that its arguments are complete. Report the problem to the provider.",
	}
	GenerationRejected = &stream.Diagnosis{
		Code: "GENERATION_REJECTED", Severity: stream.Error, By: stream.Provider,
		ExplainsState: true,
		Verdict:       "rejected",
		Meaning:       "The provider discarded a call that the model wrote. toolscope shows the provider's description of that call.",
		Advice:        "Retry the request. If this happens often, simplify the tool's schema.",
	}
	TextToolCall = &stream.Diagnosis{
		Code: "TEXT_TOOLCALL", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Error}, By: stream.Provider,
		Verdict:      "call as text",
		SeverityNote: "error if the finish reason announces a call but the response has none",
		Meaning:      "The text or the reasoning of the response ends with a call that the provider didn't recognise. No tool ran.",
		Advice:       "Choose the tool-call parser that fits the model, or update the software that serves the model. Don't parse the text yourself.",
	}
)

// Findings about a call.
var (
	IndexMissing = &stream.Diagnosis{
		Code: "IDX_MISSING", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Calls or items have no index. Clients that need an index lose or merge such calls.",
		Advice:  "Nothing, if your client uses the ids to tell calls apart.",
	}
	IndexType = &stream.Diagnosis{
		Code: "IDX_TYPE", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "index type",
		Meaning: "An index is not an integer, but the protocol requires one. Clients that check types, such as those in Go and Rust, refuse the response. Others use the value as a key, or lose the call.",
		Advice:  "Make the gateway send the index as a number.",
	}
	IndexReused = &stream.Diagnosis{
		Code: "IDX_REUSED", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "index reused",
		Meaning: "Several calls have the same index. Clients that merge by index join the arguments of these calls.",
		Advice:  "Make your client start a new call for a new id, or turn parallel calls off.",
	}
	IndexSparse = &stream.Diagnosis{
		Code: "IDX_SPARSE", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "index gaps",
		Meaning: "The indexes of calls or blocks have gaps or don't start at 0. Clients that use an index as a list position crash or create empty calls.",
		Advice:  "Make your client keep calls in a map by index.",
	}
	IDMissing = &stream.Diagnosis{
		Code: "ID_MISSING", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info}, By: stream.Gateway,
		Verdict:      "no id",
		SeverityNote: "info if the protocol has no ids, as in Ollama",
		Meaning:      "A call has no id, so a result can't refer to the call. Clients invent an id.",
		Advice:       "Create an id, and use it for both the call and its result in the history.",
	}
	CallIDChanged = &stream.Diagnosis{
		Code: "CALL_ID_CHANGED", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info}, By: stream.Gateway,
		Verdict:      "id changed",
		SeverityNote: "info in OpenAI Responses before output_item.done, because the id in that event is the valid one",
		Meaning:      "The id of a call changes from one delta or copy to the next.",
		Advice:       "Use one of the ids for the call and its result, and tell calls apart by index.",
	}
	NotSealed = &stream.Diagnosis{
		Code: "NOT_SEALED", Severity: stream.Warn, By: stream.Gateway,
		ExplainsState: true,
		Verdict:       "never final",
		Meaning:       "The response ended normally, but nothing confirms that the arguments of a call are final.",
		Advice:        "Before you run the call, check that the arguments parse. Make the gateway or the server send the event that ends the call.",
	}
	ItemDoneMissing = &stream.Diagnosis{
		Code: "ITEM_DONE_MISSING", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The event that ends a call is missing. Only the end of the response shows that the call is complete.",
		Advice:  "Nothing, if your client runs calls when the response ends. A client that waits for the missing event never runs the call.",
	}
	ItemNotStreamed = &stream.Diagnosis{
		Code: "ITEM_NOT_STREAMED", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "not streamed",
		Meaning: "A call appears only in the complete response at the end. Clients that read only the streamed items never see the call.",
		Advice:  "Make your client also read the calls in the last event. Report the problem to the provider.",
	}
	OrphanResult = &stream.Diagnosis{
		Code: "ORPHAN_RESULT", Severity: stream.Info, OtherSeverities: []stream.Severity{stream.Warn, stream.Error}, By: stream.Client,
		Verdict:      "orphan result",
		SeverityNote: "error if a request contains a result without its call; warn if the provider refused the request for another reason",
		Meaning:      "A result has no call: the call is in an earlier response, or the client left it out of the history.",
		Advice:       "In a history, send each call with its result, or leave out both: most providers refuse one without the other. If the result is in a response, do nothing: its call is in an earlier response.",
	}
)

// Findings about the arguments of a call.
var (
	ArgsObject = &stream.Diagnosis{
		Code: "ARGS_OBJECT", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "not a string",
		Meaning: "The arguments arrived as a JSON value, although the protocol requires a string of JSON. Clients that expect a string fail.",
		Advice:  "Accept both forms in your client, or make the provider send a string.",
	}
	ArgsString = &stream.Diagnosis{
		Code: "ARGS_STRING", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "is a string",
		Meaning: "The arguments arrived as a string, although the protocol requires an object. Clients fail on the string, and providers refuse it in a history.",
		Advice:  "Decode the string before you run the call or send the call back. Or make the provider send an object.",
	}
	ArgsNull = &stream.Diagnosis{
		Code: "ARGS_NULL", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info}, By: stream.Gateway,
		Verdict:      "null args",
		SeverityNote: "info in streams from Cohere, which sends null for a call without arguments",
		Meaning:      "The arguments are null. toolscope uses {} instead.",
		Advice:       "Run the call with {} and send {} back: providers refuse null.",
	}
	ArgsMissing = &stream.Diagnosis{
		Code: "ARGS_MISSING", Severity: stream.Info, OtherSeverities: []stream.Severity{stream.Warn}, By: stream.Gateway,
		Verdict:      "no arguments",
		SeverityNote: "warn in Anthropic Messages, whose clients fail without the field",
		Meaning:      "The call lacks the arguments field that its protocol requires. toolscope uses {} instead.",
		Advice:       "Run the call with {} and send {} back.",
	}
	SignatureMissing = &stream.Diagnosis{
		Code: "SIGNATURE_MISSING", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The first call in the turn, or a reasoning block, has no signature. Gemini 3 refuses a history without the call's signature. Anthropic refuses a history without the signature of the reasoning.",
		Advice:  "Find the gateway that lost the signature. The gateway must pass on signatures unchanged.",
	}
	CallSplit = &stream.Diagnosis{
		Code: "CALL_SPLIT", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "split call",
		Meaning: "One call is spread over several blocks with the same id. toolscope joins the blocks. Clients that run each block run fragments of the call.",
		Advice:  "Make the gateway send the fragments of a call as deltas of one block.",
	}
	ArgsEmpty = &stream.Diagnosis{
		Code: "ARGS_EMPTY", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The arguments are an empty string, which is not JSON. toolscope uses {} instead.",
		Advice:  "Run the call with {} and send {} back.",
	}
	DoneMismatch = &stream.Diagnosis{
		Code: "DONE_MISMATCH", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info, stream.Error}, By: stream.Gateway,
		Verdict:      "copies differ",
		SeverityNote: "error in OpenAI Responses if the copies that clients run differ; info if the copies have equal values but different bytes, if the provider runs the call, or if Claude Code corrected the arguments",
		Meaning:      "The arguments were sent several times, and the copies differ. Different clients run different arguments, depending on the copy that they read.",
		Advice:       "Find out which copy your client runs, and compare that copy with the deltas.",
	}
	IntPrecision = &stream.Diagnosis{
		Code: "INT_PRECISION", Severity: stream.Info, OtherSeverities: []stream.Severity{stream.Warn}, By: stream.Provider,
		Verdict:      "loses digits",
		SeverityNote: "warn if a later request contains the integer with changed digits",
		Meaning:      "An integer has more digits than a double can store. Programs that store the integer as a double change it.",
		Advice:       "Declare ids and other long numbers as strings in the tool's schema.",
	}
)

// StopOfNone is the format of the message for a ProtocolViolation about the end of a block that is not open. The end
// was sent twice, or the block never began.
const StopOfNone = "content_block_stop for block %d, which is not open"

// Findings of protocols that report the work of an agent.
var (
	NoModelWords = &stream.Diagnosis{
		Code: "NO_MODEL_WORDS", Severity: stream.Info, By: stream.Client,
		Meaning: "The source reports an agent's actions, not the model's output. The agent may have parsed and rewritten the arguments, and calls that it could not parse are missing.",
		Advice:  "To see the model's output, record the agent's requests with toolscope run.",
	}
	AgentError = &stream.Diagnosis{
		Code: "AGENT_ERROR", Severity: stream.Info, By: stream.Client,
		Meaning: "The agent reported an error to its user.",
		Advice:  "Read the message. If calls follow, the agent continued.",
	}
	CallDenied = &stream.Diagnosis{
		Code: "PERMISSION_DENIED", Severity: stream.Info, By: stream.Client, ExplainsState: true,
		Meaning: "The agent had no permission to run the call.",
		Advice:  "Allow the tool if it should run. The model receives the refusal as the result of the call.",
	}
)
