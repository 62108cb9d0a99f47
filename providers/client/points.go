package client

import (
	"cmp"
	"strings"
)

// A ProxySetup contains the settings that send a client's requests to a proxy instead of to its provider. A
// provider's name in braces is a placeholder for the provider's address at the proxy: {anthropic} becomes
// http://127.0.0.1:8080/anthropic. Settings for providers that the proxy doesn't have are omitted.
type ProxySetup struct {
	*Client
	Commands []string // the names of the program and of its package; none for a library
	Vars     []Var    // environment variables
	Args     []string // flags that come directly after the command
	Settings Settings // further settings
	Tunnel   []Var    // environment variables that the client needs if a tunnel of one run decrypts its TLS
	Remarks  []string // further notes, in sentences
	Known    Provenance
}

// A Var is an environment variable.
type Var struct {
	Name, Value string
	Why         string // the reason, if it isn't obvious; a variable with a reason doesn't replace the user's value

	Needs func(env func(string) string) bool // reports whether the client reads the variable, given the user's variables; nil if it always does
}

// Settings are a client's configuration in JSON.
type Settings struct {
	File string   // the file in which users keep the settings
	JSON []string // objects that the settings must contain, all merged

	// Variable makes the client read other settings, so that the user's own stay unchanged. Its value is
	// JSON that overrides them if Inline is set, or else a folder that replaces the home folder.
	Variable string
	Inline   bool
	Needs    string // a variable without which the settings are not used; "" for none

	Flag, Extension string // a flag that names an extension file, and the text of that file, with %s for the JSON
}

// ReplaceAddresses replaces the placeholders for addresses in a text. If at returns "" for a provider, the proxy
// doesn't have that provider, and the result ok is false.
func ReplaceAddresses(text string, at func(host string) string) (filled string, ok bool) {
	var b strings.Builder
	for {
		from := strings.IndexByte(text, '{')
		if from < 0 {
			return b.String() + text, true
		}
		name, rest, closed := strings.Cut(text[from+1:], "}")
		if !closed || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" { // a brace that is part of JSON
			b.WriteString(text[:from+1])
			text = text[from+1:]
			continue
		}
		address := at(name)
		if address == "" {
			return "", false
		}
		b.WriteString(text[:from])
		b.WriteString(address)
		text = rest
	}
}

// WithAddresses returns the setup for a proxy, without the settings for providers that the proxy doesn't
// have. The result ok reports whether any remaining setting leads to the proxy.
func (p ProxySetup) WithAddresses(at func(host string) string) (f ProxySetup, ok bool) {
	f = p
	f.Vars, f.Args, f.Settings.JSON = nil, nil, nil
	for _, v := range p.Vars {
		if filled, known := ReplaceAddresses(v.Value, at); known {
			ok = ok || filled != v.Value
			v.Value = filled
			f.Vars = append(f.Vars, v)
		}
	}
	for _, text := range p.Settings.JSON {
		if filled, known := ReplaceAddresses(text, at); known {
			ok = ok || filled != text
			f.Settings.JSON = append(f.Settings.JSON, filled)
		}
	}
	for _, arg := range p.Args {
		filled, known := ReplaceAddresses(arg, at)
		if !known {
			f.Args = nil
			break
		}
		ok = ok || filled != arg
		f.Args = append(f.Args, filled)
	}
	f.Remarks = nil
	for _, text := range p.Remarks {
		if filled, known := ReplaceAddresses(text, at); known {
			ok = ok || filled != text
			f.Remarks = append(f.Remarks, filled)
		}
	}
	return f, ok
}

// ProxySetupOf returns the setup for a program, or nil if the program is unknown.
func ProxySetupOf(command string) *ProxySetup {
	for i := range ProxySetups {
		for _, c := range ProxySetups[i].Commands {
			if c == command {
				return &ProxySetups[i]
			}
		}
	}
	return nil
}

// toolSearch makes Claude Code declare the same tools as without a proxy.
var toolSearch = Var{Name: "ENABLE_TOOL_SEARCH", Value: "true", Why: "Claude Code turns off tool search if it doesn't call Anthropic directly; this variable keeps tool search on"}

// copilotUses returns a function that reports whether Copilot CLI uses the user's own provider of the given type.
func copilotUses(kind string) func(func(string) string) bool {
	return func(env func(string) string) bool {
		return env("COPILOT_PROVIDER_BASE_URL") != "" && cmp.Or(env("COPILOT_PROVIDER_TYPE"), "openai") == kind
	}
}

// ProxySetups are the setups of clients, with the most common clients first. Some clients append a
// version to the address and some don't. The proxy accepts both.
var ProxySetups = []ProxySetup{
	{
		Client: MustFind("claude-code"), Known: Ran, Commands: []string{"claude", "@anthropic-ai/claude-code"},
		Vars: []Var{
			{Name: "ANTHROPIC_BASE_URL", Value: "{anthropic}"}, toolSearch,
			{Name: "ANTHROPIC_BEDROCK_BASE_URL", Value: "{bedrock}"}, {Name: "ANTHROPIC_VERTEX_BASE_URL", Value: "{vertex}/v1"},
		},
		Remarks: []string{
			"The proxy forwards an API key or a subscription login unchanged; the login was tested with a made-up token.",
			"Bedrock needs AWS_BEARER_TOKEN_BEDROCK, because an AWS signature is valid only for the host that it was made for. The settings for Bedrock and Vertex were found in the program and are untested.",
		},
	},
	{
		Client: MustFind("codex"), Known: Ran, Commands: []string{"codex", "@openai/codex"},
		Args: []string{"-c", `openai_base_url="{openai}"`},
		Remarks: []string{
			"No variable sets the address. A ChatGPT login works too: its requests name the account, and the proxy sends them to chatgpt.com. This was tested with a made-up login.",
			"If config.toml defines your own model provider, change its base_url instead.",
		},
	},
	{
		Client: MustFind("gemini-cli"), Known: Ran, Commands: []string{"gemini", "@google/gemini-cli"},
		Vars: []Var{{Name: "GOOGLE_GEMINI_BASE_URL", Value: "{gemini}"}, {Name: "GOOGLE_VERTEX_BASE_URL", Value: "{vertex}"}, {Name: "CODE_ASSIST_ENDPOINT", Value: "{code-assist}"}},
		Settings: Settings{
			File: "~/.gemini/settings.json", JSON: []string{`{"security":{"auth":{"selectedType":"gemini-api-key"}}}`},
			Variable: "GEMINI_CLI_HOME", Needs: "GEMINI_API_KEY",
		},
		Remarks: []string{
			"With an API key but without these settings, Gemini CLI treats the address as a gateway and exits with code 41.",
			"With a Google login, Gemini CLI uses only CODE_ASSIST_ENDPOINT; this was tested with a made-up token. The variable for Vertex was found in the source code and is untested.",
		},
	},
	{
		Client: MustFind("qwen-code"), Known: Ran, Commands: []string{"qwen", "@qwen-code/qwen-code"},
		Vars:    []Var{{Name: "OPENAI_BASE_URL", Value: "{openai}"}},
		Args:    []string{"--auth-type", "openai"},
		Remarks: []string{"Set the model in OPENAI_MODEL. For Qwen's own service, use --to openai=https://dashscope-intl.aliyuncs.com/compatible-mode/v1"},
	},
	{
		Client: MustFind("opencode"), Known: Ran, Commands: []string{"opencode", "opencode-ai"},
		Settings: Settings{
			File: "opencode.json",
			JSON: []string{
				`{"provider":{"anthropic":{"options":{"baseURL":"{anthropic}/v1"}}}}`,
				`{"provider":{"openai":{"options":{"baseURL":"{openai}"}}}}`,
				`{"provider":{"google":{"options":{"baseURL":"{gemini}/v1beta"}}}}`,
			},
			Variable: "OPENCODE_CONFIG_CONTENT", Inline: true,
		},
	},
	{
		Client: MustFind("crush"), Known: Read, Commands: []string{"crush", "@charmland/crush"},
		Vars:    []Var{{Name: "ANTHROPIC_API_ENDPOINT", Value: "{anthropic}"}, {Name: "OPENAI_API_ENDPOINT", Value: "{openai}"}, {Name: "GEMINI_API_ENDPOINT", Value: "{gemini}"}},
		Remarks: []string{"For your own provider, set base_url in crush.json."},
	},
	{
		Client: MustFind("goose"), Known: Documented, Commands: []string{"goose"},
		Vars: []Var{{Name: "ANTHROPIC_HOST", Value: "{anthropic}"}, {Name: "OPENAI_HOST", Value: "{openai}"}, {Name: "GOOGLE_HOST", Value: "{gemini}"}, {Name: "OLLAMA_HOST", Value: "{ollama}"}},
	},
	{
		Client: MustFind("aider"), Known: Read, Commands: []string{"aider"},
		Vars: []Var{{Name: "OPENAI_API_BASE", Value: "{openai}"}, {Name: "ANTHROPIC_BASE_URL", Value: "{anthropic}"}, {Name: "OLLAMA_API_BASE", Value: "{ollama}"}},
	},
	{
		Client: MustFind("continue"), Known: Ran, Commands: []string{"cn", "@continuedev/cli"},
		Remarks: []string{"config.yaml: apiBase: {openai}/v1 for an OpenAI model", "config.yaml: apiBase: {anthropic}/v1 for an Anthropic model"},
	},
	{
		Client: MustFind("cline"), Known: Ran, Commands: []string{"cline"},
		Tunnel:  []Var{{Name: "CLINE_SESSION_BACKEND_MODE", Value: "local", Why: "Cline's background process would keep using the tunnel after its run has ended"}},
		Remarks: []string{"cline auth -p openai-native -k KEY -m MODEL -b {openai}/v1; Cline has no option for Anthropic's address."},
	},
	{
		Client: MustFind("pi"), Known: Ran, Commands: []string{"pi", "@mariozechner/pi-coding-agent"},
		Settings: Settings{
			File: "~/.pi/agent/models.json",
			JSON: []string{
				`{"providers":{"anthropic":{"baseUrl":"{anthropic}"}}}`, `{"providers":{"openai":{"baseUrl":"{openai}/v1"}}}`,
				`{"providers":{"google":{"baseUrl":"{gemini}/v1beta"}}}`,
			},
			Flag:      "--extension",
			Extension: "export default function (pi) {\n\tfor (const [name, o] of Object.entries((%s).providers)) pi.registerProvider(name, o);\n}",
		},
		Remarks: []string{"No variable sets the address. toolscope run passes --extension with a file for this run, which sets the same addresses; this was tested with pi 0.73.1 and Anthropic. The settings for OpenAI and Google come from pi's documentation and are untested."},
	},
	{
		Client: MustFind("copilot"), Known: Ran, Commands: []string{"copilot", "@github/copilot"},
		Vars: []Var{
			{Name: "COPILOT_PROVIDER_BASE_URL", Value: "{openai}/v1", Needs: copilotUses("openai")},
			{Name: "COPILOT_PROVIDER_BASE_URL", Value: "{anthropic}", Needs: copilotUses("anthropic")},
		},
		Remarks: []string{
			"You need your own provider: set COPILOT_PROVIDER_TYPE to openai or anthropic, and COPILOT_MODEL to the model's name. toolscope run replaces your COPILOT_PROVIDER_BASE_URL, and the proxy forwards the requests to the URL that you set.",
			"With a GitHub login, no variable or flag changes the address. The setting for Anthropic was tested. The setting for OpenAI comes from Copilot's help and is untested.",
		},
	},
	{
		Client: MustFind("kimi"), Known: Ran, Commands: []string{"kimi", "@moonshot-ai/kimi-code"},
		Vars:    []Var{{Name: "KIMI_MODEL_BASE_URL", Value: "{openai}/v1", Needs: func(env func(string) string) bool { return env("KIMI_MODEL_NAME") != "" }}},
		Remarks: []string{"Set KIMI_MODEL_NAME, KIMI_MODEL_API_KEY and KIMI_MODEL_PROVIDER_TYPE=openai. With Kimi's own login, no variable or flag changes the address."},
	},
	{
		Client: MustFind("droid"), Known: Documented, Commands: []string{"droid", "@factory/cli"},
		Remarks: []string{`In ~/.factory/settings.json, add an entry to customModels with "baseUrl":"{openai}/v1" and "provider":"generic-chat-completion-api". Then run droid -m custom:NAME-0`},
	},
	{
		Client: MustFind("kilo"), Known: Documented, Commands: []string{"kilo", "kilocode", "@kilocode/cli"},
		Settings: Settings{
			File: "kilo.json",
			JSON: []string{
				`{"provider":{"anthropic":{"options":{"baseURL":"{anthropic}/v1"}}}}`,
				`{"provider":{"openai":{"options":{"baseURL":"{openai}"}}}}`,
			},
			Variable: "KILO_CONFIG_CONTENT", Inline: true,
		},
		Remarks: []string{"The address of Kilo's own gateway can't be changed: choose a model from another provider. toolscope run and toolscope proxy --print-env set KILO_CONFIG_CONTENT, which comes from Kilo's documentation and is untested."},
	},
	{Client: MustFind("amp"), Known: Documented, Commands: []string{"amp", "@sourcegraph/amp"}, Remarks: []string{"Amp sends requests to its own server, which calls the model. No variable or flag changes that."}},
	{Client: MustFind("antigravity"), Known: Documented, Commands: []string{"agy"}, Remarks: []string{"No known variable or flag sets the address of Antigravity CLI."}},
	{Client: MustFind("roo-code"), Known: Documented, Remarks: []string{"In the settings, set the base URL for Anthropic: {anthropic}", "In the settings, set the base URL for OpenAI: {openai}"}},
	{Client: MustFind("zed"), Known: Documented, Remarks: []string{"settings.json: language_models.anthropic.api_url: {anthropic}", "settings.json: language_models.openai.api_url: {openai}"}},
	{Client: MustFind("cursor"), Known: Documented, Commands: []string{"cursor-agent"}, Remarks: []string{"Cursor's requests come from Cursor's own servers, which can't reach this machine."}},
	{
		Client: MustFind("anthropic-sdk"), Known: Ran, Vars: []Var{{Name: "ANTHROPIC_BASE_URL", Value: "{anthropic}"}},
	},
	{
		Client: MustFind("openai-sdk"), Known: Ran, Vars: []Var{{Name: "OPENAI_BASE_URL", Value: "{openai}"}, {Name: "AZURE_OPENAI_ENDPOINT", Value: "{azure}"}},
	},
	{
		Client: MustFind("google-genai"), Known: Ran, Vars: []Var{{Name: "GOOGLE_GEMINI_BASE_URL", Value: "{gemini}"}, {Name: "GOOGLE_VERTEX_BASE_URL", Value: "{vertex}"}},
	},
	{
		Client: MustFind("aws-sdk"), Known: Ran, Vars: []Var{{Name: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", Value: "{bedrock}"}},
		Remarks: []string{"The proxy serves Bedrock if AWS_REGION is set. Bedrock needs AWS_BEARER_TOKEN_BEDROCK, because an AWS signature is valid only for the host that it was made for."},
	},
	{
		Client: MustFind("ai-sdk"), Known: Ran, Vars: []Var{{Name: "OPENAI_BASE_URL", Value: "{openai}"}, {Name: "ANTHROPIC_BASE_URL", Value: "{anthropic}"}},
		Remarks: []string{"For Google, Mistral and Cohere, set the URL in code, for example: createGoogleGenerativeAI({ baseURL: '{gemini}/v1beta' })"},
	},
	{Client: MustFind("mastra"), Known: Read, Vars: []Var{{Name: "OPENAI_BASE_URL", Value: "{openai}"}, {Name: "ANTHROPIC_BASE_URL", Value: "{anthropic}"}}},
	{
		Client: MustFind("langchain-js"), Known: Read,
		Vars:    []Var{{Name: "OPENAI_BASE_URL", Value: "{openai}"}, {Name: "ANTHROPIC_BASE_URL", Value: "{anthropic}"}, {Name: "OLLAMA_BASE_URL", Value: "{ollama}"}},
		Remarks: []string{"For Google, in code: new ChatGoogleGenerativeAI({ baseUrl: '{gemini}' })"},
	},
	{
		Client: MustFind("langchain"), Known: Read,
		Vars: []Var{{Name: "OPENAI_API_BASE", Value: "{openai}"}, {Name: "ANTHROPIC_API_URL", Value: "{anthropic}"}, {Name: "ANTHROPIC_BASE_URL", Value: "{anthropic}"}},
	},
	{Client: MustFind("llamaindex"), Known: Documented, Vars: []Var{{Name: "OPENAI_API_BASE", Value: "{openai}"}}},
	{Client: MustFind("litellm"), Known: Documented, Vars: []Var{{Name: "OPENAI_API_BASE", Value: "{openai}"}, {Name: "ANTHROPIC_BASE_URL", Value: "{anthropic}"}, {Name: "OLLAMA_API_BASE", Value: "{ollama}"}}},
	{Client: MustFind("pydantic-ai"), Known: Read, Vars: []Var{{Name: "OPENAI_BASE_URL", Value: "{openai}"}, {Name: "ANTHROPIC_BASE_URL", Value: "{anthropic}"}}},
	{Client: MustFind("openai-agents"), Known: Read, Vars: []Var{{Name: "OPENAI_BASE_URL", Value: "{openai}"}}, Remarks: []string{"For WebSockets: OPENAI_WEBSOCKET_BASE_URL, the same URL with ws:// instead of http://"}},
	{Client: MustFind("crewai"), Known: Read, Vars: []Var{{Name: "OPENAI_BASE_URL", Value: "{openai}"}, {Name: "OPENAI_API_BASE", Value: "{openai}"}}},
	{Client: MustFind("ollama-sdk"), Known: Documented, Vars: []Var{{Name: "OLLAMA_HOST", Value: "{ollama}"}}, Remarks: []string{"Only Python reads the variable. In JavaScript: new Ollama({ host: '{ollama}' })"}},
	{Client: MustFind("cohere-sdk"), Known: Documented, Vars: []Var{{Name: "CO_API_URL", Value: "{cohere}"}}, Remarks: []string{"Only the Python SDK reads the variable."}},
	{Client: MustFind("mistral-sdk"), Known: Read, Remarks: []string{"No variable sets the URL. In code: new Mistral({ serverURL: '{mistral}' })"}},
	{Client: MustFind("groq-sdk"), Known: Read, Vars: []Var{{Name: "GROQ_BASE_URL", Value: "{groq}"}}},
	{Client: MustFind("cerebras-sdk"), Known: Read, Vars: []Var{{Name: "CEREBRAS_BASE_URL", Value: "{cerebras}"}}},
	{Client: MustFind("together-sdk"), Known: Read, Vars: []Var{{Name: "TOGETHER_BASE_URL", Value: "{together}"}}},
	{Client: MustFind("spring-ai"), Known: Documented, Remarks: []string{"spring.ai.anthropic.base-url={anthropic}", "spring.ai.openai.base-url={openai}"}},
	{Client: MustFind("langchain4j"), Known: Documented, Remarks: []string{"In code: .baseUrl(\"{anthropic}/v1\")", "In code: .baseUrl(\"{openai}\")"}},
	{Client: MustFind("semantic-kernel"), Known: Documented, Remarks: []string{"In code, set the endpoint of a connector: {openai}"}},
}
