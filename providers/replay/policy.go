package replay

import (
	"slices"
	"strings"

	"toolscope/providers/client"
	"toolscope/providers/protocol"
)

// A Policy is a way of sending calls back. It is either an observed behaviour of several clients, named after its
// effect, or the rule of one client, named after the client.
type Policy struct {
	Name        string
	Description string // what the client changes, mainly in arguments that are not an object
	Seen        string // software in which a behaviour was observed

	Client  *client.Client    // client with this policy; nil for a behaviour
	Known   client.Provenance // evidence for the policy; KnownFor is more precise
	targets []string          // protocols that the client uses; nil for all protocols
	read    []string          // protocols of targets for which the client's code was only read, although the client was run
	own     bool              // the client accepts only history in the target's own protocol
	way     clientRule        // rule for the calls that the client sends; if it is nil, text, object and the fields below them apply
	aborted abortRule         // treatment of a call whose response was aborted; only for a client
	names   idRule            // rule for the ids and names that the client sends; used only with way; nil if it sends them unchanged
	shapes  callTemplates     // forms of its calls, if they are not the usual forms
	idless  []string          // protocols for which the client sends no call ids
	joins   []string          // protocols for which the client joins the id of a call with the id of its item

	unsigned bool // the client's calls have no field for a signature
	asText   bool // the client sends calls and results as text

	text, object    action // treatments of arguments that are not an object: text for targets that accept text, and object for targets that accept only objects
	key             string // key of the object that wraps the arguments
	reserialises    bool   // the client parses arguments and sends the output of JavaScript's JSON library
	again           bool   // the client encodes arguments as a JSON string again
	refuses         bool   // the client sends nothing that breaks the target's rules
	reasoningAsText bool   // the client sends reasoning as text if the target doesn't accept reasoning
	fillsIn         bool   // the client adds missing results, and moves results to their calls
	firstOfID       bool   // the client fits an id to a target by keeping its first characters
}

// Policies lists all policies: the behaviours, beginning with the recommended one, followed by the clients'
// policies.
var (
	Policies   = slices.Concat(behaviours, policiesNamed(clients))
	Behaviours = Policies[:len(behaviours)]
	Clients    = Policies[len(behaviours):]
)

// FindPolicy returns the policy with the given name. If there is none, the error lists the known names.
func FindPolicy(name string) (*Policy, error) {
	return protocol.FindNamed("policy", name, Policies, func(p *Policy) string { return p.Name })
}

// Speaks reports whether the policy sends requests to a target. A behaviour sends them to all targets. A
// client sends them only in the protocols that it uses.
func (p *Policy) Speaks(to *protocol.Target) bool {
	return p.targets == nil || slices.Contains(p.targets, to.Protocol)
}

// Knows reports whether the policy's effect on calls from one protocol is known for a target. The parameter from is
// nil if the protocol is unknown.
func (p *Policy) Knows(from, to *protocol.Target) bool {
	return p.Speaks(to) && (!p.own || from != nil && from.Protocol == to.Protocol)
}

// KnownFor returns the evidence for the policy when calls from one protocol are sent to a target. For responses from
// Bedrock, the evidence is never a run of the client.
func (p *Policy) KnownFor(from, to *protocol.Target) client.Provenance {
	switch {
	case p.Known != client.Ran:
		return p.Known
	case slices.Contains(p.read, to.Protocol):
		return client.Read
	case from == nil || from.Protocol == bedrock || !slices.Contains(p.targets, from.Protocol):
		return client.Assumed
	}
	return client.Ran
}

// VersionFor returns the version of the policy's client. If the policy's effect is known but the client was not run
// with these protocols, VersionFor adds the kind of evidence. It returns "" for a behaviour.
func (p *Policy) VersionFor(from, to *protocol.Target) string {
	if p.Client == nil {
		return ""
	}
	known := p.KnownFor(from, to)
	if known == client.Ran || !p.Knows(from, to) {
		return p.Client.Version
	}
	return strings.TrimSpace(p.Client.Version + " (" + known.Word() + ")")
}

// Targets returns the protocols that a client uses, or nil for all protocols.
func (p *Policy) Targets() []string { return p.targets }

// abortRule is a client's treatment of a call whose response was aborted.
type abortRule uint8

const (
	abortUnknown    abortRule = iota
	abortLeavesCall           // the client leaves the call out, and keeps the text before it
	abortLeavesAll            // the client leaves the whole response out
	abortEmpties              // the client sends the call with {} and a result that reports the abort
)

// action is a policy's treatment of arguments that are not an object.
type action uint8

const (
	keep    action = iota // send the text unchanged
	unwrap                // send the object in a string that contains one; otherwise, send {}
	empty                 // send {}
	wrap                  // put the arguments into an object, as text
	wrapAny               // put the arguments into an object, as a value if they are JSON
	drop                  // leave the call out
	repair                // send the result of a lenient parser
	refuse                // send nothing
)

var behaviours = []Policy{
	{
		Name: "preserve", text: keep, object: unwrap, reasoningAsText: true, fillsIn: true,
		Description: "Providers that accept text get the raw text. Others get the object in the text, or {} if there is none.",
		Seen:        "OpenClaw since #61956",
	},
	{
		Name: "wrap", text: wrap, object: wrap, key: "INVALID_JSON",
		Description: `Arguments that don't parse become {"INVALID_JSON": "…"}, for every provider.`,
		Seen:        "pydantic-ai",
	},
	{
		Name: "wrap-raw", text: wrapAny, object: wrapAny, key: "rawInvalidInput", reserialises: true, firstOfID: true,
		Description: `Arguments that are not an object become {"rawInvalidInput": …}. Ids that the provider doesn't accept are shortened to their first letters and digits.`,
		Seen:        "the AI SDK's useChat with Anthropic and Bedrock",
	},
	{
		Name: "empty", text: empty, object: empty, reserialises: true,
		Description: "Arguments that don't parse silently become {}.",
		Seen:        "OpenClaw before #61956, google/adk-python#6867, kagent#2230, kimi-cli#2196",
	},
	{
		Name: "empty-warn", text: keep, object: empty,
		Description: "Providers that accept text get the raw text. Others get {}, and the calling program gets a warning.",
		Seen:        "charmbracelet/fantasy with Anthropic",
	},
	{
		Name: "drop", text: drop, object: drop,
		Description: "A call whose arguments don't parse is left out. Its result stays in the history without a call.",
		Seen:        "charmbracelet/fantasy with Google, gcli2api#406, clients that filter out calls that they can't decode",
	},
	{
		Name: "repair", text: repair, object: repair, reserialises: true, reasoningAsText: true, fillsIn: true,
		Description: "A parser repairs the arguments, and the repaired arguments are sent as if the model had written them.",
		Seen:        "libraries that parse incomplete JSON, e.g. partial-json",
	},
	{
		Name: "double-encode", again: true, object: empty,
		Description: "The text is encoded as a JSON string again.",
		Seen:        "OpenClaw before #61956 if it kept the text, litellm#12554",
	},
	{
		Name: "strict", text: refuse, object: refuse, refuses: true,
		Description: "The request is sent only if the arguments are one JSON object and the provider accepts the id and the name.",
		Seen:        "providers themselves; a client that prefers an error to a changed history",
	},
}

// Names of the protocols that clients use.
const (
	chat      = "openai-chat"
	responses = "openai-responses"
	messages  = "anthropic"
	gemini    = "gemini"
	ollama    = "ollama"
	bedrock   = "bedrock"
)

// clients lists the policies of clients, beginning with agents.
var clients = []Policy{
	{
		Name: "claude-code", Known: client.Ran, targets: []string{messages}, own: true, way: claudeCodeRule, aborted: abortLeavesCall,
		Description: `Arguments that don't parse become {"__unparsedToolInput": {"raw": …, "len": …}}, with the text cut to 2,048 characters. null becomes {}. Other values that are not objects stay unchanged, and the provider refuses them. The key __proto__ is left out.`,
	},
	{
		Name: "codex", Known: client.Ran, targets: []string{responses}, own: true, way: codexRule, aborted: abortLeavesCall, shapes: codexShapes,
		Description: "The text stays unchanged.",
	},
	{
		Name: "gemini-cli", Known: client.Ran, targets: []string{gemini}, own: true, way: geminiCLIRule, aborted: abortLeavesAll, shapes: callTemplates{gemini: signed},
		Description: "The value passes through JSON.parse and JSON.stringify. null is left out.",
	},
	{
		Name: "qwen-code", Known: client.Ran, targets: []string{chat}, own: true, way: qwenCodeRule,
		Description: "A value passes through JSON.parse and JSON.stringify. null becomes {}. jsonrepair changes text that doesn't parse, and toolscope can't predict the result. The client ignores a call without arguments.",
	},
	{
		Name: "opencode", Known: client.Ran, targets: []string{chat, responses, messages}, own: true, way: opencodeRule, aborted: abortEmpties, shapes: callTemplates{responses: plainResponses},
		Description: `A call whose arguments don't parse becomes a call to the tool "invalid" with {"tool": …, "error": …}, which contains the parser's error. A value that is not an object becomes {"value": …}.`,
	},
	{
		Name: "continue", Known: client.Ran, targets: []string{chat, messages}, own: true, way: continueCLIRule,
		Description: "Arguments that don't parse become {}. An array stays an array.",
	},
	{
		Name: "cline", Known: client.Ran, targets: []string{chat, responses}, own: true, way: clineRule, shapes: callTemplates{responses: plainResponses},
		Description: "Arguments that don't parse are changed by jsonrepair or become {}; toolscope can't predict the result. An array stays an array, and the client runs it as commands.",
	},
	{
		Name: "crush", Known: client.Read, targets: []string{chat, responses, messages, gemini}, way: crushRule,
		Description: "Arguments that don't parse become {}. Providers that accept text get other values unchanged. For other providers, the fields of an object are sorted. A value that is not an object becomes {} for Anthropic, and is not sent to Gemini.",
	},
	{
		Name: "openclaw", Known: client.Read,
		Description: "Providers that accept text get the raw text. Others get the object in the text, or {} if there is none.",
		text:        keep, object: unwrap, reasoningAsText: true, fillsIn: true,
	},
	{
		Name: "ai-sdk", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{}.sendCall, names: aiSDKNames, shapes: aiSDKShapes,
		Description: `streamText with tools: arguments that don't parse become {}. Values that are not objects stay unchanged for Responses and Gemini. They become {"rawInvalidInput": …} for Anthropic and Bedrock, and {} for Chat. An object in a string becomes an object. A call from Chat or Gemini without an id gets an id. For Bedrock, characters other than letters, digits, _ and - are removed from names.`,
	},
	{
		Name: "ai-sdk-ui", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{page: true}.sendCall, names: aiSDKPageNames, shapes: aiSDKShapes,
		Description: `useChat history: arguments that don't parse become a string for Responses and Gemini, {"rawInvalidInput": "…"} for Anthropic and Bedrock, and {} for Chat. All other rules are the same as for ai-sdk.`,
	},
	{
		Name: "ai-sdk-6", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{six: true}.sendCall, names: aiSDKNames, shapes: aiSDKShapes,
		Description: "The rules are the same as for ai-sdk, except that values that are not objects are sent to Anthropic unchanged, and Anthropic refuses them.",
	},
	{
		Name: "ai-sdk-6-ui", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, way: aiSDK{page: true, six: true}.sendCall, names: aiSDKPageNames, shapes: aiSDKShapes,
		Description: "The rules are the same as for ai-sdk-ui, except that values that are not objects are sent to Anthropic unchanged, and Anthropic refuses them.",
	},
	{
		Name: "mastra", Known: client.Ran, targets: []string{chat, responses, messages, gemini}, own: true, way: mastraRule, names: mastraNames, shapes: aiSDKShapes,
		Description: "The client repairs arguments with wrong quotes or commas. Other arguments that don't parse become {}, and the tool runs with {}. For Anthropic, null is left out, and Anthropic refuses the request. A name with characters other than letters, digits, _ and - becomes unknown_tool. An array stays an array, but becomes {} for Chat. An object in a string becomes an object.",
	},
	{
		Name: "langchain-js", Known: client.Ran, targets: []string{chat, responses, messages, gemini, ollama}, way: langChainJSRule, shapes: langChainShapes, names: langChainNames, idless: []string{gemini},
		Description: "JSON that was cut off is completed. Other text that is not an object is sent as raw text if the call goes back to the OpenAI protocol that it came from. From Anthropic to Anthropic, such text becomes {} or stays unchanged. Otherwise, the call is left out, but its result stays. A broken call next to valid calls is also left out.",
	},
	{
		Name: "llamaindex-ts", Known: client.Ran, targets: []string{chat}, own: true, way: llamaIndexTSRule, names: llamaIndexTSNames,
		Description: `Arguments that don't parse raise an error. The client parses the content of a string again, and sends {"rawInput": …} if the content is not JSON.`,
	},
	{
		Name: "litellm", Known: client.Documented, targets: []string{chat, messages}, way: pythonStrict,
		Description: "Providers that accept text get the raw text. For Anthropic, arguments that don't parse raise an error, and the request fails.",
	},
	{
		Name: "pydantic-ai", Known: client.Read, way: pydanticAIRule, targets: []string{chat, responses, messages, gemini, bedrock, "cohere"},
		Description: `Arguments that are not an object become {"INVALID_JSON": "…"}, for every provider.`,
	},
	{
		Name: "openai-agents-js", Known: client.Ran, targets: []string{chat, responses}, way: asItCame, names: agentsNames, shapes: agentsShapes,
		Description: "The text stays unchanged.",
	},
	{
		Name: "openai-agents", Known: client.Read, targets: []string{chat, responses}, way: openAIAgentsRule,
		Description: "The text stays unchanged, but Chat gets {} if the text is empty.",
	},
	{
		Name: "pi", Known: client.Ran, targets: []string{chat, responses, messages, gemini, bedrock}, read: []string{bedrock}, way: piRule, aborted: abortLeavesAll, shapes: callTemplates{gemini: argsFirst}, joins: []string{chat, messages, bedrock}, names: piNames, idless: []string{gemini},
		Description: "The client repairs strings with raw control characters or wrong escapes. Other arguments that are not an object become {}, but a value from Gemini stays unchanged. If a call goes to another protocol, its id may be shortened, and characters in it may be replaced with _. The code for Bedrock was read but not run. Before version 1, the client completed JSON that was cut off.",
	},
	{
		Name: "fantasy", Known: client.Read, targets: []string{chat, responses, messages, gemini}, way: fantasyRule,
		Description: "Providers that accept text get the raw text. Arguments that are not an object become {} for Anthropic, with a warning, and are not sent to Gemini. For both providers, the fields of an object are sorted.",
	},
	{
		Name: "langchain", Known: client.Read, targets: []string{chat}, way: langChainRule, shapes: callTemplates{chat: typeFirst}, unsigned: true,
		Description: "Python: JSON that was cut off is completed, or shortened until it parses. Other text that is not an object is sent as raw text, after the complete calls.",
	},
	{
		Name: "smolagents", Known: client.Read, asText: true,
		Description: "The call becomes the text \"Calling tools:\" and a Python list. The result becomes \"Observation: …\". Arguments that don't parse stay a string in the list. A string that contains a list or an object is parsed.",
	},
	{
		Name: "crewai", Known: client.Read, targets: []string{chat, messages}, way: pythonStrict,
		Description: "Providers that accept text get the raw text. For Anthropic, arguments that don't parse raise an error.",
	},
	{
		Name: "semantic-kernel", Known: client.Read, targets: []string{chat, messages, gemini, bedrock, ollama}, way: pythonStrict,
		Description: "Python: providers that accept text get the raw text. For other providers, arguments that don't parse raise an error.",
	},
	{
		Name: "spring-ai", Known: client.Read, targets: []string{chat, messages, gemini, bedrock}, way: springAIRule,
		Description: `Empty arguments become {}. Providers that accept text get other arguments as raw text. Arguments that are not an object become {} for Anthropic and, if they are JSON, {"result": …} for Gemini. Otherwise, the client throws an error.`,
	},
	{
		Name: "langchain4j", Known: client.Read, targets: []string{chat, messages, gemini, bedrock, ollama}, way: langChain4jRule,
		Description: "Providers that accept text get the raw text. For Anthropic, the client pastes the text into the body; if the text is not JSON, the body is invalid. For other providers, the client throws an error if the text is not an object.",
	},
	{
		Name: "anthropic-js", Known: client.Ran, own: true, targets: []string{messages}, way: anthropicJSRule,
		Description: "JSON that was cut off loses its last token and is completed. A value that is not an object stays unchanged. In other cases, the stream throws an error.",
	},
	{
		Name: "openai-js", Known: client.Ran, own: true, targets: []string{chat, responses}, way: asItCame, names: openAIJSNames, shapes: openAIShapes,
		Description: "The text stays unchanged. For Responses, the stream throws an error if two calls in a response have the same id.",
	},
	{
		Name: "google-genai-js", Known: client.Ran, own: true, targets: []string{gemini}, way: throughJSON, shapes: callTemplates{gemini: argsFirstID},
		Description: "The value passes through JSON.parse and JSON.stringify. null is left out.",
	},
}

// policiesNamed sets the client of each policy: the client with the policy's name.
func policiesNamed(all []Policy) []Policy {
	for i := range all {
		all[i].Client = client.MustFind(all[i].Name)
	}
	return all
}
