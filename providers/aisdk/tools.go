package aisdk

import (
	"cmp"
	"slices"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// call is what the decoder must remember of a call.
type call struct {
	turn, slot int32
	named      bool
	sealed     bool
	denied     bool // somebody did not approve it, and that was said
	input      dialect.Arguments
}

// tool takes a chunk about a tool; it reports whether c is one.
func (d *decoder) tool(c *chunk, emit func(stream.Event)) bool {
	switch string(d.kind) {
	case "tool-input-start":
		d.ensure(emit)
		d.openCall(c, emit)
	case "tool-input-available":
		k := d.whole(c, c.input, emit)
		if !k.sealed {
			k.sealed = true
			emit(stream.Event{Kind: stream.Seal, Turn: k.turn, Slot: k.slot})
		}
	case "tool-input-error":
		k := d.whole(c, c.inputText(), emit)
		k.sealed = true
		why := c.errorText.Text()
		emit(stream.Event{Kind: stream.Seal, Turn: k.turn, Slot: k.slot, Code: stream.SealRejected, Text: why})
		emit(dialect.Diagnose(k.turn, k.slot, inputRejected, "the SDK does not run this call: %s", why))
	case "tool-approval-request":
		d.askApproval(c, emit)
	case "tool-approval-response":
		d.approval(c, emit)
	case "tool-output-available":
		if string(c.preliminary) != "true" {
			d.answer(c, stream.AnswerOK, emit)
		}
	case "tool-output-error":
		d.answer(c, stream.AnswerFailed, emit)
	case "tool-output-denied":
		if k := d.answer(c, stream.AnswerFailed, emit); k != nil && !k.denied {
			emit(dialect.Diagnose(k.turn, k.slot, callDenied, "the call was not approved and did not run"))
		}
	default:
		return false
	}
	return true
}

// openCall begins a call, in a slot of its own even when its id was used before.
func (d *decoder) openCall(c *chunk, emit func(stream.Event)) *call {
	id := c.callID.Text()
	k := &call{turn: d.Number, slot: d.slots, named: c.name.IsString() && !c.name.Empty()}
	d.slots++
	d.calls[id] = k
	more := &stream.Detail{ID: id, Name: c.name.Text(), CallKind: "function"}
	if string(c.server) == "true" {
		more.CallKind, more.Server = "server", true
	}
	emit(stream.Event{Kind: stream.CallOpen, Turn: k.turn, Slot: k.slot, More: more})
	return k
}

// find is the call of the open message that c is about, or nil.
func (d *decoder) find(c *chunk) *call {
	if k := d.calls[c.callID.Text()]; k != nil && d.Open && k.turn == d.Number {
		return k
	}
	return nil
}

func (d *decoder) inputDelta(c *chunk, emit func(stream.Event)) {
	d.ensure(emit)
	k := d.find(c)
	if k == nil {
		k = d.openCall(c, emit)
		emit(dialect.Diagnose(k.turn, k.slot, stream.ProtocolViolation,
			"a delta came before tool-input-start: the SDK's client stops here"))
	}
	if d.buf = d.buf[:0]; c.delta.Given() {
		d.buf = c.delta.Append(d.buf)
	}
	d.args(k, d.buf, emit)
}

func (d *decoder) args(k *call, bytes []byte, emit func(stream.Event)) {
	text := d.text.Hold(bytes)
	k.input.Add(text)
	emit(stream.Event{Kind: stream.Args, Turn: k.turn, Slot: k.slot, Text: text})
}

// whole takes the input as a whole. Without deltas before it these bytes of it
// are the arguments.
func (d *decoder) whole(c *chunk, bytes []byte, emit func(stream.Event)) *call {
	d.ensure(emit)
	k := d.find(c)
	switch {
	case k == nil:
		k = d.openCall(c, emit)
	case !k.named && c.name.IsString():
		k.named = true
		emit(stream.Event{Kind: stream.CallMeta, Turn: k.turn, Slot: k.slot, More: &stream.Detail{Name: c.name.Text()}})
	}
	switch {
	case len(c.input) == 0:
	case k.input.Empty() && !k.sealed:
		d.args(k, bytes, emit)
	case !k.input.Are(c.input):
		emit(dialect.Diagnose(k.turn, k.slot, dialect.DoneMismatch,
			"the input as a whole is another than the one that was streamed, which is shown: the whole is %s", c.input.Clip()))
	}
	return k
}

func (d *decoder) askApproval(c *chunk, emit func(stream.Event)) {
	k := d.calls[c.callID.Text()]
	if k == nil {
		d.orphan("an approval is asked for a call of an earlier response", emit)
		return
	}
	if d.approvals == nil {
		d.approvals = map[string]*call{}
	}
	d.approvals[c.approvalID.Text()] = k
	emit(dialect.Diagnose(k.turn, k.slot, approvalRequested, "the call waits for somebody's approval"))
}

func (d *decoder) approval(c *chunk, emit func(stream.Event)) {
	k := d.approvals[c.approvalID.Text()]
	if k == nil {
		d.orphan("an approval is answered that an earlier response asked for", emit)
		return
	}
	of, message := callApproved, "the call was approved"
	if string(c.approved) != "true" {
		k.denied = true
		of, message = callDenied, "the call was not approved"
	}
	if why := c.reason.Text(); why != "" {
		message += ": " + why
	}
	emit(dialect.Diagnose(k.turn, k.slot, of, "%s", message))
}

// answer takes a tool's output, on the turn of its call.
func (d *decoder) answer(c *chunk, code stream.Code, emit func(stream.Event)) *call {
	id := c.callID.Text()
	k := d.calls[id]
	if k == nil {
		d.orphan("a result is for a call of an earlier response", emit)
		return nil
	}
	emit(stream.Event{Kind: stream.Answer, Turn: k.turn, Slot: k.slot, Code: code, More: &stream.Detail{ID: id}})
	return k
}

// orphan notes what is about a call that this exchange did not bring: a call
// that waited for approval gets its result a response later.
func (d *decoder) orphan(message string, emit func(stream.Event)) {
	d.ensure(emit)
	d.Diagnose(emit, dialect.OrphanResult, "%s", message)
}

// checkCalls judges the calls of a message that ended as if all were well.
func (d *decoder) checkCalls(emit func(stream.Event)) {
	var open []*call
	for _, k := range d.calls {
		if k.turn == d.Number && !k.sealed {
			open = append(open, k)
		}
	}
	slices.SortFunc(open, func(a, b *call) int { return cmp.Compare(a.slot, b.slot) })
	for _, k := range open {
		emit(dialect.Diagnose(k.turn, k.slot, dialect.NotSealed,
			"the message ended without tool-input-available: nothing says that the arguments are whole"))
	}
}
