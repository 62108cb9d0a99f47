package stream

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// NoTime is an unknown time, such as that of bytes from a source without times, or the time of an event that
// has not happened.
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

	// Rewrite: Text replaces the arguments of the call in Slot, because new facts changed the derived
	// arguments. Payload: *WireForm.
	Rewrite

	// Seal: the arguments of the call in Slot are final. With SealRejected the call is refused, and
	// Text says why. With SealWithdrawn an earlier Seal was wrong: more arguments may follow. With SealUnshown
	// the source doesn't show the arguments.
	Seal

	// CallResult: a call has its result. Code is ResultOK or ResultFailed. Payload: *ResultFor, which
	// names the call. Without a payload, the result is for the call in Slot.
	CallResult

	// TextDelta: Text is appended to the text of the response.
	TextDelta

	// ThinkDelta: Text is appended to the reasoning.
	ThinkDelta

	// Signed: Text is the signature of the latest text or reasoning, and must be sent back with it
	// unchanged. With SignedHidden, the provider sends only the signature of the reasoning. Payload:
	// *Signature.
	Signed

	// UsageEvent: usage of the turn so far. Payload: *Usage.
	UsageEvent

	// Finish: the finish reason of the response, or of one choice. Text is the provider's own word, and Code is its
	// meaning. Slot is the choice, or AllChoices. Payload: *FinishMeaning, if the word is a number.
	Finish

	// Failure: an error ended the response, or no provider responded. Text is the error's message. Payload:
	// *FailureInfo, with the error's code, and the party at fault if that is not the provider.
	Failure

	// TurnClose: no more events of this turn follow. Code is CloseEnd, CloseUnseen, CloseCut or CloseUnknown.
	// With CloseCut, Text says what is missing or how the response was cut, if that is known. Payload: *Ending.
	TurnClose

	// Gap: bytes of the response were missed. Text is the finding's message. Payload: *BytesMissed.
	Gap

	// SentBack: a later request carries the call in its history. Slot is the call's Number, not its slot. Text is the
	// call's outcome in that history. Code is the call's result, or 0 if there is none. Payload: *SentBackReport.
	SentBack

	// Ran: a tool run was matched to the call, or toolscope learned more about that run. Slot is the
	// call's Number, not its slot. Payload: *ToolExecution.
	Ran

	// Found: a finding about the call in Slot, or with NoSlot about the turn. Payload: *Finding.
	Found

	// Fault: the frame can't be decoded. Text says why. Payload: *Ending, if a party other than the
	// provider may have caused it.
	Fault

	// Unknown: Text is the name of an event type that is unknown to this version.
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
	NoSlot     = int32(-1) // Slot of a Found event about the turn
	AllChoices = int32(-1) // Slot of a Finish event for all choices
)

// Code refines an event. Its values depend on the event's kind.
type Code uint8

// Codes of a Finish.
const (
	FinishDone      Code = iota // the model stopped on its own or to run tools
	FinishCut                   // a limit or filter cut the response
	FinishRefused               // the provider refuses: calls of this turn must not be run
	FinishFailed                // the response ended in an error
	FinishOther                 // toolscope can't interpret the reason, so it concludes nothing from it
	FinishCancelled             // the user or the client cancelled the response
)

// Codes of a TurnClose.
const (
	CloseEnd     Code = iota // the protocol's terminator arrived
	CloseCut                 // the bytes ended without it
	CloseUnseen              // the terminator may be among missed bytes
	CloseUnknown             // the source has no more of the response, and doesn't say how it ended
)

// Codes of a Seal.
const (
	SealFinal     Code = iota
	SealRejected       // the provider refuses the call, but not the whole response
	SealWithdrawn      // an earlier Seal was wrong
	SealUnshown        // the source doesn't show the arguments
)

// Codes of a Signed.
const (
	SignedShown  Code = iota
	SignedHidden      // the reasoning is encrypted: only the provider can read it
)

// Codes of a CallResult and of a SentBack. The code is 0 if the request has no result.
const (
	ResultOK Code = iota + 1
	ResultFailed
)

// IsAfterTurn reports whether events of this kind are about something that happened after the turn's bytes arrived.
// Such events belong to none of the turn's frames.
func (k EventKind) IsAfterTurn() bool { return k == SentBack || k == Ran }

// An Event is one provider-neutral fact. Events are in the order in which they arrived on the wire. An Event is a
// value: it may be kept, and it never changes.
type Event struct {
	At    time.Duration // when the frame was complete, as the time since the source began; or NoTime
	Text  string        // meaning depends on Kind: see EventKind
	What  Payload       // see EventKind; may be nil
	Frame int32         // number of its frame within the exchange
	Turn  int32         // number of its turn within the timeline
	Slot  int32         // see EventKind
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

// A Payload contains the data of an event for which Event has no field. It is a pointer to one of the types in
// this file, to a Usage, or to a Finding. The comments on the EventKinds name the payload of each kind. A
// payload never changes once it is part of an event.
type Payload interface {
	dumpText() string // text for the end of the event's line: empty, or beginning with a space
}

// PayloadOf returns the payload of e. It returns the zero P if e has no payload or a payload of another type,
// so callers need no check.
func PayloadOf[P any](e Event) P {
	if p, ok := any(e.What).(*P); ok && p != nil {
		return *p
	}
	var none P
	return none
}

// An Opening contains facts about a turn when it begins, or new facts about it. An empty field changes
// nothing.
type Opening struct {
	ID, Model string
	Parent    string // id of the call that started the turn's agent
	Protocol  string
	Exchange  int
	Request   *RequestInfo // nil changes nothing

	FromHistory bool // the response is known only from a later request that sends it back
	Shown       bool // the turn is an agent's report of its own work: the responses of the agent's model contain the same calls
}

// CallInfo contains facts about a call when it begins, or new facts about it. An empty field changes
// nothing. Only ID, Name, Kind, Item, Namespace, Signature and Copies can be new later.
type CallInfo struct {
	ID, Name      string
	Kind          string // function, custom, mcp, server, …
	RunByProvider bool   // the provider runs the call; the client sends no result
	Choice        int32  // the alternative response that contains the call
	Parent        string // id of the call whose code made this one
	MCPServer     string // the MCP server that runs it
	Item          string // id of the item that contains the call, if it differs from the call's id
	Namespace     string // namespace of the tool, if the protocol keeps it apart from the name
	Freeform      bool   // the arguments are not JSON by design
	NullIsNone    bool   // null arguments mean that the call has no arguments
	Discarded     bool   // the provider discarded the call, so the call isn't on the wire; Args are from the provider's report
	Copies        int    // number of equal copies of the arguments that arrived, if there are several
	Signature     string // opaque text that must be sent back with the call
	LateStart     bool   // only in a CallOpen: the source lacks the beginning of the call
}

// WireForm is the form of a delta on the wire, if the delta's text was derived from it: for example a path
// and a value, or a positional array.
type WireForm struct{ Wire string }

// ResultFor identifies the call to which a result belongs: the call with the ID or, if the wire format has no ids,
// the first call of the tool Name without a result. Without HasContent, the wire reports that there is a result, but
// doesn't contain it.
type ResultFor struct {
	ID, Name   string
	HasContent bool // Result contains the tool's result
	Result     Result
}

// Signature names the item that contains the signed text or reasoning.
type Signature struct{ Item string }

// FinishMeaning is the meaning of the finish reason, if that is a number.
type FinishMeaning struct{ Text string }

// FailureInfo describes an error. If By is 0 or Provider, the provider reports the error, and Code is the error's
// code or type. If By is another party, no provider responded, and Code is the HTTP status that toolscope answered
// with, or empty.
type FailureInfo struct {
	Code    string
	By      Party
	Cause   Party    // the party at fault for an error that the provider reports; 0 if that is the provider itself
	Gateway string   // name of the gateway that reports the error, "" if it is unknown
	Refusal *Refusal // set if the error says that the request is wrong
}

// A Refusal is an error about a wrong request, with the place in the request that the error names.
type Refusal struct {
	Status int      // HTTP status, 0 if the error has none
	Type   string   // the error's code or type
	Reason string   // what is wrong, in a few words; "" if only the error's message describes it
	Said   string   // the place that the error names, in the error's own words; "" if it names none
	Path   string   // the path of that place in the request, as far as it was found
	Found  string   // how Path was found: FoundAsSent, FoundJoined, FoundByID, or FoundNowhere
	IDs    []string // ids of the request that the error names
	Fits   string   // code of the finding about the request that the error confirms; "" if there is none
	Via    []string // programs that passed the error on, the outermost first
	Place  Message  // describes the place in a sentence; "" if the place is unknown
}

// Values of Refusal.Found: how the place that an error names was found in the request.
const (
	FoundAsSent  = "as sent"
	FoundJoined  = "joined" // after consecutive messages of one role are joined, as the provider reads them
	FoundByID    = "by id"
	FoundNowhere = "none"
)

// Ending names the party that ended a turn; By is 0 if that party is unknown. If a turn ended as its protocol
// requires but the source doesn't keep endings, By is UnknownParty: then no party is at fault for missing data.
type Ending struct{ By Party }

// BytesMissed contains the number of bytes of a response that were missed.
type BytesMissed struct{ Bytes int64 }

// SentBackReport describes a call in the history of a later request.
type SentBackReport struct {
	Exchange       int     // number of the request's exchange
	ID             string  // the id of the call in the request
	Policies       string  // the replay policies with this outcome, separated by commas
	KeptByProvider bool    // the history doesn't contain the call: the provider keeps it, and the request continues from there
	Result         Result  // the result that its tool returned, if the request contains it
	Finding        Finding // the finding about a loss, if there is one
	Reasoning      string  // state of the turn's reasoning; see SentBackCall
	Signature      string  // state of the signature of the turn or the call; see SentBackCall
}

// ToolExecution is a tool run that is matched to a call, or a finding about it.
type ToolExecution struct {
	Request int        // number of the request to the tool's server, -1 for a finding without such a request
	Join    MatchBasis // basis of the match, 0 if only Finding is new
	Of      int        // number of equal calls that the run may belong to: 1 if no other call is possible
	Finding Finding    // the finding, if there is one
}

// MatchBasis says how a tool run was matched to a call.
type MatchBasis uint8

const (
	ByID   MatchBasis = iota + 1 // the client sends the call's id
	ByArgs                       // the tool's name and the arguments match
	ByName                       // the tool's name matches, and no other call is possible
)

func (j MatchBasis) String() string { return [...]string{"", "id", "args", "name"}[j] }

// Result is the result of a tool, as a request carries it.
type Result struct {
	Bytes int    // size of the complete text, of which Text may be only the beginning
	Media int    // number of parts that are not text
	Text  string // the beginning of the text, at most MaxResultBytes
}

// ResultOf returns a Result for text and a number of parts that are not text.
func ResultOf(text []byte, media int) Result {
	n := min(len(text), MaxResultBytes)
	for least := n - utf8.UTFMax; n < len(text) && n > least && !utf8.RuneStart(text[n]); {
		n-- // don't split a character
	}
	return Result{Bytes: len(text), Media: media, Text: string(text[:n])}
}

// MaxResultBytes is the maximum number of bytes of a result's text that are kept with its call.
const MaxResultBytes = 4 << 10

// fieldWords formats " NAME=VALUE" for each field that is not empty. The parameter fields alternates between
// names and values.
func fieldWords(fields ...string) (s string) {
	for i := 0; i < len(fields); i += 2 {
		if fields[i+1] != "" {
			s += fmt.Sprintf(" %s=%q", fields[i], fields[i+1])
		}
	}
	return s
}

func (p *Opening) dumpText() string {
	return fieldWords("id", p.ID, "model", p.Model, "parent", p.Parent)
}

func (p *CallInfo) dumpText() string {
	s := fieldWords("id", p.ID, "name", p.Name, "kind", p.Kind, "parent", p.Parent, "host", p.MCPServer,
		"item", p.Item, "space", p.Namespace, "signature", p.Signature)
	if p.Discarded {
		s += " attempt"
	}
	if p.Copies != 0 {
		s += fmt.Sprintf(" copies=%d", p.Copies)
	}
	if p.Choice != 0 {
		s += fmt.Sprintf(" choice=%d", p.Choice)
	}
	return s
}

func (p *WireForm) dumpText() string      { return fieldWords("source", p.Wire) }
func (p *ResultFor) dumpText() string     { return fieldWords("id", p.ID, "name", p.Name) }
func (p *Signature) dumpText() string     { return fieldWords("id", p.Item) }
func (p *FinishMeaning) dumpText() string { return fieldWords("name", p.Text) }
func (p *FailureInfo) dumpText() string   { return fieldWords("id", p.Code) + byWords(p.By) }
func (p *Ending) dumpText() string        { return byWords(p.By) }

func byWords(by Party) string {
	if by == 0 {
		return ""
	}
	return fmt.Sprintf(" by=%s", by)
}

func (p *BytesMissed) dumpText() string {
	if p.Bytes == 0 {
		return ""
	}
	return fmt.Sprintf(" missed=%d", p.Bytes)
}

func (p *SentBackReport) dumpText() string {
	words := fieldWords("id", p.ID, "name", p.Policies)
	if p.KeptByProvider {
		words += " kept"
	}
	return words + p.Finding.dumpText()
}

func (p *ToolExecution) dumpText() string {
	if p.Join == 0 {
		return p.Finding.dumpText()
	}
	return fmt.Sprintf(" request=%d by=%s of=%d", p.Request, p.Join, p.Of)
}

func (u *Usage) dumpText() string { return " " + u.String() }
