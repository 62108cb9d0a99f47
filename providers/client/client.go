// Package client describes the programs that call providers: agents, and the libraries that agents use.
//
// A client has the same name on the command line and in JSON. The settings that send a client's requests to a
// proxy are in points.go. A [Provenance] is the source of a fact.
package client

import (
	"slices"

	"toolscope/providers/protocol"
)

// A Client is a program or library that sends requests to providers.
type Client struct {
	Name    string // the name on the command line and in JSON: lower case, with hyphens
	Title   string // the usual spelling
	Version string // the version that the facts apply to; "" if they don't apply to a particular version
}

// Provenance is the source of a fact about a client. The best source comes first.
type Provenance uint8

const (
	Ran        Provenance = iota // observed in a run of the client
	Read                         // read in the client's source
	Documented                   // stated by the client's authors or users
	Assumed                      // concluded from runs with other protocols
)

func (k Provenance) String() string {
	return [...]string{"ran", "read in its source", "documented", "assumed"}[k]
}

// Word returns the provenance as one word.
func (k Provenance) Word() string { return [...]string{"ran", "read", "documented", "assumed"}[k] }

// All lists the known clients. Most agents come before the libraries.
var All = []Client{
	{"claude-code", "Claude Code", "2.1.330"},
	{"codex", "Codex", "0.169.0"},
	{"gemini-cli", "Gemini CLI", "0.61.0"},
	{"qwen-code", "Qwen Code", "0.15.10"},
	{"opencode", "opencode", "1.18.33"},
	{"continue", "Continue", "1.5.47"},
	{"cline", "Cline", "3.0.65"},
	{"roo-code", "Roo Code", ""},
	{"crush", "Crush", ""},
	{"goose", "goose", ""},
	{"copilot", "Copilot CLI", "1.0.102"},
	{"kimi", "Kimi Code", "2.1.0"},
	{"droid", "Factory droid", "0.215.0"},
	{"kilo", "Kilo Code", "7.8.1"},
	{"amp", "amp", ""},
	{"antigravity", "Antigravity CLI", ""},
	{"aider", "aider", ""},
	{"openclaw", "OpenClaw", ""},
	{"zed", "Zed", ""},
	{"cursor", "Cursor", ""},
	{"ai-sdk", "AI SDK", "7.0.173"},
	{"ai-sdk-ui", "AI SDK useChat", "7.0.173"},
	{"ai-sdk-6", "AI SDK 6", "6.0.326"},
	{"ai-sdk-6-ui", "AI SDK 6 useChat", "6.0.326"},
	{"mastra", "Mastra", "1.71.0"},
	{"langchain-js", "LangChain JS", "1.4.0"},
	{"langchain", "LangChain", ""},
	{"llamaindex-ts", "LlamaIndex TS", "0.12.1"},
	{"llamaindex", "LlamaIndex", ""},
	{"litellm", "LiteLLM", ""},
	{"pydantic-ai", "Pydantic AI", "2.33"},
	{"openai-agents-js", "OpenAI Agents JS", "0.20.0"},
	{"openai-agents", "OpenAI Agents", ""},
	{"pi", "pi", "1.5.2"},
	{"fantasy", "fantasy", ""},
	{"smolagents", "smolagents", ""},
	{"crewai", "CrewAI", ""},
	{"semantic-kernel", "Semantic Kernel", ""},
	{"spring-ai", "Spring AI", ""},
	{"langchain4j", "LangChain4j", ""},
	{"anthropic-js", "Anthropic SDK for JavaScript", "1.14.0"},
	{"anthropic-sdk", "Anthropic SDKs", ""},
	{"openai-js", "OpenAI SDK for JavaScript", "7.57.0"},
	{"openai-sdk", "OpenAI SDKs", ""},
	{"google-genai-js", "Google Gen AI SDK for JavaScript", "3.3.0"},
	{"google-genai", "Google Gen AI SDKs", ""},
	{"mistral-sdk", "Mistral SDKs", ""},
	{"ollama-sdk", "Ollama SDKs", ""},
	{"cohere-sdk", "Cohere SDKs", ""},
	{"groq-sdk", "Groq SDKs", ""},
	{"cerebras-sdk", "Cerebras SDKs", ""},
	{"together-sdk", "Together SDKs", ""},
	{"aws-sdk", "AWS SDKs", ""},
}

// Find returns the client with the given name. If there is none, the error lists the known names.
func Find(name string) (*Client, error) {
	return protocol.FindNamed("client", name, All, func(c *Client) string { return c.Name })
}

// MustFind returns the client with the given name, and panics if All doesn't contain it. The tables of
// facts use it.
func MustFind(name string) *Client {
	c, err := Find(name)
	if err != nil {
		panic(err)
	}
	return c
}

// MCPSetup describes how to add an MCP server to a client, and how to record the traffic of the MCP servers
// that a client starts.
type MCPSetup struct {
	Adds     string     // a command line or settings line that adds the server toolscope; {command} is the server's command line
	Setting  string     // the setting that adds the server; {program}, {args} and {list} are parts of its command, as JSON
	FileFlag string     // a flag for one run, ending with = or @; its value is a file with a setting like [OtherServers]
	Adding   Provenance // source of these facts

	Method       WrapMethod
	ListArgs     []string // arguments that make the client list its servers as JSON, for [ByFlags] and [BySettings]
	UserFiles    []string // the user's settings files that list servers, relative to the home folder
	ProjectFiles []string // the project's settings files that list servers, relative to the working folder
	Remark       string
}

// WrapMethod is the method by which toolscope records the traffic of MCP servers.
type WrapMethod uint8

// The values of WrapMethod.
const (
	ByUser     WrapMethod = iota // the user adds a prefix to the server's command
	ByPrefix                     // a variable names a program that runs the command line of each server and shell command
	ByFlags                      // flags that override the user's settings
	BySettings                   // settings that toolscope passes to the client for this run only
)

// mcpSetups maps clients to their setups. Users of other clients change the settings by hand.
var mcpSetups = map[string]MCPSetup{
	"claude-code": {
		Adds: "claude mcp add toolscope -- {command}", FileFlag: "--mcp-config=",
		Method: ByPrefix, UserFiles: []string{".claude.json"}, ProjectFiles: []string{".mcp.json"},
		Remark: "toolscope run sets CLAUDE_CODE_SHELL_PREFIX, so that Claude Code starts its servers and shell commands through toolscope. This doesn't work on Windows or for servers over HTTP.",
	},
	"codex": {
		Adds:   "codex mcp add toolscope -- {command}",
		Method: ByFlags, ListArgs: []string{"mcp", "list", "--json"},
		Remark: "toolscope run passes -c mcp_servers.NAME.command and .args, which put 'toolscope mcp' before the command of each server that Codex starts. It also passes .url, which points servers over HTTP at the proxy if they need no login.",
	},
	"opencode": {
		Setting: `{"mcp":{"toolscope":{"type":"local","command":{list}}}}`,
		Method:  BySettings, ListArgs: []string{"debug", "config"},
		Remark: "toolscope run sets OPENCODE_CONFIG_CONTENT, which puts 'toolscope mcp' before the command of each server that OpenCode starts. The setting also points servers over HTTP at the proxy if they need no login.",
	},
	"gemini-cli": {
		Adds: "gemini mcp add toolscope {command}", Setting: OtherServers,
		Method: ByUser, UserFiles: []string{".gemini/settings.json"}, ProjectFiles: []string{".gemini/settings.json"},
		Remark: "no flag or variable overrides the client's settings, so toolscope run prints the lines to add to them for each server that the client starts.",
	},
	"qwen-code": {
		Adds: "qwen mcp add toolscope {command}", FileFlag: "--mcp-config=",
		Method: ByUser, UserFiles: []string{".qwen/settings.json"}, ProjectFiles: []string{".qwen/settings.json"},
		Remark: "no flag or variable overrides the client's settings, so toolscope run prints the lines to add to them for each server that the client starts.",
	},
	"copilot": {Adds: "copilot mcp add toolscope -- {command}", FileFlag: "--additional-mcp-config=@"},
	"crush":   {Adds: `crush.json: {"mcp":{"toolscope":{"type":"stdio","command":{program},"args":{args}}}}`, Adding: Documented},
	"kilo":    {Adding: Documented, Setting: `{"mcp":{"toolscope":{"type":"local","command":{list}}}}`},
}

// OtherServers is the setting that adds a server to most clients.
const OtherServers = `{"mcpServers":{"toolscope":{"command":{program},"args":{args}}}}`

// Servers returns the MCP setup of the client. The setup is empty if none is known.
func (p *ProxySetup) Servers() MCPSetup { return mcpSetups[p.Name] }

// RunHabit describes when a client runs a call of a protocol, once the call's arguments are complete.
type RunHabit struct {
	Client    string
	Protocols []string
	When      RunMoment
	Cut       RunCount // how many times the client runs the call if the token limit cut off the response after the call
	Broken    RunCount // how many times the client runs the call if the connection broke after the call
	Known     Provenance
	Bare      RunCount // how many times the client runs the call if the response ended after the call, without a finish reason
}

// RunMoment is the moment at which a client runs a call.
type RunMoment uint8

// The values of RunMoment.
const (
	AtBlock RunMoment = iota // when the call is complete, while the response is still streaming
	AtStop                   // when the response has ended
	ByHand                   // never: the program that uses the library runs it
)

// RunCount is the number of times that a client runs a call.
type RunCount uint8

// The values of RunCount.
const (
	Unknown RunCount = iota
	Never
	Once
	Twice // the client retries the request and runs the call again
)

// runHabits are the known habits. Clients with the provenance Ran were tested with the version in All.
// Each of them got three responses: a complete call followed by a pause, a complete call followed by the
// finish reason for the token limit, and a complete call after which the connection was cut off. Libraries in
// JavaScript also got a response that ends after the call.
var runHabits = []RunHabit{
	{"claude-code", []string{"anthropic"}, AtBlock, Once, Once, Ran, Unknown},
	{"codex", []string{"openai-responses"}, AtBlock, Once, Once, Ran, Unknown},
	{"opencode", []string{"anthropic", "openai-chat"}, AtBlock, Once, Twice, Ran, Unknown},
	{"opencode", []string{"openai-responses"}, AtBlock, Never, Twice, Ran, Unknown},
	{"mastra", []string{"anthropic"}, AtBlock, Once, Once, Ran, Unknown},
	{"mastra", []string{"openai-chat"}, AtStop, Once, Unknown, Ran, Once},
	{"gemini-cli", []string{"gemini"}, AtStop, Once, Never, Ran, Unknown},
	{"qwen-code", []string{"openai-chat"}, AtStop, Once, Never, Ran, Unknown},
	{"continue", []string{"openai-chat", "anthropic"}, AtStop, Once, Never, Ran, Unknown},
	{"cline", []string{"openai-chat", "openai-responses"}, AtStop, Unknown, Unknown, Ran, Unknown},
	{"openai-agents-js", []string{"openai-chat"}, AtStop, Once, Never, Ran, Once},
	{"openai-agents-js", []string{"openai-responses"}, AtStop, Never, Never, Ran, Never},
	{"openai-js", []string{"openai-chat"}, AtStop, Never, Never, Ran, Never}, // version 6 also runs the call if the token limit cut off the response
	{"anthropic-js", []string{"anthropic"}, AtStop, Never, Never, Ran, Never},
	{"ai-sdk", []string{"anthropic", "openai-chat", "openai-responses", "gemini"}, AtStop, Never, Never, Ran, Never},
	{"langchain-js", common, ByHand, Unknown, Unknown, Ran, Unknown},
	{"pi", common, ByHand, Unknown, Unknown, Ran, Unknown},
	{"google-genai-js", []string{"gemini"}, ByHand, Unknown, Unknown, Ran, Unknown},
	{"cohere-sdk", []string{"cohere"}, ByHand, Unknown, Unknown, Ran, Unknown},
	{"mistral-sdk", []string{"openai-chat"}, ByHand, Unknown, Unknown, Ran, Unknown},
	{"ollama-sdk", []string{"ollama"}, ByHand, Unknown, Unknown, Ran, Unknown},
	{"aws-sdk", []string{"bedrock"}, ByHand, Unknown, Unknown, Ran, Unknown},
	{"pydantic-ai", common, AtStop, Unknown, Unknown, Documented, Unknown},
	{"smolagents", common, AtStop, Unknown, Unknown, Documented, Unknown},
	{"crewai", common, AtStop, Unknown, Unknown, Documented, Unknown},
	{"semantic-kernel", common, AtStop, Unknown, Unknown, Documented, Unknown},
	{"spring-ai", common, AtStop, Unknown, Unknown, Documented, Unknown},
	{"langchain4j", common, AtStop, Unknown, Unknown, Documented, Unknown},
}

// common are the protocols of frameworks that support any provider.
var common = []string{"anthropic", "openai-chat", "openai-responses", "gemini"}

// agents are programs that people use directly. A request that names an agent comes from that agent. A request that
// names a library may come from any program that uses the library, and such programs run calls at different moments.
var agents = []string{"claude-code", "codex", "gemini-cli", "qwen-code", "opencode", "continue", "cline"}

// RunHabitsOf returns the known habits for calls of a protocol. If a request names an agent with a known habit,
// RunHabitsOf returns only that habit, and own is true.
func RunHabitsOf(dialect, named string) (all []RunHabit, own bool) {
	for _, r := range runHabits {
		switch {
		case !slices.Contains(r.Protocols, dialect):
		case r.Client == named && slices.Contains(agents, named):
			return []RunHabit{r}, true
		default:
			all = append(all, r)
		}
	}
	return all, false
}

// A Release is a version of a client.
type Release struct {
	Version string
	Day     string // day of its publication, e.g. 2026-09-08
}

// newer maps clients that were run to the first later version, which was not run. On 2026-11-27, only these clients
// had later versions in the npm registry.
var newer = map[string]Release{
	"claude-code": {"2.1.331", "2026-11-23"},
	"codex":       {"0.171.0", "2026-11-20"},
	"qwen-code":   {"0.23.0", "2026-09-08"},
}

// Newer returns the first version after the one that was run; ok is false if none is known.
func (c *Client) Newer() (r Release, ok bool) {
	r, ok = newer[c.Name]
	return r, ok
}

// nodes maps each client that needs a later version of Node than 20 to that version.
var nodes = map[string]string{
	"claude-code": "22", "ai-sdk": "22", "ai-sdk-ui": "22", "mastra": "22.13", "pi": "22.19", "openai-js": "22", "google-genai-js": "22",
}

// Node returns the version of Node that the client needs, or "" if Node 20 is enough.
func (c *Client) Node() string { return nodes[c.Name] }
