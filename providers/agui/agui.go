// Package agui decodes AG-UI, the Agent-User Interaction protocol: the server-sent events that agent
// back ends (LangGraph, CrewAI, Mastra, Pydantic AI, TanStack AI …) send to a front end.
//
// Wire facts are from the protocol's public SDK: events.ts, chunks/transform.ts for the events named CHUNK, and
// verify.ts for the rules that a client enforces. The facts about TanStack AI's additional fields are from its
// documentation. A turn is one run. A call's slot is its position in the run, and TOOL_CALL_END makes the call
// final. A call that arrives in chunks has no end event. It ends at the next event for which eventKinds doesn't
// set between. Keys are in camel case, but some servers write them in snake case.
package agui

import (
	"cmp"
	"time"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns AG-UI.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "ag-ui",
		Title:    "AG-UI",
		Sniff:    sniffFrame,
		Findings: findings,
		New: func(o *protocol.Out) protocol.Decoder {
			d := &decoder{Out: o, calls: map[string]*protocol.Call{}, others: map[string]bool{}}
			d.ev.bindShape()
			return d
		},
		Marks: wireMarks,
		Quiet: []string{"RAW", "CUSTOM", "STATE_*", "ACTIVITY_*"},
	}
}

// An eventKind describes an event type.
type eventKind struct {
	points  int  // points for AG-UI in a protocol.SniffScore
	between bool // whether the event can arrive between a call's chunks without ending the call
}

var eventKinds = map[string]eventKind{
	// The client SDK ends a chunked call at each of the next three events. But an error or a new run is not evidence
	// that the call's arguments are complete.
	"RUN_STARTED": {protocol.Sure, true}, "RUN_FINISHED": {points: protocol.Sure}, "RUN_ERROR": {protocol.Sure, true},
	"STEP_STARTED": {points: protocol.Strong}, "STEP_FINISHED": {points: protocol.Strong},

	"TEXT_MESSAGE_START": {points: protocol.Sure}, "TEXT_MESSAGE_CONTENT": {points: protocol.Sure},
	"TEXT_MESSAGE_END": {points: protocol.Sure}, "TEXT_MESSAGE_CHUNK": {points: protocol.Sure},

	"THINKING_START": {points: protocol.Sure}, "THINKING_END": {points: protocol.Sure},
	"THINKING_TEXT_MESSAGE_START": {points: protocol.Sure}, "THINKING_TEXT_MESSAGE_CONTENT": {points: protocol.Sure},
	"THINKING_TEXT_MESSAGE_END": {points: protocol.Sure},
	"REASONING_START":           {points: protocol.Sure}, "REASONING_END": {points: protocol.Sure},
	"REASONING_MESSAGE_START": {points: protocol.Sure}, "REASONING_MESSAGE_CONTENT": {points: protocol.Sure},
	"REASONING_MESSAGE_END": {points: protocol.Sure}, "REASONING_MESSAGE_CHUNK": {points: protocol.Sure},
	"REASONING_ENCRYPTED_VALUE": {protocol.Sure, true},

	"TOOL_CALL_START": {points: protocol.Sure}, "TOOL_CALL_ARGS": {points: protocol.Sure}, "TOOL_CALL_END": {points: protocol.Sure},
	"TOOL_CALL_CHUNK": {protocol.Sure, true}, "TOOL_CALL_RESULT": {points: protocol.Sure},

	"STATE_SNAPSHOT": {points: protocol.Sure}, "STATE_DELTA": {points: protocol.Sure}, "MESSAGES_SNAPSHOT": {points: protocol.Sure},
	"ACTIVITY_SNAPSHOT": {protocol.Sure, true}, "ACTIVITY_DELTA": {protocol.Sure, true},
	"SUBAGENT_STARTED": {protocol.Sure, true}, "SUBAGENT_FINISHED": {protocol.Sure, true}, "SUBAGENT_ERROR": {protocol.Sure, true},
	"RAW": {protocol.Likely, true}, "CUSTOM": {points: protocol.Likely},
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	kind := e.Get("type").Text()
	if points := eventKinds[kind].points; points > 0 {
		return protocol.SniffScore{Points: points, Why: "event type " + kind}
	}
	return protocol.SniffScore{}
}

// finishCodes are TanStack AI's finish reasons for a run, and the protocol's outcomes: success, and interrupt when a
// run waits for a person.
var finishCodes = protocol.FinishCodes{
	"stop": stream.FinishDone, "tool_calls": stream.FinishDone, "success": stream.FinishDone, "interrupt": stream.FinishDone,
	"length": stream.FinishCut, "content_filter": stream.FinishCut,
}

// event is one event as it was sent.
type event struct {
	shape *json.Shape

	kind, timestamp                    json.Value
	runID, model, finish, outcome      json.Value
	message, code, err, usage          json.Value
	messageID, role, messages          json.Value
	callID, name, delta, input, result json.Value
	subtype, entityID, encrypted       json.Value
}

// bindShape binds the fields of ev to its shape.
func (ev *event) bindShape() {
	ev.shape = json.ShapeOf(
		json.Field("type", &ev.kind),
		json.Field("timestamp", &ev.timestamp),
		json.Field("toolCallId", &ev.callID).Or("tool_call_id"),
		json.Field("toolCallName", &ev.name).Or("tool_call_name", "toolName"),
		json.Field("messageId", &ev.messageID).Or("message_id"),
		json.Field("role", &ev.role),
		json.Field("delta", &ev.delta),
		json.Field("input", &ev.input),
		json.Field("result", &ev.result),
		json.Field("messages", &ev.messages),
		json.Field("subtype", &ev.subtype),
		json.Field("entityId", &ev.entityID).Or("entity_id"),
		json.Field("encryptedValue", &ev.encrypted).Or("encrypted_value"),

		json.Field("runId", &ev.runID).Or("run_id"),
		json.Field("model", &ev.model),
		json.Field("finishReason", &ev.finish).Or("finish_reason"),
		json.Field("outcome", &ev.outcome),
		json.Field("message", &ev.message),
		json.Field("code", &ev.code),
		json.Field("error", &ev.err),
		json.Field("usage", &ev.usage))
}

// findings are the findings that only this protocol reports.
var findings = []*stream.Diagnosis{
	snapshotOnly,
}

var (
	snapshotOnly = &stream.Diagnosis{
		Code: "SNAPSHOT_ONLY", Severity: stream.Info, By: stream.Gateway,
		Meaning: "A snapshot of all messages contains calls that were not streamed. Such calls are usually from earlier runs.",
		Advice:  "Nothing, if the calls are from earlier runs. A client that shows both the snapshot and the stream shows these calls twice.",
	}
)

// wireMarks describes AG-UI to code that doesn't decode it.
var wireMarks = marks.Protocol{
	Events: []marks.Event{
		{Type: "RUN_STARTED", Begins: true},
		{Type: "TEXT_MESSAGE_START"}, {Type: "TOOL_CALL_START"}, {Type: "TOOL_CALL_ARGS"}, {Type: "TOOL_CALL_END"},
		{Type: "RUN_FINISHED", Ends: true, Last: true},
		{Type: "RUN_ERROR", Ends: true, Last: true},
	},
	TypeKeys: []string{"type"},
}

// decoder reads one exchange. Between runs, turn is the latest turn, which has ended.
type decoder struct {
	*protocol.Out
	ev     event
	turn   *protocol.Turn
	failed bool // whether the latest run ended with RUN_ERROR

	calls       map[string]*protocol.Call // calls of the exchange, by id
	order       []*protocol.Call          // calls of the run, by slot
	chunkedCall *protocol.Call            // the call whose chunks are arriving, or nil
	others      map[string]bool           // by message id: whether the message is from someone other than the assistant

	began int64 // first time stamp, in milliseconds
}

// Frame reads one event.
func (d *decoder) Frame(f stream.Frame) error {
	if protocol.IsDone(f.Data) { // TanStack AI adds [DONE]
		return nil
	}
	if err := d.ev.shape.Read(f.Data); err != nil {
		return err
	}
	// Set the frame's time to the time since the first time stamp. Time stamps are in milliseconds.
	at, ok := d.ev.timestamp.Int()
	switch {
	case !ok:
	case d.LastStamp() == stream.NoTime:
		d.began = at
		d.Stamp(0)
	case at > d.began:
		d.Stamp(max(d.LastStamp(), time.Duration(at-d.began)*time.Millisecond))
	}
	kind := d.ev.kind.OrDefault(nil)
	known := eventKinds[string(kind)]
	if known.points > 0 && !known.between {
		d.endChunks()
	}
	switch string(kind) {
	case "RUN_STARTED":
		if d.turn.IsOpen() {
			d.turn.Find(protocol.MessageRestarted, "a second run began before this run ended: clients stop here")
			d.turn.Cut("")
		}
		d.openTurn(stream.Opening{ID: d.ev.runID.Text(), Model: d.ev.model.Text()})
	case "RUN_FINISHED":
		d.finishRun()
	case "RUN_ERROR":
		d.reportError()
	default:
		if known.points == 0 {
			d.Unknown(string(kind))
			break
		}
		d.inRun(d.ensureTurn(kind), kind)
	}
	return nil
}

// inRun reads an event inside a run. It ignores known types that contain no call, text or reasoning.
func (d *decoder) inRun(t *protocol.Turn, kind []byte) {
	switch string(kind) {
	case "TOOL_CALL_START":
		d.openCall(t)
	case "TOOL_CALL_ARGS":
		d.ensureCall(t, "TOOL_CALL_ARGS").Args(d.ev.delta)
	case "TOOL_CALL_END":
		d.endCall(d.ensureCall(t, "TOOL_CALL_END"))
	case "TOOL_CALL_CHUNK":
		d.readCallChunk(t)
	case "TOOL_CALL_RESULT":
		d.reportResult(t)
	case "TEXT_MESSAGE_START", "TEXT_MESSAGE_CHUNK", "TEXT_MESSAGE_CONTENT":
		// The text is the model's, unless an event gives the message a role other than assistant.
		id := d.ev.messageID.OrDefault(nil)
		if d.ev.role.IsString() {
			d.others[string(id)] = !d.ev.role.Is("assistant")
		}
		if !d.others[string(id)] {
			t.AppendText(d.ev.delta)
		}
	case "THINKING_TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_CHUNK",
		"STEP_FINISHED": // TanStack AI sends reasoning in this event
		t.AppendReasoning(0, d.ev.delta)
	case "REASONING_ENCRYPTED_VALUE": // some of these events are about messages instead of calls
		if c := d.knownCall(d.ev.entityID); c != nil && d.ev.subtype.Is("tool-call") {
			c.Meta(stream.CallInfo{Signature: d.ev.encrypted.Text()})
		}
	case "MESSAGES_SNAPSHOT":
		d.checkSnapshot(t)
	}
}

// Close ends the turn. A turn without RUN_FINISHED is cut off.
func (d *decoder) Close() { d.turn.Cut("the stream ended without RUN_FINISHED") }

func (d *decoder) openTurn(run stream.Opening) *protocol.Turn {
	d.failed, d.order, d.chunkedCall = false, nil, nil
	d.turn = d.Open(run)
	return d.turn
}

// ensureTurn returns the open turn. If an event arrives outside any run, it opens a turn.
func (d *decoder) ensureTurn(kind []byte) *protocol.Turn {
	if !d.turn.IsOpen() {
		d.openTurn(stream.Opening{}).Find(stream.ProtocolViolation, "%s arrived outside a run: clients stop here", stream.Fact(kind))
	}
	return d.turn
}

func (d *decoder) finishRun() {
	if d.turn != nil && !d.turn.IsOpen() {
		return // already reported
	}
	t, ev := d.ensureTurn([]byte("RUN_FINISHED")), &d.ev
	// TanStack AI sends token counts in this event.
	in, out := protocol.CountOf(ev.usage.Get("promptTokens")), protocol.CountOf(ev.usage.Get("completionTokens"))
	if in.Reported || out.Reported {
		t.Usage(stream.Usage{Input: in, Output: out})
	}
	word := cmp.Or(ev.finish.Text(), ev.outcome.Text(), ev.outcome.Get("type").Text())
	code, known := finishCodes.Of(word)
	if code == stream.FinishDone || word == "" {
		for _, c := range d.order {
			if !c.Sealed {
				c.Find(protocol.NotSealed,
					"the run finished without TOOL_CALL_END: nothing confirms that the arguments are complete; clients stop here")
			}
		}
	}
	if word != "" {
		t.Finish(word, code)
		if !known {
			t.Find(protocol.FinishUnknown, "%q is not a documented end of a run", stream.Fact(word))
		}
	}
	t.End()
}

// reportError reports an error and ends the run. After an error, clients accept only a new run.
func (d *decoder) reportError() {
	if !d.turn.IsOpen() {
		if d.failed {
			return // already reported
		}
		d.openTurn(stream.Opening{})
	}
	message, code := d.ev.message.Text(), d.ev.code
	if message == "" {
		message, code = d.ev.err.Get("message").Text(), d.ev.err.Get("code")
	}
	d.turn.Fail(code.Text(), message)
	d.turn.End()
	d.failed = true
}

// openCall begins a call in a new slot, even if its id was already used.
func (d *decoder) openCall(t *protocol.Turn) *protocol.Call {
	c := t.OpenCall(int32(len(d.order)), stream.CallInfo{
		ID: d.ev.callID.Text(), Name: d.ev.name.Text(), Kind: "function",
	})
	if !c.IsCounted() {
		c.Keep()
		d.calls[c.ID] = c
		d.order = append(d.order, c)
	}
	return c
}

// knownCall returns the latest call with the given id, or nil.
func (d *decoder) knownCall(id json.Value) *protocol.Call {
	return d.calls[string(id.OrDefault(nil))]
}

// ensureCall returns the call in this run that an event is about. If the call never started in this run, ensureCall
// reports this and opens the call, so that nothing is lost.
func (d *decoder) ensureCall(t *protocol.Turn, event string) *protocol.Call {
	if c := d.knownCall(d.ev.callID); c != nil && c.Turn() == t {
		return c
	}
	c := d.openCall(t)
	c.Find(stream.ProtocolViolation, "%s arrived without TOOL_CALL_START: clients stop here", stream.OwnFact(event))
	return c
}

// endCall makes a call final. In the event, TanStack AI repeats the input. If the server ran the tool, TanStack AI
// also adds the result.
func (d *decoder) endCall(c *protocol.Call) {
	if whole := d.ev.input; whole.IsPresent() {
		switch {
		case c.Bytes == 0 && !c.Sealed:
			c.Args(whole)
		case !c.Matches(whole):
			reportMismatch(c, whole)
		}
	}
	sealOnce(c)
	if d.ev.result.IsPresent() {
		d.reportResult(c.Turn())
	}
}

func sealOnce(c *protocol.Call) {
	if !c.Sealed {
		c.Seal()
	}
}

// readCallChunk reads a chunk of a call. A chunk with a new id starts a call. A chunk without an id continues
// the latest call.
func (d *decoder) readCallChunk(t *protocol.Turn) {
	id, c := d.ev.callID, d.chunkedCall
	if c == nil || id.IsString() && !id.Is(c.ID) {
		d.endChunks()
		c = d.openCall(t)
		d.chunkedCall = c
		if c.Name == "" || !id.IsString() {
			c.Find(stream.ProtocolViolation, "the first chunk of a call has no id or no name: clients stop here")
		}
	}
	if name := d.ev.name.Text(); c.Name == "" && name != "" {
		c.Meta(stream.CallInfo{Name: name})
	}
	if d.ev.delta.IsString() {
		c.Args(d.ev.delta)
	}
}

// endChunks makes the chunked call final. A chunked call has no end event.
func (d *decoder) endChunks() {
	if d.chunkedCall != nil {
		sealOnce(d.chunkedCall)
		d.chunkedCall = nil
	}
}

// reportResult reports a tool's result in the turn of its call.
func (d *decoder) reportResult(t *protocol.Turn) {
	c := d.knownCall(d.ev.callID)
	if c == nil {
		t.Find(protocol.OrphanResult, "a result belongs to a call in an earlier response")
		return
	}
	c.Turn().AddResult(c.ID, "", false)
}

// checkSnapshot compares the calls in a snapshot of all messages with the streamed calls. It reports calls that were
// not streamed: they are from earlier runs, or from an agent that doesn't stream.
func (d *decoder) checkSnapshot(t *protocol.Turn) {
	others := 0
	list := d.ev.messages.Scan()
	for ok := list.Array(); ok; ok = list.Element() {
		message := list.Value()
		calls := message.Get("toolCalls")
		if calls == nil {
			calls = message.Get("tool_calls")
		}
		each := calls.Scan()
		for ok := each.Array(); ok; ok = each.Element() {
			call := each.Value()
			c, whole := d.knownCall(call.Get("id")), call.Get("function").Get("arguments")
			switch {
			case c == nil:
				others++
			case c.Sealed && c.Bytes > 0 && !c.Matches(whole):
				reportMismatch(c, whole)
			}
		}
	}
	if others > 0 {
		t.Find(snapshotOnly,
			"MESSAGES_SNAPSHOT contains calls that were not streamed (%d), usually from earlier runs", others)
	}
}

func reportMismatch(c *protocol.Call, whole json.Value) {
	c.Find(protocol.DoneMismatch,
		"the complete arguments differ from the streamed arguments; toolscope shows the streamed ones: %s", protocol.Clip(whole))
}
