package formats

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// otlp reads OpenTelemetry traces and events in OTLP/JSON, as written by the collector's file exporter and by
// backends. A span becomes an exchange if it has the messages to and from a model. The span may follow
// OpenTelemetry's conventions for generative AI, or those of OpenInference, OpenLLMetry or the AI SDK.
var otlp = capture.Format{
	Name:  "otlp",
	Title: "OpenTelemetry, OTLP/JSON: GenAI, OpenInference, AI SDK",
	Sniff: sniffOTLP,
	New: func(in *capture.Input) capture.Reader {
		o := &otlpLog{in: in, name: "otlp"}
		return &jsonDocument{entryReader: entryReader{in: in, book: o}, walk: json.Walk{Paths: otlpPaths}, found: o.takeValue, decided: true, one: true}
	},
}

var otlpPaths = [][]string{
	{"resourceSpans", "*", "scopeSpans", "*", "spans", "*"},
	{"resourceSpans", "*", "instrumentationLibrarySpans", "*", "spans", "*"},
	{"resourceLogs", "*", "scopeLogs", "*", "logRecords", "*"},
}

func sniffOTLP(first []byte, whole bool) capture.SniffResult {
	keys, open := topKeys(first)
	switch {
	case len(keys) > 0 && (keys[0] == "resourceSpans" || keys[0] == "resourceLogs"):
		return capture.SniffResult{Is: capture.Yes, Why: "an object with " + keys[0]}
	case open && len(keys) == 0 && !whole:
		return capture.SniffResult{Is: capture.Maybe}
	}
	return capture.SniffResult{}
}

// otelSpans reads spans that are not in OTLP: those that OpenTelemetry's console exporter for Python prints, and those
// that Phoenix exports. Their attributes are the fields of one object.
var otelSpans = capture.Format{
	Name:  "otel spans",
	Title: "OpenTelemetry spans: Python's console exporter, Phoenix",
	Sniff: sniffOTelSpans,
	New: func(in *capture.Input) capture.Reader {
		o := &otlpLog{in: in, name: "otel spans"}
		return &jsonDocument{entryReader: entryReader{in: in, book: o}, walk: json.Walk{Paths: [][]string{{}}}, found: o.takeSpans, decided: true, one: true}
	},
}

// sniffOTelSpans checks the first span, which may be in a list, or in a list in the field data.
func sniffOTelSpans(first []byte, whole bool) capture.SniffResult {
	span := afterSpace(first)
	if opensObject(span) {
		if keys, _ := topKeys(span); len(keys) > 0 && keys[0] == "data" {
			span = afterSpace(json.Find(span, "data"))
		}
	}
	if isArray(span) {
		span = afterSpace(span[1:])
	}
	f := json.Pick(span, "context", "attributes", "start_time")
	context := json.Pick(f[0], "trace_id", "span_id")
	if context[0] != nil && context[1] != nil && opensObject(f[1]) && f[2] != nil {
		return capture.SniffResult{Is: capture.Yes, Why: "a span with a context and attributes"}
	}
	keys, open := topKeys(span)
	if whole || len(span) > 0 && !open || slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(spanKeys, key) }) {
		return capture.SniffResult{}
	}
	return capture.SniffResult{Is: capture.Maybe}
}

// spanKeys are the keys of a span.
var spanKeys = []string{
	"name", "id", "context", "span_kind", "kind", "parent_id", "start_time", "end_time", "status", "status_code", "status_message",
	"attributes", "events", "links", "resource",
}

// takeSpans reads a span, or a list of spans.
func (o *otlpLog) takeSpans(recs []capture.Record, _ int, value []byte) []capture.Record {
	if list := json.Find(value, "data"); opensObject(value) && isArray(list) {
		value = list
	}
	if isArray(value) {
		for span := range json.Elements(value) {
			recs = o.takeValue(recs, 0, span)
		}
		return recs
	}
	return o.takeValue(recs, 0, value)
}

// otlpLog reads spans and log records.
type otlpLog struct {
	in   *capture.Input
	name string // name of the format
}

func (o *otlpLog) entry(recs []capture.Record, _ []byte) []capture.Record { return recs }

func (o *otlpLog) close(recs []capture.Record) []capture.Record { return recs }

func (o *otlpLog) takeValue(recs []capture.Record, _ int, value []byte) []capture.Record {
	f := json.Pick(value, "attributes", "events", "startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "status",
		"start_time", "end_time", "status_code", "status_message")
	a := attributesOf(f[0])
	s := &otelSpan{attributes: a}
	for e := range json.Elements(f[1]) {
		// Older conventions have messages in events, newer ones in attributes.
		f := json.Pick(e, "name", "attributes")
		name, _ := json.Text(f[0])
		s.takeNamedEvent(string(name), attributesOf(f[1]))
	}
	for e := range json.Elements(s.attrJSON("events")) {
		of := map[string][]byte{}
		for k, v := range json.Members(e) {
			of[k] = nilIfNull(v)
		}
		name, _ := json.Text(of["event.name"])
		s.takeNamedEvent(string(name), of)
	}
	if !s.isModel() {
		return recs
	}
	s.readAttributes()
	if f[8] != nil {
		f[5] = objectOf(member{"code", f[8]}, member{"message", f[9]})
	}
	s.setFailure(f[5])
	if len(s.answer.parts) == 0 && s.answer.failure == nil && len(s.history) == 0 && s.answer.usage == nil {
		return recs
	}
	began, ended := parseLogTime(f[2]), parseLogTime(f[3])
	if began.IsZero() && f[6] != nil {
		began, ended = parseLogTime(f[6]), parseLogTime(f[7])
	} else if began.IsZero() {
		ended = parseLogTime(f[4])
	}
	return o.addExchange(recs, s, began, ended)
}

// addExchange appends the records of a span's exchange. Arguments that are objects count as re-encoded, because they
// were parsed before they were logged.
func (o *otlpLog) addExchange(recs []capture.Record, s *otelSpan, began, ended time.Time) []capture.Record {
	as, lacks := &chatShape, []capture.Lack{capture.NoDeltas, capture.Composed}
	if s.hasObjects() {
		as, lacks = &anthropicShape, append(lacks, capture.Reencoded)
	}
	s.answer.finish = s.finishReason(as)
	if s.answer.finish == nil && s.answer.failure == nil {
		lacks = append(lacks, capture.NoEnding)
	}
	s.answer.usage = s.usageJSON(as)
	n := o.in.NextExchange()
	head := o.in.NewHead([]string{o.name, s.convention, as.name}, lacks...)
	head.Start = began
	var said [][]byte
	for _, m := range s.history {
		said = append(said, as.messages(m.by, m.parts)...)
	}
	body := objectOf(member{"model", s.requestModel}, member{"tools", s.toolsIn(as)}, member{"messages", arrayOf(said...)})
	recs = append(recs, capture.Record{Exchange: n, Side: capture.Request, At: o.in.RecordTime(began), Head: head, Data: body})
	if len(s.answer.parts) > 0 || s.answer.failure != nil || s.answer.usage != nil {
		recs = append(recs, capture.Record{Exchange: n, At: o.in.RecordTime(ended), Data: as.response(&s.answer)})
	}
	return append(recs, capture.Record{Exchange: n, At: o.in.RecordTime(ended), End: capture.EndEOF})
}

// notModels are operations that are not a single request to a model with messages. Some of their spans repeat the
// messages of the spans inside them.
var notModels = []string{"invoke_agent", "create_agent", "execute_tool", "invoke_workflow", "embeddings"}

// isModel reports whether the span is a single request to a model.
func (s *otelSpan) isModel() bool {
	if slices.Contains(notModels, s.attrText("gen_ai.operation.name")) {
		return false
	}
	if operation := s.attrText("ai.operationId"); operation != "" { // other spans of the AI SDK repeat the messages
		return strings.HasSuffix(operation, ".doStream") || strings.HasSuffix(operation, ".doGenerate")
	}
	if kind := s.attrText("openinference.span.kind"); kind != "" {
		return kind == "LLM"
	}
	for _, name := range []string{"gen_ai.output.messages", "gen_ai.input.messages", "gen_ai.request.model", "llm.request.type", "llm.model_name"} {
		if s.attributes[name] != nil {
			return true
		}
	}
	return s.convention != ""
}

// otelSpan is a request to a model with its response, read from attributes and events.
type otelSpan struct {
	attributes map[string][]byte
	convention string // the convention that the attribute names follow

	history      []spanMessage
	requestModel []byte // the requested model
	answer       modelResponse
	word         string // the finish reason
	tools        [][]byte
}

// spanMessage is a message in a span's history.
type spanMessage struct {
	by    messageRole
	parts []messagePart
}

// takeNamedEvent reads an event by its name and attributes.
func (s *otelSpan) takeNamedEvent(name string, of map[string][]byte) {
	switch {
	case name == "gen_ai.client.inference.operation.details":
		for k, v := range of {
			s.attributes[k] = v
		}
	case name == "exception":
		s.attributes["exception.message"] = of["exception.message"]
		s.attributes["exception.type"] = of["exception.type"]
	case name == "gen_ai.choice":
		s.convention = "GenAI events"
		choice := &otelSpan{attributes: of}
		m := choice.attrJSON("message")
		if m == nil {
			m = choice.eventMessage(of)
		}
		s.addResponse(m)
		s.word = choice.attrText("finish_reason")
	case strings.HasPrefix(name, "gen_ai.") && strings.HasSuffix(name, ".message"):
		s.convention = "GenAI events"
		role := strings.TrimSuffix(strings.TrimPrefix(name, "gen_ai."), ".message")
		m := (&otelSpan{attributes: of}).eventMessage(of)
		if by, parts := messageOf(m); parts != nil {
			s.history = append(s.history, spanMessage{roleOf(role, by), parts})
		}
	}
}

// eventMessage returns the attributes of an event as a Chat Completions message.
func (s *otelSpan) eventMessage(of map[string][]byte) []byte {
	id := of["id"]
	if of["tool_call_id"] != nil {
		id = of["tool_call_id"]
	}
	return objectOf(member{"role", of["role"]}, member{"content", of["content"]}, member{"tool_calls", s.attrJSON("tool_calls")}, member{"tool_call_id", id})
}

// addResponse adds a message to the response.
func (s *otelSpan) addResponse(m []byte) {
	_, parts := messageOf(m)
	s.answer.parts = append(s.answer.parts, parts...)
	if word, _ := json.Text(json.Find(m, "finish_reason")); len(word) > 0 {
		s.word = string(word)
	}
}

// readAttributes reads the attributes according to the first convention that they match.
func (s *otelSpan) readAttributes() {
	s.requestModel = s.attributes["gen_ai.request.model"]
	s.answer.model, s.answer.id = s.attributes["gen_ai.response.model"], s.attributes["gen_ai.response.id"]
	if s.requestModel == nil {
		s.requestModel = s.attributes["llm.model_name"]
	}
	if s.answer.model == nil {
		s.answer.model = s.requestModel
	}
	for m := range json.Elements(s.attrJSON("gen_ai.response.finish_reasons")) {
		if word, ok := json.Text(m); ok && s.word == "" {
			s.word = string(word)
		}
	}
	switch {
	case s.convention != "":
	case s.attributes["ai.operationId"] != nil:
		s.readAISDK()
	case s.attributes["gen_ai.output.messages"] != nil || s.attributes["gen_ai.input.messages"] != nil:
		s.convention = "GenAI"
		if parts := partsOf(s.attrJSON("gen_ai.system_instructions")); parts != nil {
			s.history = append(s.history, spanMessage{theSystem, parts})
		}
		for m := range json.Elements(s.attrJSON("gen_ai.input.messages")) {
			by, parts := messageOf(m)
			s.history = append(s.history, spanMessage{by, parts})
		}
		for m := range json.Elements(s.attrJSON("gen_ai.output.messages")) {
			s.addResponse(m)
		}
		for t := range json.Elements(s.attrJSON("gen_ai.tool.definitions")) {
			s.tools = append(s.tools, t)
		}
	case s.attributes["llm.model_name"] != nil || s.attributes["openinference.span.kind"] != nil:
		s.convention = "OpenInference"
		s.readFlattened("llm.input_messages.", "llm.output_messages.", "message.")
		s.openInferenceTools()
	default:
		s.convention = "OpenLLMetry"
		s.readFlattened("gen_ai.prompt.", "gen_ai.completion.", "")
	}
	if s.word == "" {
		s.word = s.attrText("llm.finish_reason")
	}
}

// readAISDK reads the attributes of the AI SDK's telemetry.
func (s *otelSpan) readAISDK() {
	s.convention = "AI SDK"
	if s.requestModel == nil {
		s.requestModel = s.attributes["ai.model.id"]
	}
	for _, name := range []string{"ai.response.model", "ai.model.id"} {
		if s.answer.model == nil {
			s.answer.model = s.attributes[name]
		}
	}
	if s.answer.id == nil {
		s.answer.id = s.attributes["ai.response.id"]
	}
	for m := range json.Elements(s.attrJSON("ai.prompt.messages")) {
		by, parts := messageOf(m)
		s.history = append(s.history, spanMessage{by, parts})
	}
	if text := nonEmptyText(s.attributes["ai.response.text"]); text != nil {
		s.answer.parts = append(s.answer.parts, messagePart{kind: textPart, text: text})
	}
	s.answer.parts = append(s.answer.parts, partsOf(s.attrJSON("ai.response.toolCalls"))...)
	for t := range json.Elements(s.attributes["ai.prompt.tools"]) {
		if text, is := json.Text(t); is {
			t = text
		}
		s.tools = append(s.tools, t)
	}
	if word := s.attrText("ai.response.finishReason"); word != "" {
		s.word = strings.ReplaceAll(word, "-", "_")
	}
}

// setFailure reads the status of a span. A request with a response didn't fail.
func (s *otelSpan) setFailure(status []byte) {
	f := json.Pick(status, "code", "message", "status_code", "description")
	if f[2] != nil { // Python's console exporter
		f[0], f[1] = f[2], f[3]
	}
	if len(s.answer.parts) > 0 || !hasText(f[0], "STATUS_CODE_ERROR") && !hasText(f[0], "ERROR") && string(f[0]) != "2" {
		return
	}
	for _, why := range [][]byte{s.attributes["exception.message"], f[1], s.attributes["error.type"], s.attributes["exception.type"]} {
		if s.answer.failure == nil {
			s.answer.failure = nonEmptyText(why)
		}
	}
	if s.answer.failed = nonEmptyText(s.attributes["error.type"]); s.answer.failed == nil {
		s.answer.failed = nonEmptyText(s.attributes["exception.type"])
	}
}

// readFlattened reads messages whose fields are spread over attributes: PREFIX<i>.message.role and so on.
func (s *otelSpan) readFlattened(input, output, inside string) {
	for i := range maxFlattened {
		by, parts, ok := s.flatMessage(input+strconv.Itoa(i)+"."+inside, inside)
		if !ok {
			break
		}
		s.history = append(s.history, spanMessage{by, parts})
	}
	for i := range maxFlattened {
		at := output + strconv.Itoa(i) + "."
		_, parts, ok := s.flatMessage(at+inside, inside)
		if !ok {
			break
		}
		s.answer.parts = append(s.answer.parts, parts...)
		if s.word == "" {
			s.word = s.attrText(at + "finish_reason")
		}
	}
}

// maxFlattened is the maximum number of messages, and of calls in each message.
const maxFlattened = 1 << 14

// flatMessage returns the message whose attributes have the given prefix. OpenInference has calls and texts one level
// deeper than OpenLLMetry.
func (s *otelSpan) flatMessage(at, inside string) (by messageRole, parts []messagePart, ok bool) {
	role, content := s.attrText(at+"role"), s.attributes[at+"content"]
	call, function := "", ""
	if inside != "" {
		call, function = "tool_call.", "function."
	}
	if role == "tool" || role == "function" {
		text := content
		if text == nil {
			text = []byte(`""`)
		}
		return theUser, []messagePart{{kind: resultPart, id: nonEmptyText(s.attributes[at+"tool_call_id"]), name: s.attributes[at+"name"], text: text}}, true
	}
	if content != nil {
		parts = append(parts, contentOf(content)...)
	}
	for k := range maxFlattened {
		block := at + "contents." + strconv.Itoa(k) + "."
		if s.attributes[block+"message_content.type"] == nil && s.attributes[block+"message_content.text"] == nil && s.attributes[block+"tool_call.id"] == nil && s.attributes[block+"tool_call.function.name"] == nil {
			break
		}
		if text := nonEmptyText(s.attributes[block+"message_content.text"]); text != nil {
			parts = append(parts, messagePart{kind: textPart, text: text})
		}
		parts = s.flatCall(parts, block+"tool_call.", function)
	}
	for j := range maxFlattened {
		before := len(parts)
		if parts = s.flatCall(parts, at+"tool_calls."+strconv.Itoa(j)+"."+call, function); len(parts) == before {
			break
		}
	}
	return roleOf(role, theUser), parts, role != "" || len(parts) > 0
}

// flatCall adds the call whose attributes have the given prefix, if there is one.
func (s *otelSpan) flatCall(parts []messagePart, at, function string) []messagePart {
	name, args, id := s.attributes[at+function+"name"], s.attributes[at+function+"arguments"], s.attributes[at+"id"]
	if name == nil && args == nil && id == nil {
		return parts
	}
	return append(parts, messagePart{kind: callPart, id: id, name: name, args: args})
}

func (s *otelSpan) openInferenceTools() {
	for i := range maxFlattened {
		schema := s.attrJSON("llm.tools." + strconv.Itoa(i) + ".tool.json_schema")
		if schema == nil {
			return
		}
		s.tools = append(s.tools, schema)
	}
}

// hasObjects reports whether the arguments of any call in the request or the response are not a string.
func (s *otelSpan) hasObjects() bool {
	all := s.answer.parts
	for _, m := range s.history {
		all = append(all[:len(all):len(all)], m.parts...)
	}
	for i := range all {
		if p := &all[i]; p.kind == callPart && p.args != nil && kindOf(p.args) != '"' {
			return true
		}
	}
	return false
}

// finishes maps finish reasons to the words that the protocols use for them.
var finishes = map[string]struct{ chat, anthropic string }{
	"stop": {"stop", "end_turn"}, "end_turn": {"stop", "end_turn"}, "STOP": {"stop", "end_turn"}, "stop_sequence": {"stop", "end_turn"},
	"tool_call": {"tool_calls", "tool_use"}, "tool_calls": {"tool_calls", "tool_use"}, "tool_use": {"tool_calls", "tool_use"},
	"function_call": {"tool_calls", "tool_use"},
	"length":        {"length", "max_tokens"}, "max_tokens": {"length", "max_tokens"}, "MAX_TOKENS": {"length", "max_tokens"},
	"content_filter": {"content_filter", "refusal"}, "refusal": {"content_filter", "refusal"}, "SAFETY": {"content_filter", "refusal"},
}

// finishReason returns the protocol's word for the finish reason, or nil if it is unknown.
func (s *otelSpan) finishReason(as *messageShape) []byte {
	words, known := finishes[s.word]
	if !known {
		return nil
	}
	calls := false
	for i := range s.answer.parts {
		calls = calls || s.answer.parts[i].kind == callPart
	}
	if calls && words.chat == "stop" { // the conventions also use "stop" for a response with calls
		words = finishes["tool_call"]
	}
	word := words.chat
	if as == &anthropicShape {
		word = words.anthropic
	}
	return []byte(strconv.Quote(word))
}

// usageJSON returns the usage with the protocol's keys, or nil if neither the input nor the output count is
// known. The conventions count cached tokens as input; Anthropic doesn't.
func (s *otelSpan) usageJSON(as *messageShape) []byte {
	input := s.attrCount("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "ai.usage.inputTokens", "ai.usage.promptTokens")
	output := s.attrCount("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion", "ai.usage.outputTokens", "ai.usage.completionTokens")
	read := s.attrCount("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.details.cache_read_tokens", "gen_ai.usage.cache_read_input_tokens", "llm.token_count.prompt_details.cache_read", "ai.usage.cachedInputTokens")
	write := s.attrCount("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.details.cache_write_tokens", "gen_ai.usage.cache_creation_input_tokens", "llm.token_count.prompt_details.cache_write")
	if input < 0 && output < 0 {
		return nil
	}
	told := func(key string, n int) member {
		if n < 0 {
			return member{}
		}
		return member{key, intBytes(n)}
	}
	if as == &anthropicShape {
		rest := input - max(read, 0) - max(write, 0)
		if rest < 0 {
			rest = input // the input count excludes cached tokens, as in Anthropic's usage
		}
		return objectOf(told("input_tokens", rest), told("output_tokens", output), told("cache_read_input_tokens", read), told("cache_creation_input_tokens", write))
	}
	details := member{}
	if read >= 0 {
		details = member{"prompt_tokens_details", objectOf(told("cached_tokens", read))}
	}
	return objectOf(told("prompt_tokens", input), told("completion_tokens", output), details)
}

// toolsIn returns the tools as the protocol writes them, or nil if there are none.
func (s *otelSpan) toolsIn(as *messageShape) []byte {
	var all [][]byte
	for _, t := range s.tools {
		function := t
		if inner := json.Find(t, "function"); inner != nil {
			function = inner
		}
		f := json.Pick(function, "name", "description", "parameters", "input_schema", "inputSchema")
		for _, schema := range f[3:] {
			if f[2] == nil {
				f[2] = schema
			}
		}
		if as == &anthropicShape {
			all = append(all, objectOf(member{"name", f[0]}, member{"description", f[1]}, member{"input_schema", f[2]}))
		} else {
			all = append(all, objectOf(member{"type", []byte(`"function"`)}, member{"function", objectOf(member{"name", f[0]}, member{"description", f[1]}, member{"parameters", f[2]})}))
		}
	}
	if all == nil {
		return nil
	}
	return arrayOf(all...)
}

// attributesOf returns the values of attributes as JSON, by their keys.
func attributesOf(list []byte) map[string][]byte {
	all := map[string][]byte{}
	if opensObject(list) {
		addAttributes(all, "", list, 0)
		return all
	}
	for a := range json.Elements(list) {
		f := json.Pick(a, "key", "value")
		if key, ok := json.Text(f[0]); ok {
			all[string(key)] = plainJSON(f[1], 0)
		}
	}
	return all
}

// addAttributes adds the fields of an object. A name without a dot may be the beginning of the names in its value:
// {"llm":{"model_name":"m"}}.
func addAttributes(all map[string][]byte, before string, value []byte, depth int) {
	add := func(name string, v []byte) {
		first := json.FirstElement(v)
		if (opensObject(v) || opensObject(first)) && !strings.Contains(name, ".") && depth <= maxAttributeDepth {
			addAttributes(all, before+name+".", v, depth+1)
		} else {
			all[before+name] = nilIfNull(v)
		}
	}
	for name, v := range json.Members(value) {
		add(name, v)
	}
	if isArray(value) {
		n := 0
		for v := range json.Elements(value) {
			add(strconv.Itoa(n), v)
			n++
		}
	}
}

// maxAttributeDepth is the maximum depth of an attribute.
const maxAttributeDepth = 64

// plainJSON returns an OTLP value as JSON. OTLP encloses a value in an object whose key is the type of the
// value. plainJSON returns nil for any other value.
func plainJSON(value []byte, depth int) []byte {
	if depth > maxAttributeDepth {
		return nil
	}
	f := json.Pick(value, "stringValue", "boolValue", "intValue", "doubleValue", "arrayValue", "kvlistValue")
	switch {
	case f[0] != nil:
		return f[0]
	case f[1] != nil:
		return f[1]
	case f[2] != nil: // a 64-bit number as a string
		return bytes.Trim(f[2], `"`)
	case f[3] != nil:
		return f[3]
	case f[4] != nil:
		var all [][]byte
		for v := range json.Elements(json.Find(f[4], "values")) {
			all = append(all, orNull(plainJSON(v, depth+1)))
		}
		return arrayOf(all...)
	case f[5] != nil:
		var all [][]byte
		for kv := range json.Elements(json.Find(f[5], "values")) {
			of := json.Pick(kv, "key", "value")
			if kindOf(of[0]) == '"' {
				all = append(all, append(append(bytes.Clone(of[0]), ':'), orNull(plainJSON(of[1], depth+1))...))
			}
		}
		return append(append([]byte{'{'}, bytes.Join(all, []byte{','})...), '}')
	}
	return nil
}

func orNull(value []byte) []byte {
	if value == nil {
		return []byte("null")
	}
	return value
}

// attrText returns the text of an attribute, or "" if the attribute is not text.
func (s *otelSpan) attrText(name string) string {
	text, _ := json.Text(s.attributes[name])
	return string(text)
}

// attrJSON returns the JSON of an attribute, which may be inside a string.
func (s *otelSpan) attrJSON(name string) []byte {
	value := s.attributes[name]
	if text, ok := json.Text(value); ok {
		return bytes.TrimSpace(text)
	}
	return value
}

// attrCount returns the value of the first of these attributes that is an integer, or -1 if none is.
func (s *otelSpan) attrCount(names ...string) int {
	for _, name := range names {
		if n, err := strconv.Atoi(strings.Trim(string(s.attributes[name]), `"`)); err == nil {
			return n
		}
	}
	return -1
}
