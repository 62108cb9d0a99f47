package protocol

import "toolscope/stream"

// Findings are those that more than one protocol makes.
var Findings = []*stream.Diagnosis{
	MessageRestarted, ResponseRestarted, EventNameMissing, EventNameMismatch,
	FinishUnknown, FinishWithoutCall, FinishStop, FinishError, FinishMissing, GenerationRejected, TextToolCall,
	IndexMissing, IndexReused, IDMissing, CallIDChanged, NotSealed, ItemDoneMissing, ItemNotStreamed, OrphanResult,
	ArgsObject, ArgsString, ArgsNull, ArgsMissing, ArgsEmpty, DoneMismatch, IntPrecision,
}

// Of the stream.
var (
	MessageRestarted = &stream.Diagnosis{
		Code: "MESSAGE_RESTARTED", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info}, By: stream.Gateway,
		Meaning: "A second message began in the same body before the first ended: a retry was spliced in, or two streams were merged.",
		Advice:  "Run no call of the message that was broken off, and look for the gateway that asks again by itself.",
	}
	ResponseRestarted = &stream.Diagnosis{
		Code: "RESPONSE_RESTARTED", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "Another response begins in the same body before the first was ended.",
		Advice:  "Take them for two responses: a client that goes on appending mixes their calls.",
	}
	EventNameMissing = &stream.Diagnosis{
		Code: "EVENT_NAME_MISSING", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The events have no event: line: clients that go by the name of an event see nothing at all.",
		Advice:  "Nothing, if your client goes by the type in the body; otherwise have the gateway send the names.",
	}
	EventNameMismatch = &stream.Diagnosis{
		Code: "EVENT_NAME_MISMATCH", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "An event is named one thing and its body says another: clients read different events from the same bytes.",
		Advice:  "Trust the body, as most clients do, and report it to whoever rewrites the stream.",
	}
	FinishUnknown = &stream.Diagnosis{
		Code: "FIN_UNKNOWN", Severity: stream.Info, By: stream.Provider,
		Meaning: "The response ended for a reason that is not documented.",
		Advice:  "Check what your client takes an unknown reason for; many take it for a normal end.",
	}
	FinishWithoutCall = &stream.Diagnosis{
		Code: "FIN_TOOLCALLS_NO_CALL", Severity: stream.Error, By: stream.Gateway,
		Meaning: "The response says that it ended to have tools run, but it has no call: the call was lost on the way.",
		Advice:  "Ask again, and look at the text: a host that failed to parse the call may have left it there.",
	}
	FinishStop = &stream.Diagnosis{
		Code: "FIN_STOP", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The response has calls, but says that it ended as one without: clients that wait for the other word never run them.",
		Advice:  "Go by the calls, not by the word.",
	}
	FinishError = &stream.Diagnosis{
		Code: "FIN_ERROR", Severity: stream.Error, By: stream.Provider,
		Meaning: "The reason why the response ended is an error.",
		Advice:  "Run no call that was not sealed before it, and ask again.",
	}
	FinishMissing = &stream.Diagnosis{
		Code: "FIN_NULL", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "No reason ever came why the response ended: nothing says that its calls are complete.",
		Advice:  "Check that the arguments are whole before you run a call, and report it to the host.",
	}
	GenerationRejected = &stream.Diagnosis{
		Code: "GENERATION_REJECTED", Severity: stream.Error, By: stream.Provider,
		Meaning: "The provider threw away a call that the model wrote; what is shown is the provider's account of it.",
		Advice:  "Ask again; if it happens often, make the tool's schema simpler.",
	}
	TextToolCall = &stream.Diagnosis{
		Code: "TEXT_TOOLCALL", Severity: stream.Warn, By: stream.Provider,
		Meaning: "A call stands in the text of the answer: the host of the model did not recognise it as one.",
		Advice:  "Choose the tool-call parser that belongs to the model, or update the host; do not parse the text yourself.",
	}
)

// Of a call.
var (
	IndexMissing = &stream.Diagnosis{
		Code: "IDX_MISSING", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Calls or items have no index: clients that need one lose calls or merge them.",
		Advice:  "Nothing, if your client tells calls apart by their ids.",
	}
	IndexReused = &stream.Diagnosis{
		Code: "IDX_REUSED", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "Several calls have the same index: clients that go by it glue their arguments together.",
		Advice:  "Have your client begin a new call when another id comes, or switch parallel calls off.",
	}
	IDMissing = &stream.Diagnosis{
		Code: "ID_MISSING", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info}, By: stream.Gateway,
		Meaning: "A call has no id: its result has nothing to refer to, and clients make an id up.",
		Advice:  "Make up one id for the call and use it in the history for call and result alike.",
	}
	CallIDChanged = &stream.Diagnosis{
		Code: "CALL_ID_CHANGED", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info}, By: stream.Gateway,
		Meaning: "The id of a call changes from one piece or copy to the next.",
		Advice:  "Keep one of them for call and result alike, and go by the index to tell calls apart.",
	}
	NotSealed = &stream.Diagnosis{
		Code: "NOT_SEALED", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "The response ended well, but nothing ever said that the arguments of a call are whole.",
		Advice:  "Check that they parse before you run the call, and have the application send the event that ends it.",
	}
	ItemDoneMissing = &stream.Diagnosis{
		Code: "ITEM_DONE_MISSING", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The event that ends a call never came: only the end of the whole response says that it is complete.",
		Advice:  "Nothing, if your client runs calls when the response ends; one that waits for the event never runs them.",
	}
	ItemNotStreamed = &stream.Diagnosis{
		Code: "ITEM_NOT_STREAMED", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "A call stands only in the response as a whole: clients that go by the stream's items never see it.",
		Advice:  "Read the calls of the last event as well, and report it to the host.",
	}
	OrphanResult = &stream.Diagnosis{
		Code: "ORPHAN_RESULT", Severity: stream.Info, OtherSeverities: []stream.Severity{stream.Error}, By: stream.Client,
		Meaning: "There is a result, but not the call it is for: the call is in an earlier response, or it was left out of the history.",
		Advice:  "In a stream, nothing; in a history, send the call along with its result: most providers refuse the one without the other.",
	}
)

// Of a call's arguments.
var (
	ArgsObject = &stream.Diagnosis{
		Code: "ARGS_OBJECT", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "The arguments came as a JSON value where the protocol has a string with JSON in it: clients that expect the string fail.",
		Advice:  "Accept both in your client, or have the host send the string.",
	}
	ArgsString = &stream.Diagnosis{
		Code: "ARGS_STRING", Severity: stream.Warn, By: stream.Gateway,
		Meaning: "The arguments came as a string where the protocol has an object: clients fail on it, and so do providers in history.",
		Advice:  "Parse the string before the call is run or sent back, or have the host send the object.",
	}
	ArgsNull = &stream.Diagnosis{
		Code: "ARGS_NULL", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info}, By: stream.Gateway,
		Meaning: "The arguments are null, which is meant as {}.",
		Advice:  "Run the call with {}, and send {} back: providers refuse null.",
	}
	ArgsMissing = &stream.Diagnosis{
		Code: "ARGS_MISSING", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The call came without a field for its arguments, which its protocol always has: meant as {}.",
		Advice:  "Run the call with {}, and send {} back.",
	}
	ArgsEmpty = &stream.Diagnosis{
		Code: "ARGS_EMPTY", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The arguments are the empty string, which is meant as {} and is no JSON.",
		Advice:  "Run the call with {}, and send {} back.",
	}
	DoneMismatch = &stream.Diagnosis{
		Code: "DONE_MISMATCH", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info, stream.Error}, By: stream.Gateway,
		Meaning: "The arguments were told several times, and not the same each time: what a client runs depends on where it reads them.",
		Advice:  "Find out which of them your client runs, and compare it with what was streamed.",
	}
	IntPrecision = &stream.Diagnosis{
		Code: "INT_PRECISION", Severity: stream.Info, OtherSeverities: []stream.Severity{stream.Warn}, By: stream.Provider,
		Meaning: "An integer has more digits than a double holds: who passes it on as a double changes it.",
		Advice:  "Declare ids and other long numbers as strings in the tool's schema.",
	}
)

// StopOfNone is what a ProtocolViolation says of the end of a block that is not open: it was said
// twice, or the block never began.
const StopOfNone = "content_block_stop for block %d, which is not open"
