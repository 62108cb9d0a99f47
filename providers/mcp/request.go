package mcp

import (
	"time"

	"toolscope/providers/protocol"
)

// A Request is a message that needs a response, with its outcome.
type Request struct {
	Number     int // in its log, from 0
	Server     *Server
	Exchange   int    // that contains it
	ID         string // in the protocol, as JSON text
	Method     string
	FromServer bool   // the server sent it
	Tool       string // of tools/call; of other methods the name or URI in it
	Args       protocol.Raw
	ArgsSize   int    // in bytes; of more than MaxKept only the beginning is kept
	CallID     string // the id of the model's call, "" if the client doesn't send it
	AskedAt    time.Duration
	Rounds     int // how often it was sent again with the input that the server needed

	State          State
	Answered       time.Duration // when its response arrived, or it was given up
	Failed         bool          // the tool reported a failure
	Exit           string        // how a command of a shell ended, if not normally
	Error          string        // of the protocol, instead of a result
	Code           int64         // of Error
	Text           string        // the beginning of the result's text
	TextSize       int           // of all text parts
	Media          int           // parts that are not text
	Structured     protocol.Raw  // the structured content, nil without; of more than MaxKept only the beginning
	StructuredSize int
	Size           int // of the result, as JSON
	Progress       int // progress notifications

	KnownAsked, KnownAnswered int32 // number of model events at that time
	token                     string
	scope                     string
	waits                     bool // for input that the server needs
}

// MaxKept is how many bytes are kept of a text.
const MaxKept = 64 << 10

// State is the state of a request.
type State uint8

// The states.
const (
	Open      State = iota // no response yet
	Done                   // has a response
	Refused                // got an error of the protocol
	Cancelled              // the sender cancelled it before the response
	Unseen                 // missing bytes may contain the response
)

func (s State) String() string {
	return [...]string{"no answer", "done", "refused", "cancelled", "unknown"}[s]
}

// Duration returns the time until the response, negative if unknown.
func (r *Request) Duration() time.Duration {
	if r.State == Open || r.State == Unseen || r.AskedAt < 0 || r.Answered < 0 {
		return -1
	}
	return r.Answered - r.AskedAt
}

// HasResult reports whether a result has arrived that is not a request for more input.
func (r *Request) HasResult() bool { return r.State == Done && !r.waits }

// IsCall reports whether the client called a tool of the server, or ran a command in a shell.
func (r *Request) IsCall() bool { return r.Method == "tools/call" && !r.FromServer || r.Shell() }

// AsOf returns the request as it was after that many model events, nil if it didn't exist then.
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
