package protocol

import "toolscope/stream"

// FinishReasons are the finish reasons of a protocol.
type FinishReasons struct {
	What        string // the protocol's term for finish reasons, e.g. "stop reason"
	Calls, Done string // reason of a turn that waits for results of its calls; reason of any other turn that ended normally
	Codes       FinishCodes
}

// FinishCodes are the codes of the documented finish reasons.
type FinishCodes map[string]stream.Code

// Of returns the code of a finish reason. An undocumented reason doesn't count as a normal end: it has the code
// stream.FinishOther, and the result known is false.
func (all FinishCodes) Of(word string) (code stream.Code, known bool) {
	if code, known = all[word]; !known {
		code = stream.FinishOther
	}
	return code, known
}

// FinishAndCheck does the same as Finish, for a protocol whose finish reason shows whether the client must
// run calls. It also compares the reason with the calls of the turn, and returns the code of the reason.
func (t *Turn) FinishAndCheck(word string, of *FinishReasons) stream.Code {
	code, _ := of.Codes.Of(word)
	t.Finish(word, code)
	t.CheckStop(word, of)
	return code
}

// CheckStop reports a finish reason that is undocumented or contradicts the calls of the turn.
func (t *Turn) CheckStop(word string, of *FinishReasons) {
	_, known := of.Codes[word]
	switch {
	case !known:
		t.Find(FinishUnknown, "%s %q is not documented", stream.Own(of.What), stream.Fact(word))
	case word == of.Calls && t.client == 0 && !t.lost:
		t.Find(FinishWithoutCall, "the %s is %s, but the response has no call: the call was lost before it arrived", stream.Own(of.What), stream.Fact(word))
	case word == of.Done && t.client > 0:
		t.Find(FinishStop, "the %s is %s, but the response has calls: clients that wait for %s never run the calls", stream.Own(of.What), stream.Fact(word), stream.Own(of.Calls))
	}
}

// GoogleFinishCodes are the finish reasons of Gemini. A filter has the same code as a limit, because both cut off the
// response. Clients that ask for enums as numbers get numbers instead of names. Numbers up to 5 have the same meaning
// in the Gemini API and Vertex. From 6 on, the two APIs differ, but 6, 7 and 8 are filters in both.
var GoogleFinishCodes = FinishCodes{
	"STOP": stream.FinishDone, "1": stream.FinishDone,
	"MAX_TOKENS": stream.FinishCut, "2": stream.FinishCut,

	"SAFETY": stream.FinishCut, "RECITATION": stream.FinishCut, "LANGUAGE": stream.FinishCut, "OTHER": stream.FinishCut,
	"BLOCKLIST": stream.FinishCut, "PROHIBITED_CONTENT": stream.FinishCut, "SPII": stream.FinishCut, "MODEL_ARMOR": stream.FinishCut,
	"IMAGE_SAFETY": stream.FinishCut, "IMAGE_PROHIBITED_CONTENT": stream.FinishCut, "IMAGE_RECITATION": stream.FinishCut,
	"IMAGE_OTHER": stream.FinishCut, "NO_IMAGE": stream.FinishCut,
	"3": stream.FinishCut, "4": stream.FinishCut, "5": stream.FinishCut, "6": stream.FinishCut, "7": stream.FinishCut, "8": stream.FinishCut,

	"MALFORMED_FUNCTION_CALL": stream.FinishRefused, "MALFORMED_RESPONSE": stream.FinishRefused, "10": stream.FinishRefused,
	"UNEXPECTED_TOOL_CALL": stream.FinishRefused, "TOO_MANY_TOOL_CALLS": stream.FinishRefused, "MISSING_THOUGHT_SIGNATURE": stream.FinishRefused,
}
