package stream

import "fmt"

// A Payload is what an event of some kinds says beside its Text: a pointer to one of the types of
// this file, to a Usage, or to a Finding. Nobody changes one that is part of an event.
type Payload interface {
	words() string // as the end of the event's line; "" or begins with a space
}

// PayloadOf is the payload of e where that is a *P, and otherwise the zero P: an event may come
// with none, or with one of another kind.
func PayloadOf[P any](e Event) P {
	if p, ok := any(e.What).(*P); ok && p != nil {
		return *p
	}
	var none P
	return none
}

// An Opening is what is known of a turn when it begins, or news of it: of what is empty nothing is
// said.
type Opening struct {
	ID, Model string
	Parent    string // id of the call whose agent it is of
	Dialect   string
	Exchange  int
}

// CallInfo is what is known of a call when it begins, or news of it: of what is empty nothing is
// said. News can be of ID, Name, Kind, Item, Space, Signature and Copies.
type CallInfo struct {
	ID, Name   string
	Kind       string // function, custom, mcp, server, …
	Server     bool   // the provider runs the call; no result is to be sent
	Choice     int32  // which of several alternative responses the call is in
	Parent     string // id of the call whose code made this one
	Host       string // the MCP server that runs it
	Item       string // id of the item the call is in, where that has one besides the call's
	Space      string // namespace of the tool, where the protocol keeps it apart from the name
	Freeform   bool   // the arguments are not JSON by design
	NullIsNone bool   // the arguments null stand for none
	Attempt    bool   // no call of the wire: what the model wrote was thrown away, Args are the provider's account of it
	Copies     int    // how many copies of the arguments have come, all the same, where a protocol sends several
	Signature  string // opaque text that must come back with the call when it is replayed
}

// Origin is a delta in the wire's own form, where its text is derived from that: a path and a
// value, a positional array.
type Origin struct{ Wire string }

// Answered is the call that a result is for: that of an id, or else the first of a name.
type Answered struct{ ID, Name string }

// Signature is where the text or reasoning stands that is signed.
type Signature struct{ Item string }

// Reason is what the word of a Finish stands for, where that is a number.
type Reason struct{ Means string }

// Failed is the provider's code or type of an error. Where By is somebody else, no provider has
// answered: Code is the status that toolscope answered, if it did.
type Failed struct {
	Code string
	By   Culprit
}

// Ending is who ended a turn, 0 where that is not known.
type Ending struct{ By Culprit }

// Missed is how many bytes of a response passed unseen.
type Missed struct{ Bytes int64 }

// Resent is a call in the history of a later request.
type Resent struct {
	Exchange int     // of the request
	ID       string  // the call's there
	Policies string  // the replay policies that do so, separated by commas
	Finding  Finding // of what was lost, if something was
}

// told are the words of some fields, without those that are empty: name, value, name, value …
func told(fields ...string) (s string) {
	for i := 0; i < len(fields); i += 2 {
		if fields[i+1] != "" {
			s += fmt.Sprintf(" %s=%q", fields[i], fields[i+1])
		}
	}
	return s
}

func (p *Opening) words() string {
	return told("id", p.ID, "model", p.Model, "parent", p.Parent)
}

func (p *CallInfo) words() string {
	s := told("id", p.ID, "name", p.Name, "kind", p.Kind, "parent", p.Parent, "host", p.Host, "item", p.Item, "space", p.Space, "signature", p.Signature)
	if p.Attempt {
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

func (p *Origin) words() string    { return told("source", p.Wire) }
func (p *Answered) words() string  { return told("id", p.ID, "name", p.Name) }
func (p *Signature) words() string { return told("id", p.Item) }
func (p *Reason) words() string    { return told("name", p.Means) }
func (p *Failed) words() string    { return told("id", p.Code) + byWords(p.By) }
func (p *Ending) words() string    { return byWords(p.By) }

func byWords(by Culprit) string {
	if by == 0 {
		return ""
	}
	return fmt.Sprintf(" by=%s", by)
}

func (p *Missed) words() string {
	if p.Bytes == 0 {
		return ""
	}
	return fmt.Sprintf(" missed=%d", p.Bytes)
}

func (p *Resent) words() string {
	return told("id", p.ID, "name", p.Policies) + p.Finding.words()
}

func (u *Usage) words() string { return " " + u.String() }
