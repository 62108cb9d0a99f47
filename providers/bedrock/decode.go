package bedrock

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange. Between messages Number is that of the last one.
type decoder struct {
	dialect.OneTurn
	stopped bool           // messageStop has come
	counted bool           // metadata has come
	blocks  map[int64]bool // the open content blocks that are calls
	calls   int            // client-side calls of the turn
	objects bool           // input that is no string was reported
	event   wireEvent
	text    stream.Arena
	buf     []byte

	thinking bool  // what came last is reasoning that is not signed yet
	thought  int64 // the block it is in
}

func (d *decoder) Decode(f stream.Frame, emit func(stream.Event)) error {
	ev := &d.event
	if err := ev.parse(f.Data, f.Event); err != nil {
		return err
	}
	switch string(ev.name) {
	case "contentBlockDelta":
		d.blockDelta(ev, emit)
	case "contentBlockStart":
		d.blockStart(ev, emit)
	case "contentBlockStop":
		d.blockStop(ev, emit)
	case "messageStart":
		d.messageStart(emit)
	case "messageStop":
		d.messageStop(ev, emit)
	case "metadata":
		d.metadata(ev, emit)
	case "":
		d.nameless(ev, emit)
	default:
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Turn(), Text: string(ev.name)})
	}
	return nil
}

// nameless takes what is no event: a whole body, or an error instead of one.
func (d *decoder) nameless(ev *wireEvent, emit func(stream.Event)) {
	switch {
	case ev.output.Kind() == '{':
		d.body(ev, emit)
	case ev.message.IsString():
		if !d.Open {
			d.begin(emit)
		}
		emit(stream.Event{Kind: stream.Failure, Turn: d.Number, Text: ev.message.Text(),
			More: &stream.Detail{ID: ev.errType.Text()}})
	default:
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Turn(), Text: string(ev.first)})
	}
}

func (d *decoder) messageStart(emit func(stream.Event)) {
	switch {
	case d.Open && d.stopped:
		d.close(stream.CloseEnd, emit)
	case d.Open:
		d.Diagnose(emit, dialect.MessageRestarted,
			"a second message began before this one ended: a retry was spliced into one body")
		d.close(stream.CloseCut, emit)
	}
	d.begin(emit)
}

// begin opens a turn.
func (d *decoder) begin(emit func(stream.Event)) {
	d.Number++
	d.Open, d.stopped, d.counted, d.objects, d.calls, d.thinking = true, false, false, false, 0, false
	d.blocks = map[int64]bool{}
	emit(stream.Event{Kind: stream.TurnOpen, Turn: d.Number, More: new(stream.Detail)})
}

// ensure opens a turn for an event that came before its messageStart.
func (d *decoder) ensure(emit func(stream.Event)) {
	if d.Open {
		return
	}
	d.begin(emit)
	d.Diagnose(emit, stream.ProtocolViolation, "%s came before messageStart", string(d.event.name))
}

func (d *decoder) blockStart(ev *wireEvent, emit func(stream.Event)) {
	d.ensure(emit)
	index, _ := ev.index.Int()
	s := ev.start.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "toolUse":
			d.blocks[index] = true
			use := s.Value()
			d.callOpen(int32(index), use, emit)
			if input := use.Get("input"); input.Given() && !input.Empty() && !isEmptyObject(input) {
				d.input(int32(index), input, emit) // no version sends it, and none is to be lost
			}
		case "toolResult":
			d.answer(s.Value(), emit)
		case "text", "image", "reasoningContent":
		default:
			emit(stream.Event{Kind: stream.Unknown, Turn: d.Number, Text: "content block " + string(s.Key())})
		}
	}
}

func (d *decoder) callOpen(slot int32, use dialect.Raw, emit func(stream.Event)) {
	more := stream.Detail{ID: use.Get("toolUseId").Text(), Name: use.Get("name").Text(), CallKind: "function"}
	if use.Get("type").Is(serverToolUse) {
		more.CallKind, more.Server = "server", true
	} else {
		d.calls++
	}
	emit(stream.Event{Kind: stream.CallOpen, Turn: d.Number, Slot: slot, More: &more})
}

// isEmptyObject reports whether value is {}, where deltas are to follow.
func isEmptyObject(value dialect.Raw) bool {
	s := value.Scan()
	return s.Kind() == '{' && !s.Object()
}

// answer takes the result of a call that the provider ran.
func (d *decoder) answer(result dialect.Raw, emit func(stream.Event)) {
	code := stream.AnswerOK
	if result.Get("status").Is("error") {
		code = stream.AnswerFailed
	}
	emit(stream.Event{Kind: stream.Answer, Turn: d.Number, Code: code,
		More: &stream.Detail{ID: result.Get("toolUseId").Text()}})
}

func (d *decoder) blockDelta(ev *wireEvent, emit func(stream.Event)) {
	d.ensure(emit)
	delta := &ev.delta
	index, _ := ev.index.Int()
	if delta.input.Given() {
		if !d.blocks[index] {
			d.blocks[index] = true
			d.calls++ // its start is missing
		}
		d.input(int32(index), delta.input, emit)
	}
	d.emitText(stream.TextDelta, delta.text, emit)
	d.think(index, delta.thinking, delta.signature, delta.redacted, emit)
	if !delta.known {
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Number, Text: "delta " + string(delta.other)})
	}
}

// input takes a fragment of a call's arguments: a string that is a piece of JSON.
func (d *decoder) input(slot int32, value dialect.Raw, emit func(stream.Event)) {
	if !value.IsString() && !d.objects {
		d.objects = true
		emit(dialect.Diagnose(d.Number, slot, dialect.ArgsObject,
			"the arguments are a JSON value, not a string with JSON in it: clients that expect a string fail"))
	}
	d.buf = value.Append(d.buf[:0])
	emit(stream.Event{Kind: stream.Args, Turn: d.Number, Slot: slot, Text: d.text.Hold(d.buf)})
}

func (d *decoder) emitText(kind stream.EventKind, value dialect.Raw, emit func(stream.Event)) {
	if !value.IsString() || value.Empty() {
		return
	}
	d.buf = value.Append(d.buf[:0])
	emit(stream.Event{Kind: kind, Turn: d.Number, Text: d.text.Hold(d.buf)})
	d.thinking = kind == stream.ThinkDelta
}

// think takes reasoning, its signature, and what of it only the provider can
// read, as far as they are there. The signature may be of a text that is not
// shown.
func (d *decoder) think(index int64, text, signature, redacted dialect.Raw, emit func(stream.Event)) {
	if text.IsString() && !text.Empty() {
		d.emitText(stream.ThinkDelta, text, emit)
		d.thought = index
	}
	if signature.IsString() && !signature.Empty() {
		if !d.thinking || d.thought != index {
			emit(stream.Event{Kind: stream.ThinkDelta, Turn: d.Number})
		}
		d.sign(signature, stream.SignedShown, emit)
	}
	if redacted.IsString() && !redacted.Empty() {
		d.sign(redacted, stream.SignedHidden, emit)
	}
}

func (d *decoder) sign(signature dialect.Raw, code stream.Code, emit func(stream.Event)) {
	d.thinking = false
	d.buf = signature.Append(d.buf[:0])
	emit(stream.Event{Kind: stream.Signed, Turn: d.Number, Code: code, Text: d.text.Hold(d.buf)})
}

// blockStop seals a call. Text blocks often have no start, so a stop alone is
// no deviation.
func (d *decoder) blockStop(ev *wireEvent, emit func(stream.Event)) {
	d.ensure(emit)
	index, _ := ev.index.Int()
	if d.blocks[index] {
		delete(d.blocks, index)
		emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: int32(index)})
	}
}
