package stream

import (
	"fmt"
	"time"
)

// NoTime is the time of bytes whose source cannot tell when they came.
const NoTime = time.Duration(-1)

// EventKind is what an event says. Every event sets At, Frame and Turn. What else a kind uses is
// said here: Slot, Text, Code, and the type of its payload, which may be missing.
type EventKind uint8

const (
	// TurnOpen: a model response begins. Payload: *Opening.
	TurnOpen EventKind = iota + 1

	// TurnMeta: news of the turn. Payload: *Opening.
	TurnMeta

	// CallOpen: a call begins in Slot. Payload: *CallInfo.
	CallOpen

	// CallMeta: news of the call in Slot. Payload: *CallInfo.
	CallMeta

	// Args: Text is appended to the arguments of the call in Slot. Payload: *Origin, where Text is
	// not what stands on the wire.
	Args

	// Rewrite: Text replaces the arguments of the call in Slot, because news changed what was
	// derived before. Payload: *Origin.
	Rewrite

	// Seal: the arguments of the call in Slot are final. With SealRejected the call is refused, and
	// Text says why.
	Seal

	// CallResult: a call has its result. Code is AnswerOK or AnswerFailed. Payload: *Answered, which
	// names the call; without one it is the call in Slot.
	CallResult

	// TextDelta: Text is appended to the answer.
	TextDelta

	// ThinkDelta: Text is appended to the reasoning.
	ThinkDelta

	// Signed: Text is the signature of the text or reasoning that came last, and must come back
	// with it unchanged. With SignedHidden it is all there is of some reasoning. Payload:
	// *Signature.
	Signed

	// UsageEvent: what the turn has cost so far. Payload: *Usage.
	UsageEvent

	// Finish: the response, or one choice of it, has its reason to end. Text is the provider's own
	// word for that, Code what it means. Slot is the choice, or AllChoices. Payload: *Reason, where
	// the word is a number.
	Finish

	// Failure: an error ended the response. Text is its message. Payload: *Failed, which has its
	// code, and says if it is not the provider's.
	Failure

	// TurnClose: no more events of this turn come. Code is CloseEnd, CloseUnseen or CloseCut; with
	// CloseCut Text, if there is one, says what did not come or how it was cut. Payload: *Ending.
	TurnClose

	// Gap: bytes of the response passed unseen. Text says so. Payload: *Missed.
	Gap

	// SentBack: a later request has the call in its history. Slot is the call's Number, not its
	// slot. Text is what became of it there; Code is its result, 0 for none. Payload: *Resent.
	SentBack

	// Ran: a tool was seen to get the call, or more became known of that. Slot is the call's Number, not
	// its slot. Payload: *Execution.
	Ran

	// Found: something was found about the call in Slot, or with NoSlot about the turn. Payload:
	// *Finding.
	Found

	// Fault: the frame does not decode. Text says why, and an Ending who may have done that, if not the
	// provider.
	Fault

	// Unknown: Text is the name of an event type that this version does not know.
	Unknown

	// Heartbeat: a frame that says nothing, such as a ping or a comment.
	Heartbeat
)

var eventWords = [...]string{
	TurnOpen: "turn open", TurnMeta: "turn meta",
	CallOpen: "call open", CallMeta: "call meta",
	Args: "args", Rewrite: "rewrite", Seal: "seal", CallResult: "answer",
	TextDelta: "text", ThinkDelta: "thinking", Signed: "signed",
	UsageEvent: "usage", Finish: "finish", Failure: "error", TurnClose: "turn close", Gap: "gap",
	SentBack: "sent back", Ran: "tool got", Found: "finding",
	Fault: "fault", Unknown: "unknown", Heartbeat: "heartbeat",
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
	ResultOK Code = iota + 1
	ResultFailed
)

// IsAfterTurn reports whether events of this kind tell what others made of a turn after its bytes came: no
// frame of it does.
func (k EventKind) IsAfterTurn() bool { return k == SentBack || k == Ran }

// An Event is one provider-neutral fact, in the order of the wire. It is a value: it may be kept,
// and nobody changes it.
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
	case CallOpen, CallMeta, Args, Rewrite, Seal, Found, Finish, SentBack, Ran:
		s += fmt.Sprintf(" slot=%d", e.Slot)
	}
	if e.Code != 0 {
		s += fmt.Sprintf(" code=%d", e.Code)
	}
	if e.Text != "" {
		s += fmt.Sprintf(" %q", e.Text)
	}
	if e.What != nil {
		s += e.What.dumpText()
	}
	return s
}
