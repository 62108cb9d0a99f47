// Package host describes the known hosts of models: their addresses, protocols, keys, and deviations from
// their protocols. It also builds requests to these hosts.
//
//	tools, history, prompt ─▶ protocol.Request ─▶ Build(host) ─▶ URL, body
//	captured request ─▶ Resend(host) ─▶ protocol.Request, and its losses
//
// A host is a server that answers requests. Its target is the protocol.Target for histories in its protocol.
// Its address is the URL to which paths are appended. Its own clients call the address the base URL.
//
// The package does no I/O: the environment is passed to it as a function, and other packages send the
// requests. The package finds keys only in the environment. Google AI Studio is read from captures and never
// called.
package host

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// A Host is one server that answers requests.
type Host struct {
	Name, Title string
	Target      string // name of the protocol.Target
	Quirks      protocol.HostFeatures

	Address    string // as its own clients use it, e.g. https://api.example.com/v1; {region} is a placeholder; "" if the user must set it
	Variable   string // environment variable that can contain another address; "" for none
	PathSuffix string // appended to the address in Variable

	Version        string   // first path element, which its own clients append to the address; "" for none
	VersionedPaths []string // first elements of the paths after Version; some clients omit Version before them

	Keys          []APIKey // the first key in the environment is used
	Keyless       bool     // the host needs no key
	Header        []HeaderPair
	Extra         []HeaderPair // headers that are sent if a variable is set; Value is the variable's name
	SessionHeader string       // header that routes the requests of a session to their cached beginning; "" for none

	Model  string   // default model; "" if the user must choose one
	Models []string // prefixes of the host's model names, as far as they identify the host
}

// A HeaderPair is a header with its value.
type HeaderPair struct{ Name, Value string }

// An APIKey is an environment variable with a secret, and the header in which the secret is sent.
type APIKey struct {
	Variable string
	Header   string
	Scheme   string // word before the secret: "Bearer", or ""
}

// Find returns the host with the given name. If there is none, the error lists the known names.
func Find(name string) (*Host, error) {
	if name == "aistudio" {
		return nil, fmt.Errorf("toolscope reads Google AI Studio only from captures and never calls it; the provider gemini is Google's public API")
	}
	return protocol.FindNamed("provider", name, All, func(h *Host) string { return h.Name })
}

// For returns the host after which a protocol is named, or nil if there is none. This is the first host in the table
// that uses the protocol.
func For(dialectName string) *Host {
	for i := range All {
		if t := All[i].HistoryTarget(); t != nil && t.Protocol == dialectName {
			return &All[i]
		}
	}
	return nil
}

// HistoryTarget returns the target of the host's protocol.
func (h *Host) HistoryTarget() *protocol.Target {
	t, err := providers.FindTarget(h.Target)
	if err != nil {
		return nil // impossible: a test checks that the targets of all hosts exist
	}
	return t
}

// Has reports whether a model's name has one of the prefixes of this host's model names.
func (h *Host) Has(model string) bool {
	for _, prefix := range h.Models {
		if strings.HasPrefix(strings.ToLower(model), prefix) {
			return true
		}
	}
	return false
}

// Build returns the URL and the body of a request to the host at the given address.
func (h *Host) Build(r protocol.Request, address string) (url string, body []byte) {
	path, body := h.HistoryTarget().BuildRequest(r, h.Quirks)
	return Join(address, path), body
}

// Headers returns the headers of a request, without the header for the key.
func (h *Host) Headers(session string, getenv func(string) string) []HeaderPair {
	all := append([]HeaderPair{{"Content-Type", "application/json"}}, h.Header...)
	for _, p := range h.Extra {
		if value := getenv(p.Value); value != "" {
			all = append(all, HeaderPair{p.Name, value})
		}
	}
	if h.SessionHeader != "" && session != "" {
		all = append(all, HeaderPair{h.SessionHeader, session})
	}
	return all
}

// Key returns the first of the host's keys that the environment contains, as a header. If there is none, the
// error lists the variables. If the host needs no key, there is no error and the header has no name.
func (h *Host) Key(getenv func(string) string) (HeaderPair, error) {
	var looked []string
	for _, k := range h.Keys {
		looked = append(looked, k.Variable)
		secret := strings.TrimSpace(getenv(k.Variable))
		if secret == "" {
			continue
		}
		for _, c := range []byte(secret) {
			if c < ' ' || c > '~' {
				return HeaderPair{}, fmt.Errorf("%s: the value of %s contains a character that a header can't contain", h.Name, k.Variable)
			}
		}
		if k.Scheme != "" {
			secret = k.Scheme + " " + secret
		}
		return HeaderPair{k.Header, secret}, nil
	}
	if h.Keyless {
		return HeaderPair{}, nil
	}
	return HeaderPair{}, fmt.Errorf("%s: no key in the environment\nlooked for %s", h.Name, strings.Join(looked, ", then "))
}

// regionVariables lists the variables that contain the region for AWS's own clients.
var regionVariables = []string{"AWS_REGION", "AWS_DEFAULT_REGION"}

// ResolveAddress returns the address of the host. It is the given address, otherwise the address in the
// environment, otherwise the address in the table.
func (h *Host) ResolveAddress(given string, getenv func(string) string) (address string, err error) {
	switch named := getenv(h.Variable); {
	case given != "":
		return checkAddress("--base-url", given)
	case h.Variable != "" && named != "" && h.Name == "ollama":
		return checkAddress(h.Variable, ollamaAddress(named))
	case h.Variable != "" && named != "":
		address, err = checkAddress(h.Variable, named)
		return address + h.PathSuffix, err
	case h.Address == "":
		return "", fmt.Errorf("%s: each customer has a different address\nset --base-url URL, or %s in the environment", h.Name, h.Variable)
	case !strings.Contains(h.Address, regionMark):
		return h.Address, nil
	}
	for _, name := range regionVariables {
		if region := getenv(name); region != "" {
			if !isRegion(region) {
				return "", fmt.Errorf("%s: %s is not a region: %q", h.Name, name, region)
			}
			return strings.ReplaceAll(h.Address, regionMark, region), nil
		}
	}
	return "", fmt.Errorf("%s: no region in the environment\nlooked for %s; or use --base-url URL", h.Name, strings.Join(regionVariables, ", then "))
}

// vertexRegions lists the variables that contain the region for Google's clients and Claude Code.
var vertexRegions = []string{"GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"}

// PassThroughAddress returns the address of a host in PassThrough. If the environment contains a region, the
// address is for this region.
func (h *Host) PassThroughAddress(getenv func(string) string) string {
	for _, name := range vertexRegions {
		if region := getenv(name); region != "" && region != "global" && isRegion(region) {
			return strings.ReplaceAll(h.Address, regionMark, region)
		}
	}
	return strings.ReplaceAll(h.Address, regionMark+"-", "")
}

func isRegion(s string) bool { return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" }

// regionMark is the placeholder for a region in an address.
const regionMark = "{region}"

// checkAddress checks an address, and returns it without a slash at the end.
func checkAddress(name, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", fmt.Errorf("%s: not the URL of a host\nuse a URL like https://api.example.com/v1", name)
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%s: the URL can't contain ? or #, because paths are appended to it", name)
	}
	if u.User != nil {
		return "", fmt.Errorf("%s: the URL contains a name or password\nput keys in the environment, or use --header", name)
	}
	return strings.TrimRight(address, "/"), nil
}

// ollamaAddress returns the URL for a value of OLLAMA_HOST. The value may be a host, a port, or both
// (envconfig.Host in ollama/ollama). For a server that listens on all addresses, the URL contains the
// loopback address.
func ollamaAddress(value string) string {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(value), "://")
	port := map[string]string{"http": "80", "https": "443"}[scheme]
	if !ok {
		scheme, rest, port = "http", scheme, "11434"
	}
	rest, path, _ := strings.Cut(rest, "/")
	u := url.URL{Scheme: scheme, Host: rest}
	name := u.Hostname()
	if name == "" || name == "0.0.0.0" || name == "::" {
		name = "127.0.0.1"
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if p := u.Port(); p != "" {
		port = p
	}
	return strings.TrimRight(scheme+"://"+name+":"+port+"/"+path, "/")
}

// Join appends a path to an address. A version that is in both appears only once, as for
// https://api.anthropic.com/v1 and /v1/messages.
func Join(address, path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if u, err := url.Parse(address); err == nil && first != "" && strings.HasSuffix(u.Path, "/"+first) {
		address = strings.TrimSuffix(address, "/"+first)
	}
	return address + path
}

// Loopback reports whether an address is on this machine.
func Loopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	name := u.Hostname()
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || name == "::1" || strings.HasPrefix(name, "127.")
}

// All lists the known hosts. The host after which a protocol is named comes before other hosts with the same
// protocol. Addresses, variables and headers are from the providers' own clients and documentation. The
// source of each quirk is in a comment.
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
		Keys:   bearerKeys("AWS_BEARER_TOKEN_BEDROCK"), // toolscope doesn't sign requests: SigV4 needs the body's hash and the clock
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
		// Mistral refuses unknown fields: stream_options (avante-corp/avante.nvim#2347),
		// max_completion_tokens (editor-code-assistant/eca#231). Requests with the same X-Affinity share a
		// cache (badlogic/pi-mono).
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
		// The model in a request is the name of a deployment.
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

// PassThrough lists hosts that only their own clients call, with their own logins. The proxy forwards this
// traffic. toolscope itself sends nothing to these hosts.
var PassThrough = []Host{
	{Name: "chatgpt", Title: "ChatGPT, for Codex", Address: "https://chatgpt.com/backend-api/codex"},
	{Name: "code-assist", Title: "Gemini Code Assist, for Gemini CLI", Address: "https://cloudcode-pa.googleapis.com"},
	{Name: "vertex", Title: "Google Vertex AI", Address: "https://{region}-aiplatform.googleapis.com"},
}

// openAI lists the features of OpenAI itself, from its published API description.
var openAI = protocol.HostFeatures{Store: true, Completion: true, CacheKey: true, Retention: true, Custom: true, Encrypted: true}

var (
	openAIKeys   = bearerKeys("OPENAI_API_KEY")
	openAIExtra  = []HeaderPair{{"OpenAI-Organization", "OPENAI_ORG_ID"}, {"OpenAI-Project", "OPENAI_PROJECT_ID"}}
	openAIModels = []string{"gpt-", "chatgpt-", "o1", "o3", "o4", "codex-"}
)

// bearerKeys returns a key that is sent in the Authorization header, as most hosts require.
func bearerKeys(variable string) []APIKey { return []APIKey{{variable, "Authorization", "Bearer"}} }

// Recognise guesses the host of a request from its body. It returns nil if the body matches no protocol.
func Recognise(body []byte) *Host {
	r := json.Value(body)
	name := protocolOf(r)
	if name == "" {
		return nil
	}
	model := r.Get("model").Text()
	for i := range All {
		if t := All[i].HistoryTarget(); t != nil && t.Protocol == name && All[i].Has(model) {
			return &All[i]
		}
	}
	return For(name)
}

// signs lists fields that show the protocol of a request. The first listed field that the request contains decides.
var signs = []struct {
	dialect string
	members []string
}{
	{"gemini", []string{"contents", "generationConfig", "systemInstruction", "system_instruction"}},
	{"bedrock", []string{"toolConfig", "inferenceConfig", "additionalModelRequestFields"}},
	{"openai-responses", []string{"input", "instructions", "previous_response_id", "max_output_tokens"}},
	{"ollama", []string{"keep_alive", "options", "think"}},
	{"anthropic", []string{"anthropic_version", "system", "stop_sequences", "thinking"}},
	{"openai-chat", []string{"stream_options", "max_completion_tokens", "functions", "n", "parallel_tool_calls"}},
	{"cohere", []string{"documents", "citation_options", "safety_mode", "strict_tools"}},
}

// protocolOf returns the protocol of a request according to its body, or "" if the body matches no protocol.
func protocolOf(body json.Value) string {
	if body.Kind() != '{' {
		return ""
	}
	for _, s := range signs {
		for _, member := range s.members {
			if body.Get(member).IsPresent() {
				return s.dialect
			}
		}
	}
	if body.Get("messages").Kind() != '[' {
		return ""
	}
	switch shape := shapeOf(body.Get("tools")); {
	case shape == "anthropic":
		return shape
	case strings.HasPrefix(body.Get("model").Text(), "claude-"):
		return "anthropic"
	case strings.HasPrefix(body.Get("model").Text(), "command-"):
		return "cohere"
	}
	if blocksOfAnthropic(body) {
		return "anthropic"
	}
	return "openai-chat"
}

// blocksOfAnthropic reports whether a message contains a block that only Anthropic's messages can contain.
func blocksOfAnthropic(body json.Value) bool {
	for message := range body.Get("messages").Elements() {
		for block := range message.Get("content").Elements() {
			switch block.Get("type").Text() {
			case "tool_use", "tool_result", "thinking", "redacted_thinking":
				return true
			}
		}
	}
	return false
}

// modelOf returns the model in a request, or "" if there is none.
func modelOf(d *protocol.Protocol, path string, body []byte) string {
	if d != nil && d.Model != nil {
		if name := d.Model(path, body); name != "" {
			return name
		}
	}
	return json.Value(body).Get("model").Text()
}

// RawRequest returns the URL for a body that the user wrote, and the model. The model is the given one, otherwise the
// one in the body, otherwise the host's default model. The body is sent unchanged.
func (h *Host) RawRequest(body []byte, model, address string) (url, asked string) {
	if asked = model; asked == "" {
		asked = json.Value(body).Get("model").Text()
	}
	if asked == "" {
		asked = h.Model
	}
	path, _ := h.HistoryTarget().BuildRequest(protocol.Request{Model: asked}, h.Quirks)
	return Join(address, path), asked
}

// clientOnly lists hosts of models that the other tables don't have, because toolscope doesn't send requests to them.
// Their own clients use them, such as Qwen Code, GitHub Copilot, Kimi Code and opencode.
var clientOnly = []string{
	"dashscope.aliyuncs.com", "api.githubcopilot.com", "api.individual.githubcopilot.com", "api.business.githubcopilot.com",
	"api.enterprise.githubcopilot.com", "ai-gateway.vercel.sh", "api.kimi.com", "opencode.ai", "api.factory.ai",
}

// awsRegions and googleRegions are used if the environment has no region.
var (
	awsRegions = []string{
		"us-east-1", "us-east-2", "us-west-1", "us-west-2", "ca-central-1", "sa-east-1", "eu-central-1", "eu-north-1", "eu-west-1", "eu-west-2",
		"eu-west-3", "ap-northeast-1", "ap-northeast-2", "ap-south-1", "ap-southeast-1", "ap-southeast-2",
	}
	googleRegions = []string{"us-central1", "us-east1", "us-east4", "us-east5", "us-west1", "europe-west1", "europe-west4", "asia-northeast1", "asia-southeast1"}
)

// Names returns the sorted names of all hosts of models that use TLS. They include the hosts in the environment's
// addresses. A name with a region is returned for the regions in the environment, or for the regions in a list.
func Names(getenv func(string) string) []string {
	names := slices.Clone(clientOnly)
	add := func(h *Host, regions []string) {
		addresses := []string{getenv(h.Variable)}
		for _, region := range regions {
			addresses = append(addresses, strings.ReplaceAll(h.Address, regionMark, region))
		}
		for _, address := range addresses {
			if u, err := url.Parse(address); err == nil && u.Scheme == "https" {
				names = append(names, strings.ToLower(u.Hostname()))
			}
		}
	}
	for i := range All {
		add(&All[i], regionsIn(getenv, regionVariables, awsRegions))
	}
	for i := range PassThrough {
		h := &PassThrough[i]
		add(h, regionsIn(getenv, vertexRegions, googleRegions))
		global := *h
		global.Address = strings.ReplaceAll(h.Address, regionMark+"-", "")
		add(&global, []string{""})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// regionsIn returns the regions in the environment, or else the listed ones.
func regionsIn(getenv func(string) string, variables, listed []string) (regions []string) {
	for _, name := range variables {
		if region := getenv(name); region != "" && region != "global" && isRegion(region) {
			regions = append(regions, region)
		}
	}
	if len(regions) == 0 {
		return listed
	}
	return regions
}
