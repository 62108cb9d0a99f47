package providers

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolscope/stream"
)

// A refusalCase is a provider's message about a place in a request. In the words, {place} is the place, {id} the id of
// the call, and {name} its tool. In the place, {at} is the path with dots, {path} with brackets, {n} its first index, and
// {position} that index counted from 1.
type refusalCase struct {
	form, place, words string
	kind               refusedKind
}

// refusedKind is the kind of the place that a refusal names.
type refusedKind uint8

const (
	refusedCall refusedKind = iota
	refusedResult
	refusedAnswer // the model's message
	refusedText   // the first message of the user
	refusedReasoning
	refusedTool
)

// refusalCases lists messages of providers with a place.
var refusalCases = []refusalCase{
	{"anthropic", "{at}", "{place}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", refusedAnswer},
	{"anthropic", "{at}", "{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", refusedResult},
	{"anthropic", "{at}", "{place}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}", refusedResult},
	{"anthropic", "{at}", "{place}: `tool_use` ids must be unique", refusedCall},
	{"anthropic", "{at}.tool_use.id", "{place}: String should match pattern '^[a-zA-Z0-9_-]+$'", refusedCall},
	{"anthropic", "{at}.tool_use.input", "{place}: Input should be a valid dictionary", refusedCall},
	{"anthropic", "{at}.type", "{place}: Expected `thinking` or `redacted_thinking`, but found `tool_use`.", refusedCall},
	{"anthropic", "{at}", "{place}: Invalid `signature` in `thinking` block", refusedReasoning},
	{"anthropic", "{tool}.custom.name", "{place}: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", refusedTool},
	{"bedrock", "{at}.toolUse.input", "The format of the value at {place} is invalid. Provide a json object for the field and try again.", refusedCall},
	{"bedrock", "{at}", "The text field in the ContentBlock object at {place} is blank. Add text to the text field, and try again.", refusedText},
	{"bedrock", "{at}", "{place}: Invalid `signature` in `thinking` block", refusedReasoning},
	{"chat", "{path}.id", "Invalid '{place}': string too long. Expected a string with maximum length 40, but got a string with length 64 instead.", refusedCall},
	{"chat", "{path}.function.name", "Invalid '{place}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", refusedCall},
	{"chat", "{path}.role", "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls' ({place}).", refusedResult},
	{"chat", "tools[{tool}].function.name", "Invalid '{place}': string does not match pattern.", refusedTool},
	{"responses", "{path}.call_id", "Invalid '{place}': string too long. Expected a string with maximum length 64, but got a string with length 80 instead.", refusedCall},
	{"responses", "{path}.name", "Invalid '{place}': string does not match pattern.", refusedCall},
	{"responses", "{path}.output", "Invalid type for '{place}': expected one of an array of objects or string, but got an object instead.", refusedResult},
	{"responses", "tools[{tool}].name", "Invalid '{place}': string does not match pattern.", refusedTool},
	{"gemini", "{path}.function_call.args", "Invalid value at '{place}' (type.googleapis.com/google.protobuf.Struct), \"...\"", refusedCall},
	{"gemini", "`default_api:{name}`, position {position}", "Function call is missing a thought_signature in functionCall parts. Additional data, function call {place}. Please refer to the docs.", refusedCall},
	{"chat", "`default_api:{name}`, position {position}", "Function call is missing a thought_signature in functionCall parts. Additional data, function call {place}. Please refer to the docs.", refusedCall},
	{"gemini", "tools[0].function_declarations[{tool}].name", "GenerateContentRequest.{place}: Invalid function name. Must start with a letter or an underscore.", refusedTool},
	{"deepseek", "message at index {n}", "thinking is enabled but reasoning_content is missing in assistant tool call {place}", refusedAnswer},
	{"deepseek", "message index {n}", "Missing `reasoning_content` field in the assistant message at {place}. For more information, please refer to the guide on thinking_mode.", refusedAnswer},
	{"deepseek", "messages[{n}]", "Error from provider: `reasoning_content` of {place} must be passed back to the API.", refusedAnswer},
}

// newRefused returns a legal request, and the place in it that a refusal names.
func (r *refusalCase) newRefused(shape trialShape) (c *trial, at, part int) {
	f := formNamed(r.form)
	c = newTrial(f, shape, r.kind == refusedReasoning)
	c.earlier = nil
	switch r.kind {
	case refusedCall:
		return c, c.at, c.callIndex()
	case refusedResult:
		return c, c.at + 1, c.of
	case refusedAnswer:
		return c, c.at, -1
	case refusedReasoning:
		return c, c.at, 0
	case refusedTool:
		return c, -1, shape.number % 3
	}
	return c, 0, 0
}

var firstIndex = regexp.MustCompile(`\d+`)

// fill returns the words with a place. The parameter path is the path of the place in the provider's numbering.
func (r *refusalCase) fill(c *trial, path string, part int, place string) string {
	n, position := firstIndex.FindString(path), ""
	if n != "" {
		var i int
		fmt.Sscan(n, &i)
		position = fmt.Sprint(contentAt(c, i) + 1)
	}
	tool := fmt.Sprint(part)
	if r.form == "anthropic" {
		tool = "tools." + tool
	}
	place = strings.NewReplacer("{at}", dotted(path), "{path}", path, "{n}", n, "{position}", position, "{tool}", tool, "{name}", c.call().name).Replace(place)
	return strings.NewReplacer("{place}", place, "{id}", c.call().id).Replace(r.words)
}

// contentAt returns the index of a message in the contents that Google's endpoint for Chat Completions makes of a
// request: it joins results. In other forms, the index stays the same.
func contentAt(c *trial, message int) int {
	for i := range c.messages {
		if c.form.name == "chat" && firstIndex.FindString(c.pathOf(i, 0)) == fmt.Sprint(message) {
			return i
		}
	}
	return message
}

// wantedPath returns the path that the refusal must have. A declared tool has the path of its declaration.
func (r *refusalCase) wantedPath(c *trial, at, part int) string {
	path := c.pathOf(at, part)
	if r.kind == refusedTool {
		path = strings.TrimSuffix(strings.TrimSuffix(path, ".name"), ".function")
	}
	return path
}

// errorWrappers wrap a provider's error as gateways and loggers do.
var errorWrappers = []struct {
	name, via string
	wrap      func(body string) string
}{
	{"several lines", "", func(body string) string {
		var out bytes.Buffer
		if err := stdjson.Indent(&out, []byte(body), "", "  "); err != nil {
			panic(err)
		}
		return out.String()
	}},
	{"LiteLLM", "litellm", func(body string) string {
		return `{"error":{"message":` + quote("litellm.BadRequestError: AnthropicException - "+body) + `,"type":"None","param":"None","code":"400"}}`
	}},
	{"OpenRouter", "openrouter", func(body string) string {
		return `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":` + quote(body) + `,"provider_name":"A"}}}`
	}},
	{"error as a string", "", func(body string) string { return `{"error":` + quote(body) + `}` }},
	{"three deep", "litellm", func(body string) string {
		body = `{"error":{"message":` + quote("upstream: "+body) + `}}`
		return `{"error":{"message":` + quote("litellm.BadRequestError: "+body) + `,"type":"invalid_request_error"}}`
	}},
}

// TestRefusalPlaces checks the place that is found for each refusal: as the provider sent it, wrapped, after the
// provider joined messages, without a place, and with a place that the request doesn't contain.
func TestRefusalPlaces(t *testing.T) {
	cases := map[string]int{}
	for i := range refusalCases {
		r := &refusalCases[i]
		failed := map[string]bool{}
		check := func(variant string, c *trial, body, path, found, via string) {
			cases[variant]++
			refusal := refusalIn(c.form.other, c.body(), body)
			if refusal == nil {
				refusal = &stream.Refusal{Found: "no refusal"}
			}
			if got := strings.Join(refusal.Via, " "); (refusal.Path != path || refusal.Found != found || got != via) && !failed[variant] {
				failed[variant] = true
				t.Errorf("%s, %s: %q %q via %q, want %q %q via %q\n%s\n%s", r.words, variant, refusal.Path, refusal.Found, got, path, found, via, body, c.body())
			}
		}
		for _, shape := range trialShapes {
			c, at, part := r.newRefused(shape)
			path := r.wantedPath(c, at, part)
			body := c.form.refusal(r.fill(c, c.pathOf(at, part), part, r.place))
			check("as sent", c, body, path, stream.FoundAsSent, "")
			wrapper := errorWrappers[(i+shape.number)%len(errorWrappers)]
			check("wrapped: "+wrapper.name, c, wrapper.wrap(body), path, stream.FoundAsSent, wrapper.via)
			byID, found := r.placeOfID(c)
			check("no place", c, c.form.refusal(r.fill(c, "", part, "the request")), byID, found, "")
			far := strings.NewReplacer("{name}", "nothing", "{tool}", map[bool]string{true: "tools.77", false: "77"}[r.form == "anthropic"]).Replace(r.place)
			check("elsewhere", c, c.form.refusal(r.fill(c, strings.Replace(c.pathOf(max(at, 0), min(part, 0)), "[", "[4", 1), part, far)), byID, found, "")
			if r.form == "anthropic" && r.kind != refusedTool {
				other := c.pathOf(0, min(part, 0))
				check("another kind is there", c, c.form.refusal(r.fill(c, other, part, r.place)), byID, found, "")
				check("in a stream", c, "event: error\ndata: "+body+"\n\n", path, stream.FoundAsSent, "")
			}
			if joined := joinedPath(c, at, part); joined != "" && r.kind != refusedTool && r.kind != refusedText && r.form == "anthropic" {
				check("joined", c, c.form.refusal(r.fill(c, joined, part, r.place)), c.pathOf(at+1, part), stream.FoundJoined, "")
			}
		}
	}
	total := 0
	for _, n := range cases {
		total += n
	}
	if len(refusalCases)*len(trialShapes) < 60 || total < 300 {
		t.Errorf("only %d cases", total)
	}
	t.Log(cases)
}

// placeOfID returns the place of the id in the words: the first object with the id.
func (r *refusalCase) placeOfID(c *trial) (path, found string) {
	if !strings.Contains(r.words, "{id}") {
		return "", stream.FoundNowhere
	}
	return c.pathOf(c.at, c.callIndex()), stream.FoundByID
}

// joinedPath inserts a user message at the beginning. It returns the path of a part in the numbering of a provider that
// joins this message with the next.
func joinedPath(c *trial, at, part int) string {
	if at <= 0 {
		return ""
	}
	path := c.pathOf(at, part)
	c.insert(0, false, wirePart{text: "context"})
	c.at++
	return path
}

// refusalIn returns the refusal that is read from an error, whose bytes arrive in two records.
func refusalIn(url, request, body string) *stream.Refusal {
	in := new(Inspector)
	in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(request), Head: &stream.Head{Method: "POST", URL: url}})
	head := &stream.Head{Status: 400, Header: map[string][]string{"Content-Type": {"application/json"}}}
	if strings.HasPrefix(body, "event:") {
		head = &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}
	}
	in.Write(stream.Record{Exchange: 1, Data: []byte(body[:len(body)/2]), Head: head})
	in.Write(stream.Record{Exchange: 1, Data: []byte(body[len(body)/2:])})
	in.Write(stream.Record{Exchange: 1, End: true})
	turns := in.Session().Turns
	if i := slices.IndexFunc(turns, func(t *stream.Turn) bool { return t.Refusal != nil }); i >= 0 {
		return turns[i].Refusal
	}
	return nil
}
