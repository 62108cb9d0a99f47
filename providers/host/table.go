package host

import "toolscope/providers/protocol"

// All lists the known hosts. The host that a protocol is named after comes first. Addresses, variables
// and headers are those of the providers' own clients and documentation; quirks cite their source.
var All = []Host{
	{
		Name: "anthropic", Title: "Anthropic", Target: "anthropic",
		Address: "https://api.anthropic.com", Variable: "ANTHROPIC_BASE_URL",
		Version: "v1", VersionedPaths: []string{"messages", "models", "complete", "files", "skills"},
		Keys:   []APIKey{{"ANTHROPIC_API_KEY", "X-Api-Key", ""}, {"ANTHROPIC_AUTH_TOKEN", "Authorization", "Bearer"}},
		Header: []HeaderPair{{"Anthropic-Version", "2023-06-01"}},
		Quirks: protocol.HostFeatures{CacheControl: true},
		Model:  "claude-sonnet-5", Models: []string{"claude-"},
	},
	{
		Name: "openai", Title: "OpenAI, Responses", Target: "openai-responses",
		Address: "https://api.openai.com/v1", Variable: "OPENAI_BASE_URL",
		Keys: openAIKeys, Extra: openAIExtra, Quirks: openAI, Model: "gpt-5.4-mini", Models: openAIModels,
	},
	{
		Name: "openai-chat", Title: "OpenAI, Chat Completions", Target: "openai-chat",
		Address: "https://api.openai.com/v1", Variable: "OPENAI_BASE_URL",
		Keys: openAIKeys, Extra: openAIExtra, Quirks: openAI, Model: "gpt-5.4-mini", Models: openAIModels,
	},
	{
		Name: "gemini", Title: "Google Gemini API", Target: "gemini",
		Address: "https://generativelanguage.googleapis.com", Variable: "GOOGLE_GEMINI_BASE_URL",
		Version: "v1beta", VersionedPaths: []string{"models", "interactions", "cachedContents", "files", "tunedModels", "batches"},
		Keys:  []APIKey{{"GOOGLE_API_KEY", "X-Goog-Api-Key", ""}, {"GEMINI_API_KEY", "X-Goog-Api-Key", ""}},
		Model: "gemini-3.5-flash", Models: []string{"gemini-", "models/gemini-"},
	},
	{
		Name: "ollama", Title: "Ollama", Target: "ollama",
		Address: "http://127.0.0.1:11434", Variable: "OLLAMA_HOST", Keyless: true, Keys: bearerKeys("OLLAMA_API_KEY"),
	},
	{
		Name: "bedrock", Title: "AWS Bedrock, Converse", Target: "bedrock",
		Address: "https://bedrock-runtime.{region}.amazonaws.com", Variable: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
		Keys:   bearerKeys("AWS_BEARER_TOKEN_BEDROCK"), // requests are not signed: SigV4 needs the body's hash and the clock
		Header: []HeaderPair{{"Accept", "application/vnd.amazon.eventstream"}},
		Model:  "amazon.nova-lite-v1:0", Models: []string{"amazon.", "anthropic.", "meta.", "us.", "eu.", "apac.", "global.", "arn:aws:bedrock"},
	},
	{
		Name: "cohere", Title: "Cohere", Target: "cohere",
		Address: "https://api.cohere.com", Variable: "CO_API_URL",
		Keys:  append(bearerKeys("CO_API_KEY"), bearerKeys("COHERE_API_KEY")...),
		Model: "command-a-03-2025", Models: []string{"command-"},
	},
	{
		Name: "openrouter", Title: "OpenRouter", Target: "openai-chat",
		Address: "https://openrouter.ai/api/v1", Keys: bearerKeys("OPENROUTER_API_KEY"),
		Model:  "anthropic/claude-sonnet-4.6",
		Models: []string{"anthropic/", "openai/", "google/", "x-ai/", "z-ai/", "deepseek/", "moonshotai/", "qwen/", "minimax/", "mistralai/", "meta-llama/"},
	},
	{
		// It refuses unknown fields: stream_options (avante-corp/avante.nvim#2347),
		// max_completion_tokens (editor-code-assistant/eca#231). Requests with the same affinity
		// share a cache (badlogic/pi-mono).
		Name: "mistral", Title: "Mistral", Target: "mistral",
		Address: "https://api.mistral.ai/v1", Keys: bearerKeys("MISTRAL_API_KEY"),
		Quirks: protocol.HostFeatures{TellsUsage: true}, SessionHeader: "X-Affinity",
		Model: "mistral-medium-latest", Models: []string{"mistral-", "ministral-", "magistral-", "codestral-", "devstral-", "pixtral-"},
	},
	{
		Name: "groq", Title: "Groq", Target: "openai-chat",
		Address: "https://api.groq.com/openai/v1", Keys: bearerKeys("GROQ_API_KEY"),
		Quirks: protocol.HostFeatures{Completion: true}, Model: "openai/gpt-oss-120b",
	},
	{
		Name: "deepseek", Title: "DeepSeek", Target: "openai-chat",
		Address: "https://api.deepseek.com/v1", Keys: bearerKeys("DEEPSEEK_API_KEY"),
		Model: "deepseek-v4-flash", Models: []string{"deepseek-"},
	},
	{
		Name: "xai", Title: "xAI", Target: "openai-chat",
		Address: "https://api.x.ai/v1", Keys: bearerKeys("XAI_API_KEY"),
		Model: "grok-4.3", Models: []string{"grok-"},
	},
	{
		Name: "cerebras", Title: "Cerebras", Target: "openai-chat",
		Address: "https://api.cerebras.ai/v1", Keys: bearerKeys("CEREBRAS_API_KEY"),
		Quirks: protocol.HostFeatures{Completion: true}, Model: "gpt-oss-120b",
	},
	{
		Name: "together", Title: "Together", Target: "openai-chat",
		Address: "https://api.together.xyz/v1", Keys: bearerKeys("TOGETHER_API_KEY"), Model: "openai/gpt-oss-120b",
	},
	{
		Name: "fireworks", Title: "Fireworks", Target: "openai-chat",
		Address: "https://api.fireworks.ai/inference/v1", Keys: bearerKeys("FIREWORKS_API_KEY"),
		Models: []string{"accounts/fireworks/"},
	},
	{
		Name: "moonshot", Title: "Moonshot", Target: "openai-chat",
		Address: "https://api.moonshot.ai/v1", Keys: bearerKeys("MOONSHOT_API_KEY"),
		Model: "kimi-k2.7-code", Models: []string{"kimi-", "moonshot-"},
	},
	{
		Name: "zai", Title: "Z.ai", Target: "openai-chat",
		Address: "https://api.z.ai/api/coding/paas/v4", Keys: bearerKeys("ZAI_API_KEY"),
		Model: "glm-5.2", Models: []string{"glm-"},
	},
	{
		Name: "alibaba", Title: "Alibaba Model Studio", Target: "openai-chat",
		Address: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", Keys: bearerKeys("DASHSCOPE_API_KEY"),
		Model: "qwen3-coder-plus", Models: []string{"qwen3-", "qwen-"},
	},
	{
		Name: "gemini-chat", Title: "Google Gemini API, as Chat Completions", Target: "openai-chat",
		Address: "https://generativelanguage.googleapis.com/v1beta/openai",
		Keys:    append(bearerKeys("GOOGLE_API_KEY"), bearerKeys("GEMINI_API_KEY")...),
		Model:   "gemini-3.5-flash", Models: []string{"gemini-"},
	},
	{
		// The model is the name of a deployment.
		Name: "azure", Title: "Azure OpenAI", Target: "openai-chat",
		Variable: "AZURE_OPENAI_ENDPOINT", PathSuffix: "/openai/v1", Keys: []APIKey{{"AZURE_OPENAI_API_KEY", "Api-Key", ""}},
		Quirks: protocol.HostFeatures{Completion: true, Custom: true},
	},
	{
		Name: "llama.cpp", Title: "llama.cpp's server", Target: "llama.cpp",
		Address: "http://127.0.0.1:8080/v1", Keyless: true, Keys: bearerKeys("LLAMA_API_KEY"), Model: "default",
	},
	{
		Name: "vllm", Title: "vLLM", Target: "openai-chat",
		Address: "http://127.0.0.1:8000/v1", Keyless: true, Keys: bearerKeys("VLLM_API_KEY"),
	},
	{
		Name: "lmstudio", Title: "LM Studio", Target: "openai-chat",
		Address: "http://127.0.0.1:1234/v1", Keyless: true,
	},
}

// PassThrough are hosts that only their own clients call, with their own logins. The proxy passes the
// traffic on; toolscope itself sends nothing to them.
var PassThrough = []Host{
	{Name: "chatgpt", Title: "ChatGPT, for Codex", Address: "https://chatgpt.com/backend-api/codex"},
	{Name: "code-assist", Title: "Gemini Code Assist, for Gemini CLI", Address: "https://cloudcode-pa.googleapis.com"},
	{Name: "vertex", Title: "Google Vertex AI", Address: "https://{region}-aiplatform.googleapis.com"},
}

// openAI are the features of OpenAI itself (from its published API description).
var openAI = protocol.HostFeatures{Store: true, Completion: true, CacheKey: true, Retention: true, Custom: true, Encrypted: true}

var (
	openAIKeys   = bearerKeys("OPENAI_API_KEY")
	openAIExtra  = []HeaderPair{{"OpenAI-Organization", "OPENAI_ORG_ID"}, {"OpenAI-Project", "OPENAI_PROJECT_ID"}}
	openAIModels = []string{"gpt-", "chatgpt-", "o1", "o3", "o4", "codex-"}
)

// bearerKeys returns the form of key that most hosts use.
func bearerKeys(variable string) []APIKey { return []APIKey{{variable, "Authorization", "Bearer"}} }
