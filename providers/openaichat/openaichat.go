// Package openaichat decodes OpenAI's Chat Completions protocol and the variants of many providers that claim
// to be compatible: OpenRouter, Groq, Mistral, DeepSeek, xAI, Qwen, the compatible endpoints of Gemini and
// Ollama, vLLM, llama.cpp, Azure and gateways. All variants are treated as one protocol, and each deviation
// is a finding.
//
// Wire facts are from OpenAI's published API description and SDKs. Each deviation has been seen in real
// traffic. The protocol doesn't mark the end of a call: only the finish_reason of a choice makes its calls
// final.
package openaichat

import (
	"strings"
	"sync"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns the Chat Completions protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "openai-chat",
		Title:    "OpenAI Chat Completions",
		Sniff:    sniffFrame,
		Findings: findings,
		New:      newDecoder,
		Marks:    wireMarks,
		Speaker:  &speaker,
		Tools:    readTools,

		Targets: []protocol.Target{openAI, mistral, llamaCPP},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	var object, errs, base json.Value
	choices := false
	s := json.Scan(e.Data)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "object":
			object = s.Value()
		case "choices":
			choices = protocol.ListOf(s, choiceKeys) && !isFromUser(s.Value())
		case "error":
			errs = s.Value()
		case "base_resp":
			base = s.Value()
		}
	}
	status, _ := base.Get("status_code").Int()
	switch {
	case strings.HasPrefix(object.Text(), "chat.completion"):
		return protocol.SniffScore{Points: protocol.Sure, Why: "object " + object.Text()}
	case choices:
		return protocol.SniffScore{Points: protocol.Strong, Why: "a list of choices"}
	case strings.HasSuffix(e.Path, "/chat/completions"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	case e.HeaderIs("Openai-Processing-Ms"), e.HeaderIs("X-Generation-Id"), e.HeaderIs("Mistral-Correlation-Id"):
		return protocol.SniffScore{Points: protocol.Likely, Why: "a header from an OpenAI-like provider"}
	case errs.Get("message").IsString() && !json.Value(e.Data).Get("jsonrpc").IsPresent():
		return protocol.SniffScore{Points: protocol.Weak, Why: "an error object"}
	case object.Is("error"), status != 0 && base.Get("status_msg").IsString():
		return protocol.SniffScore{Points: protocol.Weak, Why: "an error object"}
	}
	return protocol.SniffScore{}
}

// choiceKeys contains the fields of a choice. A choice has at least one of them.
var choiceKeys = map[string]bool{
	"delta": true, "message": true, "index": true, "finish_reason": true, "text": true, "content_filter_results": true, "usage": true,
}

// isFromUser reports whether the first of several choices contains a message that no model writes.
func isFromUser(choices json.Value) bool {
	for first := range choices.Elements() {
		role := first.Get("message").Get("role")
		return role.Is("user") || role.Is("system") || role.Is("tool")
	}
	return false
}

// chunk is one chunk, or one complete body, as sent.
type chunk struct {
	shape *json.Shape

	id, model, object, usage, groqUsage, tier, err, message json.Value

	baseStatus, baseMessage json.Value // MiniMax's status, which is 0 unless the response is an error

	choices json.List[choice]
}

// choice is one of the alternative responses. Its content is in delta or, in a body, in message.
type choice struct {
	index, finish, native, usage json.Value

	delta, message choiceContent
}

// choiceContent is the delta or the message in a choice, as sent.
type choiceContent struct {
	object, role, content, refusal             json.Value
	reasoningContent, reasoning, reasoningText json.Value
	reasoningDetails                           json.Value
	extra                                      json.Value
	executed                                   json.Value // tools that Groq ran itself
	resultOf                                   json.Value // tool_call_id of a result

	calls    json.List[wireCall]
	callList json.Value // tool_calls as sent: a list, or one call
	function wireCall   // function_call, the older form of calls
}

// wireCall is one element of tool_calls, or a function_call.
type wireCall struct {
	object, index, id, kind, name, args, extra json.Value

	custom json.Value // object with the name and the input of a custom tool
}

// chunks contains the chunks of closed decoders, because their shapes know what the next frames look like.
var chunks = sync.Pool{New: func() any { return newChunk() }}

func newChunk() *chunk {
	c := new(chunk)
	c.shape = json.ShapeOf(
		json.Field("id", &c.id),
		json.Field("object", &c.object),
		json.Field("model", &c.model),
		json.Field("service_tier", &c.tier),
		json.Each("choices", &c.choices, (*choice).shapeFields),
		json.Field("usage", &c.usage),
		json.Object("x_groq", json.Field("usage", &c.groqUsage)),
		json.Field("error", &c.err),
		json.Field("message", &c.message),
		json.Object("base_resp", json.Field("status_code", &c.baseStatus), json.Field("status_msg", &c.baseMessage)))
	return c
}

func (c *choice) shapeFields() []json.Binding {
	return []json.Binding{
		json.Field("index", &c.index),
		json.Object("delta", c.delta.shapeFields()...).Into(&c.delta.object),
		json.Object("message", c.message.shapeFields()...).Into(&c.message.object),
		json.Field("finish_reason", &c.finish),
		json.Field("native_finish_reason", &c.native),
		json.Field("usage", &c.usage),
	}
}

func (s *choiceContent) shapeFields() []json.Binding {
	return []json.Binding{
		json.Field("role", &s.role),
		json.Field("content", &s.content),
		json.Field("refusal", &s.refusal),
		json.Field("reasoning_content", &s.reasoningContent),
		json.Field("reasoning", &s.reasoning),
		json.Field("reasoning_text", &s.reasoningText),
		json.Field("reasoning_details", &s.reasoningDetails),
		json.Field("extra_content", &s.extra),
		json.Field("executed_tools", &s.executed),
		json.Field("tool_call_id", &s.resultOf),
		json.Each("tool_calls", &s.calls, (*wireCall).shapeFields).Into(&s.callList),
		json.Object("function_call", s.function.functionFields()...).Into(&s.function.object),
	}
}

func (w *wireCall) shapeFields() []json.Binding {
	return []json.Binding{
		json.Field("index", &w.index),
		json.Field("id", &w.id),
		json.Field("type", &w.kind),
		json.Object("function", w.functionFields()...),
		json.Object("custom", w.functionFields()...).Into(&w.custom),
		json.Field("extra_content", &w.extra),
	}
}

// functionFields binds the fields with the name and the arguments (input, for custom tools).
func (w *wireCall) functionFields() []json.Binding {
	return []json.Binding{
		json.Field("name", &w.name),
		json.Field("arguments", &w.args).Or("input"),
	}
}

// content returns the content of the choice. The result whole reports whether that content is complete. If there is a
// message next to a delta, as in Writer's responses, it only repeats the delta.
func (c *choice) content() (s *choiceContent, whole bool) {
	if c.delta.object.Kind() != '{' && c.message.object.Kind() == '{' {
		return &c.message, true
	}
	return &c.delta, false
}

// isCustom reports whether the arguments are free text.
func (w *wireCall) isCustom() bool { return w.custom.Kind() == '{' || w.kind.Is("custom") }

// isLegacy reports whether the call is a function_call.
func (w *wireCall) isLegacy() bool { return w.object != nil }

// isStub reports whether a function_call has neither a name nor arguments. Some gateways add such a
// function_call to every response.
func (w *wireCall) isStub() bool {
	return w.name.Text() == "" && (!w.args.IsPresent() || w.args.Empty())
}

// isNews reports whether the element has a field of a call, and not only metadata.
func (w *wireCall) isNews() bool {
	return w.id.IsPresent() || w.name.IsPresent() || w.args != nil || w.kind.IsPresent()
}

// thoughtSignature returns the signature in an extra_content field. Gemini's compatible endpoint sends this field for
// a call or for the content of a message.
func thoughtSignature(extra json.Value) json.Value {
	return extra.Get("google").Get("thought_signature")
}

// findings lists the findings that are specific to this protocol.
var findings = []*stream.Diagnosis{
	indexNegative, indexChanged, indexAndIDMissing, idIsNull, idIsNumber, idEmpty, idRepeated, idLate,
	messageInChunk, nameEmptied, nameRepeated, nameFragmented, legacyCall, finishRewritten, choicesSplit, callsEmpty, upstreamError,
	reasoningTwice, reasoningDetails, usageInChoice, usageCumulative, usageUnclear, costByok,
}

var (
	indexNegative = &stream.Diagnosis{
		Code: "IDX_NEG", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The index of a call is negative. toolscope reads the index as 0.",
		Advice:  "Nothing, if your client doesn't use the index as a list position.",
	}
	indexChanged = &stream.Diagnosis{
		Code: "IDX_CHANGED", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "index changed",
		Meaning: "Later deltas of a call have a different index. Only the id shows which call such a delta belongs to.",
		Advice:  "Make your client use the id of a delta instead of the index, if the delta has an id.",
	}
	indexAndIDMissing = &stream.Diagnosis{
		Code: "IDX_ID_MISSING", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "no index",
		Meaning: "Several calls have neither an index nor an id. Only a name shows where a call begins.",
		Advice:  "Turn off parallel calls for this provider, or update the provider's software.",
	}
	idIsNull = &stream.Diagnosis{
		Code: "ID_STRING_NULL", Severity: stream.Warn, By: stream.Gateway,
		Verdict: `id is "null"`,
		Meaning: "The id of a call is the word \"null\", so the call has no id.",
		Advice:  "Create an id, and use it for both the call and its result in the history.",
	}
	idIsNumber = &stream.Diagnosis{
		Code: "ID_NUMBER", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "id: number",
		Meaning: "The id of a call is a number, but the protocol requires a string. Clients that check types refuse the response.",
		Advice:  "Make the gateway send the id as a string.",
	}
	idEmpty = &stream.Diagnosis{
		Code: "ID_EMPTY", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Later deltas of a call have an empty id. The first id of the call stays valid.",
		Advice:  "Nothing, if your client ignores empty ids. Other clients may start a new call.",
	}
	idRepeated = &stream.Diagnosis{
		Code: "ID_REPEATED", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Later deltas of a call repeat the id. Clients must not append the repeats.",
		Advice:  "Nothing, if your client sets the id instead of appending to it.",
	}
	idLate = &stream.Diagnosis{
		Code: "ID_LATE", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The id or the name of a call arrived after the first bytes of the arguments. Clients must keep these bytes until the id and the name arrive.",
		Advice:  "Nothing, if your client keeps deltas until the id and the name are known.",
	}
	messageInChunk = &stream.Diagnosis{
		Code: "MESSAGE_IN_CHUNK", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "no delta",
		Meaning: "A chunk of a stream has a message where the protocol requires a delta. Clients that read the deltas ignore the message, or fail.",
		Advice:  "Make the gateway send the content of each chunk as a delta.",
	}
	nameEmptied = &stream.Diagnosis{
		Code: "NAME_EMPTY_CONT", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Later deltas of a call have an empty name. The first name of the call stays valid.",
		Advice:  "Nothing, if your client ignores empty names.",
	}
	nameRepeated = &stream.Diagnosis{
		Code: "NAME_REPEATED", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Later deltas of a call repeat the name. A client that appends the name each time calls a tool that doesn't exist.",
		Advice:  "Make your client set the name instead of appending to it.",
	}
	nameFragmented = &stream.Diagnosis{
		Code: "NAME_FRAGMENTED", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "name in parts",
		Meaning: "The name arrived in several deltas. toolscope keeps the first part. Some clients append the other parts, and some don't.",
		Advice:  "Compare the name with the tools that the request declares.",
	}
	legacyCall = &stream.Diagnosis{
		Code: "LEGACY_FUNCTION_CALL", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The call was sent as function_call, the old form, which has no id and allows only one call.",
		Advice:  "Nothing, if your client reads this form. Otherwise, make the provider send tool_calls.",
	}
	finishRewritten = &stream.Diagnosis{
		Code: "FIN_REWRITTEN", Severity: stream.Error, By: stream.Gateway,
		Verdict: "false finish",
		Meaning: "The gateway's finish reason marks the response as complete, but the upstream's finish reason shows that the response was cut off.",
		Advice:  "Use native_finish_reason, and check each call in this response before you run it.",
	}
	choicesSplit = &stream.Diagnosis{
		Code: "CHOICES_SPLIT", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "split choices",
		Meaning: "One response is split into several choices: the text is in one choice, and the call is in another. Clients that read only the first choice miss the call.",
		Advice:  "Make the gateway send one choice, or make your client read the calls in all choices.",
	}
	callsEmpty = &stream.Diagnosis{
		Code: "TOOLCALLS_EMPTY", Severity: stream.Warn, By: stream.Provider,
		Verdict: "empty calls",
		Meaning: "Many deltas contain only an empty list of calls, and no call follows. The server's parser removed the call from the text but sent no call in its place.",
		Advice:  "Retry the request without streaming, and choose the tool-call parser that fits the model.",
	}
	upstreamError = &stream.Diagnosis{
		Code: "UPSTREAM_ERROR", Severity: stream.Info, By: stream.Provider,
		Meaning: "The gateway passes on the error message of its upstream.",
		Advice:  "Read the upstream's message, which has more details than the gateway's own error.",
	}
	reasoningTwice = &stream.Diagnosis{
		Code: "REASONING_FIELDS", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The same reasoning is in two fields. toolscope shows one of them.",
		Advice:  "Make your client read only one of the fields. A client that reads both shows the reasoning twice.",
	}
	reasoningDetails = &stream.Diagnosis{
		Code: "REASONING_DETAILS", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The response has encrypted or signed reasoning. Clients must send this reasoning back unchanged, together with the calls.",
		Advice:  "Send reasoning_details back unchanged in the history.",
	}
	usageInChoice = &stream.Diagnosis{
		Code: "USAGE_IN_CHOICE", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The usage is inside a choice instead of the chunk itself. Clients that read the usage only from the chunk itself count no tokens.",
		Advice:  "Make your client read the usage in both places.",
	}
	usageCumulative = &stream.Diagnosis{
		Code: "USAGE_CUMULATIVE", Severity: stream.Info, By: stream.Gateway,
		Meaning: "Many chunks repeat the usage. Only the last usage counts.",
		Advice:  "Don't add up the numbers in all chunks: the sum would be too high.",
	}
	usageUnclear = &stream.Diagnosis{
		Code: "USAGE_UNCLEAR", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The token counts contradict each other, so the billed amount is uncertain.",
		Advice:  "Compare the cost with the provider's bill before you rely on it.",
	}
	costByok = &stream.Diagnosis{
		Code: "COST_BYOK", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The reported cost contains only the gateway's charges. You pay the gateway's upstream separately, with another key.",
		Advice:  "Add the upstream's charges for that key.",
	}
)

// writeRequest writes a Chat Completions request that the many providers of this protocol accept. Fields that some
// providers refuse are written only if the provider's HostFeatures allow them. The instructions have the role system,
// which every provider supports. OpenAI treats this role like the role developer.
func writeRequest(r protocol.Request, q protocol.HostFeatures) (path string, body []byte) {
	var w json.Writer
	w.Open('{').MemberIfSet("model", r.Model).Flag("stream", true)
	if !q.TellsUsage {
		w.Key("stream_options").Open('{').Flag("include_usage", true).Close('}')
	}
	if q.Store {
		w.Flag("store", false)
	}
	if r.MaxTokens > 0 {
		name := "max_tokens"
		if q.Completion {
			name = "max_completion_tokens"
		}
		w.Key(name).Int(r.MaxTokens)
	}
	r.WriteCacheKey(&w, q)
	w.WriteList("messages", r.WithSystem())
	r.WriteFunctionTools(&w, q.Custom)
	return "/chat/completions", w.Close('}').Text
}

// readTools returns the tools that a request declares, in tools or in the legacy field functions. Some providers have
// kinds other than function and custom, and readTools keeps their words for these kinds.
func readTools(request []byte) (all []protocol.Tool) {
	s := json.Scan(request)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "tools":
			for ok := s.Array(); ok; ok = s.Element() {
				if t := readTool(s.Value()); t.Kind != "" {
					all = append(all, t)
				}
			}
		case "functions":
			for ok := s.Array(); ok; ok = s.Element() {
				all = append(all, protocol.FunctionTool(s.Value(), "parameters"))
			}
		}
	}
	return all
}

// readTool reads one tool. A tool without the fields type, function and custom is from another protocol, and readTool
// returns the zero Tool for it.
func readTool(t json.Value) protocol.Tool {
	kind, inner := t.Get("type").Text(), t.Get("function")
	switch custom := t.Get("custom"); {
	case kind == "custom", kind == "" && custom.IsPresent():
		return protocol.Tool{Name: custom.Get("name").Text(), Kind: "custom", Description: custom.Get("description").Text()}
	case kind == "" && !inner.IsPresent():
		return protocol.Tool{}
	case !inner.IsPresent():
		inner = t // a flat tool, as in the Responses protocol
	}
	f := protocol.FunctionTool(inner, "parameters")
	if kind != "" {
		f.Kind = kind
	}
	return f
}

// openAI describes how Chat Completions accepts history. It accepts any text as arguments, whether or not it is
// complete JSON. The rules are from OpenAI's published API description (FunctionObject) and from OpenAI's error
// messages.
var openAI = protocol.Target{
	Name: "openai-chat", Title: "OpenAI Chat Completions", Protocol: "openai-chat",
	Form:          protocol.TextForm,
	IDs:           protocol.IDRule{Max: 40, Required: true},
	Names:         protocol.NameRule{Class: "a-zA-Z0-9_-", Max: 64},
	Freeform:      true,
	Reasoning:     protocol.NoReasoning,
	ResultsFollow: true,
	Refusal: protocol.Refusal{
		ArgsObject:   "Invalid type for 'messages[N].tool_calls[M].function.arguments': expected a string, but got an object instead.",
		LongID:       "Invalid 'messages[N].tool_calls[M].id': string too long. Expected a string with maximum length 40, but got a string with length {n} instead.",
		Name:         "Invalid 'messages[N].tool_calls[M].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
		LoneCall:     "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {id}",
		LoneResult:   "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
		SecondResult: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
	},
	Hosts: []string{"api.openai.com"},
	// DeepSeek: "must be passed back to the API" (Kuberwastaken/claurst#121, https://api-docs.deepseek.com/guides/thinking_mode).
	// Moonshot: "reasoning_content is missing in assistant tool call message" (HKUDS/nanobot#2008, n8n-io/n8n#29142).
	WantReasoning: []string{"api.deepseek.com", "api.moonshot.ai", "api.moonshot.cn"},

	Encode:  encodeHistory,
	Request: writeRequest,
	Decode:  decodeHistory,
}

// mistral describes how Mistral's own API accepts history. It requires ids of nine letters or digits (error 3280),
// and as many results as calls (error 3230). It accepts reasoning as a part of the content.
var mistral = protocol.Target{
	Name: "mistral", Title: "Mistral", Protocol: "openai-chat",
	Form:          protocol.TextForm,
	IDs:           protocol.IDRule{Class: "a-zA-Z0-9", Min: 9, Max: 9, Required: true},
	Names:         protocol.NameRule{Class: "a-zA-Z0-9_-", Max: 64},
	Reasoning:     protocol.PlainReasoning,
	ResultsFollow: true,
	Refusal: protocol.Refusal{
		ID:         "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9.",
		LoneCall:   "Not the same number of function calls and responses",
		LoneResult: "Not the same number of function calls and responses",

		UserAfterResult: "Unexpected role 'user' after role 'tool'", // datapizza-labs/datapizza-ai#98
	},
	Hosts:   []string{"api.mistral.ai"},
	Encode:  encodeMistral,
	Request: writeRequest,
	Decode:  decodeHistory,
}

// llamaCPP describes how llama.cpp's server accepts history. Its chat templates parse the arguments, so it refuses
// arguments that are not JSON, with status 500.
var llamaCPP = protocol.Target{
	Name: "llama.cpp", Title: "llama.cpp", Protocol: "openai-chat",
	Form:          protocol.TextForm,
	JSONOnly:      true,
	Reasoning:     protocol.PlainReasoning,
	TakesUnpaired: true,
	Refusal: protocol.Refusal{
		Args: "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] ...",
	},
	Encode:  encodeHistory,
	Request: writeRequest,
	Decode:  decodeHistory,
}

// wireMarks contains the features by which Chat Completions is recognised. The errors are from
// https://platform.openai.com/docs/guides/error-codes.
var wireMarks = marks.Protocol{
	Terminator: "[DONE]",
	Asides:     []string{"/embeddings", "/moderations", "/tokenize", "/files", "/log", "/telemetry"},
	Rules: []marks.Rule{
		{Is: marks.Chunk, When: "object=chat.completion.chunk", Ends: "choices>finish_reason"},
		{Is: marks.Body, When: "object=chat.completion"},
		{Is: marks.Body, When: "object=text_completion choices.0:{"},
		{Is: marks.Chunk, When: "choices:[ choices.0.delta", Ends: "choices>finish_reason"},
		{Is: marks.Body, When: "choices:[ choices.0.message:{"},
		{Is: marks.Chunk, When: "choices:[ !choices.0 model usage", Ends: "model"},
		{Is: marks.Chunk, When: "choices:[ !choices.0 model id:\" !id=", Ends: "model"},
		{Is: marks.Chunk, When: "choices:[ choices.0:{ choices.0.text choices.0.finish_reason", Ends: "choices>finish_reason"},
		{Is: marks.Chunk, When: "choices:[ prompt_filter_results"},
		{Is: marks.Nothing, When: "choices:["},
		{Is: marks.Request, When: "messages.0.role messages.0.content"},
		{Is: marks.Request, When: "messages.0.role messages.0.tool_calls"},
	},
	IDKeys: []string{"id"}, Ending: "finish_reason", TopKeys: []string{"choices", "delta"},

	MessageKeys: []string{"content", "tool_calls", "tool_call_id"},
	RequestKeys: []string{"model", "max_tokens", "tools", "temperature", "stream", "tool_choice", "store"},
	HistoryKeys: []string{"messages"}, ToolKeys: []string{"tools", "functions"},
	Sent: []marks.Sent{
		{
			List: "messages", When: "role=assistant tool_calls.0 !tool_calls.0.function.arguments:{",
			Body: `{"object":"chat.completion",MODEL"choices":[{"index":0,"message":MESSAGE}]}`,
		},
		{
			List: "messages", When: "role=assistant !tool_calls.0 function_call",
			Body: `{"object":"chat.completion",MODEL"choices":[{"index":0,"message":MESSAGE}]}`,
		},
	},
	Arguments: []marks.Place{{Path: "arguments"}},
	TextKeys:  []string{"arguments", "text", "content", "reasoning", "reasoning_content"},
	CallIndex: "^choices.#.delta.tool_calls.#.index",
	Refusal: marks.Refusal{Body: func(status int, message string) any {
		kind, code := "invalid_request_error", any(nil)
		switch {
		case status == 429:
			kind, code = "requests", "rate_limit_exceeded"
		case status == 401:
			code = "invalid_api_key"
		case status >= 500:
			kind = "server_error"
		}
		return map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": code}}
	}},
}
