package stream

import "fmt"

// A RequestInfo is what is known about the request of a turn: its client, session and agent, and its
// purpose. It never changes once it is part of an event. An empty field is unknown.
type RequestInfo struct {
	Client           string        // the client's name in providers/client
	Session          string        // one conversation of the client's user
	GeneratedSession bool          // the client has no name for the session: Session is ours
	Agent            string        // the agent that sent the request: "main", or the client's id or name of a sub-agent
	Parent           string        // the agent that started it
	Title            string        // the name that people use for the agent; "" if it is Agent
	StartedBy        Ref           // the call that started the agent; its Call is 0 if none is known
	Conversation     int32         // number of the conversation of this agent in this session, 0 if it has none
	Purpose          string        // "turn", "title", "count" …
	Background       bool          // it is a background request
	ResultsOf        string        // the tools whose results come last in it, "" if the user's text comes last
	Snippet          string        // the beginning of the user's last text, or of the result
	Change           RequestChange // changes since the previous request
}

// A RequestChange is how a request differs from the previous one of its conversation. The zero
// RequestChange is that of a first request.
type RequestChange struct {
	PreviousExchange        int  // the exchange of the previous request
	Comparable              bool // there is a previous request, and both were read
	Same                    int  // number of unchanged messages at the beginning
	Added, Altered, Removed int  // messages after those
	System, Tools, Model    bool // have changed
}

// BreaksAt returns the first change in what the previous request had already sent, in the order in which
// providers cache. The provider can't use its cache from there on. It is "" if nothing of that changed.
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
