package cohere

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// decoder reads one exchange. Between messages turn is the one that ended last.
type decoder struct {
	*protocol.Out
	ev           *event
	turn         *protocol.Turn
	ended        bool // message-end has come for the last turn
	argsReported bool // that its arguments are no strings
}

func newDecoder(o *protocol.Out) protocol.Decoder { return &decoder{Out: o, ev: newEvent()} }

// Frame reads one event. Its type is that in the body, and where that has none the name of the
// server-sent event.
func (d *decoder) Frame(f stream.Frame) error {
	if protocol.IsDone(f.Data) { // gateways add it after message-end
		if d.turn.IsOpen() {
			d.turn.Find(protocol.FinishMissing, "[DONE] came without message-end: nothing says why the response ended")
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
		d.startMessage()
	case "tool-plan-delta", "content-start", "content-delta":
		d.readContent(d.ensureTurn(kind))
	case "tool-call-start":
		d.startCall(d.ensureTurn(kind))
	case "tool-call-delta":
		d.readDelta(d.ensureTurn(kind))
	case "tool-call-end":
		endCall(d.ensureTurn(kind).Call(d.ev.index.AsSlot()))
	case "message-end":
		d.endMessage(kind)
	case "content-end", "citation-start", "citation-end", "debug":
		d.Heartbeat()
	default:
		d.readNonEvent(kind)
	}
	return nil
}

// Close says that the bytes have ended: without message-end that is a cut.
func (d *decoder) Close() { d.turn.Cut("the stream ended without message-end") }

// readNonEvent takes what is no event of the stream: a body, an error instead of one, or a type this
// version does not know.
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

func (d *decoder) startMessage() {
	if d.turn.IsOpen() {
		d.turn.Find(protocol.MessageRestarted, "a second message began before this one ended: a retry was spliced into one body")
		d.Close()
	}
	d.readMessageObject(d.openTurn(), startSlot)
}

// startSlot is the slot of the first call that message-start brings whole, if it ever does; those
// of the stream count from 0.
const startSlot = 1 << 20

// openTurn opens a turn.
func (d *decoder) openTurn() *protocol.Turn {
	d.ended, d.argsReported = false, false
	d.turn = d.Open(stream.Opening{ID: d.ev.id.Text()})
	return d.turn
}

// ensureTurn is the open turn; an event that came before its message-start opens one.
func (d *decoder) ensureTurn(event []byte) *protocol.Turn {
	if !d.turn.IsOpen() {
		d.openTurn().Find(stream.ProtocolViolation, "%s came before message-start", event)
	}
	return d.turn
}

// readContent takes what the message says: its plan and reasoning are reasoning.
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

func (d *decoder) startCall(t *protocol.Turn) {
	call := d.ev.message.firstCall()
	c := openCall(t, d.ev.index.AsSlot(), &call)
	if !call.Args.Empty() { // normally the empty string, which deltas follow
		d.appendArguments(c, call.Args)
	}
}

// openCall begins a call. Of tools without parameters the arguments are the word null, which stands
// for none.
func openCall(t *protocol.Turn, slot int32, w *protocol.FunctionCall) *protocol.Call {
	c := t.OpenCall(slot, stream.CallInfo{ID: w.ID.Text(), Name: w.Name.Text(), Kind: "function", NullIsNone: true})
	if c.ID == "" {
		c.Find(protocol.IDMissing, "no id came: a result has nothing to refer to, clients invent one")
	}
	return c
}

func (d *decoder) readDelta(t *protocol.Turn) {
	call, c := d.ev.message.firstCall(), t.Call(d.ev.index.AsSlot())
	if id, name := call.ID.Text(), call.Name.Text(); id != "" || name != "" {
		c.Meta(stream.CallInfo{ID: id, Name: name, Kind: "function"})
	}
	d.appendArguments(c, call.Args)
}

func endCall(c *protocol.Call) {
	if c.IsNull() {
		reportNullArguments(c)
	}
	c.Seal()
}

func reportNullArguments(c *protocol.Call) {
	c.Find(protocol.ArgsNull.WithSeverity(stream.Info).WithCause(stream.Provider), "the arguments are null, as Cohere writes none: meant as {}")
}

// appendArguments takes a fragment of a call's arguments: a string that is a piece of JSON.
func (d *decoder) appendArguments(c *protocol.Call, v protocol.Raw) {
	if !v.IsPresent() {
		return
	}
	if !v.IsString() && !d.argsReported {
		d.argsReported = true
		c.Find(protocol.ArgsObject, "the arguments are a JSON value, not a string with JSON in it: clients that expect a string fail")
	}
	c.Args(v)
}
