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
		Name: "claude-code", Known: client.Ran, targets: []string{messages}, own: true, way: claudeCodeRule,
		Description: `what does not parse is sent as {"__unparsedToolInput": {"raw": …, "len": …}}, its text cut at 2,048 characters; null as {}; another value that is no object as it is, which is refused; __proto__ is left out`,
	},
	{
		Name: "codex", Known: client.Ran, targets: []string{responses}, own: true, way: codexRule, shapes: codexShapes,
		Description: "the text goes back as it came",
	},
	{
		Name: "gemini-cli", Known: client.Ran, targets: []string{gemini}, own: true, way: geminiCLIRule, shapes: callTemplates{gemini: signed},
		Description: "the value goes back as JSON.parse and JSON.stringify leave it; null is left out",
	},
	{
		Name: "qwen-code", Known: client.Ran, targets: []string{chat}, own: true, way: qwenCodeRule,
		Description: "a value goes back as JSON.parse and JSON.stringify leave it, null as {}; what does not parse goes through jsonrepair, which is not foretold here; a call without arguments is ignored",
	},
	{
		Name: "opencode", Known: client.Ran, targets: []string{chat, responses, messages}, own: true, way: opencodeRule, shapes: callTemplates{responses: plainResponses},
		Description: `what does not parse becomes a call of the tool invalid, {"tool": …, "error": …}, with the words of its parser; a value that is no object {"value": …}`,
	},
	{
		Name: "continue", Known: client.Ran, targets: []string{chat, messages}, own: true, way: continueCLIRule,
		Description: "what does not parse is sent as {}; an array stays one",
	},
	{
		Name: "cline", Known: client.Ran, targets: []string{chat, responses}, own: true, way: clineRule, shapes: callTemplates{responses: plainResponses},
		Description: "what does not parse is repaired by jsonrepair, which is not foretold here, or sent as {}; an array stays one, and is run as commands",
	},
	{
		Name: "crush", Known: client.Read, targets: []string{chat, responses, messages, gemini}, way: crushRule,
		Description: "what does not parse is sent as {}; another value that is no object as it is to providers that take text, as {} to Anthropic, and not at all to Gemini; members are sorted where an object must be",
	},
	{
		Name: "openclaw", Known: client.Read,
		Description: "the raw text goes to providers that take text; the object it holds to those that take objects, {} when it holds none",
		text:        keep, object: unwrap, reasoningAsText: true, fillsIn: true,
	},
	{
		Name: "ai-sdk", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{}.sendCall, shapes: aiSDKShapes,
		Description: `streamText with tools: what does not parse is sent as {}; what is no object to Responses and Gemini as it is, to Anthropic and Bedrock as {"rawInvalidInput": …}, to Chat as {}; an object in a string is unwrapped`,
	},
	{
		Name: "ai-sdk-ui", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{page: true}.sendCall, shapes: aiSDKShapes,
		Description: `useChat history: what does not parse is sent to Responses and Gemini as a string, to Anthropic and Bedrock as {"rawInvalidInput": "…"}, to Chat as {}; the rest as in ai-sdk`,
	},
	{
		Name: "ai-sdk-6", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{six: true}.sendCall, shapes: aiSDKShapes,
		Description: "as ai-sdk, but what is no object goes to Anthropic as it is, which refuses it",
	},
	{
		Name: "ai-sdk-6-ui", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{page: true, six: true}.sendCall, shapes: aiSDKShapes,
		Description: "as ai-sdk-ui, but what is no object goes to Anthropic as it is, which refuses it",
	},
	{
		Name: "mastra", Known: client.Ran, targets: []string{chat, responses, messages, gemini}, own: true, way: mastraRule, shapes: aiSDKShapes,
		Description: "what does not parse is repaired where quotes or commas are wrong, and else sent as {}, and the tool runs with {}; null is left out toward Anthropic, which refuses that; an array stays one but to Chat, where {} is sent; an object in a string is unwrapped",
	},
	{
		Name: "langchain-js", Known: client.Ran, targets: []string{chat, responses, messages, gemini, ollama}, way: langChainJSRule, shapes: langChainShapes, idless: []string{gemini},
		Description: "what was cut is closed; other text that is no object goes back raw to the protocol of OpenAI it came by, as {} or as it is from Anthropic to Anthropic, and else the call is left out and its result stays",
	},
	{
		Name: "llamaindex-ts", Known: client.Ran, targets: []string{chat}, own: true, way: llamaIndexTSRule,
		Description: `what does not parse throws; what a string holds is read once more, and one that holds no JSON is sent as {"rawInput": …}`,
	},
	{
		Name: "litellm", Known: client.Documented, targets: []string{chat, messages}, way: pythonStrict,
		Description: "the raw text goes to providers that take text; toward Anthropic what does not parse raises, and the request fails",
	},
	{
		Name: "pydantic-ai", Known: client.Read, way: pydanticAIRule, targets: []string{chat, responses, messages, gemini, bedrock, "cohere"},
		Description: `what is no object is sent as {"INVALID_JSON": "…"}, to every provider`,
	},
	{
		Name: "openai-agents-js", Known: client.Ran, targets: []string{chat, responses}, way: asItCame, shapes: agentsShapes,
		Description: "the text goes back as it came",
	},
	{
		Name: "openai-agents", Known: client.Read, targets: []string{chat, responses}, way: openAIAgentsRule,
		Description: "the text goes back as it came; to Chat {} where there is none",
	},
	{
		Name: "pi", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: piRule, shapes: callTemplates{gemini: argsFirst}, joins: []string{messages, bedrock}, idless: []string{gemini},
		Description: "strings are mended, what was cut is closed, of what is wrong the part before it is sent; a value that is no object stays one; toward Bedrock this is read in its source",
	},
	{
		Name: "fantasy", Known: client.Read, targets: []string{chat, responses, messages, gemini}, way: fantasyRule,
		Description: "the raw text goes to providers that take text; what is no object is sent as {} to Anthropic, with a warning, and not at all to Gemini; members are sorted where an object must be",
	},
	{
		Name: "langchain", Known: client.Read, targets: []string{chat}, way: langChainRule, shapes: callTemplates{chat: typeFirst}, unsigned: true,
		Description: "for Python: what was cut is closed, or else shortened until it parses; other text that is no object goes back raw, behind the calls that are whole",
	},
	{
		Name: "smolagents", Known: client.Read, asText: true,
		Description: "the call goes as text, Calling tools: and a list as Python writes it, its result as Observation: …; what does not parse stays a string in it, and a string that holds a list or an object is read",
	},
	{
		Name: "crewai", Known: client.Read, targets: []string{chat, messages}, way: pythonStrict,
		Description: "the raw text goes to providers that take text; toward Anthropic what does not parse raises",
	},
	{
		Name: "semantic-kernel", Known: client.Read, targets: []string{chat, messages, gemini, bedrock, ollama}, way: pythonStrict,
		Description: "for Python: the raw text goes to providers that take text; toward others what does not parse raises",
	},
	{
		Name: "spring-ai", Known: client.Read, targets: []string{chat, messages, gemini, bedrock}, way: springAIRule,
		Description: `the raw text goes to providers that take text; what is no object as {} to Anthropic; to Gemini a value as {"result": …}; else it throws`,
	},
	{
		Name: "langchain4j", Known: client.Read, targets: []string{chat, messages, gemini, bedrock, ollama}, way: langChain4jRule,
		Description: "the raw text goes to providers that take text, and is pasted into the body for Anthropic, which it breaks where it is no JSON; toward others it throws",
	},
	{
		Name: "anthropic-js", Known: client.Ran, own: true, targets: []string{messages}, way: anthropicJSRule,
		Description: "what was cut loses its last token and is closed; a value that is no object stays one; else the stream throws",
	},
	{
		Name: "openai-js", Known: client.Ran, own: true, targets: []string{chat, responses}, way: asItCame, shapes: openAIShapes,
		Description: "the text goes back as it came",
	},
	{
		Name: "google-genai-js", Known: client.Ran, own: true, targets: []string{gemini}, way: throughJSON, shapes: callTemplates{gemini: argsFirstID},
		Description: "the value goes back as JSON.parse and JSON.stringify leave it; null is left out",
	},
}

// policiesNamed are policies with the clients that they are named after.
func policiesNamed(all []Policy) []Policy {
	for i := range all {
		all[i].Client = client.MustFind(all[i].Name)
	}
	return all
}
