package cohere

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

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
