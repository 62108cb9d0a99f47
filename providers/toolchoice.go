package providers

import (
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

var toolChoiceIgnored = &stream.Diagnosis{
	Code: "TOOL_CHOICE_IGNORED", Severity: stream.Warn, By: stream.Provider,
	Verdict: "wrong choice",
	Meaning: "The response breaks a rule in the request: tool_choice requires a call but there is none, tool_choice excludes the call, or parallel calls are off but there are several.",
	Advice:  "Check the calls before you run them. Find out whether the server and its gateways support tool_choice and parallel_tool_calls for this model.",
}

// toolChoice is the part of a request that determines which tools the model must or may call.
type toolChoice struct {
	required bool     // the response must have a call
	none     bool     // the response must not have a call
	single   bool     // the response must not have several calls
	names    []string // the only tools that the response may call; nil for all tools
	field    string   // the field that contains the choice
}

// readField reads one field of a request.
func (c *toolChoice) readField(key string, s *json.Scanner) {
	switch key {
	case "tool_choice":
		c.field = key
		c.readChoice(s.Value())
	case "parallel_tool_calls":
		c.single = c.single || string(s.Value()) == "false"
	case "toolConfig", "tool_config":
		c.readConfig(s.Value())
	}
}

// readChoice reads tool_choice, which is either a word or an object.
func (c *toolChoice) readChoice(v json.Value) {
	kind := v.Get("type").Text()
	if v.IsString() {
		kind = v.Text()
	}
	switch strings.ToLower(kind) {
	case "required", "any":
		c.required = true
	case "none":
		c.none = true
	case "tool", "function", "custom": // Anthropic, Chat Completions, Responses
		name := v.Get("name").Text()
		if inner := v.Get(kind).Get("name"); inner.HasText() {
			name = inner.Text()
		}
		c.required = true
		if name != "" {
			c.names = []string{name}
		}
	case "allowed_tools":
		inner := v
		if own := v.Get("allowed_tools"); own.Kind() == '{' {
			inner = own
		}
		c.required = inner.Get("mode").Is("required")
		c.readAllowed(inner.Get("tools"))
	}
	c.single = c.single || v.Get("disable_parallel_tool_use").IsTrue()
}

// readAllowed reads a list of allowed tools. If one of them is not a function, the calls in the response
// can't be compared with the list.
func (c *toolChoice) readAllowed(tools json.Value) {
	for tool := range tools.Elements() {
		kind, name := tool.Get("type").Text(), tool.Get("name").Text()
		if inner := tool.Get(kind).Get("name"); inner.HasText() {
			name = inner.Text()
		}
		if name == "" || kind != "function" && kind != "custom" {
			c.names = nil
			return
		}
		c.names = append(c.names, name)
	}
}

// readConfig reads the tool configuration of Gemini or Bedrock.
func (c *toolChoice) readConfig(v json.Value) {
	if choice := v.Get("toolChoice"); choice.Kind() == '{' { // Bedrock
		c.field = "toolChoice"
		name := choice.Get("tool").Get("name")
		c.required = name.HasText() || choice.Get("any").IsPresent()
		if name.HasText() {
			c.names = []string{name.Text()}
		}
		return
	}
	calling := v.Get("functionCallingConfig")
	if !calling.IsPresent() {
		calling = v.Get("function_calling_config")
	}
	c.field = "functionCallingConfig"
	switch mode := calling.Get("mode").Text(); mode {
	case "ANY":
		c.required = true
		for name := range calling.Get("allowedFunctionNames").Elements() {
			c.names = append(c.names, name.Text())
		}
	case "NONE":
		c.none = true
	}
}

// checkToolChoice compares a response that ended normally with its request. It skips WebSockets, logs and session
// files, because their requests don't each belong to exactly one response.
func (x *Exchange) checkToolChoice(e *stream.Event, number int32) {
	if e.Kind != stream.TurnClose || e.Turn == stream.NoTurn || len(x.turns) != 1 || x.HasManyRequests() ||
		x.Head.Reconstructed || sessionOf(x.Head) != nil || x.gap.requestBytes > 0 || x.out.Refused || !isDecoded(x.Protocol) {
		return
	}
	choice := x.past.on.choice
	if !x.past.observed {
		choice = readHistoryLink(x.RequestBody()).choice
	}
	t := x.in.Session().Turn(e.Turn)
	if !t.Closed() || t.Phase() != stream.TurnComplete || t.HasGap() || t.Failure != "" {
		return
	}
	if message, isWrong := choice.describeConflict(t); isWrong {
		f := toolChoiceIgnored.Finding("%s", message)
		x.emit(stream.Event{Kind: stream.Found, Turn: number, Slot: stream.NoSlot, What: &f})
	}
}

// describeConflict describes how a turn differs from the choice. It returns false if there is no difference.
// Calls that the provider ran count as calls, but only the client's calls are restricted.
func (c *toolChoice) describeConflict(t *stream.Turn) (stream.Message, bool) {
	byChoice := map[int32]int{}
	var excluded *stream.Call
	for _, call := range t.Calls {
		if call.RunByProvider || call.Discarded {
			continue
		}
		byChoice[call.Choice]++
		if excluded == nil && (c.none || len(c.names) > 0 && !slices.Contains(c.names, call.Name)) {
			excluded = call
		}
	}
	several := 0
	for _, n := range byChoice {
		several = max(several, n)
	}
	isText := slices.ContainsFunc(t.Findings, func(f stream.Finding) bool { return f.Base() == protocol.TextToolCall })
	switch {
	case excluded != nil && c.none:
		return stream.Messagef("the request's %s is none, but the response calls %s", stream.Own(c.field), stream.Fact(excluded.Name)), true
	case excluded != nil:
		return stream.Messagef("the request's %s allows only %s, but the response calls %s",
			stream.Own(c.field), stream.Fact(strings.Join(c.names, ", ")), stream.Fact(excluded.Name)), true
	case c.required && len(t.Calls) == 0 && !isText:
		return stream.Messagef("the request's %s requires a call, but the response has none", stream.Own(c.field)), true
	case c.single && several > 1:
		return stream.Messagef("the request turns off parallel calls, but the response has %s", stream.Own(count.Of(several, "call"))), true
	}
	return stream.Message{}, false
}
