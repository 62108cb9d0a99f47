package conversation

import (
	"strings"

	"toolscope/providers/protocol"
)

// programs are the clients by what their user agent begins with, or holds where a blank or the end
// of a word stands before it. The first that fits counts: what is built on a library names both.
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

// clientHeaders is where a client says who asks: names of headers. A client that is not here says nothing.
var clientHeaders = map[string]struct{ session, agent, parent, of, sub string }{
	"claude-code": {session: "X-Claude-Code-Session-Id", agent: "X-Claude-Code-Agent-Id", parent: "X-Claude-Code-Parent-Agent-Id"},
	"codex":       {session: "Session-Id", parent: "X-Codex-Parent-Thread-Id", sub: "X-Openai-Subagent"},
	"opencode":    {session: "X-Session-Id", of: "X-Parent-Session-Id"},
	"crush":       {session: "X-Session-Id"},
	"roo-code":    {session: "X-Roo-Task-Id"},
	"cline":       {session: "X-Task-Id"},
}

// header reads canonical names.
type header map[string][]string

func (h header) get(name string) string {
	if v := h[name]; name != "" && len(v) > 0 {
		return v[0]
	}
	return ""
}

// ReadHeader is what the headers of a request say. Names are canonical.
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

// clientOf is the program that asks, by the names it gives itself.
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

// ofCodex takes what Codex says in the body, which over a WebSocket is news of each request where
// the headers are those of the first.
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

// codexTurn reads Codex's account of a request.
func (f *ClientFacts) codexTurn(meta protocol.Raw) {
	f.add(ClientFacts{
		Session: meta.Get("session_id").Text(), Agent: meta.Get("thread_id").Text(), Name: meta.Get("agent_name").Text(),
		Parent: meta.Get("parent_thread_id").Text(), Kind: meta.Get("request_kind").Text(), IsSubagent: meta.Get("thread_source").Is("subagent"),
	})
	f.clearMainID()
}

// addThread takes the id of Codex's thread, which is the agent.
func (f *ClientFacts) addThread(id string) {
	f.add(ClientFacts{Agent: id})
	f.clearMainID()
}

// clearMainID has the agent that has the session's own id be the main one.
func (f *ClientFacts) clearMainID() {
	if f.Agent == f.Session {
		f.Agent = ""
	}
	if f.Parent == f.Session {
		f.Parent = ""
	}
}

// addSubagent takes Codex's word for what a sub-agent is for: one that was spawned works, the others
// have one purpose.
func (f *ClientFacts) addSubagent(word string) {
	if f.IsSubagent = f.IsSubagent || word != ""; word != "" && word != "collab_spawn" {
		f.Kind = word
	}
}

// textAfter is what stands behind sep in s, "" where that is not in it.
func textAfter(s, sep string) string {
	_, rest, _ := strings.Cut(s, sep)
	return rest
}
