// Package conversation finds the client, session and agent of a request, and its purpose.
//
// A session is the client's own id for a piece of work. An agent is a client that runs tools in a loop; a
// call may start a sub-agent. A conversation is the requests of one agent of one session, in order.
// Clients put these facts in headers and bodies, each in its own way: the tables here know where. Nothing
// is guessed: a fact that a client doesn't send stays empty.
//
// The functions are pure: from headers and bytes to facts. Values may be placeholders from redaction.
// Equal values have equal placeholders, and nothing here looks inside an id.
package conversation

import "toolscope/providers/protocol"

// ClientFacts are the facts that a request contains about its sender.
type ClientFacts struct {
	Client           string // the client's name in providers/client
	Session          string // as the client names it
	Agent            string // the id of the agent, "" for the main one and if agents have no ids
	Name             string // the client's name for the agent: "/root/sub_job"
	Parent           string // the id of the agent that started it
	StartedBy        string // the session that started this one, if each agent has a session of its own
	IsSubagent       bool   // the client says that a sub-agent sent the request
	Kind             string // the client's own word for the purpose of the request
	PreviousResponse string // the response that the request continues
	Warms            bool   // nothing is to be generated
}

// Empty reports whether session and agent are unknown.
func (f *ClientFacts) Empty() bool {
	return f.Session == "" && f.Agent == "" && f.Name == "" && f.StartedBy == ""
}

// Main is the name of the agent that works for the user.
const Main = "main"

// add fills empty fields from other facts.
func (f *ClientFacts) add(g ClientFacts) {
	for _, s := range [...]struct{ to, from *string }{
		{&f.Client, &g.Client}, {&f.Session, &g.Session}, {&f.Agent, &g.Agent}, {&f.Name, &g.Name},
		{&f.Parent, &g.Parent}, {&f.StartedBy, &g.StartedBy}, {&f.Kind, &g.Kind}, {&f.PreviousResponse, &g.PreviousResponse},
	} {
		if *s.to == "" {
			*s.to = *s.from
		}
	}
	f.IsSubagent, f.Warms = f.IsSubagent || g.IsSubagent, f.Warms || g.Warms
}

// ReadFacts combines the facts in the headers and the body of a request. The body may be cut off.
func ReadFacts(header ClientFacts, body *RequestBody) ClientFacts {
	f := header
	switch f.Client {
	case "codex":
		ofCodex(&f, body)
	case "opencode":
		f.add(ClientFacts{Session: body.CacheKey})
	}
	f.add(ClientFacts{Session: sessionOfUser(body.User), PreviousResponse: body.Before, Warms: body.Warms})
	f.add(ClientFacts{Session: body.Conversation})
	return f
}

// sessionOfUser returns the session in Anthropic's metadata.user_id as Claude Code writes it: a JSON
// text, or in older versions user_HASH_account_ID_session_ID.
func sessionOfUser(user protocol.Raw) string {
	text := user.Unquoted()
	if inner := protocol.Raw(text).Get("session_id"); inner.HasText() {
		return inner.Text()
	}
	return textAfter(string(text), "_session_")
}
