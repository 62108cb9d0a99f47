package cohere

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange. Between messages Number is that of the last one.
type decoder struct {
	dialect.OneTurn
	ended bool // message-end has come for the last turn
	calls int
	event wireEvent
	kind  []byte // of the event
	text  stream.Arena
	buf   []byte
	said  bool // arguments that are no string were reported

	latest int32  // slot of the call that began last
	head   []byte // how its arguments begin: enough to know the word null
}

func (d *decoder) Decode(f stream.Frame, emit func(stream.Event)) error {
	if dialect.IsDone(f.Data) {
		d.doneWord(emit)
		return nil
	}
	ev := &d.event
	if err := ev.parse(f.Data); err != nil {
		return err
	}
	kind := f.Event
	if ev.kind.IsString() && !ev.kind.Empty() {
		d.kind = ev.kind.Append(d.kind[:0])
		kind = d.kind
	}
	switch string(kind) {
	case "tool-call-delta":
		d.callDelta(ev, emit)
	case "tool-plan-delta", "content-start", "content-delta":
		d.ensure(string(kind), emit)
		d.words(&ev.message, emit)
	case "tool-call-start":
		d.callStart(ev, emit)
	case "tool-call-end":
		d.callEnd(slotOf(ev), emit)
	case "message-start":
		d.messageStart(ev, emit)
	case "message-end":
		d.messageEnd(ev, emit)
	case "content-end", "citation-start", "citation-end", "debug":
		emit(stream.Event{Kind: stream.Heartbeat, Turn: d.Turn()})
	default:
		d.other(ev, kind, emit)
	}
	return nil
}

// other takes what is no event of the stream: a body, an error instead of one,
// or a type this version does not know.
func (d *decoder) other(ev *wireEvent, kind []byte, emit func(stream.Event)) {
	switch {
	case len(kind) > 0 && !(string(kind) == "error" && ev.note.IsString()):
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Turn(), Text: string(kind)})
	case ev.messageIn:
		d.body(ev, emit)
	case ev.note.IsString():
		if !d.Open {
			d.begin(ev, emit)
		}
		emit(stream.Event{Kind: stream.Failure, Turn: d.Number, Text: ev.note.Text(), More: new(stream.Detail)})
	default:
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Turn(), Text: "an object without a type"})
	}
}

func slotOf(ev *wireEvent) int32 {
	index, _ := ev.index.Int()
	return int32(index)
}

func (d *decoder) messageStart(ev *wireEvent, emit func(stream.Event)) {
	if d.Open {
		d.Diagnose(emit, dialect.MessageRestarted,
			"a second message began before this one ended: a retry was spliced into one body")
		d.close(stream.CloseCut, emit)
	}
	d.begin(ev, emit)
	d.words(&ev.message, emit)
	d.wholeCalls(ev.message.calls, startSlot, emit)
}

// startSlot is the slot of the first call that message-start brings whole, if
// it ever does; those of the stream count from 0.
const startSlot = 1 << 20

// begin opens a turn.
func (d *decoder) begin(ev *wireEvent, emit func(stream.Event)) {
	d.Number++
	d.Open, d.ended, d.said, d.calls = true, false, false, 0
	emit(stream.Event{Kind: stream.TurnOpen, Turn: d.Number, More: &stream.Detail{ID: ev.id.Text()}})
}

// ensure opens a turn for an event that came before its message-start.
func (d *decoder) ensure(what string, emit func(stream.Event)) {
	if d.Open {
		return
	}
	d.begin(&d.event, emit)
	d.Diagnose(emit, stream.ProtocolViolation, "%s came before message-start", what)
}

// words emits what the message says: its plan and reasoning as reasoning.
func (d *decoder) words(m *wireMessage, emit func(stream.Event)) {
	d.emitText(stream.ThinkDelta, m.plan, emit)
	d.emitText(stream.ThinkDelta, m.thinking, emit)
	d.emitText(stream.TextDelta, m.text, emit)
	d.emitText(stream.TextDelta, m.content, emit)
	parts := m.content.Scan()
	for ok := parts.Array(); ok; ok = parts.Element() {
		part := parts.Value()
		d.emitText(stream.ThinkDelta, part.Get("thinking"), emit)
		d.emitText(stream.TextDelta, part.Get("text"), emit)
	}
}

func (d *decoder) emitText(kind stream.EventKind, value dialect.Raw, emit func(stream.Event)) {
	if !value.IsString() || value.Empty() {
		return
	}
	d.buf = value.Append(d.buf[:0])
	emit(stream.Event{Kind: kind, Turn: d.Number, Text: d.text.Hold(d.buf)})
}

func (d *decoder) callStart(ev *wireEvent, emit func(stream.Event)) {
	d.ensure("tool-call-start", emit)
	slot, call := slotOf(ev), d.firstCall(&ev.message)
	d.callOpen(slot, call, emit)
	if call.Args.Given() && !call.Args.Empty() { // normally the empty string, which deltas follow
		d.arguments(slot, call.Args, emit)
	}
}

// firstCall is the call of a delta: an object, or against the protocol a list of one.
func (d *decoder) firstCall(m *wireMessage) *dialect.FunctionCall {
	if s := m.calls.Scan(); s.Array() {
		m.call.Read(&s)
	}
	return &m.call
}

// callOpen begins a call. Of tools without parameters the arguments are the word
// null, which stands for none.
func (d *decoder) callOpen(slot int32, w *dialect.FunctionCall, emit func(stream.Event)) {
	d.calls++
	d.latest, d.head = slot, d.head[:0]
	id := w.ID.Text()
	emit(stream.Event{Kind: stream.CallOpen, Turn: d.Number, Slot: slot, More: &stream.Detail{
		ID: id, Name: w.Name.Text(), CallKind: "function", NullIsNone: true,
	}})
	if id == "" {
		d.about(emit, slot, dialect.IDMissing, "no id came: a result has nothing to refer to, clients invent one")
	}
}

func (d *decoder) callDelta(ev *wireEvent, emit func(stream.Event)) {
	d.ensure("tool-call-delta", emit)
	slot, call := slotOf(ev), d.firstCall(&ev.message)
	if id, name := call.ID.Text(), call.Name.Text(); id != "" || name != "" {
		emit(stream.Event{Kind: stream.CallMeta, Turn: d.Number, Slot: slot, More: &stream.Detail{ID: id, Name: name, CallKind: "function"}})
	}
	if call.Args.Given() {
		d.arguments(slot, call.Args, emit)
	}
}

func (d *decoder) callEnd(slot int32, emit func(stream.Event)) {
	d.ensure("tool-call-end", emit)
	if slot == d.latest && string(d.head) == "null" {
		d.nullArguments(slot, emit)
	}
	emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: slot})
}

func (d *decoder) nullArguments(slot int32, emit func(stream.Event)) {
	d.about(emit, slot, dialect.ArgsNull.As(stream.Info).Blames(stream.Provider), "the arguments are null, as Cohere writes none: meant as {}")
}

// arguments takes a fragment of a call's arguments: a string that is a piece of JSON.
func (d *decoder) arguments(slot int32, value dialect.Raw, emit func(stream.Event)) {
	if !value.IsString() && !d.said {
		d.said = true
		d.about(emit, slot, dialect.ArgsObject,
			"the arguments are a JSON value, not a string with JSON in it: clients that expect a string fail")
	}
	d.buf = value.Append(d.buf[:0])
	if slot == d.latest && len(d.head) <= len("null") {
		d.head = append(d.head, d.buf[:min(len(d.buf), len("null")+1)]...)
	}
	emit(stream.Event{Kind: stream.Args, Turn: d.Number, Slot: slot, Text: d.text.Hold(d.buf)})
}

func (d *decoder) about(emit func(stream.Event), slot int32, of *stream.Diagnosis, format string, args ...any) {
	emit(dialect.Diagnose(d.Number, slot, of, format, args...))
}
