package conversation

import (
	"bytes"
	"strings"
)

// Purposes of requests, as written in JSON and on the screen.
const (
	Turn       = "turn" // the user or an agent waits for it
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
	Connect    = "connect" // a WebSocket without a request
	Other      = "other"   // not a request to a model
)

// backgroundPurposes are the purposes of background requests.
var backgroundPurposes = map[string]bool{
	Title: true, Topic: true, Router: true, Prewarm: true, Probe: true, Count: true, Models: true, Embeddings: true,
	Telemetry: true, Health: true, Connect: true, Other: true,
}

// IsBackground reports whether a request with that purpose is a background request.
func IsBackground(purpose string) bool { return backgroundPurposes[purpose] }

// paths maps ends of paths to purposes. An entry that ends in a slash matches anywhere in the path. No
// model answers there.
var paths = []struct{ end, purpose string }{
	{"/count_tokens", Count}, {":countTokens", Count}, {"/input_tokens", Count}, {"/tokenize", Count}, {"/count-tokens", Count},
	{"/embeddings", Embeddings}, {"/embed", Embeddings}, {":embedContent", Embeddings}, {":batchEmbedContents", Embeddings},
	{"/api/event_logging/", Telemetry}, {"/api/claude_code/", Telemetry}, {"/telemetry", Telemetry}, {"/v1/traces", Telemetry},
	{"/v1/metrics", Telemetry}, {"/v1/logs", Telemetry}, {"/analytics-events/", Telemetry},
	{":loadCodeAssist", Other}, {":onboardUser", Other}, {":retrieveUserQuota", Other}, {":listExperiments", Other},
	{":fetchAdminControls", Other}, {":recordCodeAssistMetrics", Telemetry},
	{"/api/hello", Health}, {"/health", Health}, {"/healthz", Health}, {"/ready", Health}, {"/api/version", Health},
}

// listPaths are paths that are only read. Requests to them are background requests only with GET, or with
// the POST that Ollama requires.
var listPaths = []string{"/models", "/inference-profiles", "/foundation-models", "/api/tags", "/api/ps", "/api/show", "/model/info"}

// PurposeOfPath returns the purpose of a request from its method and path alone, "" if they don't tell.
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

// PurposeOf returns the purpose of a request to a model. A client's own prompts are recognised only for
// programs that are known to send them; said is the first text of the user in the request.
func PurposeOf(f *ClientFacts, b *RequestBody, said []byte) string {
	switch {
	case f.Warms:
		return Prewarm
	case f.Kind != "":
		return f.Kind
	case !knownPrompters[f.Client] || b.HasTools():
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

// knownPrompters are the agents whose own prompts are known: Claude Code, opencode and gemini-cli were
// run, for the others they are documented.
var knownPrompters = map[string]bool{"claude-code": true, "opencode": true, "gemini-cli": true, "qwen-code": true, "crush": true}

// prompts are texts in the prompts of these agents.
var prompts = []struct{ text, purpose string }{
	{"Generate a title for this conversation", Title}, {"You are a title generator", Title},
	{"you will generate a short title", Title}, {"Analyze if this message indicates a new conversation topic", Topic},
	{"Task Routing AI", Router},
	{"create a detailed summary of the conversation", Compact}, {"summarizes internal chat history", Compact},
	{"summarizing conversations", Compact},
}

// clipPrompt returns the beginning of a text, which contains such prompts.
func clipPrompt(text []byte) []byte { return text[:min(len(text), 4096)] }
