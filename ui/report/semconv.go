package report

// semconv is the commit of the conventions for generative AI that the spans follow. The conventions are in
// development and have no version yet, so each span names this commit.
const semconv = "open-telemetry/semantic-conventions-genai@9430220eb6f3f8a0e41d2e0e548aeb5cb9ca5f14"

// Attributes of the conventions: those in docs/gen-ai/gen-ai-spans.md of that repository, and the stable
// attributes of OpenTelemetry that the file names.
const (
	semOperation    = "gen_ai.operation.name"
	semProvider     = "gen_ai.provider.name"
	semConversation = "gen_ai.conversation.id"
	semAgent        = "gen_ai.agent.name"
	semAsked        = "gen_ai.request.model"
	semStream       = "gen_ai.request.stream"
	semModel        = "gen_ai.response.model"
	semResponse     = "gen_ai.response.id"
	semFinish       = "gen_ai.response.finish_reasons"
	semInput        = "gen_ai.usage.input_tokens" // including cached tokens
	semOutput       = "gen_ai.usage.output_tokens"
	semReasoning    = "gen_ai.usage.reasoning.output_tokens"
	semCacheRead    = "gen_ai.usage.cache_read.input_tokens"
	semCacheWrite   = "gen_ai.usage.cache_creation.input_tokens"
	semMessages     = "gen_ai.output.messages"
	semTool         = "gen_ai.tool.name"
	semToolKind     = "gen_ai.tool.type"
	semToolCall     = "gen_ai.tool.call.id"
	semArguments    = "gen_ai.tool.call.arguments"
	semResult       = "gen_ai.tool.call.result"

	semError   = "error.type"
	semServer  = "server.address"
	semPort    = "server.port"
	semStatus  = "http.response.status_code"
	semService = "service.name"
	semVersion = "service.version"
	semMachine = "host.name"
)

// Attributes of toolscope.
const (
	ownSemconv  = "toolscope.semconv"
	ownProtocol = "toolscope.protocol"
	ownAgent    = "toolscope.agent"      // name of the watched program, from --agent
	ownParty    = "toolscope.turn.agent" // the agent of the session that sent the request: "main" or its id
	ownPhase    = "toolscope.turn.phase"
	ownEndedBy  = "toolscope.turn.ended_by"
	ownMissed   = "toolscope.turn.missed.bytes"
	ownCalls    = "toolscope.turn.calls"
	ownClock    = "toolscope.clock" // why the times are not the times of the exchange
	ownCut      = "toolscope.cut"   // texts of the span were too long and are cut

	ownCallStatus = "toolscope.call.status"
	ownCallPhase  = "toolscope.call.phase"
	ownSyntax     = "toolscope.call.syntax"
	ownArgsBytes  = "toolscope.call.args.bytes"
	ownArgsHMAC   = "toolscope.call.args.hmac"
	ownDeltas     = "toolscope.call.deltas"
	ownServer     = "toolscope.call.server" // the provider runs the tool
	ownAttempt    = "toolscope.call.attempt"
	ownResult     = "toolscope.call.result"        // the tool's result in a later request: ok or failed
	ownOddName    = "toolscope.call.name_left_out" // the tool's name is left out: it is not a plain name

	ownFinding  = "toolscope.finding"
	ownCode     = "toolscope.finding.code"
	ownSeverity = "toolscope.finding.severity"
	ownBy       = "toolscope.finding.by"
	ownOffset   = "toolscope.finding.offset"
	ownMeans    = "toolscope.finding.means"
	ownMessage  = "toolscope.finding.message"
)

// protocolProviders maps protocols to the provider names of the conventions.
var protocolProviders = map[string]string{
	"anthropic": "anthropic", "openai-chat": "openai", "openai-responses": "openai", "gemini": "gcp.gemini", "gemini-interactions": "gcp.gemini",
	"aistudio": "gcp.gemini", "bedrock": "aws.bedrock", "cohere": "cohere", "ollama": "ollama",
}

// operations maps protocols to the operation names of the conventions. The operation of all other protocols
// is chat.
var operations = map[string]string{"gemini": "generate_content", "aistudio": "generate_content"}

// hostProviders are the names in the conventions of providers that speak the protocol of another provider.
// host is the end of the provider's host name, and begins is the start of it, if it matters.
var hostProviders = []struct{ host, name, begins string }{
	{host: "api.groq.com", name: "groq"}, {host: "api.x.ai", name: "x_ai"}, {host: "api.deepseek.com", name: "deepseek"}, {host: "api.mistral.ai", name: "mistral_ai"}, {host: "api.perplexity.ai", name: "perplexity"},
	{host: "api.moonshot.ai", name: "moonshot_ai"}, {host: ".openai.azure.com", name: "azure.ai.openai"}, {host: "aiplatform.googleapis.com", name: "gcp.vertex_ai"},
	{host: ".amazonaws.com", name: "aws.bedrock", begins: "bedrock-runtime"},
}
