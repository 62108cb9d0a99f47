// Package openairesponses decodes the OpenAI Responses protocol: its event stream over SSE, the same
// events as WebSocket messages, and complete bodies. OpenAI, Azure, Copilot, OpenRouter, xAI, LM Studio
// and other providers use this protocol.
//
// Wire facts are from OpenAI's published API description and SDKs, and from recorded streams. The output
// is a list of items, and a call is an item. The slot of a call is the item's output_index, because some
// providers change item ids from event to event. The arguments become final at response.output_item.done.
// The earlier event arguments.done and the later response.completed contain copies of the arguments.
package openairesponses

import (
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns the Responses protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "openai-responses",
		Title:    "OpenAI Responses",
		Sniff:    sniffFrame,
		Findings: findings,
		New:      newDecoder,
		Marks:    wireMarks,
		Speaker:  &speaker,
		Tools:    readTools,

		Targets: []protocol.Target{target},
	}
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	word, item, response := e.Get("type").Text(), e.Get("item"), e.Get("response")
	_, numbered := e.Get("sequence_number").Int()
	_, coded := e.Get("status").Int()
	switch {
	case response.Get("object").Is("realtime.response"), item.Get("object").Is("realtime.item"), e.Get("event_id").IsString() && !numbered:
		return protocol.SniffScore{} // OpenAI's Realtime API has the same event types, but its events have an id instead of a number
	case strings.HasPrefix(word, "response.") && (isEventType(word) || numbered || item != nil || e.Get("item_id") != nil || e.Get("output_index") != nil || response != nil):
		return protocol.SniffScore{Points: protocol.Sure, Why: "event type " + word}
	case e.Get("object").Is("response"):
		return protocol.SniffScore{Points: protocol.Sure, Why: "a response body"}
	case e.Get("output").Kind() == '[' && strings.HasPrefix(e.Get("id").Text(), "resp_"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "the output of a response"}
	case connectionEvents[word] && (numbered || word != "keepalive"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "event type " + word}
	case word == "error" && (numbered || coded || e.Get("stream_id").IsString() || e.Get("message").IsString() ||
		e.Get("error").Get("code").IsString() || e.Get("error").Get("param") != nil):
		return protocol.SniffScore{Points: protocol.Strong, Why: "an error event"}
	case isEventType(string(e.Event)):
		return protocol.SniffScore{Points: protocol.Strong, Why: "event name " + string(e.Event)}
	case strings.HasSuffix(e.Path, "/responses"), strings.Contains(e.Path, "/responses/"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	}
	return protocol.SniffScore{}
}

// isEventType reports whether word is the type of an event about a response. Event types in other protocols also
// begin with "response.".
func isEventType(word string) bool {
	_, ofItem := itemEvents[word]
	return ofItem || responseEvents[word]
}

// responseEvents contains the events about a response, and the events that begin and end an item.
var responseEvents = map[string]bool{
	"response.created": true, "response.queued": true, "response.in_progress": true, "response.completed": true, "response.done": true,
	"response.incomplete": true, "response.failed": true, "response.cancelled": true,
	"response.output_item.added": true, "response.output_item.done": true,
}

// connectionEvents contains the events about the connection, not about a response.
var connectionEvents = map[string]bool{"keepalive": true, "rate_limits.updated": true, "codex.rate_limits": true}

// finishCodes maps the final statuses of a response to their codes.
var finishCodes = protocol.FinishCodes{
	"completed": stream.FinishDone, "incomplete": stream.FinishCut,
	"failed": stream.FinishFailed, "cancelled": stream.FinishCancelled,
}

// callKind describes an item type that is a call.
type callKind struct {
	word     string // the kind of the call
	member   string // the field that contains the arguments
	freeform bool   // the arguments are a program or plain text, not JSON
	runner   runBy
}

// runBy says which party runs the calls of a kind.
type runBy uint8

const (
	byClient        runBy = iota
	byProvider            // the provider; the item also contains the outcome
	byProviderApart       // the provider; the result is a separate item
	byEnvironment         // the client if the environment is missing or local, otherwise the provider
	byExecution           // the client if the execution field says so, otherwise the provider
)

// byProvider reports whether the provider runs a call of this kind.
func (c callKind) byProvider(w *wireItem) bool {
	switch c.runner {
	case byEnvironment:
		return w.environment.IsPresent() && !w.environment.Is("local")
	case byExecution:
		return !w.execution.Is("client")
	}
	return c.runner != byClient
}

// callKinds maps the item types that are calls to their kinds. Tools of the kind server are defined by the protocol
// itself.
var callKinds = map[string]callKind{
	"function_call":         {"function", "arguments", false, byClient},
	"custom_tool_call":      {"custom", "input", true, byClient},
	"mcp_call":              {"mcp", "arguments", false, byProvider},
	"mcp_approval_request":  {"mcp_approval", "arguments", false, byClient},
	"code_interpreter_call": {"server", "code", true, byProvider},
	"program":               {"server", "code", true, byProviderApart},
	"shell_call":            {"server", "action", false, byEnvironment},
	"local_shell_call":      {"server", "action", false, byClient},
	"apply_patch_call":      {"server", "operation", false, byClient},
	"computer_call":         {"server", "action", false, byClient},
	"tool_search_call":      {"server", "arguments", false, byExecution},
	"web_search_call":       {"server", "action", false, byProvider},
	"file_search_call":      {"server", "queries", false, byProvider},
	"image_generation_call": {"server", "", false, byProvider},
}

// callOf returns the call kind of an item type. The result ok reports whether the type is a call. An unknown type is
// a call if its name ends in _call. The client runs such a call if it has a call_id, because a result needs the
// call_id to refer to the call.
func callOf(kind string, w *wireItem) (c callKind, ok bool) {
	if c, ok = callKinds[kind]; ok || !strings.HasSuffix(kind, "_call") {
		return c, ok
	}
	c = callKind{"server", "action", false, byProvider}
	if w != nil && w.callID.IsPresent() {
		c.runner = byClient
	}
	return c, true
}

// otherItems contains the known item types that are not calls, except types that end in _output.
var otherItems = map[string]bool{
	"message": true, "reasoning": true, "mcp_list_tools": true, "compaction": true, "mcp_approval_response": true,
}

// event is one event or one complete body, as sent.
type event struct {
	shape *json.Shape

	kind, object, streamID, response json.Value
	output                           json.Value // the output in a body
	index, itemID, part, item        json.Value // part: content_index, summary_index or command_index
	delta, whole                     json.Value // whole: arguments, input, diff or command in a .done event, or command in an .added event
	text                             json.Value // text or refusal in a .done event
	err, message, code               json.Value // code: an error's code, or the program of a code interpreter
	number, name                     json.Value // number: sequence_number; name: a call's name in arguments.done
}

func (ev *event) bindShape() {
	ev.shape = json.ShapeOf(
		json.Field("type", &ev.kind),
		json.Field("item_id", &ev.itemID),
		json.Field("output_index", &ev.index),
		json.Field("content_index", &ev.part).Or("summary_index", "command_index"),
		json.Field("delta", &ev.delta),
		json.Field("stream_id", &ev.streamID),
		json.Field("item", &ev.item),
		json.Field("arguments", &ev.whole).Or("input", "diff", "command"),
		json.Field("text", &ev.text).Or("refusal"),
		json.Field("response", &ev.response),
		json.Field("object", &ev.object),
		json.Field("output", &ev.output),
		json.Field("error", &ev.err),
		json.Field("message", &ev.message).Or("detail"), // ChatGPT's own back end sends detail
		json.Field("code", &ev.code),
		json.Field("sequence_number", &ev.number),
		json.Field("name", &ev.name))
}

// wireItem is an output item, as sent. The zero value of wireItem is ready to use.
type wireItem struct {
	shape *json.Shape

	raw                                  json.Value
	kind, id, callID, name, status       json.Value
	caller, host, environment, execution json.Value
	content, summary, err, output        json.Value
	space, fingerprint, encrypted        json.Value
	actions                              json.Value
	args                                 [len(argMembers)]json.Value
}

// argMembers lists the names of the fields that contain arguments. callKind.member selects the field for an item
// type.
var argMembers = [...]string{"arguments", "input", "code", "action", "operation", "queries"}

// read reads an item. The next call of read overwrites the fields.
func (w *wireItem) read(raw json.Value) {
	if w.shape == nil {
		w.bindShape()
	}
	w.raw = raw
	_ = w.shape.Read(raw) // a value that isn't an object has no fields
}

func (w *wireItem) bindShape() {
	fields := []json.Binding{
		json.Field("type", &w.kind),
		json.Field("id", &w.id),
		json.Field("call_id", &w.callID),
		json.Field("name", &w.name),
		json.Field("status", &w.status),
		json.Object("caller", json.Field("caller_id", &w.caller)),
		json.Field("server_label", &w.host),
		json.Object("environment", json.Field("type", &w.environment)),
		json.Field("execution", &w.execution),
		json.Field("content", &w.content),
		json.Field("summary", &w.summary),
		json.Field("error", &w.err),
		json.Field("output", &w.output),
		json.Field("namespace", &w.space),
		json.Field("fingerprint", &w.fingerprint),
		json.Field("encrypted_content", &w.encrypted),
		json.Field("actions", &w.actions),
	}
	for i, name := range argMembers {
		fields = append(fields, json.Field(name, &w.args[i]))
	}
	w.shape = json.ShapeOf(fields...)
}

// callArguments returns the arguments of the call. If the value is a list or a string that must be put into an
// object, wrap is the key for it.
func (w *wireItem) callArguments() (value json.Value, wrap string) {
	call, _ := callOf(w.kind.Text(), nil)
	if i := slices.Index(argMembers[:], call.member); i >= 0 {
		value = w.args[i]
	}
	switch {
	case value.Kind() == '[' && call.member == "queries":
		return value, "queries"
	case value.IsString() && call.member == "action":
		return value, "action" // some servers send a string
	case value.IsPresent():
		return value, ""
	case w.actions.IsPresent():
		return w.actions, "actions"
	}
	return w.args[0], "" // xAI uses the field arguments in every item type
}

// wireResponse is a response object, as sent.
type wireResponse struct {
	shape *json.Shape

	id, model, status, output, usage, err, reason, tier json.Value
}

func (r *wireResponse) read(raw json.Value) *wireResponse {
	if r.shape == nil {
		r.shape = json.ShapeOf(
			json.Field("id", &r.id),
			json.Field("model", &r.model),
			json.Field("status", &r.status),
			json.Field("output", &r.output),
			json.Field("usage", &r.usage),
			json.Field("error", &r.err),
			json.Object("incomplete_details", json.Field("reason", &r.reason)),
			json.Field("service_tier", &r.tier))
	}
	_ = r.shape.Read(raw) // a value that isn't an object has no fields
	return r
}

// findings lists the findings that are specific to this protocol.
var findings = []*stream.Diagnosis{
	responseNotOver, finishIncomplete, itemIDRotated, nameChanged, indexWrong, resumed, numbersMissing, DeltasMissing, deltasEncrypted,
}

var (
	responseNotOver = &stream.Diagnosis{
		Code: "RESPONSE_NOT_OVER", Severity: stream.Info, By: stream.Provider,
		Meaning: "The response is not complete yet. The body is a snapshot of the response so far.",
		Advice:  "Fetch the response again when it is complete.",
	}
	finishIncomplete = &stream.Diagnosis{
		Code: "FIN_INCOMPLETE", Severity: stream.Info, By: stream.Provider,
		Meaning: "The provider ended the response before it was complete. The message contains the provider's reason.",
		Advice:  "Raise the limit named in the message, or retry the request.",
	}
	itemIDRotated = &stream.Diagnosis{
		Code: "ITEM_ID_ROTATED", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The id of an item changes from event to event. Clients that merge by item_id lose deltas.",
		Advice:  "Make your client merge by output_index.",
	}
	nameChanged = &stream.Diagnosis{
		Code: "NAME_CHANGED", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "name changed",
		Meaning: "A later event contains a different name for the call. Different clients run different tools, depending on the event that they read.",
		Advice:  "Don't run the call until you know the correct name. Report the problem to the provider.",
	}
	resumed = &stream.Diagnosis{
		Code: "RESUMED", Severity: stream.Info, By: stream.UnknownParty,
		Meaning: "The capture begins after the first event of the response: the client resumed the stream with starting_after, or the beginning was not recorded. Deltas before the first captured event are unknown.",
		Advice:  "Use the arguments in the events that end a call, because those arguments are complete.",
	}
	numbersMissing = &stream.Diagnosis{
		Code: "SEQ_GAP", Severity: stream.Warn, OtherSeverities: []stream.Severity{stream.Info}, By: stream.UnknownParty,
		Verdict:      "events lost",
		SeverityNote: "info if no call is open at that point",
		Meaning:      "The sequence numbers of the events have a gap: events of the response are missing. The numbers don't show which program lost the events.",
		Advice:       "Use the arguments in the events that end a call, not the arguments that your client assembled from deltas.",
	}
	DeltasMissing = &stream.Diagnosis{
		Code: "DELTAS_MISSING", Severity: stream.Info, By: stream.Provider,
		Meaning: "The response contains no deltas of the arguments, only the complete text. Clients that assemble the deltas run the call with {}.",
		Advice:  "Make your client use the arguments in response.output_item.done.",
	}
	deltasEncrypted = &stream.Diagnosis{
		Code: "DELTAS_ENCRYPTED", Severity: stream.Warn, By: stream.Provider,
		Verdict: "encrypted",
		Meaning: "The deltas of the arguments are encrypted. Only the events that end the call contain the arguments in plain text.",
		Advice:  "Make your client use the arguments in response.output_item.done.",
	}
	indexWrong = &stream.Diagnosis{
		Code: "IDX_WRONG", Severity: stream.Warn, By: stream.Gateway,
		Verdict: "wrong index",
		Meaning: "An event has the id of one item and the index of another. Clients that merge by index join the items.",
		Advice:  "Make your client merge by item_id if the id is known.",
	}
)

// writeRequest writes a request of the Responses API. The request tells the provider to store nothing. It therefore
// contains the whole history as input, and asks for encrypted reasoning, which can be sent back.
func writeRequest(r protocol.Request, q protocol.HostFeatures) (path string, body []byte) {
	var w json.Writer
	w.Open('{').MemberIfSet("model", r.Model).Flag("stream", true).Flag("store", false)
	if r.MaxTokens > 0 {
		w.Key("max_output_tokens").Int(max(r.MaxTokens, minOutputTokens))
	}
	if q.Encrypted && isReasoningModel(r.Model) {
		w.Key("include").Open('[').String("reasoning.encrypted_content").Close(']')
	}
	r.WriteCacheKey(&w, q)
	w.MemberIfSet("instructions", r.System).WriteList("input", r.EncodedMessages)
	// A tool is a flat object. By default, strict is true. OpenAI then refuses most schemas that were not written for
	// strict mode.
	r.WriteTools(&w, "tools", "[", "]", func(w *json.Writer, t *protocol.Tool) {
		w.Open('{')
		if q.Custom && t.Kind == "custom" {
			protocol.Describe(w.Member("type", "custom"), t)
		} else {
			protocol.Describe(w.Member("type", "function"), t).Key("parameters").Raw(t.Arguments()).Flag("strict", false)
		}
		w.Close('}')
	})
	return "/responses", w.Close('}').Text
}

// minOutputTokens is the smallest max_output_tokens that OpenAI accepts (published API description).
const minOutputTokens = 16

// isReasoningModel reports whether an OpenAI model can reason. Other models refuse requests for encrypted
// reasoning.
func isReasoningModel(model string) bool {
	model = model[strings.LastIndexByte(model, '/')+1:]
	if strings.Contains(model, "-chat") {
		return false
	}
	for _, family := range [...]string{"gpt-5", "gpt-6", "o1", "o3", "o4", "codex-"} {
		if strings.HasPrefix(model, family) {
			return true
		}
	}
	return false
}

// itemEvent describes an event about an item of the given type. An event without a handler repeats other events or
// contains nothing of interest.
type itemEvent struct {
	item string
	does func(*decoder, *item)
}

// itemEvents contains the events about items, except the events that begin and end an item.
var itemEvents = map[string]itemEvent{
	"response.function_call_arguments.delta":    {"function_call", (*decoder).readArgsDelta},
	"response.function_call_arguments.done":     {"function_call", (*decoder).readArgsDone},
	"response.custom_tool_call_input.delta":     {"custom_tool_call", (*decoder).readArgsDelta},
	"response.custom_tool_call_input.done":      {"custom_tool_call", (*decoder).readArgsDone},
	"response.mcp_call_arguments.delta":         {"mcp_call", (*decoder).readArgsDelta},
	"response.mcp_call_arguments.done":          {"mcp_call", (*decoder).readArgsDone},
	"response.code_interpreter_call_code.delta": {"code_interpreter_call", (*decoder).readArgsDelta},
	"response.code_interpreter_call_code.done": {"code_interpreter_call", func(d *decoder, it *item) {
		if d.ev.code.IsPresent() {
			it.addCopy(d.ev.code, "", d.eventName())
		}
	}},

	"response.apply_patch_call_operation_diff.delta": {"apply_patch_call", func(d *decoder, it *item) { it.partDelta(patchDiff, 0, d.ev.delta) }},
	"response.apply_patch_call_operation_diff.done":  {"apply_patch_call", func(d *decoder, it *item) { it.partDone(patchDiff, 0, d.ev.whole, d.eventName()) }},
	"response.shell_call_command.added":              {"shell_call", func(d *decoder, it *item) { it.partDelta(shellCommands, d.partNumber(), d.ev.whole) }},
	"response.shell_call_command.delta":              {"shell_call", func(d *decoder, it *item) { it.partDelta(shellCommands, d.partNumber(), d.ev.delta) }},
	"response.shell_call_command.done":               {"shell_call", func(d *decoder, it *item) { it.partDone(shellCommands, d.partNumber(), d.ev.whole, d.eventName()) }},

	"response.output_text.delta":            {"message", (*decoder).readTextDelta},
	"response.output_text.done":             {"message", (*decoder).readTextDone},
	"response.refusal.delta":                {"message", (*decoder).readTextDelta},
	"response.refusal.done":                 {"message", (*decoder).readTextDone},
	"response.reasoning_text.delta":         {"reasoning", func(d *decoder, it *item) { it.appendText(part{reasoningText, d.partNumber()}, d.ev.delta) }},
	"response.reasoning_text.done":          {"reasoning", func(d *decoder, it *item) { it.appendTextOnce(part{reasoningText, d.partNumber()}, d.ev.text) }},
	"response.reasoning_summary_text.delta": {"reasoning", func(d *decoder, it *item) { it.appendText(part{summaryText, d.partNumber()}, d.ev.delta) }},
	"response.reasoning_summary_text.done":  {"reasoning", func(d *decoder, it *item) { it.appendTextOnce(part{summaryText, d.partNumber()}, d.ev.text) }},

	"response.content_part.added": {}, "response.content_part.done": {}, "response.output_text.annotation.added": {},
	"response.reasoning_summary_part.added": {}, "response.reasoning_summary_part.done": {},
	"response.mcp_call.in_progress": {}, "response.mcp_call.completed": {}, "response.mcp_call.failed": {},
	"response.mcp_list_tools.in_progress": {}, "response.mcp_list_tools.completed": {}, "response.mcp_list_tools.failed": {},
	"response.code_interpreter_call.in_progress": {}, "response.code_interpreter_call.interpreting": {},
	"response.code_interpreter_call.completed": {},
	"response.web_search_call.in_progress":     {}, "response.web_search_call.searching": {}, "response.web_search_call.completed": {},
	"response.file_search_call.in_progress": {}, "response.file_search_call.searching": {},
	"response.file_search_call.completed":        {},
	"response.image_generation_call.in_progress": {}, "response.image_generation_call.generating": {},
	"response.image_generation_call.partial_image": {}, "response.image_generation_call.completed": {},
	"response.shell_call_output_content.delta": {}, "response.shell_call_output_content.done": {},
	"response.audio.delta": {}, "response.audio.done": {},
	"response.audio.transcript.delta": {}, "response.audio.transcript.done": {},
}

// wireMarks contains the features by which the Responses API is recognised.
var wireMarks = marks.Protocol{
	Events: []marks.Event{
		{Type: "response.created", Begins: true},
		{Type: "response.completed", Ends: true, Last: true},
		{Type: "response.failed", Ends: true, Last: true},
		{Type: "response.incomplete", Ends: true, Last: true},
	},
	Prefixes:   []string{"response."},
	Enders:     []string{"response.completed", "response.incomplete", "response.failed"},
	SocketEnds: []string{"response.done", "error"},
	SocketAsks: []string{"response.create"},
	Asides:     []string{"/cancel", "/compact"},
	Rules: []marks.Rule{
		{Is: marks.Body, When: "object=response status~\""},
		{Is: marks.Request, When: "model input.0.content"},
		{Is: marks.Request, When: "model input:[ input~\"function_call"},
		{Is: marks.Request, When: "model input|prompt !output !choices", Weak: true, NoID: true},
	},
	TypeKeys: []string{"type"}, IDKeys: []string{"id", "response_id"}, ItemKeys: []string{"item_id", "item.id"},
	BlockKeys: []string{"index", "content_index"}, NumberKeys: []string{"sequence_number"},
	EventID: "response.id", TopKeys: []string{"delta"}, EventNames: true,

	PartTypes: []string{
		"input_text", "output_text", "function_call", "function_call_output", "custom_tool_call_output", "reasoning", "mcp_call",
		"local_shell_call_output",
	},
	PartKeys:    []string{"function_call_output"},
	RequestKeys: []string{"model", "tools", "stream", "tool_choice", "instructions", "store", "include"},
	HistoryKeys: []string{"input"}, ToolKeys: []string{"tools"},
	Sent: []marks.Sent{{
		List: "input", When: "type$=_call", Group: []string{"type=reasoning", "role=assistant"},
		Body: `{"object":"response",MODEL"output":[MESSAGE]}`,
	}},
	Arguments: []marks.Place{
		{Path: "arguments"}, {Path: "input", With: "custom_tool_call"},
		{Path: "^delta", With: "response.function_call_arguments.delta"}, {Path: "^delta", With: "response.custom_tool_call_input.delta"},
	},
	TextKeys: []string{"arguments", "text", "content", "delta"},
}
