package replay

import "toolscope/providers/client"

// Dialects that clients speak.
const (
	chat      = "openai-chat"
	responses = "openai-responses"
	messages  = "anthropic"
	gemini    = "gemini"
	ollama    = "ollama"
	bedrock   = "bedrock"
)

// clients are the ways of clients, agents first.
var clients = []Policy{
	{
		Name: "openclaw", Known: client.Read,
		Does: "the raw text goes to providers that take text; the object it holds to those that take objects, {} when it holds none",
		text: keep, object: unwrap, reasoningAsText: true, fillsIn: true,
	},
	{
		Name: "ai-sdk", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{}.send,
		Does: `streamText with tools: what does not parse is sent as {}; what is no object to Responses and Gemini as it is, to Anthropic and Bedrock as {"rawInvalidInput": …}, to Chat as {}; an object in a string is unwrapped`,
	},
	{
		Name: "ai-sdk-ui", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{page: true}.send,
		Does: `useChat history: what does not parse is sent to Responses and Gemini as a string, to Anthropic and Bedrock as {"rawInvalidInput": "…"}, to Chat as {}; the rest as in ai-sdk`,
	},
	{
		Name: "ai-sdk-6", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{six: true}.send,
		Does: "as ai-sdk, but what is no object goes to Anthropic as it is, which refuses it",
	},
	{
		Name: "ai-sdk-6-ui", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{page: true, six: true}.send,
		Does: "as ai-sdk-ui, but what is no object goes to Anthropic as it is, which refuses it",
	},
	{
		Name: "langchain-js", Known: client.Ran, targets: []string{chat, responses, messages, gemini, ollama}, way: langChainJS,
		Does: "what was cut is closed; other text that is no object goes back raw to the protocol of OpenAI it came by, as {} or as it is from Anthropic to Anthropic, and else the call is left out and its result stays",
	},
	{
		Name: "pydantic-ai", Known: client.Read,
		Does: `what is no object is sent as {"INVALID_JSON": "…"}, to every provider`,
		text: wrap, object: wrap, key: "INVALID_JSON",
	},
	{
		Name: "openai-agents-js", Known: client.Ran, targets: []string{chat, responses}, way: asItCame,
		Does: "the text goes back as it came",
	},
	{
		Name: "pi", Known: client.Ran, targets: []string{chat, responses, messages, gemini}, way: pi,
		Does: "strings are mended, what was cut is closed, of what is wrong the part before it is sent; a value that is no object stays one",
	},
	{
		Name: "anthropic-js", Known: client.Ran, own: true, targets: []string{messages}, way: anthropicJS,
		Does: "what was cut loses its last token and is closed; a value that is no object stays one; else the stream throws",
	},
	{
		Name: "openai-js", Known: client.Ran, own: true, targets: []string{chat, responses}, way: asItCame,
		Does: "the text goes back as it came",
	},
	{
		Name: "google-genai-js", Known: client.Ran, own: true, targets: []string{gemini}, way: throughJSON,
		Does: "the value goes back as JSON.parse and JSON.stringify leave it; null is left out",
	},
}

// named are policies with the clients that they are named after.
func named(all []Policy) []Policy {
	for i := range all {
		all[i].Client = client.Must(all[i].Name)
	}
	return all
}
