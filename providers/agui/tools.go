package agui

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// call is what the decoder must remember of a call.
type call struct {
	turn, slot int32
	id         string
	named      bool
	sealed     bool
	args       dialect.Arguments
}

// openCall begins a call, in a slot of its own even when its id was used before.
func (d *decoder) openCall(ev *event, emit func(stream.Event)) *call {
	k := &call{turn: d.Number, slot: d.slots, id: ev.callID.Text(), named: ev.name.IsString() && !ev.name.Empty()}
	d.slots++
	d.calls[k.id] = k
	d.order = append(d.order, k)
	emit(stream.Event{Kind: stream.CallOpen, Turn: k.turn, Slot: k.slot, More: &stream.Detail{
		ID: k.id, Name: ev.name.Text(), CallKind: "function",
	}})
	return k
}

// find is the run's call of that id. One that never started is opened, so that
// nothing is lost.
func (d *decoder) find(ev *event, emit func(stream.Event)) *call {
	if k := d.calls[ev.callID.Text()]; k != nil && k.turn == d.Number {
		return k
	}
	k := d.openCall(ev, emit)
	emit(dialect.Diagnose(k.turn, k.slot, stream.ProtocolViolation,
		"%s came without TOOL_CALL_START: clients stop here", string(d.kind)))
	return k
}

func (d *decoder) callArgs(ev *event, emit func(stream.Event)) {
	d.args(d.find(ev, emit), ev.delta, emit)
}

func (d *decoder) args(k *call, delta dialect.Raw, emit func(stream.Event)) {
	if d.buf = d.buf[:0]; delta.Given() {
		d.buf = delta.Append(d.buf)
	}
	text := d.text.Hold(d.buf)
	k.args.Add(text)
	emit(stream.Event{Kind: stream.Args, Turn: k.turn, Slot: k.slot, Text: text})
}

// callEnd seals a call. TanStack AI repeats the input in it, and adds the
// result when the server ran the tool.
func (d *decoder) callEnd(ev *event, emit func(stream.Event)) {
	k := d.find(ev, emit)
	if ev.input.Given() {
		switch {
		case k.args.Empty() && !k.sealed:
			d.args(k, ev.input, emit)
		case !k.args.Are(ev.input):
			d.mismatch(k, ev.input, emit)
		}
	}
	d.seal(k, emit)
	if ev.result.Given() {
		d.result(ev, emit)
	}
}

func (d *decoder) seal(k *call, emit func(stream.Event)) {
	if !k.sealed {
		k.sealed = true
		emit(stream.Event{Kind: stream.Seal, Turn: k.turn, Slot: k.slot})
	}
}

// callChunk takes an event that starts a call if it names a new one, and goes
// on with the last one if it names none.
func (d *decoder) callChunk(ev *event, emit func(stream.Event)) {
	k := d.chunked
	if k == nil || ev.callID.IsString() && !ev.callID.Is(k.id) {
		d.endChunks(emit)
		k = d.openCall(ev, emit)
		d.chunked = k
		if !k.named || !ev.callID.IsString() {
			emit(dialect.Diagnose(k.turn, k.slot, stream.ProtocolViolation,
				"the first chunk of a call has no id or no name: clients stop here"))
		}
	}
	if name := ev.name.Text(); !k.named && name != "" {
		k.named = true
		emit(stream.Event{Kind: stream.CallMeta, Turn: k.turn, Slot: k.slot, More: &stream.Detail{Name: name}})
	}
	if ev.delta.IsString() {
		d.args(k, ev.delta, emit)
	}
}

// endChunks seals the call that came in chunks: nothing else says its end.
func (d *decoder) endChunks(emit func(stream.Event)) {
	if d.chunked != nil {
		d.seal(d.chunked, emit)
		d.chunked = nil
	}
}

// result takes a tool's result, on the turn of its call.
func (d *decoder) result(ev *event, emit func(stream.Event)) {
	id := ev.callID.Text()
	k := d.calls[id]
	if k == nil {
		d.Diagnose(emit, dialect.OrphanResult, "a result is for a call of an earlier response")
		return
	}
	emit(stream.Event{Kind: stream.Answer, Turn: k.turn, Slot: k.slot, Code: stream.AnswerOK, More: &stream.Detail{ID: id}})
}

// signature takes the opaque text that belongs to a call, among those that
// belong to messages.
func (d *decoder) signature(ev *event, emit func(stream.Event)) {
	k := d.calls[ev.entityID.Text()]
	if k == nil || !ev.subtype.Is("tool-call") {
		return
	}
	emit(stream.Event{Kind: stream.CallMeta, Turn: k.turn, Slot: k.slot, More: &stream.Detail{Signature: ev.encrypted.Text()}})
}

// snapshot compares the calls of a history with those that were streamed. The
// others are of earlier runs, or of an agent that does not stream.
func (d *decoder) snapshot(messages dialect.Raw, emit func(stream.Event)) {
	others := 0
	list := messages.Scan()
	for ok := list.Array(); ok; ok = list.Element() {
		message := list.Value()
		calls := message.Get("toolCalls")
		if calls == nil {
			calls = message.Get("tool_calls")
		}
		each := calls.Scan()
		for ok := each.Array(); ok; ok = each.Element() {
			c := each.Value()
			k, args := d.calls[c.Get("id").Text()], c.Get("function").Get("arguments")
			switch {
			case k == nil:
				others++
			case k.sealed && !k.args.Empty() && !k.args.Are(args):
				d.mismatch(k, args, emit)
			}
		}
	}
	if others > 0 {
		d.Diagnose(emit, snapshotOnly,
			"calls that stand in MESSAGES_SNAPSHOT and were not streamed: %d, of earlier runs as a rule", others)
	}
}

func (d *decoder) mismatch(k *call, whole dialect.Raw, emit func(stream.Event)) {
	emit(dialect.Diagnose(k.turn, k.slot, dialect.DoneMismatch,
		"the arguments as a whole are others than those that were streamed, which are shown: the whole is %s", whole.Clip()))
}

// checkCalls judges the calls of a run that finished as if all were well.
func (d *decoder) checkCalls(emit func(stream.Event)) {
	for _, k := range d.order {
		if !k.sealed {
			emit(dialect.Diagnose(k.turn, k.slot, dialect.NotSealed,
				"the run finished without TOOL_CALL_END: nothing says that the arguments are whole, clients stop here"))
		}
	}
}
