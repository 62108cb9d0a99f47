package stream

import (
	"fmt"
	"time"
)

// NoTime is the time of bytes whose source cannot tell when they came.
const NoTime = time.Duration(-1)

// EventKind is what an event says. Which fields it uses is said here; At,
// Frame and Turn are set on every event.
type EventKind uint8

const (
	TurnOpen   EventKind = iota + 1 // a model response begins: More.ID, More.Model, More.Dialect, More.Exchange, More.Parent
	TurnMeta                        // later news of it: More.ID, More.Model (when not empty)
	CallOpen                        // Slot: a call begins; More.ID, Name, CallKind, Executor, Choice, Parent, Server
	CallMeta                        // Slot: news of it; More.ID, Name, Item, Space, Signature, Copies (when not empty)
	Args                            // Slot: Text is appended to the call's arguments; More.Source may be set
	Rewrite                         // Slot: the arguments are Text instead: news changed what was derived before; More.Source
	Seal                            // Slot: the arguments are final; with SealRejected they are refused: Text says why
	Answer                          // a call got its result: that of More.ID, or else the first of More.Name, or else the one in Slot; Code is AnswerOK or AnswerFailed
	TextDelta                       // Text is answer text, as far as it is counted and shown
	ThinkDelta                      // Text is reasoning text
	Signed                          // the text or reasoning that came last is signed: Text must come back with it as it is; More.ID is its item's; with SignedHidden Text is all there is of the reasoning
	UsageEvent                      // More.Usage
	Finish                          // Text is the provider's own word, More.Name what it stands for if that is a number; Slot its choice or AllChoices; Code says what it means
	Failure                         // the provider reports an error: Text is its message, More.ID its code or type; with More.By there is no answer of a provider: Text says why, More.ID is the status that toolscope answered
	TurnClose                       // no more events of this turn; Code is CloseEnd, or CloseUnseen, or CloseCut: Text says what did not come, or how, More.By who ended it where that is known
	Gap                             // More.Missed bytes of the response passed unseen: Text says so
	SentBack                        // a later request has the call in its history: Slot is the call's Number, Text what became of it, Code its result, More.Exchange the request's, More.ID its id there, More.Name the policies that do so, More.Finding if that lost something
	Found                           // More.Finding about the call in Slot, or about the turn when Slot is NoSlot
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

// An Event is one provider-neutral fact, in the order of the wire. It is a
// value: whoever holds it may keep it, nobody changes it.
type Event struct {
	At    time.Duration // when its frame was complete, since the source began; or NoTime
	Text  string        // bytes or words, by kind
	More  *Detail       // what only some kinds need; nil otherwise
	Frame int32         // number of its frame within the exchange
	Turn  int32         // number of its turn within the timeline
	Slot  int32         // by kind
	Kind  EventKind
	Code  Code
}

// Detail is the part of an event that most events do not have.
type Detail struct {
	ID, Name   string
	Model      string
	Dialect    string
	Exchange   int
	CallKind   string // function, custom, mcp, server, …
	Server     bool   // the provider runs the call; no result is to be sent
	Choice     int32  // which of several alternative responses the call is in
	Parent     string // id of the call whose code made this one, or whose agent this turn is of
	Host       string // the MCP server that runs it
	Item       string // id of the item the call is in, where that has one besides the call's
	Space      string // namespace of the tool, where the protocol keeps it apart from the name
	Freeform   bool   // the arguments are not JSON by design
	NullIsNone bool   // the arguments null stand for none
	Attempt    bool   // no call of the wire: what the model wrote was thrown away, Args are the provider's account of it

	Copies    int    // how many copies of the arguments have come, all the same, where a protocol sends several
	Signature string // opaque text that must come back with the call when it is replayed
	Source    string // the wire's own form of a delta, where its text is derived: a path and a value, a positional array
	Usage     Usage
	Finding   Finding
	By        Culprit // who ended the turn
	Missed    int64   // bytes
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
	if e.More != nil {
		s += e.More.string(e.Kind)
	}
	return s
}

func (d *Detail) string(k EventKind) string {
	switch k {
	case UsageEvent:
		return " " + d.Usage.String()
	case Found:
		return d.Finding.word()
	}
	s := ""
	for _, f := range [...]struct{ name, value string }{
		{"id", d.ID}, {"name", d.Name}, {"model", d.Model}, {"kind", d.CallKind}, {"parent", d.Parent}, {"host", d.Host},
		{"item", d.Item}, {"space", d.Space},
		{"signature", d.Signature}, {"source", d.Source},
	} {
		if f.value != "" {
			s += fmt.Sprintf(" %s=%q", f.name, f.value)
		}
	}
	if k == SentBack {
		s += d.Finding.word()
	}
	if d.Attempt {
		s += " attempt"
	}
	if d.By != 0 {
		s += fmt.Sprintf(" by=%s", d.By)
	}
	if d.Missed != 0 {
		s += fmt.Sprintf(" missed=%d", d.Missed)
	}
	if d.Copies != 0 {
		s += fmt.Sprintf(" copies=%d", d.Copies)
	}
	if d.Choice != 0 {
		s += fmt.Sprintf(" choice=%d", d.Choice)
	}
	return s
}
