package aisdk

import (
	"cmp"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

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
