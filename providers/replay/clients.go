package replay

import "toolscope/providers/client"

// Names of the protocols that clients use.
const (
	chat      = "openai-chat"
	responses = "openai-responses"
	messages  = "anthropic"
	gemini    = "gemini"
	ollama    = "ollama"
	bedrock   = "bedrock"
)

// clients lists the policies of clients, agents first.
var clients = []Policy{
	{
		Name: "claude-code", Known: client.Ran, targets: []string{messages}, own: true, way: claudeCodeRule,
		Description: `arguments that don't parse are sent as {"__unparsedToolInput": {"raw": …, "len": …}}, with the text cut at 2,048 characters; null as {}; other values that are not an object unchanged, which is refused; __proto__ is left out`,
	},
	{
		Name: "codex", Known: client.Ran, targets: []string{responses}, own: true, way: codexRule, shapes: codexShapes,
		Description: "the text goes back unchanged",
	},
	{
		Name: "gemini-cli", Known: client.Ran, targets: []string{gemini}, own: true, way: geminiCLIRule, shapes: callTemplates{gemini: signed},
		Description: "the value goes back as JSON.parse and JSON.stringify leave it; null is left out",
	},
	{
		Name: "qwen-code", Known: client.Ran, targets: []string{chat}, own: true, way: qwenCodeRule,
		Description: "a value goes back as JSON.parse and JSON.stringify leave it, null as {}; text that doesn't parse goes through jsonrepair, which is not predicted here; a call without arguments is ignored",
	},
	{
		Name: "opencode", Known: client.Ran, targets: []string{chat, responses, messages}, own: true, way: opencodeRule, shapes: callTemplates{responses: plainResponses},
		Description: `arguments that don't parse become a call of the tool invalid, {"tool": …, "error": …}, with the parser's error; a value that is not an object becomes {"value": …}`,
	},
	{
		Name: "continue", Known: client.Ran, targets: []string{chat, messages}, own: true, way: continueCLIRule,
		Description: "arguments that don't parse are sent as {}; an array stays an array",
	},
	{
		Name: "cline", Known: client.Ran, targets: []string{chat, responses}, own: true, way: clineRule, shapes: callTemplates{responses: plainResponses},
		Description: "arguments that don't parse are repaired by jsonrepair, which is not predicted here, or sent as {}; an array stays an array, and is run as commands",
	},
	{
		Name: "crush", Known: client.Read, targets: []string{chat, responses, messages, gemini}, way: crushRule,
		Description: "arguments that don't parse are sent as {}; other values that are not an object unchanged to providers that take text, as {} to Anthropic, and not at all to Gemini; fields are sorted for providers that take objects",
	},
	{
		Name: "openclaw", Known: client.Read,
		Description: "providers that take text get the raw text; those that take objects get the object in it, or {} if it holds none",
		text:        keep, object: unwrap, reasoningAsText: true, fillsIn: true,
	},
	{
		Name: "ai-sdk", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{}.sendCall, shapes: aiSDKShapes,
		Description: `streamText with tools: arguments that don't parse are sent as {}; values that are not an object unchanged to Responses and Gemini, as {"rawInvalidInput": …} to Anthropic and Bedrock, as {} to Chat; an object in a string is unwrapped`,
	},
	{
		Name: "ai-sdk-ui", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{page: true}.sendCall, shapes: aiSDKShapes,
		Description: `useChat history: arguments that don't parse are sent as a string to Responses and Gemini, as {"rawInvalidInput": "…"} to Anthropic and Bedrock, as {} to Chat; the rest as in ai-sdk`,
	},
	{
		Name: "ai-sdk-6", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{six: true}.sendCall, shapes: aiSDKShapes,
		Description: "as ai-sdk, but values that are not an object go unchanged to Anthropic, which refuses them",
	},
	{
		Name: "ai-sdk-6-ui", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{page: true, six: true}.sendCall, shapes: aiSDKShapes,
		Description: "as ai-sdk-ui, but values that are not an object go unchanged to Anthropic, which refuses them",
	},
	{
		Name: "mastra", Known: client.Ran, targets: []string{chat, responses, messages, gemini}, own: true, way: mastraRule, shapes: aiSDKShapes,
		Description: "arguments that don't parse are repaired if quotes or commas are wrong, and otherwise sent as {}, and the tool runs with {}; null is left out for Anthropic, which refuses that; an array stays an array, except for Chat, which gets {}; an object in a string is unwrapped",
	},
	{
		Name: "langchain-js", Known: client.Ran, targets: []string{chat, responses, messages, gemini, ollama}, way: langChainJSRule, shapes: langChainShapes, idless: []string{gemini},
		Description: "JSON that was cut is closed; other text that is not an object goes back raw to the OpenAI protocol that it came from, as {} or unchanged from Anthropic to Anthropic; otherwise the call is left out and its result stays",
	},
	{
		Name: "llamaindex-ts", Known: client.Ran, targets: []string{chat}, own: true, way: llamaIndexTSRule,
		Description: `arguments that don't parse throw; the content of a string is parsed again, and sent as {"rawInput": …} if it is not JSON`,
	},
	{
		Name: "litellm", Known: client.Documented, targets: []string{chat, messages}, way: pythonStrict,
		Description: "providers that take text get the raw text; for Anthropic, arguments that don't parse raise an error, and the request fails",
	},
	{
		Name: "pydantic-ai", Known: client.Read, way: pydanticAIRule, targets: []string{chat, responses, messages, gemini, bedrock, "cohere"},
		Description: `arguments that are not an object are sent as {"INVALID_JSON": "…"}, to every provider`,
	},
	{
		Name: "openai-agents-js", Known: client.Ran, targets: []string{chat, responses}, way: asItCame, shapes: agentsShapes,
		Description: "the text goes back unchanged",
	},
	{
		Name: "openai-agents", Known: client.Read, targets: []string{chat, responses}, way: openAIAgentsRule,
		Description: "the text goes back unchanged; Chat gets {} if it is empty",
	},
	{
		Name: "pi", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: piRule, shapes: callTemplates{gemini: argsFirst}, joins: []string{messages, bedrock}, idless: []string{gemini},
		Description: "strings are repaired and cut JSON is closed; malformed text is sent up to the error; a value that is not an object stays as it is; for Bedrock, this was read in the source",
	},
	{
		Name: "fantasy", Known: client.Read, targets: []string{chat, responses, messages, gemini}, way: fantasyRule,
		Description: "providers that take text get the raw text; arguments that are not an object are sent as {} to Anthropic, with a warning, and not at all to Gemini; fields are sorted for providers that take objects",
	},
	{
		Name: "langchain", Known: client.Read, targets: []string{chat}, way: langChainRule, shapes: callTemplates{chat: typeFirst}, unsigned: true,
		Description: "for Python: JSON that was cut is closed, or shortened until it parses; other text that is not an object goes back raw, after the complete calls",
	},
	{
		Name: "smolagents", Known: client.Read, asText: true,
		Description: "the call is sent as text, Calling tools: and a list as Python writes it, its result as Observation: …; text that doesn't parse stays a string in it, and a string that holds a list or an object is parsed",
	},
	{
		Name: "crewai", Known: client.Read, targets: []string{chat, messages}, way: pythonStrict,
		Description: "providers that take text get the raw text; for Anthropic, arguments that don't parse raise an error",
	},
	{
		Name: "semantic-kernel", Known: client.Read, targets: []string{chat, messages, gemini, bedrock, ollama}, way: pythonStrict,
		Description: "for Python: providers that take text get the raw text; for others, arguments that don't parse raise an error",
	},
	{
		Name: "spring-ai", Known: client.Read, targets: []string{chat, messages, gemini, bedrock}, way: springAIRule,
		Description: `providers that take text get the raw text; arguments that are not an object are sent as {} to Anthropic; to Gemini, a value is sent as {"result": …}; otherwise it throws`,
	},
	{
		Name: "langchain4j", Known: client.Read, targets: []string{chat, messages, gemini, bedrock, ollama}, way: langChain4jRule,
		Description: "providers that take text get the raw text; for Anthropic it is pasted into the body, which breaks if it is not JSON; for others it throws",
	},
	{
		Name: "anthropic-js", Known: client.Ran, own: true, targets: []string{messages}, way: anthropicJSRule,
		Description: "JSON that was cut loses its last token and is closed; a value that is not an object stays as it is; otherwise the stream throws",
	},
	{
		Name: "openai-js", Known: client.Ran, own: true, targets: []string{chat, responses}, way: asItCame, shapes: openAIShapes,
		Description: "the text goes back unchanged",
	},
	{
		Name: "google-genai-js", Known: client.Ran, own: true, targets: []string{gemini}, way: throughJSON, shapes: callTemplates{gemini: argsFirstID},
		Description: "the value goes back as JSON.parse and JSON.stringify leave it; null is left out",
	},
}

// policiesNamed sets the client of each policy by its name.
func policiesNamed(all []Policy) []Policy {
	for i := range all {
		all[i].Client = client.MustFind(all[i].Name)
	}
	return all
}
