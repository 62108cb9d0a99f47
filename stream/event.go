package stream

import (
	"fmt"
	"time"
)

// NoTime is the time of bytes whose source cannot tell when they came.
const NoTime = time.Duration(-1)

// EventKind is what an event says. Which fields it uses is said here; At, Frame and Turn are set on
// every event.
type EventKind uint8

const (
	TurnOpen   EventKind = iota + 1 // a model response begins; *Opening
	TurnMeta                        // later news of it; *Opening
	CallOpen                        // Slot: a call begins; *CallInfo
	CallMeta                        // Slot: news of it; *CallInfo
	Args                            // Slot: Text is appended to the call's arguments; *Origin where that is derived
	Rewrite                         // Slot: the arguments are Text instead: news changed what was derived before; *Origin
	Seal                            // Slot: the arguments are final; with SealRejected they are refused: Text says why
	Answer                          // a call got its result: *Answered says which, or else it is the one in Slot; Code is AnswerOK or AnswerFailed
	TextDelta                       // Text is answer text, as far as it is counted and shown
	ThinkDelta                      // Text is reasoning text
	Signed                          // the text or reasoning that came last is signed: Text must come back with it as it is; *Signature; with SignedHidden Text is all there is of the reasoning
	UsageEvent                      // *Usage
	Finish                          // Text is the provider's own word, *Reason what it stands for; Slot its choice or AllChoices; Code says what it means
	Failure                         // the provider reports an error: Text is its message; *Failed, which may say that there is no answer of a provider: then Text says why
	TurnClose                       // no more events of this turn; Code is CloseEnd, or CloseUnseen, or CloseCut: Text says what did not come, or how; *Ending
	Gap                             // bytes of the response passed unseen: Text says so; *Missed
	SentBack                        // a later request has the call in its history: Slot is the call's Number, Text what became of it, Code its result; *Resent
	Found                           // about the call in Slot, or about the turn when Slot is NoSlot; *Finding
	Fault                           // the frame does not decode: Text says why
	Unknown                         // an event type this version does not know: Text is its name
	Heartbeat                       // a frame that says nothing: ping, comment
)

var eventWords = [...]string{
	TurnOpen: "turn open", TurnMeta: "turn meta", CallOpen: "call open", CallMeta: "call meta", Args: "args",
	Rewrite: "rewrite", Seal: "seal", Answer: "answer", TextDelta: "text", ThinkDelta: "thinking", Signed: "signed", SentBack: "sent back", UsageEvent: "usage",
	Finish: "finish", Failure: "error", TurnClose: "turn close", Gap: "gap", Found: "finding", Fault: "fault",
	Unknown: "unknown", Heartbeat: "heartbeat",
}

func (k EventKind) String() string {
	if int(k) < len(eventWords) && eventWords[k] != "" {
		return eventWords[k]
	}
	return fmt.Sprintf("event %d", k)
}

const (
	NoSlot     = int32(-1) // a Found about the turn
	AllChoices = int32(-1) // a Finish of the whole turn
)

// Code refines an event; each kind that uses it names its values.
type Code uint8

// Codes of a Finish.
const (
	FinishDone    Code = iota // the model stopped by itself or to have tools run
	FinishCut                 // a limit or filter cut the response
	FinishRefused             // the provider refuses: calls of this turn are not to be run
	FinishFailed              // the response ended in an error
)

// Codes of a TurnClose.
const (
	CloseEnd    Code = iota // the protocol's terminator came
	CloseCut                // the bytes ended without it
	CloseUnseen             // it may be among bytes that were not seen
)

// Codes of a Seal.
const (
	SealFinal    Code = iota
	SealRejected      // whoever checks the arguments refuses this call, not the whole response
)

// Codes of a Signed.
const (
	SignedShown  Code = iota
	SignedHidden      // redacted: nobody but the provider can read it
)

// Codes of an Answer, and of a SentBack: 0 when the request has no result.
const (
	AnswerOK Code = iota + 1
	AnswerFailed
)

// An Event is one provider-neutral fact, in the order of the wire. It is a value: whoever holds it
// may keep it, nobody changes it.
type Event struct {
	At    time.Duration // when its frame was complete, since the source began; or NoTime
	Text  string        // bytes or words, by kind
	What  Payload       // by kind, or nil
	Frame int32         // number of its frame within the exchange
	Turn  int32         // number of its turn within the timeline
	Slot  int32         // by kind
	Kind  EventKind
	Code  Code
}

// String is the event in one line, for tests and dumps.
func (e Event) String() string {
	s := fmt.Sprintf("%s turn=%d", e.Kind, e.Turn)
	switch e.Kind {
	case CallOpen, CallMeta, Args, Rewrite, Seal, Found, Finish, SentBack:
		s += fmt.Sprintf(" slot=%d", e.Slot)
	}
	if e.Code != 0 {
		s += fmt.Sprintf(" code=%d", e.Code)
	}
	if e.Text != "" {
		s += fmt.Sprintf(" %q", e.Text)
	}
	if e.What != nil {
		s += e.What.words()
	}
	return s
}
