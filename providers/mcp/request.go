package mcp

import (
	"time"

	"toolscope/providers/protocol"
)

// A Request is a message that wants an answer, and what came of it.
type Request struct {
	Number     int // in its log, from 0
	Server     *Server
	Exchange   int    // it came in
	ID         string // as the protocol counts it, a JSON text
	Method     string
	FromServer bool   // the server asks
	Tool       string // of tools/call; of other methods the name or URI that it is about
	Args       protocol.Raw
	ArgsSize   int    // in bytes; of more than MostKept only the beginning is kept
	CallID     string // the id that the model's call has, "" where the client does not tell it
	AskedAt    time.Duration
	Rounds     int // how often it was asked again with what the server wanted to know

	State          State
	Answered       time.Duration // when its answer came, or it was given up
	Failed         bool          // the tool said that it failed
	Exit           string        // how a command of a shell ended, where that was not as it should be
	Error          string        // of the protocol, in place of a result
	Code           int64         // of that
	Text           string        // of the result, its beginning
	TextSize       int           // of all text parts
	Media          int           // parts that are no text
	Structured     protocol.Raw  // the structured content, "" without; of more than MostKept only the beginning
	StructuredSize int
	Size           int // of the result, as JSON
	Progress       int // reports while it ran

	KnownAsked, KnownAnswered int32 // how many events of models there were
	token                     string
	scope                     string
	waits                     bool // for what the server wants to know
}

// MaxKept is how much is kept of a text of others.
const MaxKept = 64 << 10

// State is what became of a request.
type State uint8

// The states.
const (
	Open      State = iota // no answer has come
	Done                   // it was answered
	Refused                // an error of the protocol came
	Cancelled              // whoever asked took it back before the answer
	Unseen                 // bytes are missing among which the answer may have been
)

func (s State) String() string {
	return [...]string{"no answer", "done", "refused", "cancelled", "unknown"}[s]
}

// Duration is how long the answer took, negative where that is not known.
func (r *Request) Duration() time.Duration {
	if r.State == Open || r.State == Unseen || r.AskedAt < 0 || r.Answered < 0 {
		return -1
	}
	return r.Answered - r.AskedAt
}

// HasResult reports whether a result has come, which is no question of the server's own.
func (r *Request) HasResult() bool { return r.State == Done && !r.waits }

// IsCall reports whether the client has the server run a tool, or had a shell run a command.
func (r *Request) IsCall() bool { return r.Method == "tools/call" && !r.FromServer || r.Shell() }

// AsOf is the request as it was when there were so many events, nil where it was not there.
func (r *Request) AsOf(known int32) *Request {
	switch {
	case r.KnownAsked > known:
		return nil
	case r.State == Open, r.KnownAnswered <= known:
		return r
	}
	then := *r
	then.Exit = ""
	then.State, then.Failed, then.Error, then.Code, then.Text, then.TextSize, then.Media = Open, false, "", 0, "", 0, 0
	then.Structured, then.StructuredSize, then.Size, then.Progress = nil, 0, 0, 0
	return &then
}

func clipRaw(v protocol.Raw) protocol.Raw {
	if len(v) == 0 {
		return nil
	}
	return append(protocol.Raw(nil), v[:min(len(v), MaxKept)]...)
}
