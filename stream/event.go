package stream

import (
	"fmt"
	"time"
)

// NoTime is the time of bytes whose source doesn't know when they arrived.
const NoTime = time.Duration(-1)

// EventKind is the kind of an event. Every event sets At, Frame and Turn. The comments list the other
// fields that a kind uses: Slot, Text, Code, and the type of its payload, which may be missing.
type EventKind uint8

const (
	// TurnOpen: a response begins. Payload: *Opening.
	TurnOpen EventKind = iota + 1

	// TurnMeta: new facts about the turn. Payload: *Opening.
	TurnMeta

	// CallOpen: a call begins in Slot. Payload: *CallInfo.
	CallOpen

	// CallMeta: new facts about the call in Slot. Payload: *CallInfo.
	CallMeta

	// Args: Text is appended to the arguments of the call in Slot. Payload: *WireForm, if Text differs
	// from the bytes on the wire.
	Args

	// Rewrite: Text replaces the arguments of the call in Slot, because new facts changed what was
	// derived before. Payload: *WireForm.
	Rewrite

	// Seal: the arguments of the call in Slot are final. With SealRejected the call is refused, and
	// Text says why.
	Seal

	// CallResult: a call has its result. Code is ResultOK or ResultFailed. Payload: *ResultFor, which
	// names the call; without one it is the call in Slot.
	CallResult

	// TextDelta: Text is appended to the text of the response.
	TextDelta

	// ThinkDelta: Text is appended to the reasoning.
	ThinkDelta

	// Signed: Text is the signature of the latest text or reasoning, and must be sent back with it
	// unchanged. With SignedHidden it is all there is of some reasoning. Payload: *Signature.
	Signed

	// UsageEvent: usage of the turn so far. Payload: *Usage.
	UsageEvent

	// Finish: the finish reason of the response, or of one choice of it. Text is the provider's own word,
	// Code its meaning. Slot is the choice, or AllChoices. Payload: *FinishMeaning, if the word is a
	// number.
	Finish

	// Failure: an error ended the response. Text is its message. Payload: *FailureInfo, which has its
	// code, and the party if that is not the provider.
	Failure

	// TurnClose: no more events of this turn come. Code is CloseEnd, CloseUnseen or CloseCut; with
	// CloseCut, Text says what is missing or how it was cut, if that is known. Payload: *Ending.
	TurnClose

	// Gap: bytes of the response were missed. Text says so. Payload: *BytesMissed.
	Gap

	// SentBack: a later request carries the call in its history. Slot is the call's Number, not its slot.
	// Text is what became of the call there; Code is its result, 0 for none. Payload: *SentBackReport.
	SentBack

	// Ran: a tool run was matched to the call, or more became known about it. Slot is the call's Number,
	// not its slot. Payload: *ToolExecution.
	Ran

	// Found: a finding about the call in Slot, or with NoSlot about the turn. Payload: *Finding.
	Found

	// Fault: the frame can't be decoded. Text says why. Payload: *Ending, if another party than the
	// provider may have caused it.
	Fault

	// Unknown: Text is the name of an event type that this version does not know.
	Unknown

	// Heartbeat: a frame without content, such as a ping or a comment.
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
	FinishDone    Code = iota // the model stopped on its own or to run tools
	FinishCut                 // a limit or filter cut the response
	FinishRefused             // the provider refuses: calls of this turn must not be run
	FinishFailed              // the response ended in an error
)

// Codes of a TurnClose.
const (
	CloseEnd    Code = iota // the protocol's terminator arrived
	CloseCut                // the bytes ended without it
	CloseUnseen             // the terminator may be among missed bytes
)

// Codes of a Seal.
const (
	SealFinal    Code = iota
	SealRejected      // the call is refused, not the complete response
)

// Codes of a Signed.
const (
	SignedShown  Code = iota
	SignedHidden      // redacted: only the provider can read it
)

// Codes of a CallResult and of a SentBack: 0 if the request has no result.
const (
	ResultOK Code = iota + 1
	ResultFailed
)

// IsAfterTurn reports whether events of this kind are about what happened to a turn after its bytes
// arrived: they belong to none of its frames.
func (k EventKind) IsAfterTurn() bool { return k == SentBack || k == Ran }

// An Event is one provider-neutral fact, in the order of the wire. It is a value: it may be kept, and it
// never changes.
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

// String formats the event in one line, for tests and dumps.
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
