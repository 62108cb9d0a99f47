// Package conversation tells whose request an exchange is, and what it is for.
//
// A session is what a client calls one conversation of its user; an agent is one of the parties in
// it; a lane is the requests of one agent of one session, in order. What a client says of these
// stands in its headers and in the bodies of its requests, each in its own way: the tables here say
// where. Nothing is guessed: what a client does not say stays empty.
//
// All of it is pure: from headers and bytes to facts. Values may be placeholders that a redactor
// put in their place; equal values have equal placeholders, and nothing here looks inside an id.
package conversation

import "toolscope/providers/protocol"

// ClientFacts are what a request says of itself.
type ClientFacts struct {
	Client           string // the program's name in providers/client
	Session          string // as the client names it
	Agent            string // the id of the agent, "" for the main one and where agents have none
	Name             string // what the client calls the agent: "/root/sub_job"
	Parent           string // the id of the agent that started it
	StartedBy        string // the session that started this one, where each agent has a session of its own
	IsSubagent       bool   // the client says that a sub-agent asks
	Kind             string // the client's own word for what the request is for
	PreviousResponse string // the response that the request goes on from
	Warms            bool   // nothing is to be generated
}

// Empty reports whether nothing is said of session and agent.
func (f *ClientFacts) Empty() bool {
	return f.Session == "" && f.Agent == "" && f.Name == "" && f.StartedBy == ""
}

// Main is what the agent is called that works for the user.
const Main = "main"

// add takes what is not known yet from other facts.
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

// ReadFacts is what the headers and the body of a request say. The body may break off.
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

// sessionOfUser is the session in Anthropic's metadata.user_id as Claude Code writes it: a JSON
// text, before that user_HASH_account_ID_session_ID.
func sessionOfUser(user protocol.Raw) string {
	text := user.Unquoted()
	if inner := protocol.Raw(text).Get("session_id"); inner.HasText() {
		return inner.Text()
	}
	return textAfter(string(text), "_session_")
}
