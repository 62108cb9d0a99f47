package stream

import (
	"fmt"
	"unicode/utf8"
)

// A Payload is what an event says besides its Text: a pointer to one of the types of this file, to
// a Usage, or to a Finding. Which kind of event has which is said at EventKind. A payload never
// changes once it is part of an event.
type Payload interface {
	dumpText() string // as the end of the event's line; "" or begins with a space
}

// PayloadOf is the payload of e. It is the zero P where e has none, or one of another type: any
// event is read without a check.
func PayloadOf[P any](e Event) P {
	if p, ok := any(e.What).(*P); ok && p != nil {
		return *p
	}
	var none P
	return none
}

// An Opening is what is known of a turn when it begins, or news of it. An empty field says nothing:
// what was known stays.
type Opening struct {
	ID, Model string
	Parent    string // id of the call whose agent it is of
	Protocol  string
	Exchange  int
	Request   *RequestInfo // nil says nothing
}

// CallInfo is what is known of a call when it begins, or news of it. An empty field says nothing:
// what was known stays. Only ID, Name, Kind, Item, Space, Signature and Copies can be news.
type CallInfo struct {
	ID, Name      string
	Kind          string // function, custom, mcp, server, …
	RunByProvider bool   // the provider runs the call; no result is to be sent
	Choice        int32  // which of several alternative responses the call is in
	Parent        string // id of the call whose code made this one
	MCPServer     string // the MCP server that runs it
	Item          string // id of the item the call is in, where that has one besides the call's
	Namespace     string // namespace of the tool, where the protocol keeps it apart from the name
	Freeform      bool   // the arguments are not JSON by design
	NullIsNone    bool   // the arguments null stand for none
	Discarded     bool   // no call of the wire: the provider threw it away, and Args are its account of it
	Copies        int    // how many equal copies of the arguments have come, where several are sent
	Signature     string // opaque text that must come back with the call when it is replayed
}

// WireForm is the wire's own form of a delta whose text was derived from it: a path and a value, a
// positional array.
type WireForm struct{ Wire string }

// ResultFor names the call that a result is for: the one with that ID, or where the wire gives no
// id, the first call of that Name that still waits for a result. Without Told the wire tells no
// more than that there is one.
type ResultFor struct {
	ID, Name   string
	HasContent bool // Gave is what the tool gave
	Result     Result
}

// Signature names the item that the signed text or reasoning stands in.
type Signature struct{ Item string }

// FinishMeaning is what the word of a Finish means, where that word is a number.
type FinishMeaning struct{ Text string }

// FailureInfo tells of an error. By is 0 or Provider where the provider reports it: then Code is its
// code or type. Where By is anybody else no provider has answered: then Code is the HTTP status
// that toolscope answered with, or empty.
type FailureInfo struct {
	Code string
	By   Party
}

// Ending is who ended a turn; By is 0 where that is not known. Of a turn that was ended as its
// protocol has it, it is Unnamed where the source kept no ending: what is missing is nobody's fault
// then that could be named.
type Ending struct{ By Party }

// BytesMissed is how many bytes of a response passed unseen.
type BytesMissed struct{ Bytes int64 }

// SentBackReport is a call in the history of a later request.
type SentBackReport struct {
	Exchange       int     // of the request
	ID             string  // the call's there
	Policies       string  // the replay policies that do so, separated by commas
	KeptByProvider bool    // it is not in the history: the provider keeps it, and the request goes on from there
	Result         Result  // what its tool gave, where the request brings that
	Finding        Finding // of what was lost, if something was
}

// ToolExecution is what was seen of who runs a call's tool.
type ToolExecution struct {
	Request int        // the number of what the tool's server was asked, -1 where it is not about one
	Join    MatchBasis // how it is known that it is this call, 0 where only Finding is news
	Of      int        // how many calls are equal of which it may be any: 1 where it can be no other
	Finding Finding    // what was found, if something was
}

// MatchBasis is how it is known which call of a model a tool got.
type MatchBasis uint8

const (
	ByID   MatchBasis = iota + 1 // the client says its id
	ByArgs                       // by the tool's name and equal arguments
	ByName                       // by the name alone: it could be no other
)

func (j MatchBasis) String() string { return [...]string{"", "id", "args", "name"}[j] }

// Result is what a tool gave, as a request brings it.
type Result struct {
	Bytes int    // of its text
	Media int    // how many pieces of it are no text
	Text  string // its beginning, at most MostResult bytes
}

// ResultOf is a result with that text.
func ResultOf(text []byte, media int) Result {
	n := min(len(text), MaxResultBytes)
	for least := n - utf8.UTFMax; n < len(text) && n > least && !utf8.RuneStart(text[n]); {
		n-- // no part of a character
	}
	return Result{Bytes: len(text), Media: media, Text: string(text[:n])}
}

// MaxResultBytes is how much of a result's text is kept with its call.
const MaxResultBytes = 4 << 10

// fieldWords are " NAME=VALUE" for each field that is not empty. fields are name, value, name,
// value …
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
