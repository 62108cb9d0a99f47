// Package gemini decodes Google's generateContent protocol: as an event stream (alt=sse), as a JSON array
// sent element by element, and as a complete body. It reads responses of the Gemini API, of Vertex, and of
// Cloud Code Assist, which wraps each response in another object.
//
// Wire facts are from Google's public SDKs and API reference (types.go and api_client.go of go-genai;
// "Function calling" and "GenerateContentResponse" at ai.google.dev and cloud.google.com/vertex-ai). A
// functionCall part is a complete call: one chunk opens the call and makes it final. Only Vertex streams
// arguments, as values at paths. In such a stream, an empty part makes the arguments final. Calls have no
// index and often no id, so the slot of a call is its position in the turn. Only the end of the bytes ends
// the stream; a finishReason shows that the end was intended.
package gemini

import (
	"cmp"
	"net/url"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns the generateContent protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "gemini",
		Title:    "Google Gemini",
		Sniff:    sniffFrame,
		Findings: findings,
		New:      newDecoder,
		Marks:    wireMarks,
		Speaker:  &speaker,
		Tools:    readTools,
		Model:    readModel,

		Targets: []protocol.Target{target},
	}
}

// ownKeys are fields that identify a response of this protocol, with the first byte of their values.
var ownKeys = map[string]byte{
	"candidates": '[', "usageMetadata": '{', "usage_metadata": '{', "promptFeedback": '{', "prompt_feedback": '{',
	"modelVersion": '"', "model_version": '"',
}

// candidateKeys are fields of a candidate. Every candidate has at least one of them.
var candidateKeys = map[string]bool{
	"content": true, "index": true, "finishReason": true, "finish_reason": true, "finishMessage": true, "finish_message": true,
	"safetyRatings": true, "safety_ratings": true, "citationMetadata": true, "citation_metadata": true, "tokenCount": true,
	"token_count": true, "groundingMetadata": true, "grounding_metadata": true, "avgLogprobs": true, "logprobsResult": true,
	"urlContextMetadata": true,
}

// otherKeys are fields that show another protocol: Chat Completions, to which IBM's watsonx adds a model_version;
// ADK; the Live API; or LangChain.
var otherKeys = map[string]bool{
	"choices": true, "invocationId": true, "serverContent": true, "setupComplete": true, "toolCall": true, "response_metadata": true,
}

// ownKey returns the first of ownKeys in an object. It returns "" if there is none, or if the object has one
// of otherKeys.
func ownKey(object json.Value) (own string) {
	s := object.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		key := string(s.Key())
		if kind := ownKeys[key]; own == "" && kind != 0 && s.Kind() == kind && (key != "candidates" || protocol.ListOf(s, candidateKeys)) {
			own = key
		}
		if otherKeys[key] {
			return ""
		}
	}
	return own
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	data := json.Value(e.Data)
	if s := data.Scan(); s.Array() {
		data = s.Value()
	}
	var wrapped, err json.Value
	if key := ownKey(data); key != "" {
		return protocol.SniffScore{Points: protocol.Sure, Why: "a response with " + key}
	}
	s := data.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "response":
			wrapped = s.Value()
		case "error":
			err = s.Value()
		}
	}
	if key := ownKey(wrapped); key != "" {
		return protocol.SniffScore{Points: protocol.Sure, Why: "Cloud Code's wrapper around a response with " + key}
	}
	_, isNumber := err.Get("code").Int()
	switch {
	case isNumber && err.Get("status").IsString():
		return protocol.SniffScore{Points: protocol.Likely, Why: "a Google API error"}
	case strings.Contains(e.Path, ":streamGenerateContent"), strings.Contains(e.Path, ":generateContent"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	}
	return protocol.SniffScore{}
}

const (
	malformedCall  = "MALFORMED_FUNCTION_CALL"
	unexpectedCall = "UNEXPECTED_TOOL_CALL"
)

// tiers maps traffic types that have their own price to their service tiers.
var tiers = map[string]string{"ON_DEMAND_PRIORITY": "priority", "ON_DEMAND_FLEX": "flex"}

// chunk is one chunk or one complete body, as it was sent. Each chunk is a response whose parts continue the parts of
// earlier chunks. Keys are in camel case, or in snake case if a client printed parsed objects.
type chunk struct {
	shape *json.Shape

	id, model, feedback, err json.Value

	usage      usage
	candidates json.List[candidate]
}

func (c *chunk) bindShape() {
	members := []json.Binding{
		json.Each("candidates", &c.candidates, (*candidate).shapeFields),
		json.Object("usageMetadata", c.usage.shapeFields()...).Or("usage_metadata").Into(&c.usage.whole),
		json.Field("modelVersion", &c.model).Or("model_version"),
		json.Field("responseId", &c.id).Or("response_id"),
		json.Field("promptFeedback", &c.feedback).Or("prompt_feedback"),
		json.Field("error", &c.err),
	}
	c.shape = json.ShapeOf(append(members, json.Object("response", members...))...)
}

// isResponse reports whether the object has any field of a response.
func (c *chunk) isResponse() bool {
	return c.candidates.IsPresent() || c.err.IsPresent() || c.usage.whole.IsPresent() || c.feedback.IsPresent() || c.model.IsPresent() || c.id.IsPresent()
}

type candidate struct {
	index, finish, message, grounding json.Value

	parts json.List[part]
}

func (c *candidate) shapeFields() []json.Binding {
	return []json.Binding{
		json.Object("content", json.Each("parts", &c.parts, (*part).shapeFields)),
		json.Field("finishReason", &c.finish).Or("finish_reason"),
		json.Field("index", &c.index),
		json.Field("finishMessage", &c.message).Or("finish_message"),
		json.Field("groundingMetadata", &c.grounding).Or("grounding_metadata"),
	}
}

type part struct {
	text, thought, signature json.Value

	values [partText]json.Value // by kind: at most one value is an object
	other  json.Value           // name of an unknown field
	call   functionCall
}

type partKind uint8

const (
	partCall   partKind = iota // functionCall
	partCode                   // executableCode
	partResult                 // codeExecutionResult
	partTool                   // toolCall: run by the provider
	partAnswer                 // toolResponse
	partMedia                  // media and metadata, which are ignored
	partText                   // text, a thought, or nothing
	partNew                    // any other kind
)

func (p *part) shapeFields() []json.Binding {
	return []json.Binding{
		json.Object("functionCall", p.call.shapeFields()...).Or("function_call").Into(&p.values[partCall]),
		json.Field("text", &p.text),
		json.Field("thought", &p.thought),
		json.Field("thoughtSignature", &p.signature).Or("thought_signature"),
		json.Field("executableCode", &p.values[partCode]).Or("executable_code"),
		json.Field("codeExecutionResult", &p.values[partResult]).Or("code_execution_result"),
		json.Field("toolCall", &p.values[partTool]).Or("tool_call"),
		json.Field("toolResponse", &p.values[partAnswer]).Or("tool_response"),
		json.Field("inlineData", &p.values[partMedia]).Or("inline_data", "fileData", "file_data", "videoMetadata", "video_metadata",
			"mediaResolution", "media_resolution", "partMetadata", "part_metadata"),
		json.Other(&p.other),
	}
}

// kindAndValue returns the kind of the part, and its value, which is nil for partText and partNew.
func (p *part) kindAndValue() (partKind, json.Value) {
	for kind, value := range p.values {
		if value.Kind() == '{' {
			return partKind(kind), value
		}
	}
	if p.other != nil && !p.text.IsPresent() && !p.signature.IsPresent() {
		return partNew, nil
	}
	return partText, nil
}

// functionCall is a part with a call, or with the continuation of the active call.
type functionCall struct {
	id, name, args, continues json.Value

	patches json.List[patch]
}

func (f *functionCall) shapeFields() []json.Binding {
	return []json.Binding{
		json.Each("partialArgs", &f.patches, (*patch).shapeFields).Or("partial_args"),
		json.Field("willContinue", &f.continues).Or("will_continue"),
		json.Field("name", &f.name),
		json.Field("args", &f.args),
		json.Field("id", &f.id),
	}
}

// patch is an element of partialArgs.
type patch struct{ path, value, null, continues json.Value }

func (p *patch) shapeFields() []json.Binding {
	return []json.Binding{
		json.Field("jsonPath", &p.path).Or("json_path"),
		json.Field("stringValue", &p.value).Or("string_value", "numberValue", "number_value", "boolValue", "bool_value"),
		json.Field("nullValue", &p.null).Or("null_value"),
		json.Field("willContinue", &p.continues).Or("will_continue"),
	}
}

// usage is usageMetadata. The prompt count includes the cached tokens. Otherwise, the counts don't overlap.
type usage struct {
	whole json.Value

	prompt, tool, cached, candidates, thoughts, tier, traffic json.Value

	promptKinds, cachedKinds, candidateKinds json.Value // counts by modality
}

func (u *usage) shapeFields() []json.Binding {
	return []json.Binding{
		json.Field("promptTokenCount", &u.prompt).Or("prompt_token_count"),
		json.Field("candidatesTokenCount", &u.candidates).Or("candidates_token_count"),
		json.Field("thoughtsTokenCount", &u.thoughts).Or("thoughts_token_count"),
		json.Field("cachedContentTokenCount", &u.cached).Or("cached_content_token_count"),
		json.Field("toolUsePromptTokenCount", &u.tool).Or("tool_use_prompt_token_count"),
		json.Field("serviceTier", &u.tier).Or("service_tier"),
		json.Field("trafficType", &u.traffic).Or("traffic_type"),
		json.Field("promptTokensDetails", &u.promptKinds).Or("prompt_tokens_details"),
		json.Field("cacheTokensDetails", &u.cachedKinds).Or("cache_tokens_details"),
		json.Field("candidatesTokensDetails", &u.candidateKinds).Or("candidates_tokens_details"),
	}
}

// findings lists the findings that only this protocol reports.
var findings = []*stream.Diagnosis{
	patchOverwrites, patchGoesBack, patchUnclosed, patchUnreadable, implicitEnd,
}

var (
	patchOverwrites = &stream.Diagnosis{
		Code: "PATCH_OVERWRITES", Severity: stream.Warn, By: stream.Provider,
		Verdict: "overwritten",
		Meaning: "A delta sets a value that was already complete. Clients that append the new value and clients that replace the old value get different arguments.",
		Advice:  "Compare your client's arguments with the arguments that toolscope shows.",
	}
	patchGoesBack = &stream.Diagnosis{
		Code: "PATCH_GOES_BACK", Severity: stream.Info, By: stream.Provider,
		Meaning: "A delta changes earlier arguments, so the text before that delta is no longer valid.",
		Advice:  "Don't show or run arguments before the call ends.",
	}
	patchUnclosed = &stream.Diagnosis{
		Code: "PATCH_UNCLOSED", Severity: stream.Info, By: stream.Provider,
		Meaning: "The call ended, although a delta announced more of the last string.",
		Advice:  "Check the last string: its end may be missing.",
	}
	patchUnreadable = &stream.Diagnosis{
		Code: "PATCH_UNREADABLE", Severity: stream.Error, By: stream.Provider,
		Verdict: "bad patch",
		Meaning: "toolscope can't read the path or the value of a delta, so a value in the arguments is lost.",
		Advice:  "Don't run the call. Check the delta in the wire pane.",
	}
	implicitEnd = &stream.Diagnosis{
		Code: "IMPLICIT_END", Severity: stream.Warn, By: stream.Provider,
		ExplainsState: true,
		Verdict:       "no end",
		Meaning:       "Another call began before this call ended, so nothing confirms that the arguments of this call are complete.",
		Advice:        "Check that the arguments match the schema before you run the call.",
	}
)

// writeRequest writes a request to streamGenerateContent for an event stream. The path contains the model. Every
// chunk of the response contains the usage.
func writeRequest(r protocol.Request, _ protocol.HostFeatures) (path string, body []byte) {
	var w json.Writer
	w.Open('{').WriteList("contents", r.EncodedMessages)
	if system := r.Instructions(); system != "" {
		w.Key("systemInstruction").Open('{').Key("parts").Open('[').Open('{').Member("text", system).Close('}').Close(']').Close('}')
	}
	if r.MaxTokens > 0 {
		w.Key("generationConfig").Open('{').Key("maxOutputTokens").Int(r.MaxTokens).Close('}')
	}
	r.WriteTools(&w, "tools", `[{"functionDeclarations":[`, `]}]`, func(w *json.Writer, t *protocol.Tool) {
		protocol.Describe(w.Open('{'), t)
		if schema := googleSchema(t.Arguments()); schema != nil {
			w.Key("parameters").Raw(schema)
		}
		w.Close('}')
	})
	name := strings.TrimPrefix(r.Model, "models/")
	kind := "models/"
	if tuned, ok := strings.CutPrefix(name, "tunedModels/"); ok {
		name, kind = tuned, "tunedModels/"
	}
	return "/v1beta/" + kind + url.PathEscape(name) + ":streamGenerateContent?alt=sse", w.Close('}').Text
}

// readModel returns the model of a request. The model is in the path, as models/NAME:generateContent, or in the field
// named model of a Cloud Code request.
func readModel(path string, request []byte) string {
	if _, rest, ok := strings.Cut(path, "odels/"); ok { // models/ or tunedModels/
		name, _, _ := strings.Cut(rest, ":")
		return name
	}
	return json.Value(request).Get("model").Text()
}

// builtins maps each field that requests one of the provider's tools to the name that the tool has in calls.
var builtins = map[string]string{
	"codeExecution": codeTool, "code_execution": codeTool,
	"googleSearch": "google_search", "google_search": "google_search",
	"urlContext": "url_context", "url_context": "url_context",
	"googleMaps": "google_maps", "google_maps": "google_maps",
	"fileSearch": "file_search", "file_search": "file_search",
}

// readTools returns the tools that a request declares.
func readTools(request []byte) (list []protocol.Tool) {
	body := json.Value(request)
	if inner := body.Get("request"); inner.Kind() == '{' {
		body = inner // Cloud Code
	}
	declared := body.Get("tools").Scan()
	for ok := declared.Array(); ok; ok = declared.Element() {
		for ok := declared.Object(); ok; ok = declared.Member() {
			switch key := string(declared.Key()); key {
			case "functionDeclarations", "function_declarations":
				for ok := declared.Array(); ok; ok = declared.Element() {
					list = append(list, readDeclaration(declared.Value()))
				}
			default:
				if name := builtins[key]; name != "" {
					list = append(list, protocol.Tool{Name: name, Kind: "server"})
				}
			}
		}
	}
	return list
}

func readDeclaration(f json.Value) protocol.Tool {
	t := protocol.Tool{Kind: "function"}
	s := f.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "name":
			t.Name = s.Value().Text()
		case "description":
			t.Description = s.Value().Text()
		case "parametersJsonSchema", "parameters_json_schema":
			t.Schema = s.Value()
		case "parameters":
			if v := s.Value(); v.Kind() == '{' && t.Schema == nil {
				t.Schema = appendSchema(nil, v, 0)
			}
		}
	}
	return t
}

// wireMarks describes Gemini's protocol to code that doesn't decode it. Its errors are from
// https://ai.google.dev/gemini-api/docs/troubleshooting and google/rpc/code.proto.
var wireMarks = marks.Protocol{
	Asides: []string{":countTokens", ":embedContent", ":batchEmbedContents"},
	Rules: []marks.Rule{
		{Inner: "response", When: "response.candidates:[", Only: []string{"response", "traceId", "metadata"}}, // Code Assist
		{Is: marks.Chunk, When: "candidates:[ !candidates.0"},
		{Is: marks.Chunk, When: "candidates:[ candidates.0.content:{", Ends: "candidates~\"finishReason\""},
		{Is: marks.Chunk, When: "candidates:[ candidates.0.finishReason", Ends: "candidates~\"finishReason\""},
		{Is: marks.Chunk, When: "usageMetadata|promptFeedback:{ modelVersion|model !candidates"},
		{Is: marks.Request, When: "contents.0.parts"},
	},
	IDKeys: []string{"responseId"}, Ending: "finishReason", Unnamed: true,
	TopKeys: []string{"candidates", "usageMetadata", "promptFeedback", "responseId", "modelVersion"},
	Identity: &marks.Identity{
		Model: "modelVersion|model", Prompt: "usageMetadata|promptFeedback.promptTokenCount", Content: "candidates~\"parts\"",
		Tokens: []string{"usageMetadata|promptFeedback.candidatesTokenCount", "usageMetadata|promptFeedback.thoughtsTokenCount"},
	},

	PartTypes:   []string{"function_response"},
	PartKeys:    []string{"functionResponse", "functionCall"},
	MessageKeys: []string{"parts"},
	RequestKeys: []string{"contents", "tools", "generationConfig", "systemInstruction", "toolConfig"},
	HistoryKeys: []string{"contents"}, ToolKeys: []string{"tools", "toolConfig"},
	Sent: []marks.Sent{{
		List: "contents", When: "role=model parts.*.functionCall", Body: `{"candidates":[{"content":MESSAGE}]}`,
	}},
	Arguments: []marks.Place{{Path: "functionCall.args"}},
	TextKeys:  []string{"text"},
	Refusal: marks.Refusal{
		Paths:  []string{":generateContent", ":streamGenerateContent", "/interactions"},
		Bodies: []string{`"candidates"`},
		Body: func(status int, message string) any {
			words := map[int]string{
				400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
				429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
			}
			return map[string]any{"error": map[string]any{"code": status, "message": message, "status": cmp.Or(words[status], "UNKNOWN")}}
		},
	},
}
