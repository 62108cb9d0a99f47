package conversation

import (
	"bytes"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// programs maps user agents to clients. A user agent matches if it begins with the field agent, or contains the field
// after a space. The first match counts, because a client that is built on a library names both itself and the
// library.
var programs = []struct{ agent, client string }{
	{"claude-cli/", "claude-code"},
	{"codex_", "codex"},
	{"opencode/", "opencode"},
	{"copilot/", "copilot"},
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

// clientHeaders lists the headers in which a client names its session and agent. For other clients, no such
// headers are known.
var clientHeaders = map[string]struct{ session, agent, parent, of, sub string }{
	"claude-code": {session: "X-Claude-Code-Session-Id", agent: "X-Claude-Code-Agent-Id", parent: "X-Claude-Code-Parent-Agent-Id"},
	"codex":       {session: "Session-Id", parent: "X-Codex-Parent-Thread-Id", sub: "X-Openai-Subagent"},
	"opencode":    {session: "X-Session-Id", of: "X-Parent-Session-Id"},
	"crush":       {session: "X-Session-Id"},
	"roo-code":    {session: "X-Roo-Task-Id"},
	"cline":       {session: "X-Task-Id"},
}

// header maps canonical header names to the values of the headers.
type header map[string][]string

func (h header) get(name string) string {
	if v := h[name]; name != "" && len(v) > 0 {
		return v[0]
	}
	return ""
}

// ReadHeader reads the facts in the headers of a request. Header names must be canonical.
func ReadHeader(fields map[string][]string) (f ClientFacts) {
	h := header(fields)
	f.Client = clientOf(h)
	at := clientHeaders[f.Client]
	f.Session, f.Agent, f.Parent, f.StartedBy = h.get(at.session), h.get(at.agent), h.get(at.parent), h.get(at.of)
	switch f.Client {
	case "codex":
		f.codexTurn(json.Value(h.get("X-Codex-Turn-Metadata")))
		f.addSubagent(h.get(at.sub))
		f.addThread(h.get("Thread-Id"))
	case "opencode":
		f.add(ClientFacts{Session: h.get("Session-Id")})
	case "copilot":
		f.IsSubagent = h.get("X-Interaction-Type") == "conversation-subagent"
	}
	f.IsSubagent = f.IsSubagent || f.Agent != "" && f.Client == "claude-code" || f.StartedBy != ""
	return f
}

// clientOf returns the client that sent the request, by the names in its headers, or "" if it is unknown.
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

// ofCodex reads Codex's facts from the body. Over a WebSocket, each request has new facts in its body,
// but the headers are those of the first request.
func ofCodex(f *ClientFacts, b *RequestBody) {
	g := ClientFacts{Client: f.Client, Session: b.Meta.Get("session_id").Text(), Parent: b.Meta.Get("x-codex-parent-thread-id").Text()}
	g.codexTurn(json.Value(b.Meta.Get("x-codex-turn-metadata").Unquoted()))
	g.addSubagent(b.Meta.Get("x-openai-subagent").Text())
	g.add(ClientFacts{Session: f.Session})
	g.addThread(b.Meta.Get("thread_id").Text())
	g.add(*f)
	g.add(ClientFacts{Session: b.CacheKey})
	*f = g
}

// codexTurn reads Codex's turn metadata.
func (f *ClientFacts) codexTurn(meta json.Value) {
	f.add(ClientFacts{
		Session: meta.Get("session_id").Text(), Agent: meta.Get("thread_id").Text(), Name: meta.Get("agent_name").Text(),
		Parent: meta.Get("parent_thread_id").Text(), Kind: meta.Get("request_kind").Text(), IsSubagent: meta.Get("thread_source").Is("subagent"),
	})
	f.clearMainID()
}

// addThread adds the id of Codex's thread. In Codex, each thread is an agent.
func (f *ClientFacts) addThread(id string) {
	f.add(ClientFacts{Agent: id})
	f.clearMainID()
}

// clearMainID clears the id of an agent or parent if it equals the session's id, because that id means
// the main agent.
func (f *ClientFacts) clearMainID() {
	if f.Agent == f.Session {
		f.Agent = ""
	}
	if f.Parent == f.Session {
		f.Parent = ""
	}
}

// addSubagent reads Codex's word for the purpose of a sub-agent. A spawned sub-agent works on a task;
// every other sub-agent has a single purpose.
func (f *ClientFacts) addSubagent(word string) {
	if f.IsSubagent = f.IsSubagent || word != ""; word != "" && word != "collab_spawn" {
		f.Kind = word
	}
}

// The purposes of requests, as JSON and the screen show them.
const (
	Turn       = "turn" // the user or an agent waits for the response
	Compact    = "compact"
	Title      = "title"
	Topic      = "topic"
	Router     = "router"
	Prewarm    = "prewarm"
	Probe      = "probe"
	Count      = "count"
	Models     = "models"
	Embeddings = "embeddings"
	Telemetry  = "telemetry"
	Health     = "health"
	Connect    = "connect" // a WebSocket connection without a request to a model
	Other      = "other"   // not a request to a model
)

// backgroundPurposes are the purposes of background requests.
var backgroundPurposes = map[string]bool{
	Title: true, Topic: true, Router: true, Prewarm: true, Probe: true, Count: true, Models: true, Embeddings: true,
	Telemetry: true, Health: true, Connect: true, Other: true,
}

// IsBackground reports whether a request with that purpose is a background request.
func IsBackground(purpose string) bool { return backgroundPurposes[purpose] }

// paths maps ends of paths to purposes. An entry that ends in a slash matches anywhere in the path.
// Requests to these paths are background requests.
var paths = []struct{ end, purpose string }{
	{"/count_tokens", Count}, {":countTokens", Count}, {"/input_tokens", Count}, {"/tokenize", Count}, {"/count-tokens", Count},
	{"/embeddings", Embeddings}, {"/embed", Embeddings}, {":embedContent", Embeddings}, {":batchEmbedContents", Embeddings},
	{"/api/event_logging/", Telemetry}, {"/api/claude_code/", Telemetry}, {"/telemetry", Telemetry}, {"/v1/traces", Telemetry},
	{"/v1/metrics", Telemetry}, {"/v1/logs", Telemetry}, {"/analytics-events/", Telemetry},
	{":loadCodeAssist", Other}, {":onboardUser", Other}, {":retrieveUserQuota", Other}, {":listExperiments", Other},
	{":fetchAdminControls", Other}, {":recordCodeAssistMetrics", Telemetry},
	{"/oauth/token", Other}, {"/files", Other}, {"/uploads", Other}, {"/upload/", Other}, {"/batches", Other}, {"/batches/", Other},
	{"/vector_stores", Other}, {"/vector_stores/", Other}, {"/containers", Other}, {"/skills", Other}, {"/evals", Other},
	{"/fine_tuning/", Other}, {"/cachedContents", Other}, {":batchGenerateContent", Other}, {"/guardrail/", Other},
	{"/client_secrets", Other}, {"/realtime/sessions", Other}, {"/realtime/transcription_sessions", Other}, {"/realtime/calls", Other},
	{"/moderations", Other}, {"/rerank", Other}, {"/score", Other}, {"/classify", Other}, {"/ocr", Other}, {"/detokenize", Other},
	{"/apply-template", Other}, {"/images/generations", Other}, {"/images/edits", Other}, {"/images/variations", Other},
	{"/audio/speech", Other}, {"/audio/transcriptions", Other}, {"/audio/translations", Other}, {":predict", Other},
	{":predictLongRunning", Other}, {"/api/pull", Other}, {"/api/push", Other}, {"/api/create", Other}, {"/api/copy", Other},
	{"/api/blobs/", Other}, {"/graphql", Other},
	{"/api/hello", Health}, {"/health", Health}, {"/healthz", Health}, {"/ready", Health}, {"/api/version", Health},
}

// listPaths are paths that are only read. A request to such a path is a background request only with GET,
// or with the POST that Ollama requires.
var listPaths = []string{"/models", "/inference-profiles", "/foundation-models", "/api/tags", "/api/ps", "/api/show", "/model/info"}

// PurposeOfPath returns the purpose of a request from its method and path alone, or "" if they don't show
// the purpose.
func PurposeOfPath(method, path string) string {
	if method == "HEAD" || method == "OPTIONS" {
		return Health
	}
	path = strings.TrimSuffix(path, "/")
	for _, p := range paths {
		if strings.HasSuffix(path, p.end) || strings.HasSuffix(p.end, "/") && strings.Contains(path, p.end) {
			return p.purpose
		}
	}
	for _, end := range listPaths {
		if strings.HasSuffix(path, end) && (method == "GET" || end == "/api/show") {
			return Models
		}
	}
	if at := strings.LastIndex(path, "/models/"); at >= 0 && method == "GET" && !strings.Contains(path, ":") {
		return Models
	}
	return ""
}

// PurposeOf returns the purpose of a request to a model. It recognises a client's own prompts only for programs that
// are known to send them. The parameter said is the user's first text in the request.
func PurposeOf(f *ClientFacts, b *RequestBody, said []byte) string {
	switch {
	case f.Warms:
		return Prewarm
	case f.Kind != "":
		return f.Kind
	case !agentsWithKnownPrompts[f.Client] || b.HasTools():
		return Turn
	case b.asksForKeys("title"):
		return Title
	case b.asksForKeys("isNewTopic", "title"):
		return Topic
	case b.asksForKeys("complexity_reasoning", "complexity_score"), b.asksForKeys("reasoning", "model_choice"):
		return Router
	case b.MaxTokens == 1:
		return Probe
	}
	for _, s := range prompts {
		if bytes.Contains(clipPrompt(b.System), []byte(s.text)) || bytes.Contains(clipPrompt(said), []byte(s.text)) {
			return s.purpose
		}
	}
	return Turn
}

// agentsWithKnownPrompts are the agents whose own prompts are known. Claude Code, opencode and gemini-cli
// were run; the prompts of the others are documented.
var agentsWithKnownPrompts = map[string]bool{"claude-code": true, "opencode": true, "gemini-cli": true, "qwen-code": true, "crush": true}

// prompts are phrases that identify the prompts of these agents.
var prompts = []struct{ text, purpose string }{
	{"Generate a title for this conversation", Title}, {"You are a title generator", Title},
	{"you will generate a short title", Title}, {"Analyze if this message indicates a new conversation topic", Topic},
	{"Task Routing AI", Router},
	{"create a detailed summary of the conversation", Compact}, {"summarizes internal chat history", Compact},
	{"summarizing conversations", Compact},
}

// clipPrompt returns the beginning of a prompt. It is long enough to contain any of the phrases in prompts.
func clipPrompt(text []byte) []byte { return text[:min(len(text), 4096)] }

// starters are the tools that start an agent. Claude Code, Codex, opencode and qwen-code were run.
// gemini-cli and Roo Code declare such tools in their source.
var starters = map[string]bool{
	"Agent": true, "Task": true, "task": true, "agent": true, "spawn_agent": true, "invoke_agent": true, "delegate_to_agent": true, "new_task": true,
}

// IsAgentTool reports whether the tool with the given name starts an agent.
func IsAgentTool(tool string) bool { return starters[tool] }

// AgentTask contains the arguments of a call that starts an agent.
type AgentTask struct {
	Prompt []byte // the text of the agent's first request
	Task   string // the agent's name
	Title  string // the name that the user sees
}

// ReadAgentTask reads the arguments of a call that starts an agent.
func ReadAgentTask(args []byte) (o AgentTask) {
	of := json.Value(bytes.TrimSpace(args))
	first := func(names ...string) json.Value {
		for _, name := range names {
			if v := of.Get(name); v.HasText() {
				return v
			}
		}
		return nil
	}
	o.Prompt = bytes.TrimSpace(first("prompt", "message", "objective", "task", "instructions", "query").Unquoted())
	o.Task = first("task_name").Text()
	o.Title = first("task_name", "subagent_type", "agent_name", "agent_type", "mode", "name").Text()
	return o
}

// OpeningTexts returns the user's texts at the beginning of a conversation, before the first call, up to maxOpening
// of them. Any of these texts may be the prompt that started an agent.
func OpeningTexts(messages []protocol.Message) (texts [][]byte) {
	for i := range messages {
		for j := range messages[i].Parts {
			switch p := &messages[i].Parts[j]; {
			case p.Kind == protocol.CallPart, len(texts) == maxOpening:
				return texts
			case p.Kind == protocol.TextPart && messages[i].Role == protocol.User:
				text := bytes.TrimSpace(p.Text)
				if len(text) > 0 {
					texts = append(texts, text)
				}
				if rest := afterNote(text); len(rest) > 0 && len(texts) < maxOpening {
					texts = append(texts, rest)
				}
			}
		}
	}
	return texts
}

const maxOpening = 16

// afterNote returns the text after a tagged note at the beginning, such as <date>today</date>, or nil if
// there is no note.
func afterNote(text []byte) []byte {
	end := bytes.IndexByte(text, '>')
	if end < 2 || text[0] != '<' {
		return nil
	}
	name, _, _ := bytes.Cut(text[1:end], []byte(" "))
	_, rest, found := bytes.Cut(text[end:], slices.Concat([]byte("</"), name, []byte(">")))
	if !found {
		return nil
	}
	return bytes.TrimSpace(rest)
}
