// Package client describes the programs that call providers: agents, and the libraries they use.
//
// A client has one name on the command line, on the screen and in JSON. Each kind of fact about clients
// has its own file. Every fact has a provenance: Ran, Read or Documented.
package client

import "toolscope/providers/protocol"

// A Client is a program, or a library, that sends requests to providers.
type Client struct {
	Name    string // on the command line and in JSON: lower case, with hyphens
	Title   string // the usual spelling
	Version string // the version that the facts describe; "" if they describe no single version
}

// Provenance is the source of a fact about a client, from best to worst.
type Provenance uint8

const (
	Ran        Provenance = iota // observed in a run of the client
	Read                         // read in its source
	Documented                   // stated by its authors or users
)

func (k Provenance) String() string { return [...]string{"ran", "read in its source", "documented"}[k] }

// All lists the clients, agents first.
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
	{"pi", "pi", "0.74.2"},
	{"fantasy", "fantasy", ""},
	{"smolagents", "smolagents", ""},
	{"crewai", "CrewAI", ""},
	{"semantic-kernel", "Semantic Kernel", ""},
	{"spring-ai", "Spring AI", ""},
	{"langchain4j", "LangChain4j", ""},
	{"anthropic-js", "Anthropic SDK for JavaScript", "1.12.0"},
	{"anthropic-sdk", "Anthropic SDKs", ""},
	{"openai-js", "OpenAI SDK for JavaScript", "6.49.0"},
	{"openai-sdk", "OpenAI SDKs", ""},
	{"google-genai-js", "Google Gen AI SDK for JavaScript", "2.32.0"},
	{"google-genai", "Google Gen AI SDKs", ""},
	{"mistral-sdk", "Mistral SDKs", ""},
	{"ollama-sdk", "Ollama SDKs", ""},
	{"cohere-sdk", "Cohere SDKs", ""},
	{"groq-sdk", "Groq SDKs", ""},
	{"cerebras-sdk", "Cerebras SDKs", ""},
	{"together-sdk", "Together SDKs", ""},
	{"aws-sdk", "AWS SDKs", ""},
}

// Find returns the client with that name. The error lists the known names.
func Find(name string) (*Client, error) {
	return protocol.FindNamed("client", name, All, func(c *Client) string { return c.Name })
}

// MustFind returns the client with that name. It panics if All has none; the tables of facts use it.
func MustFind(name string) *Client {
	c, err := Find(name)
	if err != nil {
		panic(err)
	}
	return c
}
