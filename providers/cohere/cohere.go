// Package cohere decodes Cohere's chat protocol, version 2: its event stream and its complete bodies.
//
// The slot of a call is the index of its tool-call events. tool-call-end makes the arguments final. The field
// tool_calls is an object in tool-call events, and a list in bodies. tool_plan, the model's text before its calls,
// is read as reasoning. message-end is the terminator; a gateway may add [DONE] after it.
//
// Wire facts are from Cohere's published SDKs and API reference (V2ChatStreamResponse,
// ChatMessageEndEventDelta, Usage).
package cohere

import (
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns version 2 of Cohere's protocol.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:  "cohere",
		Title: "Cohere v2",
		Sniff: sniffFrame,
		New:   func(o *protocol.Out) protocol.Decoder { return &decoder{Out: o, ev: newEvent()} },
		Marks: wireMarks,
		Tools: protocol.FunctionTools,
		Model: func(_ string, request []byte) string { return json.Value(request).Get("model").Text() }, // not in the response

		Targets: []protocol.Target{target},
	}
}

// eventTypes are the event types that identify the stream.
var eventTypes = map[string]bool{
	"message-start": true, "message-end": true, "tool-plan-delta": true,
	"content-start": true, "content-delta": true, "content-end": true,
	"tool-call-start": true, "tool-call-delta": true, "tool-call-end": true,
	"citation-start": true, "citation-end": true,
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	kind, reason := e.Get("type").Text(), e.Get("finish_reason").Text()
	_, finishes := endings.Codes[reason]
	switch {
	case !e.IsWhole():
	case eventTypes[kind] && (e.Get("delta").Kind() == '{' || protocol.CountOf(e.Get("index")).Reported):
		return protocol.SniffScore{Points: protocol.Sure, Why: "event type " + kind}
	case e.Get("message").Kind() == '{' && finishes:
		return protocol.SniffScore{Points: protocol.Sure, Why: "a body with message and finish_reason " + reason}
	case kind == "" && eventTypes[string(e.Event)]:
		return protocol.SniffScore{Points: protocol.Strong, Why: "event name " + string(e.Event)}
	}
	if strings.HasSuffix(e.Path, "/v2/chat") {
		return protocol.SniffScore{Points: protocol.Strong, Why: "path " + e.Path}
	}
	return protocol.SniffScore{}
}

// endings are the finish reasons.
var endings = protocol.FinishReasons{
	What: "finish reason", Calls: "TOOL_CALL", Done: "COMPLETE",
	Codes: map[string]stream.Code{
		"COMPLETE": stream.FinishDone, "STOP_SEQUENCE": stream.FinishDone, "TOOL_CALL": stream.FinishDone,
		"MAX_TOKENS": stream.FinishCut,
		"ERROR":      stream.FinishFailed, "TIMEOUT": stream.FinishFailed,
	},
}

// event is one event of the stream or a complete body, as it was sent.
type event struct {
	shape *json.Shape

	kind, index, delta     json.Value
	id, finish, usage, err json.Value // fields of the delta, or of a body at its top level
	body                   json.Value // the field named message in a body; if it is a string, it is an error

	message message
}

// message is the message in a delta or in a body.
type message struct {
	plan           json.Value
	content        json.Value // a string or a list, in bodies and message-start; an object in a delta
	text, thinking json.Value // fields of the content object
	calls          json.Value // a list, in bodies and message-start; an object in a delta
	call           protocol.FunctionCall
}

func newEvent() *event {
	ev := new(event)
	ev.shape = json.ShapeOf(append(ev.shapeFields(),
		json.Field("type", &ev.kind),
		json.Field("index", &ev.index),
		json.Object("delta", append(ev.shapeFields(), json.Object("message", ev.message.shapeFields()...))...).Into(&ev.delta),
		json.Object("message", ev.message.shapeFields()...).Into(&ev.body))...)
	return ev
}

// shapeFields returns the fields in the delta of an event and at the top level of a body.
func (ev *event) shapeFields() []json.Binding {
	return []json.Binding{
		json.Field("id", &ev.id),
		json.Field("finish_reason", &ev.finish),
		json.Field("usage", &ev.usage),
		json.Field("error", &ev.err),
	}
}

func (m *message) shapeFields() []json.Binding {
	return []json.Binding{
		json.Field("tool_plan", &m.plan),
		json.Object("content", json.Field("text", &m.text), json.Field("thinking", &m.thinking)).Into(&m.content),
		json.Object("tool_calls", m.call.Fields()...).Into(&m.calls),
	}
}

// firstCall returns the call in a delta. The call is an object or, contrary to the protocol, the first element of a
// list.
func (m *message) firstCall() protocol.FunctionCall {
	for v := range m.calls.Elements() {
		var first protocol.FunctionCall
		first.Read(v)
		return first
	}
	return m.call
}

// writeRequest writes a request for version 2 of the chat protocol. Its response ends with the usage.
func writeRequest(r protocol.Request, _ protocol.HostFeatures) (path string, body []byte) {
	var w json.Writer
	w.Open('{').Member("model", r.Model).Flag("stream", true)
	if r.MaxTokens > 0 {
		w.Key("max_tokens").Int(r.MaxTokens)
	}
	w.WriteList("messages", r.WithSystem())
	r.WriteFunctionTools(&w, false)
	return "/v2/chat", w.Close('}').Text
}

// wireMarks describes Cohere's protocol to code that doesn't decode it. Its streams end like those of Chat
// Completions.
var wireMarks = marks.Protocol{
	Events: []marks.Event{
		{Type: "message-start", Begins: true},
		{Type: "content-start"}, {Type: "content-delta"}, {Type: "content-end"},
		{Type: "tool-plan-delta"},
		{Type: "tool-call-start"}, {Type: "tool-call-delta"}, {Type: "tool-call-end"},
		{Type: "citation-start"}, {Type: "citation-end"},
		{Type: "message-end", Ends: true, Last: true},
		{Type: "stream-start", Begins: true, Common: true},
	},
	TypeKeys: []string{"type", "event_type"}, IDKeys: []string{"id"}, BlockKeys: []string{"index"}, Ending: "finish_reason",
	Arguments: []marks.Place{{Path: "arguments"}},
	TextKeys:  []string{"arguments", "text", "content"},
	Refusal: marks.Refusal{
		Paths:  []string{"/v2/chat"},
		Bodies: []string{"message-start"},
		Body:   func(_ int, message string) any { return map[string]any{"message": message} },
	},
}

// decoder reads one exchange. Between messages, turn is the latest turn, which has ended.
type decoder struct {
	*protocol.Out
	ev           *event
	turn         *protocol.Turn
	ended        bool // whether the latest turn had its message-end or was a complete body
	argsReported bool // whether ArgsObject was reported for the turn
}

// Frame reads one event. The event's type is in the body. If the body has no type, the name of the
// server-sent event is the type.
func (d *decoder) Frame(f stream.Frame) error {
	if protocol.IsDone(f.Data) { // gateways add [DONE] after message-end
		if d.turn.IsOpen() {
			d.turn.Find(protocol.FinishMissing, "[DONE] arrived without message-end: the response has no finish reason")
		}
		d.turn.End()
		return nil
	}
	if err := d.ev.shape.Read(f.Data); err != nil {
		return err
	}
	kind := d.ev.kind.OrDefault(f.Event)
	switch string(kind) {
	case "message-start":
		if d.turn.IsOpen() {
			d.turn.Find(protocol.MessageRestarted, "a second message began before this message ended: a gateway inserted a retry into the body")
			d.Close()
		}
		d.readMessageObject(d.openTurn(), startSlot)
	case "tool-plan-delta", "content-start", "content-delta":
		d.readContent(d.ensureTurn(kind))
	case "tool-call-start":
		t := d.ensureTurn(kind)
		call := d.ev.message.firstCall()
		c := openCall(t, t.ReadSlot(d.ev.index), &call)
		if !call.Args.Empty() { // normally an empty string, followed by deltas
			d.appendArguments(c, call.Args)
		}
	case "tool-call-delta":
		t := d.ensureTurn(kind)
		call, c := d.ev.message.firstCall(), t.Call(t.ReadSlot(d.ev.index))
		if id, name := call.ID.Text(), call.Name.Text(); id != "" || name != "" {
			c.Meta(stream.CallInfo{ID: id, Name: name, Kind: "function"})
		}
		d.appendArguments(c, call.Args)
	case "tool-call-end":
		t := d.ensureTurn(kind)
		c := t.Call(t.ReadSlot(d.ev.index))
		if c.IsNull() {
			reportNullArguments(c)
		}
		c.Seal()
	case "message-end":
		d.endMessage(kind)
	case "content-end", "citation-start", "citation-end", "debug":
		d.Heartbeat()
	default:
		d.readNonEvent(kind)
	}
	return nil
}

// Close ends the stream. A turn without message-end is cut off.
func (d *decoder) Close() { d.turn.Cut("the stream ended without message-end") }

// readNonEvent reads a body, an error in place of a body, or an unknown event.
func (d *decoder) readNonEvent(kind []byte) {
	switch body := d.ev.body; {
	case len(kind) > 0 && !(string(kind) == "error" && body.IsString()):
		d.Unknown(string(kind))
	case body.Kind() == '{':
		d.Close()
		d.readMessageObject(d.openTurn(), 0)
		d.endTurn()
	case body.IsString():
		if !d.turn.IsOpen() {
			d.openTurn()
		}
		d.turn.Fail("", body.Text())
	default:
		d.Unknown("an object without a type")
	}
}

// startSlot is the slot of the first complete call in message-start, in case a message-start ever contains calls. The
// slots of streamed calls begin at 0.
const startSlot = 1 << 20

func (d *decoder) openTurn() *protocol.Turn {
	d.ended, d.argsReported = false, false
	d.turn = d.Open(stream.Opening{ID: d.ev.id.Text()})
	return d.turn
}

// ensureTurn returns the open turn. If an event arrives before message-start, it opens a turn.
func (d *decoder) ensureTurn(event []byte) *protocol.Turn {
	if !d.turn.IsOpen() {
		d.openTurn().Find(stream.ProtocolViolation, "%s arrived before message-start", stream.OwnFact(event))
	}
	return d.turn
}

// readContent reads the content of a message. It reads the plan as reasoning.
func (d *decoder) readContent(t *protocol.Turn) {
	m := &d.ev.message
	t.AppendReasoning(0, m.plan)
	t.AppendReasoning(0, m.thinking)
	t.AppendText(m.text)
	t.AppendText(m.content)
	for part := range m.content.Elements() {
		t.AppendReasoning(0, part.Get("thinking"))
		t.AppendText(part.Get("text"))
	}
}

// openCall begins a call. For a tool without parameters, the arguments are the word null, which means that there are
// none.
func openCall(t *protocol.Turn, slot int32, w *protocol.FunctionCall) *protocol.Call {
	c := t.OpenCall(slot, stream.CallInfo{ID: w.ID.Text(), Name: w.Name.Text(), Kind: "function", NullIsNone: true})
	if c.ID == "" {
		c.Find(protocol.IDMissing, "the call has no id: a result can't refer to it, and clients invent an id")
	}
	return c
}

func reportNullArguments(c *protocol.Call) {
	c.Find(protocol.ArgsNull.WithSeverity(stream.Info).WithCause(stream.Provider), "the arguments are null: Cohere writes a call without arguments this way, and toolscope uses {} instead")
}

// appendArguments appends a delta of a call's arguments. According to the protocol, a delta is a string.
func (d *decoder) appendArguments(c *protocol.Call, v json.Value) {
	if !v.IsPresent() {
		return
	}
	if !v.IsString() && !d.argsReported {
		d.argsReported = true
		c.Find(protocol.ArgsObject, "the arguments are a JSON value, not a string of JSON: clients that expect the string fail")
	}
	c.Args(v)
}

// readMessageObject reads the complete content of a message in a body or in message-start.
func (d *decoder) readMessageObject(t *protocol.Turn, slot int32) {
	d.readContent(t)
	for v := range d.ev.message.calls.Elements() {
		var call protocol.FunctionCall
		call.Read(v)
		c := openCall(t, slot, &call)
		switch {
		case call.Args == nil:
			c.Find(protocol.ArgsMissing, "the call has no arguments field: toolscope uses {} instead")
		case !call.Args.IsPresent() || call.Args.Is("null"):
			reportNullArguments(c)
		case call.Args.Empty():
			c.Find(protocol.ArgsEmpty, "the arguments are an empty string: toolscope uses {} instead")
		}
		d.appendArguments(c, call.Args)
		c.Seal()
		slot++
	}
}

func (d *decoder) endMessage(kind []byte) {
	if !d.turn.IsOpen() && d.ended {
		d.Heartbeat() // the same event arrived again
		return
	}
	d.ensureTurn(kind)
	d.endTurn()
}

// endTurn reads the finish reason, usage and error of a complete message, and ends the turn.
func (d *decoder) endTurn() {
	d.ended = true
	// Report the billed tokens and the processed tokens. Cached tokens are part of the processed tokens, so they are
	// reported only if there are no billed tokens.
	u := d.ev.usage
	billed, seen := u.Get("billed_units"), u.Get("tokens")
	n := stream.Usage{
		Input: protocol.CountOf(billed.Get("input_tokens")), Output: protocol.CountOf(billed.Get("output_tokens")),
		SeenInput: protocol.CountOf(seen.Get("input_tokens")), SeenOutput: protocol.CountOf(seen.Get("output_tokens")),
	}
	if !n.Input.Reported && !n.Output.Reported {
		n.Input, n.Output = n.SeenInput, n.SeenOutput
		n.CacheRead = protocol.CountOf(u.Get("cached_tokens"))
	}
	if n != (stream.Usage{}) {
		d.turn.Usage(n)
	}
	reportFinish(d.turn, d.ev.finish.Text(), d.ev.err)
	d.turn.End()
}

// reportFinish reports an error and a finish reason. The reason is "" if it is null or missing.
func reportFinish(t *protocol.Turn, reason string, err json.Value) {
	code, _ := endings.Codes.Of(reason)
	if reason != "" {
		t.Finish(reason, code)
	}
	if err.IsPresent() && !err.Empty() {
		t.Fail(reason, errorText(err))
	}
	switch {
	case reason != "":
		t.CheckStop(reason, &endings)
	case t.HasClientCalls():
		t.Find(protocol.FinishMissing, "the response has no finish reason: nothing confirms that its calls are complete")
	}
	if code == stream.FinishFailed {
		t.Find(protocol.FinishError, "the finish reason is an error: %s", stream.Fact(reason))
	}
}

func errorText(err json.Value) string {
	if message := err.Get("message").Text(); message != "" {
		return message
	}
	return string(err.Append(nil))
}

// target describes how Cohere accepts history. The rules and refusals are from Cohere's list of errors ("Errors" at
// docs.cohere.com). Cohere's reference contains no other rules for ids, and no rule for arguments that are not JSON.
var target = protocol.Target{
	Name: "cohere", Title: "Cohere v2", Protocol: "cohere",
	Form:          protocol.TextForm,
	IDs:           protocol.IDRule{Required: true, Unique: true},
	Names:         protocol.NameRule{Class: "a-zA-Z0-9_", First: "a-zA-Z_"},
	Reasoning:     protocol.PlainReasoning,
	ResultsFollow: true,
	Refusal: protocol.Refusal{
		ID:         "tool call id must be provided with tool message",
		SameID:     "cannot have duplicate tool ids",
		Name:       "invalid request: tool names can only contain certain characters (A-Za-z0-9_) and can't begin with a digit (provided name: '{name}').",
		LoneResult: "tool call id not found in previous tool calls",
	},
	Encode:  encodeHistory,
	Request: writeRequest,
	Decode:  decodeHistory,
}

func encodeHistory(messages []protocol.Message) [][]byte {
	return protocol.WriteMessages(messages, encodeResult, func(m *protocol.Message, parts []protocol.Part) []byte {
		if m.Role == protocol.Assistant {
			return encodeAssistant(m, parts)
		}
		return json.ReplaceMembers(m.Raw, m.RoleMember(), contentMember(m, parts))
	})
}

// contentMember returns the content field of a message. A message of the model needs no content.
func contentMember(m *protocol.Message, parts []protocol.Part) json.Member {
	value := protocol.Content(m.Raw.Get("content"), parts, m.Role == protocol.Assistant)
	if value == nil && m.Role != protocol.Assistant {
		value = []byte(`""`)
	}
	return json.Member{Name: "content", Value: value}
}

// encodeAssistant writes a message of the model. Reasoning from another protocol becomes the plan if the message has
// calls; otherwise it becomes part of the content.
func encodeAssistant(m *protocol.Message, parts []protocol.Part) []byte {
	var said []protocol.Part
	var plan, calls json.Writer
	var thought []byte
	calling := slices.ContainsFunc(parts, func(p protocol.Part) bool { return p.Kind == protocol.CallPart })
	for _, p := range parts {
		switch {
		case p.Kind == protocol.CallPart && p.Raw != nil:
			calls.Raw(p.Raw)
		case p.Kind == protocol.CallPart:
			calls.Open('{').Member("id", p.ID).Member("type", "function").Key("function").Open('{')
			protocol.WriteArgs(calls.Member("name", p.Name).Key("arguments"), &p).Close('}').Close('}')
		case p.Kind == protocol.ReasoningPart && (p.Raw.IsString() || p.Raw == nil && calling):
			thought = append(thought, p.Text...)
		case p.Kind == protocol.ReasoningPart && p.Raw == nil:
			var w json.Writer
			p.Raw = w.Open('{').Member("type", "thinking").Key("thinking").Bytes(p.Text).Close('}').Text
			said = append(said, p)
		default:
			said = append(said, p)
		}
	}
	if len(thought) > 0 {
		plan.Bytes(thought)
	}
	return json.ReplaceMembers(m.Raw, m.RoleMember(), contentMember(m, said),
		json.UpdatedMember(m.Raw, "tool_plan", plan.Text), json.UpdatedMember(m.Raw, "tool_calls", json.WrapArray(&calls)))
}

func encodeResult(p *protocol.Part) []byte {
	var w json.Writer
	return w.Open('{').Member("role", "tool").Member("tool_call_id", p.ID).Key("content").Bytes(p.Text).Close('}').Text
}

func decodeHistory(request []byte) ([]protocol.Message, error) {
	return protocol.ReadChat(request, readResult, readParts)
}

// readParts reads the parts of a message. It reads the model's plan as reasoning.
func readParts(v json.Value) (parts []protocol.Part) {
	if plan := v.Get("tool_plan"); plan.IsString() && !plan.Empty() {
		parts = append(parts, protocol.Part{Kind: protocol.ReasoningPart, Text: plan.Unquoted(), Raw: plan})
	}
	parts = append(parts, protocol.ReadContent(v.Get("content"))...)
	for raw := range v.Get("tool_calls").Elements() {
		var call protocol.FunctionCall
		call.Read(raw)
		p := protocol.Part{Kind: protocol.CallPart, ID: call.ID.Text(), Name: call.Name.Text(), ToolKind: "function", Raw: raw}
		if call.Args.IsPresent() {
			p.SetArgs(call.Args)
		}
		parts = append(parts, p)
	}
	return parts
}

// readResult reads a result. A document in a result is read as text: the string itself, or the JSON of an object.
func readResult(v json.Value) protocol.Part {
	p := protocol.Part{Kind: protocol.ResultPart, ID: v.Get("tool_call_id").Text(), Raw: v}
	content := v.Get("content")
	if content.IsString() {
		p.Text = content.Unquoted()
		return p
	}
	for block := range content.Elements() {
		if data := block.Get("document").Get("data"); data.IsPresent() {
			p.Text = data.Append(p.Text)
		} else if text := block.Get("text"); text.IsString() {
			p.Text = text.Append(p.Text)
		} else {
			p.Media++
		}
	}
	return p
}
