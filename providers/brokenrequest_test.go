package providers

import "strings"

// breakProof is the evidence that a broken rule needs if no response shows whether the provider accepts the request.
type breakProof uint8

const (
	provenByRequest breakProof = iota // an error
	provenByHost                      // a warning at the target's own host
	provenByRefusal                   // no finding
)

// A brokenRule breaks a rule in legal requests, and makes similar requests that are legal.
type brokenRule struct {
	rule, code string
	proof      breakProof
	reasons    bool                          // the rule is about reasoning, so the responses must be seen
	breaks     func(c *trial) (at, part int) // returns the place of the finding, as in trial.pathOf
	near       []func(c *trial)              // changes that make a request look broken
	words      map[string]string             // messages of the providers; {at} and {path} are the place, {id} is the id
}

const (
	pairWords   = "`tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
	resultWords = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
	countWords  = "Not the same number of function calls and responses"
	classWords  = "String should match pattern '^[a-zA-Z0-9_-]+$'"
	samePattern = "Invalid '{path}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
	nameGoogle  = "Invalid function name. Must start with a letter or an underscore."
)

// pairNear lists legal histories that look like histories with broken pairs.
var pairNear = []func(c *trial){
	(*trial).endWithCalls, (*trial).swapResults, (*trial).quoteError, (*trial).repeatCalls, (*trial).compact, (*trial).addQuestion, (*trial).splitResults,
}

// brokenRules lists the rules about requests. In the field words, a rule has a provider's error message for each
// target with the rule.
var brokenRules = []brokenRule{
	{
		rule: "call-answered", code: "ORPHAN_CALL", near: pairNear,
		breaks: func(c *trial) (int, int) {
			at, n := c.at, c.callIndex()
			results := c.parts(at + 1)
			if *results = append((*results)[:c.of:c.of], (*results)[c.of+1:]...); len(*results) == 0 {
				*results = []wirePart{{text: "never mind"}}
			}
			return at, n
		},
		words: map[string]string{
			"anthropic": "{at}: " + pairWords, "bedrock": "Expected toolResult blocks at messages.2.content for the following Ids: {id}",
			"chat":      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {id}",
			"responses": "No tool output found for function call {id}.", "mistral": countWords,
			"gemini": "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
		},
	},
	{
		rule: "result-has-call", code: "ORPHAN_RESULT", near: pairNear,
		breaks: func(c *trial) (int, int) {
			results := c.parts(c.at + 1)
			if c.number%2 == 0 && (c.form.name != "gemini" || c.of == c.calls-1) {
				parts, n := c.parts(c.at), c.callIndex()
				if *parts = append((*parts)[:n:n], (*parts)[n+1:]...); len(*parts) == 0 {
					*parts = []wirePart{{text: "I look."}}
				}
				return c.at + 1, c.of
			}
			lost := *c.result()
			if lost.text = "a lost file"; lost.id != "" {
				lost.id = c.form.ids(c.ids, 99)
			}
			*results = append(*results, lost)
			return c.at + 1, len(*results) - 1
		},
		words: map[string]string{
			"anthropic": "{at}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
			"bedrock":   "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn.",
			"chat":      resultWords, "responses": "No tool call found for function call output with call_id {id}.", "mistral": countWords,
			"gemini": "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
		},
	},
	{
		rule: "result-once", code: "RESULT_TWICE", near: pairNear,
		breaks: func(c *trial) (int, int) {
			second, at := *c.result(), c.at+1
			if c.number%2 == 1 {
				second.text, second.isError = "stopped by the user", true
			}
			if c.number%3 == 1 { // after a text by the model
				c.insert(at+1, true, wirePart{text: "One moment."})
				c.insert(at+2, false, second)
				if at+3 < len(c.messages) && !c.messages[at+3].model {
					c.insert(at+3, true, wirePart{text: "Now."})
				}
				return at + 2, 0
			}
			results := c.parts(at)
			*results = append(*results, second)
			return at, len(*results) - 1
		},
		words: map[string]string{
			"anthropic": "{at}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}",
			"bedrock":   "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn.", "chat": resultWords,
		},
	},
	{
		rule: "result-follows", code: "ADJACENCY_FIX", near: pairNear,
		breaks: func(c *trial) (int, int) {
			first, results := c.callIndex()-c.of, c.parts(c.at+1)
			switch {
			case c.number%3 == 1:
				c.insert(c.at+1, false, wirePart{text: "wait"})
				c.insert(c.at+2, true, wirePart{text: "I wait."})
			case c.number%3 == 2 && c.form.name == "anthropic":
				c.insert(c.at+1, false, wirePart{text: "here they are"})
			default:
				*results = append([]wirePart{{text: "here they are"}}, *results...)
			}
			return c.at, first
		},
		words: map[string]string{
			"anthropic": "{at}: " + pairWords,
			"bedrock":   "Did not find 1 tool_result block(s) at the beginning of this message. Messages following `tool_use` blocks must begin with a matching number of `tool_result` blocks.",
		},
	},
	{
		rule: "id-unique", code: "ID_COLLISION", near: pairNear,
		breaks: func(c *trial) (int, int) {
			if c.number%2 == 0 && c.calls > 1 { // in one message
				parts, results := *c.parts(c.at), *c.parts(c.at + 1)
				n := len(parts) - 1
				parts[n].id, results[len(results)-1].id = parts[n-1].id, results[len(results)-2].id
				if c.number == 4 { // neither call has a result
					*c.parts(c.at + 1) = results[:len(results)-2]
				}
				return c.at, n
			}
			var rounds []int
			for i := range c.messages {
				if parts := c.messages[i].parts; c.messages[i].model && parts[len(parts)-1].kind == callPart {
					rounds = append(rounds, i)
				}
			}
			earlier, later := rounds[0], c.at
			if c.at == rounds[0] {
				later = rounds[1]
			}
			parts, n := *c.parts(later), c.callIndex()
			parts[n].id, (*c.parts(later + 1))[c.of].id = (*c.parts(earlier))[n].id, (*c.parts(earlier))[n].id
			return later, n
		},
		words: map[string]string{
			"anthropic": "{at}: `tool_use` ids must be unique", "bedrock": "The toolUse blocks at messages.1.content contain duplicate Ids: {id}",
			"responses": "Duplicate item found with id fc_{id}. Remove duplicate items from your input and try again.",
		},
	},
	{
		rule: "id-legal", code: "ID_ILLEGAL", proof: provenByHost,
		breaks: func(c *trial) (int, int) {
			long := "call_" + strings.Repeat("0123456789", 9)
			c.rename(map[string][]string{
				"anthropic": {"functions.ls:0", "call 7", "call|fc_1"}, "chat": {long[:41], long[:64], long}, "responses": {long[:65], long[:80], long},
				"mistral": {"call_x9f1", "aB12345678", "abcd1234"},
			}[c.form.name][c.number%3])
			return c.at, c.callIndex()
		},
		near: []func(c *trial){
			func(c *trial) {
				c.rename(map[string]string{"anthropic": strings.Repeat("aB_-", 16), "chat": strings.Repeat("a.:b", 10), "responses": strings.Repeat("a.:b", 16), "mistral": "Zz0Zz0Zz9"}[c.form.name])
			},
			func(c *trial) {
				c.rename(map[string]string{"anthropic": "0", "chat": "call 1|x", "responses": "é", "mistral": "000000000"}[c.form.name])
			},
			(*trial).swapResults,
		},
		words: map[string]string{
			"anthropic": "{at}.tool_use.id: " + classWords, "chat": "Invalid '{path}.id': string too long. Expected a string with maximum length 40, but got a string with length 64 instead.",
			"responses": "Invalid '{path}.call_id': string too long. Expected a string with maximum length 64, but got a string with length 80 instead.",
			"mistral":   "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
		},
	},
	{
		rule: "name-legal", code: "NAME_ILLEGAL", proof: provenByHost,
		breaks: func(c *trial) (int, int) {
			c.retitle(illegalNames(c.form.name)[c.number%3])
			return c.at, c.callIndex()
		},
		near: nameNear(func(c *trial, name string) { c.retitle(name) }),
		words: map[string]string{
			"anthropic": "{at}.tool_use.name: " + classWords, "bedrock": "1 validation error detected: Value at 'messages.2.member.content.2.member.toolUse.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
			"chat": samePattern, "responses": samePattern, "gemini": nameGoogle,
		},
	},
	{
		rule: "tool-name-legal", code: "NAME_ILLEGAL", proof: provenByHost,
		breaks: func(c *trial) (int, int) {
			c.tools = append(c.tools, "head", "tail", "wc")
			c.tools[c.number] = illegalNames(c.form.name)[c.number%3]
			c.messages[0].parts = []wirePart{{text: c.tools[c.number]}} // a text that equals the name
			return -1, c.number
		},
		near: nameNear(func(c *trial, name string) { c.tools = append(c.tools, name) }),
		words: map[string]string{
			"anthropic": "{at}: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", "bedrock": "1 validation error detected: Value at 'toolConfig.tools.1.member.toolSpec.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+",
			"chat": samePattern, "responses": samePattern, "gemini": "GenerateContentRequest.{path}: " + nameGoogle,
		},
	},
	{
		rule: "arguments-object", code: "REQUEST_ILLEGAL",
		breaks: func(c *trial) (int, int) {
			c.call().text = []string{`[]`, `["ls",{"part":1}]`, `7`}[c.number%3]
			return c.at, c.callIndex()
		},
		near: argumentsNear, words: argumentsWords,
	},
	{
		rule: "arguments-object", code: "DOUBLE_ENCODED",
		breaks: func(c *trial) (int, int) {
			c.call().text = []string{`"{}"`, `"{\"part\":1}"`, `"{\"part\":[1,{\"a\":\"b\"}]}"`}[c.number%3]
			return c.at, c.callIndex()
		},
		near: argumentsNear, words: argumentsWords,
	},
	{
		rule: "arguments-string", code: "REQUEST_ILLEGAL", proof: provenByHost,
		breaks: func(c *trial) (int, int) {
			c.call().asObject = true
			return c.at, c.callIndex()
		},
		near: argumentsNear,
		words: map[string]string{
			"chat":      "Invalid type for '{path}.function.arguments': expected a string, but got an object instead.",
			"responses": "Invalid type for '{path}.arguments': expected a string, but got an object instead.",
		},
	},
	{
		rule: "turn-order", code: "REQUEST_ILLEGAL",
		breaks: func(c *trial) (int, int) {
			if c.form.name == "gemini" && c.number%2 == 1 { // a call after a text
				c.insert(c.at, true, wirePart{text: "I look."})
				return c.at + 1, -1
			}
			c.messages = c.messages[1:]
			return 0, -1
		},
		near: []func(c *trial){
			func(c *trial) { c.insert(0, false, wirePart{text: "be short"}) },
			(*trial).addQuestion, (*trial).compact, (*trial).endWithCalls,
		},
		words: map[string]string{
			"anthropic": "messages: first message must use the \"user\" role",
			"gemini":    "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
		},
	},
	{
		rule: "turn-order", code: "REQUEST_ILLEGAL", proof: provenByHost,
		breaks: func(c *trial) (int, int) {
			c.insert(c.at+2, false, wirePart{text: "and what is next?"})
			return c.at + 2, -1
		},
		near:  []func(c *trial){(*trial).addQuestion, (*trial).compact, (*trial).endWithCalls},
		words: map[string]string{"mistral": "Unexpected role 'user' after role 'tool'"},
	},
	{
		rule: "content-empty", code: "REQUEST_ILLEGAL",
		breaks: func(c *trial) (int, int) {
			switch c.number % 3 {
			case 0:
				c.insertPart(c.at, 0, wirePart{})
				return c.at, 0
			case 1:
				c.messages[0].parts = []wirePart{{text: " \n"}}
				return 0, -1
			}
			c.insertPart(c.at+1, c.calls, wirePart{})
			return c.at + 1, c.calls
		},
		near: []func(c *trial){
			func(c *trial) { c.messages[0].parts = []wirePart{{text: "."}, {text: "\n"}} },
			func(c *trial) { c.result().text = "" },
			func(c *trial) { c.insertPart(c.at, 0, wirePart{text: "\n\n"}) },
			(*trial).addQuestion,
		},
		words: map[string]string{
			"anthropic": "messages: text content blocks must be non-empty",
			"bedrock":   "The text field in the ContentBlock object at {at} is blank. Add text to the text field, and try again.",
		},
	},
	{
		rule: "cache-marks", code: "REQUEST_ILLEGAL", proof: provenByHost,
		breaks: func(c *trial) (int, int) {
			if c.number%2 == 1 {
				c.fields = `"system":[{"type":"text","text":"be short","cache_control":{"type":"ephemeral"}},{"type":"text","text":"be kind","cache_control":{"type":"ephemeral"}}],`
				c.mark(0, 2)
				c.mark(c.at+1, 1)
				return c.at + 1, -1
			}
			c.mark(0, 2+c.number%3)
			c.mark(c.at+1, 3)
			return c.at + 1, -1
		},
		near: []func(c *trial){
			func(c *trial) { c.mark(0, 1); c.mark(c.at+1, 3) },
			func(c *trial) {
				c.mark(0, 4)
				c.insertPart(0, 0, wirePart{kind: rawPart, text: `{"type":"text","text":"a","cache_control":null}`})
			},
			func(c *trial) {
				c.mark(c.at+1, 4)
				c.call().text = `{"cache_control":{"type":"ephemeral"},"text":"\"cache_control\""}`
			},
		},
		words: map[string]string{"anthropic": "A maximum of 4 blocks with cache_control may be provided. Found 5."},
	},
	{
		rule: "trailing-space", code: "REQUEST_ILLEGAL", proof: provenByHost,
		breaks: func(c *trial) (int, int) {
			c.say(true, wirePart{text: "It lists:" + []string{" ", "\n", "\t"}[c.number%3]})
			return len(c.messages) - 1, 0
		},
		near: []func(c *trial){
			func(c *trial) { c.say(true, wirePart{text: "It lists:"}) },
			func(c *trial) { c.say(true, wirePart{text: "It lists: "}); c.say(false, wirePart{text: "go on "}) },
			func(c *trial) { c.say(true, wirePart{text: " \n It\u00a0lists"}) },
		},
		words: map[string]string{"anthropic": "messages: final assistant content cannot end with trailing whitespace"},
	},
	{
		rule: "cache-marks", code: "REQUEST_ILLEGAL", proof: provenByRefusal,
		breaks: func(c *trial) (int, int) {
			c.mark(0, 2+c.number%3)
			c.mark(c.at+1, 3)
			return c.at + 1, -1
		},
		near:  []func(c *trial){func(c *trial) { c.mark(0, 1); c.mark(c.at+1, 3) }, func(c *trial) { c.result().text = strings.Repeat(`{"cachePoint":{}}`, 9) }},
		words: map[string]string{"bedrock": "The model returned the following errors: A maximum of 4 blocks with cache_control may be provided. Found 5."},
	},
	{
		rule: "trailing-space", code: "REQUEST_ILLEGAL", proof: provenByRefusal,
		breaks: func(c *trial) (int, int) {
			c.say(true, wirePart{text: "It lists:" + []string{" ", "\n", "\t"}[c.number%3]})
			return len(c.messages) - 1, 0
		},
		near:  []func(c *trial){func(c *trial) { c.say(true, wirePart{text: "It lists: "}) }, (*trial).addQuestion},
		words: map[string]string{"bedrock": "The model returned the following errors: messages: final assistant content cannot end with trailing whitespace"},
	},
	{
		rule: "reasoning-alone", code: "REQUEST_ILLEGAL",
		breaks: func(c *trial) (int, int) {
			c.insert(c.at+2, true, wirePart{kind: reasoningPart, id: "rs_9" + c.call().id, signature: "QQ"})
			c.insert(c.at+3, false, wirePart{text: "go on"})
			return c.at + 2, 0
		},
		near: []func(c *trial){
			func(c *trial) { c.insertPart(c.at, 0, wirePart{kind: reasoningPart, id: "rs_9", signature: "QQ"}) },
			func(c *trial) {
				c.say(true, wirePart{kind: reasoningPart, id: "rs_9", signature: "QQ"}, wirePart{text: "Done."})
				c.say(false, wirePart{text: "thanks"})
			},
			func(c *trial) {
				c.insert(c.at+2, true, wirePart{kind: reasoningPart, signature: "QQ"})
				c.insert(c.at+3, false, wirePart{text: "go on"})
			},
		},
		words: map[string]string{"responses": "Item 'rs_9{id}' of type 'reasoning' was provided without its required following item."},
	},
}

var argumentsNear = []func(c *trial){
	func(c *trial) { c.call().text = `{}` },
	func(c *trial) { c.call().text = `{"part":"{\"part\":1}","list":[[]]}` },
	func(c *trial) { c.call().text = "\n { \"part\" : null } " },
}

var argumentsWords = map[string]string{
	"anthropic": "{at}.tool_use.input: Input should be a valid dictionary",
	"bedrock":   "The format of the value at {at}.toolUse.input is invalid. Provide a json object for the field and try again.",
	"gemini":    "Invalid value at '{path}.function_call.args' (type.googleapis.com/google.protobuf.Struct), \"...\"",
}

// illegalNames returns names of tools that a target doesn't accept.
func illegalNames(form string) []string {
	long := strings.Repeat("list_files", 13)
	switch form {
	case "bedrock", "chat":
		return []string{"fs.ls", long[:65], "list files"}
	case "gemini":
		return []string{"1ls", long[:129], "list files"}
	}
	return []string{"fs.ls", long[:129], "list files"}
}

// longestName maps each target to the maximum length of a tool's name.
var longestName = map[string]int{"anthropic": 128, "responses": 128, "gemini": 128, "bedrock": 64, "chat": 64}

// nameNear returns changes with a name that a target only just accepts.
func nameNear(use func(c *trial, name string)) []func(c *trial) {
	long := strings.Repeat("list_files", 13)
	return []func(c *trial){
		func(c *trial) { use(c, long[:longestName[c.form.name]]) },
		func(c *trial) { use(c, "List_9-"+strings.Repeat("Z", 9)) },
		func(c *trial) {
			use(c, map[bool]string{true: "_fs.list:all-1", false: "mcp__fs__list-all"}[c.form.name == "gemini"])
		},
	}
}

func (c *trial) insertPart(message, at int, p wirePart) {
	parts := c.parts(message)
	*parts = append((*parts)[:at:at], append([]wirePart{p}, (*parts)[at:]...)...)
}

// mark adds blocks with a cache mark to the end of a message.
func (c *trial) mark(message, n int) {
	text := `{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}`
	if c.form.name == "bedrock" {
		text = `{"cachePoint":{"type":"default"}}`
	}
	for range n {
		c.insertPart(message, len(*c.parts(message)), wirePart{kind: rawPart, text: text})
	}
}
