package stream

import "fmt"

// An Ask is what is known of the request that a turn answers: whose it is, and what for. It never
// changes once it is part of an event. An empty field is not known.
type Ask struct {
	Client  string // the program that asks, by its name in providers/client
	Session string // one conversation of the client's user
	Unnamed bool   // the client has no name for it: Session is ours
	Agent   string // the party in it whose request this is: "main", or the client's id or name of a sub-agent
	Parent  string // the agent that started it
	Title   string // what people call the agent; "" where that is Agent
	By      Ref    // the call that started the agent; its Call is 0 where none is known
	Lane    int32  // the number of the requests of this agent of this session, 0 where it has none
	Purpose string // what the request is for: "turn", "title", "count"
	Side    bool   // the client makes it beside its work
	Answers string // the tools whose results it brings last, "" where the user speaks last
	Words   string // the beginning of what the user says last, or of the result
	Since   Change // what is new in it
}

// A Change is what a request has that the one before it in its lane did not have. The zero Change
// is that of a first request.
type Change struct {
	After                int  // the exchange of the one before
	Known                bool // there is one before, and both were read
	Same                 int  // so many messages of the request are as they were, from the first on
	Added, Altered, Gone int  // messages behind them
	System, Tools, Model bool // are others
}

// BreaksAt is the first thing that changed of what the one before had already sent, in the order in
// which providers cache: from there on what they had cached is of no use. It is "" where nothing
// changed of that.
func (c *Change) BreaksAt() string {
	switch {
	case !c.Known:
		return ""
	case c.Model:
		return "the model"
	case c.Tools:
		return "the tools"
	case c.System:
		return "the system prompt"
	case c.Altered+c.Gone > 0:
		return fmt.Sprintf("message %d", c.Same+1)
	}
	return ""
}
