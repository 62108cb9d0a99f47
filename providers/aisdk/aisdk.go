// Package aisdk decodes the UI message stream of Vercel's AI SDK, version 5 and later. An application's own
// chat endpoint sends this stream to useChat.
//
// Wire facts are from the SDK's public source (ui-message-chunks.ts, process-ui-message-stream.ts,
// create-ui-message-stream.ts). A turn is one message, from start to finish, with any number of steps that the
// server ran. Start and finish may be missing, and [DONE] ends the stream. A call's slot is the position of its
// toolCallId among the ids in the message. The chunk tool-input-available makes a call final and repeats the input
// as a JSON value.
package aisdk

import (
	"cmp"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/stream/marks"
)

// Protocol returns the protocol of the AI SDK's UI message stream.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:     "ai-sdk",
		Title:    "AI SDK UI message stream",
		Sniff:    sniffFrame,
		Findings: findings,
		New: func(o *protocol.Out) protocol.Decoder {
			d := &decoder{Out: o, calls: map[string]*call{}, approvals: map[string]*call{}}
			d.chunk.bindShape()
			return d
		},
		Marks: wireMarks,
		Quiet: []string{"data-*", "file", "source-*"},
	}
}

// chunkPoints maps the types of chunks to their points in a protocol.SniffScore.
var chunkPoints = map[string]int{
	"start": protocol.Likely, "finish": protocol.Likely, "abort": protocol.Likely, "message-metadata": protocol.Strong,
	"start-step": protocol.Strong, "finish-step": protocol.Strong,
	"text-start": protocol.Strong, "text-delta": protocol.Strong, "text-end": protocol.Strong,
	"reasoning-start": protocol.Strong, "reasoning-delta": protocol.Strong, "reasoning-end": protocol.Strong,
	"tool-input-start": protocol.Strong, "tool-input-delta": protocol.Strong,
	"tool-input-available": protocol.Strong, "tool-input-error": protocol.Strong,
	"tool-approval-request": protocol.Strong, "tool-approval-response": protocol.Strong,
	"tool-output-available": protocol.Strong, "tool-output-error": protocol.Strong, "tool-output-denied": protocol.Strong,
	"source-url": protocol.Strong, "source-document": protocol.Strong,
}

func sniffFrame(e protocol.SniffInput) protocol.SniffScore {
	name, callID := e.Get("type").Text(), e.Get("toolCallId")
	if strings.HasPrefix(name, "tool-input-") && callID == nil && e.Get("id") != nil || name == "finish" && e.Get("usage").IsPresent() {
		return protocol.SniffScore{} // this is a part of a language model's stream, which the SDK's gateway sends
	}
	switch points := chunkPoints[name]; {
	case points > 0 && callID.IsString():
		return protocol.SniffScore{Points: protocol.Sure, Why: "chunk type " + name}
	case points > 0:
		return protocol.SniffScore{Points: points, Why: "chunk type " + name}
	case name == "error" && e.Get("errorText").IsString():
		return protocol.SniffScore{Points: protocol.Strong, Why: "chunk type error with an errorText"}
	case e.HeaderIs("X-Vercel-Ai-Ui-Message-Stream"):
		return protocol.SniffScore{Points: protocol.Strong, Why: "header X-Vercel-Ai-Ui-Message-Stream"}
	case strings.HasPrefix(name, "data-"), name == "file" && e.Get("url").IsString():
		return protocol.SniffScore{Points: protocol.Likely, Why: "chunk type " + name}
	}
	return protocol.SniffScore{}
}

// finishCodes are the SDK's finish reasons. The SDK maps the providers' finish reasons to them.
var finishCodes = protocol.FinishCodes{
	"stop": stream.FinishDone, "tool-calls": stream.FinishDone, "other": stream.FinishOther, "unknown": stream.FinishOther,
	"length": stream.FinishCut, "content-filter": stream.FinishCut,
	"error": stream.FinishFailed,
}

// chunk is one chunk of the stream as it was sent.
type chunk struct {
	shape *json.Shape

	kind, messageID, metadata  json.Value
	callID, name, delta, input json.Value
	server, preliminary        json.Value // server is true if the provider runs the call; preliminary is true if more output follows
	errorText, finish, reason  json.Value
	approvalID, approved       json.Value
}

func (c *chunk) bindShape() {
	c.shape = json.ShapeOf(
		json.Field("type", &c.kind),
		json.Field("toolCallId", &c.callID),
		json.Field("delta", &c.delta).Or("inputTextDelta"),
		json.Field("toolName", &c.name),
		json.Field("input", &c.input),
		json.Field("messageId", &c.messageID),
		json.Field("messageMetadata", &c.metadata),
		json.Field("providerExecuted", &c.server),
		json.Field("preliminary", &c.preliminary),
		json.Field("errorText", &c.errorText),
		json.Field("finishReason", &c.finish),
		json.Field("reason", &c.reason),
		json.Field("approvalId", &c.approvalID),
		json.Field("approved", &c.approved))
}

// findings are the findings that only this protocol reports.
var findings = []*stream.Diagnosis{
	responseAborted, inputRejected, approvalRequested, callApproved, callDenied,
}

var (
	responseAborted = &stream.Diagnosis{
		Code: "ABORTED", Severity: stream.Info, By: stream.Client,
		Meaning: "The application stopped the response: the user pressed stop, or the application itself ended the request.",
		Advice:  "Nothing. Don't run calls that were not complete before the response was stopped.",
	}
	inputRejected = &stream.Diagnosis{
		Code: "INPUT_REJECTED", Severity: stream.Error, By: stream.Model,
		ExplainsState: true,
		Verdict:       "not accepted",
		Meaning:       "The AI SDK doesn't run the call: the input doesn't parse or doesn't match the schema, or the tool is unknown.",
		Advice:        "Read the AI SDK's error. The model receives this error as the result of the call and may try again.",
	}
	approvalRequested = &stream.Diagnosis{
		Code: "APPROVAL_REQUESTED", Severity: stream.Info, By: stream.Gateway,
		Meaning: "The application waits for approval before it runs the call.",
		Advice:  "Approve or deny the call. The application doesn't run the call until you approve it.",
	}
	callApproved = &stream.Diagnosis{
		Code: "CALL_APPROVED", Severity: stream.Info, By: stream.Client,
		Meaning: "A call that was waiting for approval was approved.",
		Advice:  "Nothing: a later response contains the result.",
	}
	callDenied = &stream.Diagnosis{
		Code: "CALL_DENIED", Severity: stream.Info, By: stream.Client,
		Meaning: "The call was denied and did not run.",
		Advice:  "Nothing: the model receives the denial as the call's result.",
	}
)

// wireMarks describes the AI SDK's messages to code that doesn't decode them.
var wireMarks = marks.Protocol{PartTypes: []string{"tool-result", "tool-call"}}

// decoder reads one exchange. Between messages, turn is the latest turn, which has ended.
type decoder struct {
	*protocol.Out
	chunk    chunk
	turn     *protocol.Turn
	finished bool    // finish has arrived, so only [DONE] or another start may follow
	ended    bool    // finish, abort or error has arrived, so open calls are not a mistake
	order    []*call // calls of the message, by slot

	calls     map[string]*call // calls of the exchange, by id: outputs may arrive in the next message
	approvals map[string]*call // calls by approvalId
}

// Frame reads one chunk. Every known chunk belongs to a message, whose start may be missing.
func (d *decoder) Frame(f stream.Frame) error {
	if protocol.IsDone(f.Data) {
		d.endTurn()
		return nil
	}
	c := &d.chunk
	if err := c.shape.Read(f.Data); err != nil {
		return err
	}
	switch kind := c.kind.OrDefault(nil); string(kind) {
	case "tool-input-start":
		d.openCall(d.ensureTurn())
	case "tool-input-delta":
		t := d.ensureTurn()
		k := d.findCall(t)
		if k == nil {
			k = d.openCall(t)
			k.Find(stream.ProtocolViolation, "a delta arrived before tool-input-start: the SDK's client stops here")
		}
		k.Args(c.delta)
	case "tool-input-available":
		if k := d.setArguments(d.ensureTurn(), c.input); !k.Sealed {
			k.Seal()
		}
	case "tool-input-error":
		// The SDK refused the call. If the input is a string, it is the model's text, which the SDK could not parse.
		k, why := d.setArguments(d.ensureTurn(), c.input.Append(nil)), c.errorText.Text()
		k.Reject(why)
		k.Find(inputRejected, "the SDK doesn't run this call: %s", why)
	case "tool-approval-request":
		d.requestApproval()
	case "tool-approval-response":
		d.readApproval()
	case "tool-output-available", "tool-output-error", "tool-output-denied":
		d.reportResult(string(kind))
	case "text-delta":
		d.ensureTurn().AppendText(c.delta)
	case "reasoning-delta":
		d.ensureTurn().AppendReasoning(0, c.delta)
	case "start":
		d.startMessage()
	case "finish":
		d.finishMessage()
	case "abort":
		d.abortMessage()
	case "error":
		d.ensureTurn().Fail("", c.errorText.Text())
		d.ended = true
	case "message-metadata":
		d.readMetadata(d.ensureTurn())
	case "start-step", "finish-step", "text-start", "text-end", "reasoning-start", "reasoning-end",
		"source-url", "source-document", "file":
		d.ensureTurn()
	default:
		d.Unknown(string(kind))
	}
	return nil
}

// ensureTurn returns the open turn. If the start of the message is missing, ensureTurn opens a turn.
func (d *decoder) ensureTurn() *protocol.Turn {
	if !d.turn.IsOpen() {
		d.openTurn("")
	}
	return d.turn
}

func (d *decoder) openTurn(id string) {
	d.finished, d.ended, d.order = false, false, nil
	d.turn = d.Open(stream.Opening{ID: id})
}

// startMessage begins a message, unless one is open. Servers that merge streams repeat the start, and clients read
// only the new id from the repeated start.
func (d *decoder) startMessage() {
	id := d.chunk.messageID.Text()
	if d.finished {
		d.endTurn()
	}
	if d.turn.IsOpen() {
		d.turn.Find(protocol.MessageRestarted.WithSeverity(stream.Info), "a second start chunk arrived in the message: two streams were merged, and clients keep the last id")
		d.turn.Update(stream.Opening{ID: id})
	} else {
		d.openTurn(id)
	}
	d.readMetadata(d.turn)
}

func (d *decoder) finishMessage() {
	if d.finished || d.turn != nil && !d.turn.IsOpen() {
		return // already reported
	}
	t := d.ensureTurn()
	d.finished, d.ended = true, true
	d.readMetadata(t)
	word := d.chunk.finish.Text()
	code, known := finishCodes.Of(word)
	if code == stream.FinishDone || word == "" {
		d.checkCalls()
	}
	if word == "" {
		return // version 5 sends no reason
	}
	t.Finish(word, code)
	if !known {
		t.Find(protocol.FinishUnknown, "finish reason %q is not documented", stream.Fact(word))
	}
}

// abortMessage reports that the application stopped the stream.
func (d *decoder) abortMessage() {
	if d.ended && !d.turn.IsOpen() {
		return
	}
	t := d.ensureTurn()
	d.ended = true
	t.Finish("abort", stream.FinishCancelled)
	t.Find(responseAborted, "the application stopped the response: %s", cmp.Or(d.chunk.reason.Text(), "no reason given"))
}

// readMetadata reads the model and the usage from an application's own metadata, under the names used in the SDK's
// guides.
func (d *decoder) readMetadata(t *protocol.Turn) {
	m := d.chunk.metadata
	if model := m.Get("model").Text(); model != "" {
		t.Update(stream.Opening{Model: model})
	}
	u := m.Get("totalUsage")
	if u.Kind() != '{' {
		u = m.Get("usage")
	}
	if !u.Get("inputTokens").IsPresent() && !u.Get("outputTokens").IsPresent() {
		return
	}
	in, out := u.Get("inputTokenDetails"), u.Get("outputTokenDetails")
	t.Usage(stream.Usage{
		Input:      protocol.CountOf(u.Get("inputTokens")),
		CacheRead:  firstCount(in.Get("cacheReadTokens"), u.Get("cachedInputTokens")),
		CacheWrite: protocol.CountOf(in.Get("cacheWriteTokens")),
		Output:     protocol.CountOf(u.Get("outputTokens")),
		Reasoning:  firstCount(out.Get("reasoningTokens"), u.Get("reasoningTokens")),
	})
}

func firstCount(a, b json.Value) stream.Count {
	if n := protocol.CountOf(a); n.Reported {
		return n
	}
	return protocol.CountOf(b)
}

// endTurn ends the turn at [DONE], or at the start of the next message. If no finish, abort or error has arrived, it
// checks the calls first.
func (d *decoder) endTurn() {
	if d.turn.IsOpen() && !d.ended {
		d.checkCalls()
	}
	d.turn.End()
}

// Close ends the turn at the end of the stream. Unless finish has arrived, the turn is cut off.
func (d *decoder) Close() {
	switch {
	case !d.turn.IsOpen():
	case d.finished:
		d.turn.Find(stream.NoTerminator.WithSeverity(stream.Info), "the message finished without [DONE]")
		d.turn.End()
	case d.ended:
		d.turn.Cut("")
	default:
		d.turn.Cut("the stream ended without finish or [DONE]")
	}
}

// call is a call with its approval state.
type call struct {
	*protocol.Call
	denied bool // whether the denial was reported
}

// openCall begins a call in a new slot, even if its id was already used.
func (d *decoder) openCall(t *protocol.Turn) *call {
	info := stream.CallInfo{ID: d.chunk.callID.Text(), Name: d.chunk.name.Text(), Kind: "function"}
	if d.chunk.server.IsTrue() {
		info.Kind, info.RunByProvider = "server", true
	}
	k := &call{Call: t.OpenCall(int32(len(d.order)), info)}
	if !k.IsCounted() {
		k.Keep()
		d.order = append(d.order, k)
		d.calls[info.ID] = k
	}
	return k
}

// knownCall returns the call that the chunk is about, in this message or an earlier one, or nil.
func (d *decoder) knownCall() *call { return d.calls[string(d.chunk.callID.OrDefault(nil))] }

// findCall returns the call in the open message that the chunk is about, or nil.
func (d *decoder) findCall(t *protocol.Turn) *call {
	if k := d.knownCall(); k != nil && k.Turn() == t {
		return k
	}
	return nil
}

// setArguments reads the complete input of a call and returns the call. If the call has no arguments yet, they are
// set to the parameter text, which is the input as text.
func (d *decoder) setArguments(t *protocol.Turn, text []byte) *call {
	c, k := &d.chunk, d.findCall(t)
	if k == nil {
		k = d.openCall(t)
	} else if name := c.name.Text(); k.Name == "" && name != "" {
		k.Meta(stream.CallInfo{Name: name})
	}
	switch {
	case len(c.input) == 0:
	case k.Bytes == 0 && !k.Sealed:
		k.ArgsText(text, nil)
	case !k.Matches(c.input):
		k.Find(protocol.DoneMismatch,
			"the complete input differs from the streamed input; toolscope shows the streamed input: %s", protocol.Clip(c.input))
	}
	return k
}

func (d *decoder) requestApproval() {
	k := d.knownCall()
	if k == nil {
		d.reportOrphan("an approval request belongs to a call in an earlier response")
		return
	}
	d.approvals[d.chunk.approvalID.Text()] = k
	k.Find(approvalRequested, "the call waits for approval")
}

func (d *decoder) readApproval() {
	k := d.approvals[d.chunk.approvalID.Text()]
	if k == nil {
		d.reportOrphan("an approval belongs to a call in an earlier response")
		return
	}
	of, message := callApproved, stream.Messagef("the call was approved")
	if !d.chunk.approved.IsTrue() {
		k.denied = true
		of, message = callDenied, stream.Messagef("the call was not approved")
	}
	if why := d.chunk.reason.Text(); why != "" {
		message = stream.Messagef("%s: %s", message, why)
	}
	k.Find(of, "%s", message)
}

// reportResult reports a tool's output in the turn of its call.
func (d *decoder) reportResult(kind string) {
	if kind == "tool-output-available" && d.chunk.preliminary.IsTrue() {
		return
	}
	k := d.knownCall()
	if k == nil {
		d.reportOrphan("a result belongs to a call in an earlier response")
		return
	}
	k.Turn().AddResult(k.ID, "", kind != "tool-output-available")
	if kind == "tool-output-denied" && !k.denied {
		k.Find(callDenied, "the call was not approved and did not run")
	}
}

// reportOrphan reports a chunk about a call that is not in this exchange. For example, the result of a call that
// waits for approval comes in the next response.
func (d *decoder) reportOrphan(message string) {
	d.ensureTurn().Find(protocol.OrphanResult, "%s", stream.Own(message))
}

// checkCalls reports the calls that are not final in a message that was not ended by a limit or an error.
func (d *decoder) checkCalls() {
	for _, k := range d.order {
		if !k.Sealed && d.calls[k.ID] == k {
			k.Find(protocol.NotSealed,
				"the message ended without tool-input-available: nothing confirms that the arguments are complete")
		}
	}
}
