package conversation

import (
	"strings"

	"toolscope/providers/protocol"
)

// programs maps user agents to clients. A user agent matches if it begins with the text, or contains it
// after a blank. The first match counts: a client that is built on a library names both.
var programs = []struct{ agent, client string }{
	{"claude-cli/", "claude-code"},
	{"codex_", "codex"},
	{"opencode/", "opencode"},
	{"GeminiCLI", "gemini-cli"},
	{"QwenCode/", "qwen-code"},
	{"RooCode/", "roo-code"},
	{"Charm-Crush/", "crush"},
	{"goose/", "goose"},
	{"langchainjs-", "langchain-js"},
	{"pydantic-ai/", "pydantic-ai"},
	{"litellm/", "litellm"},
	{"ai-sdk/", "ai-sdk"},
	{"Anthropic/JS", "anthropic-js"},
	{"Anthropic/", "anthropic-sdk"},
	{"AsyncAnthropic/", "anthropic-sdk"},
	{"OpenAI/JS", "openai-js"},
	{"OpenAI/", "openai-sdk"},
	{"AsyncOpenAI/", "openai-sdk"},
	{"google-genai-sdk/", "google-genai"},
	{"mistral-client-", "mistral-sdk"},
	{"ollama-js/", "ollama-sdk"},
	{"ollama-python/", "ollama-sdk"},
	{"cohere-", "cohere-sdk"},
	{"Groq/", "groq-sdk"},
	{"Cerebras/", "cerebras-sdk"},
	{"Together/", "together-sdk"},
	{"aws-sdk-", "aws-sdk"},
}

// clientHeaders holds the headers in which a client names its session and agent. Other clients send none.
var clientHeaders = map[string]struct{ session, agent, parent, of, sub string }{
	"claude-code": {session: "X-Claude-Code-Session-Id", agent: "X-Claude-Code-Agent-Id", parent: "X-Claude-Code-Parent-Agent-Id"},
	"codex":       {session: "Session-Id", parent: "X-Codex-Parent-Thread-Id", sub: "X-Openai-Subagent"},
	"opencode":    {session: "X-Session-Id", of: "X-Parent-Session-Id"},
	"crush":       {session: "X-Session-Id"},
	"roo-code":    {session: "X-Roo-Task-Id"},
	"cline":       {session: "X-Task-Id"},
}

// header holds headers by canonical name.
type header map[string][]string

func (h header) get(name string) string {
	if v := h[name]; name != "" && len(v) > 0 {
		return v[0]
	}
	return ""
}

// ReadHeader reads the facts in the headers of a request. Names are canonical.
func ReadHeader(fields map[string][]string) (f ClientFacts) {
	h := header(fields)
	f.Client = clientOf(h)
	at := clientHeaders[f.Client]
	f.Session, f.Agent, f.Parent, f.StartedBy = h.get(at.session), h.get(at.agent), h.get(at.parent), h.get(at.of)
	switch f.Client {
	case "codex":
		f.codexTurn(protocol.Raw(h.get("X-Codex-Turn-Metadata")))
		f.addSubagent(h.get(at.sub))
		f.addThread(h.get("Thread-Id"))
	case "opencode":
		f.add(ClientFacts{Session: h.get("Session-Id")})
	}
	f.IsSubagent = f.IsSubagent || f.Agent != "" && f.Client == "claude-code" || f.StartedBy != ""
	return f
}

// clientOf returns the client that sent the request, by the names that it gives itself, or "".
func clientOf(h header) string {
	agent := h.get("User-Agent")
	for _, p := range programs {
		if at := strings.Index(agent, p.agent); at == 0 || at > 0 && agent[at-1] == ' ' {
			return p.client
		}
	}
	switch name := h.get("Originator"); {
	case strings.HasPrefix(name, "codex"):
		return "codex"
	case name == "opencode":
		return "opencode"
	}
	for name, client := range map[string]string{
		"X-Claude-Code-Session-Id": "claude-code", "X-Codex-Turn-Metadata": "codex", "X-Roo-Task-Id": "roo-code",
	} {
		if h.get(name) != "" {
			return client
		}
	}
	return ""
}

// ofCodex reads Codex's facts in the body. Over a WebSocket they are new with each request, while the
// headers are those of the first.
func ofCodex(f *ClientFacts, b *RequestBody) {
	g := ClientFacts{Client: f.Client, Session: b.Meta.Get("session_id").Text(), Parent: b.Meta.Get("x-codex-parent-thread-id").Text()}
	g.codexTurn(protocol.Raw(b.Meta.Get("x-codex-turn-metadata").Unquoted()))
	g.addSubagent(b.Meta.Get("x-openai-subagent").Text())
	g.add(ClientFacts{Session: f.Session})
	g.addThread(b.Meta.Get("thread_id").Text())
	g.add(*f)
	g.add(ClientFacts{Session: b.CacheKey})
	*f = g
}

// codexTurn reads Codex's turn metadata.
func (f *ClientFacts) codexTurn(meta protocol.Raw) {
	f.add(ClientFacts{
		Session: meta.Get("session_id").Text(), Agent: meta.Get("thread_id").Text(), Name: meta.Get("agent_name").Text(),
		Parent: meta.Get("parent_thread_id").Text(), Kind: meta.Get("request_kind").Text(), IsSubagent: meta.Get("thread_source").Is("subagent"),
	})
	f.clearMainID()
}

// addThread adds the id of Codex's thread, which is the agent.
func (f *ClientFacts) addThread(id string) {
	f.add(ClientFacts{Agent: id})
	f.clearMainID()
}

// clearMainID clears the id of an agent or parent that equals the session's id: that is the main agent.
func (f *ClientFacts) clearMainID() {
	if f.Agent == f.Session {
		f.Agent = ""
	}
	if f.Parent == f.Session {
		f.Parent = ""
	}
}

// addSubagent reads Codex's word for the purpose of a sub-agent: a spawned one works, the others have a
// single purpose.
func (f *ClientFacts) addSubagent(word string) {
	if f.IsSubagent = f.IsSubagent || word != ""; word != "" && word != "collab_spawn" {
		f.Kind = word
	}
}

// textAfter returns the text after sep in s, "" if s does not contain it.
func textAfter(s, sep string) string {
	_, rest, _ := strings.Cut(s, sep)
	return rest
}
