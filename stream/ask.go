package stream

// An Ask is what is known of the request that a turn answers: whose it is, and what for. It never
// changes once it is part of an event. An empty field is not known.
type Ask struct {
	Client  string // the program that asks, by its name in providers/client
	Session string // one conversation of the client's user
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
	Same                 int  // so many messages at the beginning are as they were
	Added, Altered, Gone int  // messages behind them
	System, Tools, Model bool // are others
}

// Broken reports whether something changed that the one before had already sent, so that what a
// provider had cached of that is of no use from there on.
func (c *Change) Broken() bool { return c.Known && (c.System || c.Tools || c.Altered+c.Gone > 0) }
