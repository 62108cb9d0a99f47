package stream

import "fmt"

// An RequestInfo is what is known of the request that a turn answers: whose it is, and what for. It never
// changes once it is part of an event. An empty field is not known.
type RequestInfo struct {
	Client           string        // the program that asks, by its name in providers/client
	Session          string        // one conversation of the client's user
	GeneratedSession bool          // the client has no name for it: Session is ours
	Agent            string        // the party in it whose request this is: "main", or the client's id or name of a sub-agent
	Parent           string        // the agent that started it
	Title            string        // what people call the agent; "" where that is Agent
	StartedBy        Ref           // the call that started the agent; its Call is 0 where none is known
	Conversation     int32         // the number of the requests of this agent of this session, 0 where it has none
	Purpose          string        // what the request is for: "turn", "title", "count"
	Background       bool          // the client makes it beside its work
	ResultsOf        string        // the tools whose results it brings last, "" where the user speaks last
	Snippet          string        // the beginning of what the user says last, or of the result
	Change           RequestChange // what is new in it
}

// A RequestChange is what a request has that the one before it in its lane did not have. The zero Change
// is that of a first request.
type RequestChange struct {
	PreviousExchange        int  // the exchange of the one before
	Comparable              bool // there is one before, and both were read
	Same                    int  // so many messages of the request are as they were, from the first on
	Added, Altered, Removed int  // messages behind them
	System, Tools, Model    bool // are others
}

// BreaksAt is the first thing that changed of what the one before had already sent, in the order in
// which providers cache: from there on what they had cached is of no use. It is "" where nothing
// changed of that.
func (c *RequestChange) BreaksAt() string {
	switch {
	case !c.Comparable:
		return ""
	case c.Model:
		return "the model"
	case c.Tools:
		return "the tools"
	case c.System:
		return "the system prompt"
	case c.Altered+c.Removed > 0:
		return fmt.Sprintf("message %d", c.Same+1)
	}
	return ""
}
