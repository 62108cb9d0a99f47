package stream

import (
	"bytes"

	"toolscope/stream/json"
)

// Phase is the stage of a call according to the provider, independent of the bytes.
type Phase uint8

const (
	PhaseAnnounced Phase = iota // a slot is known, but no name yet
	PhaseOpen                   // the name is known; arguments may come
	PhaseSealed                 // the protocol says that the arguments are final
	PhaseEnded                  // the response ended, or the source has no more of it, but the arguments never became final
	PhaseTruncated              // a limit cut the response
	PhaseAborted                // an error ended the response, or its bytes ended without a terminator
	PhaseRejected               // the provider says that the call is malformed, or refuses it
	PhaseUnseen                 // bytes of the response were missed before the arguments were final
)

func (p Phase) String() string {
	return [...]string{"announced", "open", "sealed", "ended", "truncated", "aborted", "rejected", "unseen"}[p]
}

// Status is the state of a call, by its phase and its syntax.
type Status uint8

const (
	Waiting     Status = iota // no argument bytes yet
	Streaming                 // arguments are coming
	LooksDone                 // the arguments are an object (or ended free text), but not final: the call is not safe to run
	Complete                  // final, and one complete object (or free text)
	NoArguments               // final or ended, without arguments
	CutShort                  // the arguments stop before they are complete
	Malformed                 // the arguments can't become the required JSON
	NotObject                 // the arguments are JSON, but not an object
	Aborted                   // an error, a lost connection or the client ended the response
	Rejected                  // the provider refused the call
	Unseen                    // toolscope missed bytes of the call: its state is unknown

	NumStatus = iota
)

func (s Status) String() string {
	return [...]string{
		"waiting", "streaming", "looks done", "complete", "no arguments",
		"cut short", "malformed", "not an object", "aborted", "rejected", "unseen",
	}[s]
}

// Status returns the state of the call: it combines the phase and the syntax.
func (c *Call) Status() Status { return statusOf[c.phase][c.Syntax()] }

// statusOf is the only place that decides completeness. A row is the phase (the provider's statement), and a column
// is the syntax (the form of the bytes).
var statusOf = [...][9]Status{
	//             empty        prefix     object     nonobject  double     concat     trailing   broken     freeform
	PhaseAnnounced: {Waiting, Streaming, LooksDone, NotObject, NotObject, Malformed, Malformed, Malformed, Streaming},
	PhaseOpen:      {Waiting, Streaming, LooksDone, NotObject, NotObject, Malformed, Malformed, Malformed, Streaming},
	PhaseSealed:    {NoArguments, CutShort, Complete, NotObject, NotObject, Malformed, Malformed, Malformed, Complete},
	PhaseEnded:     {NoArguments, CutShort, LooksDone, NotObject, NotObject, Malformed, Malformed, Malformed, LooksDone},
	PhaseTruncated: {CutShort, CutShort, CutShort, CutShort, CutShort, Malformed, Malformed, Malformed, CutShort},
	PhaseAborted:   {Aborted, Aborted, Aborted, Aborted, Aborted, Aborted, Aborted, Aborted, Aborted},
	PhaseRejected:  {Rejected, Rejected, Rejected, Rejected, Rejected, Rejected, Rejected, Rejected, Rejected},
	PhaseUnseen:    {Unseen, Unseen, Unseen, Unseen, Unseen, Unseen, Unseen, Unseen, Unseen},
}

// Syntax returns the syntax of the argument bytes. It returns SyntaxEmpty for null if the protocol writes null for no
// arguments.
func (c *Call) Syntax() json.Syntax {
	if c.evicted != nil {
		return c.evicted.syntax
	}
	if c.freeform {
		if len(c.args.s) == 0 {
			return json.SyntaxEmpty
		}
		return json.SyntaxFreeform
	}
	s := c.lex.Syntax()
	switch {
	case s != json.SyntaxOther:
	case c.nullNone && string(bytes.TrimSpace(c.args.s)) == "null":
		return json.SyntaxEmpty
	case c.holdsJSON():
		return json.SyntaxDouble
	}
	return s
}
