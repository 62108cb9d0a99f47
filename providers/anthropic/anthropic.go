// Package anthropic decodes the Anthropic Messages protocol: its event stream and its complete bodies.
// Anthropic, Vertex and many gateways use this protocol.
//
// Wire facts are from Anthropic's public SDKs and documentation: the event flow in message.go and
// messageutil.go of anthropic-sdk-go, and the pages "Streaming Messages" and "Fine-grained tool
// streaming" at platform.claude.com/docs. The slot of a call is the index of its content block. The
// arguments become final at content_block_stop.
package anthropic

import (
	"cmp"
	"strings"
	"sync"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns the Anthropic Messages protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "anthropic",
		Title:    "Anthropic Messages",
		Sniff:    sniffFrame,
		Findings: findings,
		New:      func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o} },
		Marks:    wireMarks,
		Speaker:  &speaker,
		Tools:    readTools,

		Targets: []protocol.Target{target},
	}
}

// eventTypes are the event types that identify the stream. ping and error are missing, because other protocols use
// these names too.
var eventTypes = map[string]bool{
	"message_start": true, "content_block_start": true, "content_block_delta": true,
	"content_block_stop": true, "message_delta": true, "message_stop": true,
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	kind := e.Get("type")
	switch {
	case kind.Is("message_start") && e.Get("message").Get("stopReason") != nil: // message_start of pi
		return protocol.SniffScore{}
	case eventTypes[string(kind.Word())]:
		return protocol.SniffScore{Points: protocol.Sure, Why: "event type " + kind.Text()}
	case kind.Is("message") && e.Get("role").Is("assistant") && !e.Get("content").IsString() &&
		!e.Get("text").IsString(): // this is one of droid's messages
		return protocol.SniffScore{Points: protocol.Sure, Why: "a message body"}
	case kind.Is("error") && e.Get("error").Kind() == '{':
		return protocol.SniffScore{Points: protocol.Likely, Why: "an error envelope"}
	case eventTypes[string(e.Event)]:
		return protocol.SniffScore{Points: protocol.Strong, Why: "event name " + string(e.Event)}
	case strings.HasSuffix(e.Path, "/v1/messages"), strings.Contains(e.Path, "publishers/anthropic/"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	}
	for name := range e.Header {
		if strings.HasPrefix(name, "Anthropic-") {
			return protocol.SniffScore{Points: protocol.Likely, Why: "header " + name}
		}
	}
	if isBedrockInvoke(e.Path) {
		return protocol.SniffScore{Points: protocol.Weak + 1, Why: "path " + e.Path}
	}
	if kind.Is("ping") {
		return protocol.SniffScore{Points: protocol.Weak, Why: "event type ping"}
	}
	return protocol.SniffScore{}
}

// isBedrockInvoke reports whether a request goes to one of Anthropic's models on Bedrock, with a body in Anthropic's
// protocol. An error without a name of its own doesn't show the protocol.
func isBedrockInvoke(path string) bool {
	_, rest, _ := strings.Cut(path, "/model/")
	return strings.Contains(rest, "anthropic.") && (strings.HasSuffix(rest, "/invoke") || strings.HasSuffix(rest, "/invoke-with-response-stream"))
}

// endings are the stop reasons. "sensitive" is known only from the source code of clients.
var endings = protocol.FinishReasons{
	What: "stop reason", Calls: "tool_use", Done: "end_turn",
	Codes: map[string]stream.Code{
		"end_turn": stream.FinishDone, "tool_use": stream.FinishDone, "stop_sequence": stream.FinishDone,
		"pause_turn": stream.FinishDone, "compaction": stream.FinishDone,
		"max_tokens": stream.FinishCut, "model_context_window_exceeded": stream.FinishCut,
		"refusal": stream.FinishRefused, "sensitive": stream.FinishRefused,
	},
}

// toolBlocks maps each block type that contains a call to the call's kind and to whether the provider runs the call.
// Anthropic has no custom_tool_use: package transcript uses it for calls of agents whose arguments are free text.
var toolBlocks = map[string]stream.CallInfo{
	"tool_use":        {Kind: "function"},
	"server_tool_use": {Kind: "server", RunByProvider: true},
	"mcp_tool_use":    {Kind: "mcp", RunByProvider: true},
	"custom_tool_use": {Kind: "custom", Freeform: true},
}

// event is one event of the stream as it was sent.
type event struct {
	shape *json.Shape

	kind, index, block, message, usage, err json.Value

	metrics json.Value // Bedrock's own counts, in message_stop

	delta struct{ kind, text, json, thinking, signature, stopReason, stopDetails json.Value }
}

// events contains the events of closed decoders, because their shapes know what the next frames look like.
var events = sync.Pool{New: func() any {
	ev := new(event)
	ev.bindShape()
	return ev
}}

func (ev *event) bindShape() {
	delta := &ev.delta
	ev.shape = json.ShapeOf(
		json.Field("type", &ev.kind),
		json.Field("index", &ev.index),
		json.Object("delta",
			json.Field("type", &delta.kind),
			json.Field("partial_json", &delta.json),
			json.Field("text", &delta.text),
			json.Field("thinking", &delta.thinking),
			json.Field("signature", &delta.signature),
			json.Field("stop_reason", &delta.stopReason),
			json.Field("stop_details", &delta.stopDetails)),
		json.Field("content_block", &ev.block),
		json.Field("message", &ev.message),
		json.Field("usage", &ev.usage),
		json.Field("error", &ev.err),
		json.Field("amazon-bedrock-invocationMetrics", &ev.metrics))
}

// findings lists the findings that only this protocol reports.
var findings = []*stream.Diagnosis{
	modelFallback, usageModels, usageCorrected,
}

var (
	modelFallback = &stream.Diagnosis{
		Code: "MODEL_FALLBACK", Severity: stream.Info, By: stream.Provider,
		Meaning: "One model declined, and another model continued the same message.",
		Advice:  "Attribute the content before this point to the first model. Price each part by the model that wrote it.",
	}
	usageModels = &stream.Diagnosis{
		Code: "USAGE_SEVERAL_MODELS", Severity: stream.Info, By: stream.Provider,
		Meaning: "Several models served one turn at different prices, and the totals don't show the tokens of each model.",
		Advice:  "Read each model's token counts in usage.iterations.",
	}
	usageCorrected = &stream.Diagnosis{
		Code: "USAGE_CORRECTED", Severity: stream.Info, By: stream.Provider,
		Meaning: "The input tokens were reported twice with different numbers.",
		Advice:  "Use the last number, which is the one that Anthropic bills.",
	}
)

// maxOutput maps prefixes of model names to maximum numbers of output tokens. Longer prefixes come first, and the
// first match counts. The numbers are from models.dev, as of 2026-07-02.
var maxOutput = []struct {
	model string
	most  int
}{
	{"claude-fable-5", 128000}, {"claude-mythos-5", 128000}, {"claude-opus-5", 128000}, {"claude-sonnet-5", 128000},
	{"claude-opus-4-8", 128000}, {"claude-opus-4-7", 128000}, {"claude-opus-4-6", 128000},
	{"claude-opus-4-5", 64000}, {"claude-sonnet-4", 64000}, {"claude-haiku-4", 64000},
	{"claude-opus-4", 32000}, {"claude-3-opus", 4096}, {"claude-3-haiku", 4096}, {"claude-3-sonnet", 4096},
}

const (
	ModestTokens  = 8192  // every recent model can write at least this many tokens
	defaultTokens = 32000 // maximum that maxTokens returns; a request that needs more sets its own limit
)

// maxTokens returns the limit for a request that sets none, because the protocol requires a limit. The limit is a
// third of the model's maximum, as in badlogic/pi-mono, but at most defaultTokens. This leaves room for thinking and
// for a long conversation. A maximum that is not above ModestTokens is itself the limit. An unknown model gets
// ModestTokens.
func maxTokens(model string) int {
	switch most := MaxOutput(model); {
	case most == 0:
		return ModestTokens
	case most > ModestTokens:
		return min(most/3, defaultTokens)
	default:
		return most
	}
}

// MaxOutput returns the maximum number of output tokens of a model, or 0 if the model is unknown.
func MaxOutput(model string) int {
	model = strings.ToLower(model[strings.LastIndexAny(model, "/.")+1:])
	for _, m := range maxOutput {
		if strings.HasPrefix(model, m.model) {
			return m.most
		}
	}
	return 0
}

// writeRequest writes a request of the Messages API. It asks the provider to cache the prompt only if the request has
// a session, because cache writes cost extra and pay off only if further requests follow.
func writeRequest(r protocol.Request, q protocol.HostFeatures) (path string, body []byte) {
	limit := r.MaxTokens
	if limit <= 0 {
		limit = maxTokens(r.Model)
	}
	var w json.Writer
	w.Open('{').Member("model", r.Model).Key("max_tokens").Int(limit).Flag("stream", true)
	if r.Session != "" && q.CacheControl {
		w.Key("cache_control").Open('{').Member("type", "ephemeral")
		if r.LongCache {
			w.Member("ttl", "1h")
		}
		w.Close('}')
	}
	w.MemberIfSet("system", r.Instructions()).WriteList("messages", r.EncodedMessages)
	r.WriteTools(&w, "tools", "[", "]", func(w *json.Writer, t *protocol.Tool) {
		protocol.Describe(w.Open('{'), t).Key("input_schema").Raw(objectSchema(t.Arguments())).Close('}')
	})
	return "/v1/messages", w.Close('}').Text
}

// objectSchema returns a schema with a type, because this protocol requires a type. If the schema has none,
// the type is object.
func objectSchema(schema json.Value) json.Value {
	if schema.Get("type").IsPresent() {
		return schema
	}
	var w json.Writer
	w.Open('{').Member("type", "object")
	s := schema.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		w.Key(string(s.Key())).Raw(s.Value())
	}
	return w.Close('}').Text
}

// providerTools are prefixes of the types of tools that the provider runs. Their calls are
// server_tool_use blocks.
var providerTools = []string{"web_search_", "web_fetch_", "code_execution_", "tool_search_tool_", "advisor_"}

// clientTools are prefixes of the types of tools that Anthropic defines and the client runs. Such a tool has a name,
// but the request doesn't contain its schema.
var clientTools = []string{"bash_", "text_editor_", "computer_", "memory_"}

// readTools returns the tools that a request declares.
func readTools(request []byte) (all []protocol.Tool) {
	for t := range json.Value(request).Get("tools").Elements() {
		kind, tool := t.Get("type"), protocol.FunctionTool(t, "input_schema")
		switch tool.Kind = kind.Text(); {
		case !kind.IsPresent(), kind.Is("custom"), tool.Schema != nil:
			tool.Kind = "function"
		case hasAnyPrefix(tool.Kind, providerTools):
			tool.Kind = "server"
		case hasAnyPrefix(tool.Kind, clientTools):
			tool.Kind = "function"
		case tool.Kind == "mcp_toolset":
			tool.Kind = "mcp"
		}
		if tool.Name == "" && (tool.Kind == "function" || tool.Kind == "") {
			continue // a tool of another protocol
		}
		all = append(all, tool)
	}
	return all
}

func hasAnyPrefix(word string, with []string) bool {
	for _, w := range with {
		if strings.HasPrefix(word, w) {
			return true
		}
	}
	return false
}

// wireMarks describes Anthropic Messages to code that doesn't decode it. The errors are listed at
// https://docs.claude.com/en/api/errors.
var wireMarks = marks.Protocol{
	Events: []marks.Event{
		{Type: "message_start", Begins: true},
		{Type: "content_block_start", Block: marks.BlockStart},
		{Type: "content_block_delta", Block: marks.BlockDelta},
		{Type: "content_block_stop", Block: marks.BlockStop},
		{Type: "message_delta", Ends: true},
		{Type: "message_stop", Ends: true, Last: true},
		{Type: "ping", Common: true},
		{Type: "error", Common: true},
	},
	Enders:   []string{"message_stop"},
	Asides:   []string{"/count_tokens", "/event_logging/batch"},
	Rules:    []marks.Rule{{Is: marks.Body, When: "type=message role=assistant content:[ model"}},
	TypeKeys: []string{"type"}, BlockKeys: []string{"index"},
	EventID: "message.id", OnlyEventID: true,
	Ending: "stop_reason", TopKeys: []string{"delta"}, Blocks: true, EventNames: true,

	PartTypes:   []string{"tool_result", "tool_use", "text", "thinking"},
	MessageKeys: []string{"content"},
	RequestKeys: []string{"model", "max_tokens", "tools", "system", "temperature", "stream", "tool_choice"},
	HistoryKeys: []string{"messages"}, ToolKeys: []string{"tools"},
	Sent: []marks.Sent{{ // a message in a response has a type, and a message in the history has none
		List: "messages", When: "role=assistant content.*.type$=tool_use", Take: "content",
		Body: `{"type":"message",MODEL"role":"assistant","content":MESSAGE}`,
	}},
	Arguments: []marks.Place{{Path: "partial_json"}, {Path: "^content.#.input"}},
	TextKeys:  []string{"partial_json", "text", "content", "thinking"},
	Refusal: marks.Refusal{
		Paths:  []string{"/v1/messages", ":rawPredict", ":streamRawPredict"},
		Bodies: []string{"message_start", `"type":"message"`},
		Body: func(status int, message string) any {
			kinds := map[int]string{
				400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
				413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
			}
			return map[string]any{"type": "error", "error": map[string]any{"type": cmp.Or(kinds[status], "api_error"), "message": message}}
		},
	},
}
