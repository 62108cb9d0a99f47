package geminiinteractions

import (
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange.
type decoder struct {
	dialect.OneTurn
	model    string
	steps    map[int64]*step // those that are open
	calls    int             // client-side calls of the turn
	headless bool            // its beginning did not come
	streamed bool            // steps came
	finished string          // the status that ended the interaction, "" before
	event    wireEvent
	text     stream.Arena
	buf      []byte
}

// step is a step that has started and not stopped.
type step struct {
	kind   string
	called bool   // a call was opened
	answer string // id of the call whose result it is
}

func (d *decoder) Decode(f stream.Frame, emit func(stream.Event)) error {
	if dialect.IsDone(f.Data) {
		d.Close(emit)
		return nil
	}
	ev := &d.event
	if err := ev.parse(f.Data); err != nil {
		return err
	}
	kind := ev.kind.Text()
	if kind == "" {
		kind = string(f.Event)
	}
	switch kind {
	case "step.delta", "content.delta":
		d.stepDelta(ev, emit)
	case "step.start", "content.start":
		d.stepStart(ev, emit)
	case "step.stop", "content.stop":
		d.stepStop(ev, emit)
	case "interaction.created", "interaction.start":
		d.created(ev.interaction, emit)
	case "interaction.status_update", "interaction.completed", "interaction.complete":
		d.progress(ev, kind, emit)
	case "error":
		d.fail(ev.err, emit)
	default:
		d.other(ev, dialect.Raw(f.Data), kind, emit)
	}
	return nil
}

// other takes what is no known event: a body, an error, or something new.
func (d *decoder) other(ev *wireEvent, data dialect.Raw, kind string, emit func(stream.Event)) {
	switch {
	case ev.kind.Given():
	case ev.object.Is("interaction"), ev.steps.Kind() == '[' && ev.status.IsString():
		d.body(ev, data, emit)
		return
	case ev.err.Given():
		d.fail(ev.err, emit)
		return
	}
	if kind == "" {
		kind = "an object without event_type"
	}
	emit(stream.Event{Kind: stream.Unknown, Turn: d.Turn(), Text: kind})
}

// progress takes an event about the interaction as a whole. One about an
// interaction that has ended already says nothing new.
func (d *decoder) progress(ev *wireEvent, kind string, emit func(stream.Event)) {
	if !d.Open && d.Number >= 0 {
		emit(stream.Event{Kind: stream.Heartbeat, Turn: stream.NoTurn})
		return
	}
	d.ensure(kind, emit)
	if kind == "interaction.status_update" {
		d.status(ev.status, emit)
		return
	}
	d.notStreamed(ev.interaction, emit)
	d.completed(ev.interaction, emit)
	d.close(emit)
}

func (d *decoder) created(interaction dialect.Raw, emit func(stream.Event)) {
	if d.Open {
		d.Diagnose(emit, dialect.ResponseRestarted, "another interaction began before this one ended")
		d.close(emit)
	}
	d.begin(interaction, emit)
}

func (d *decoder) begin(interaction dialect.Raw, emit func(stream.Event)) {
	d.Number++
	d.Open, d.headless, d.streamed, d.calls, d.finished, d.steps = true, false, false, 0, "", map[int64]*step{}
	d.model = modelOf(interaction)
	emit(stream.Event{Kind: stream.TurnOpen, Turn: d.Number, More: &stream.Detail{ID: interaction.Get("id").Text(), Model: d.model}})
}

func modelOf(interaction dialect.Raw) string {
	if m := interaction.Get("model").Text(); m != "" {
		return m
	}
	return interaction.Get("agent").Text()
}

// ensure opens a turn for an event that came before the interaction: a stream
// that was resumed begins in the middle.
func (d *decoder) ensure(what string, emit func(stream.Event)) {
	if d.Open {
		return
	}
	d.begin(nil, emit)
	d.headless = true
	d.Diagnose(emit, stream.ProtocolViolation.As(stream.Warn), "%s came before interaction.created: the stream was resumed, or its beginning is lost", what)
}

func (d *decoder) stepStart(ev *wireEvent, emit func(stream.Event)) {
	d.ensure("step.start", emit)
	d.streamed = true
	index, _ := ev.index.Int()
	st := &step{kind: ev.step.Get("type").Text()}
	d.steps[index] = st
	d.take(st, int32(index), ev.step, true, emit)
}

// take takes a step: whole, or as it starts.
func (d *decoder) take(st *step, slot int32, s dialect.Raw, starts bool, emit func(stream.Event)) {
	switch _, isCall := callOf(st.kind); {
	case isCall:
		d.openCall(st, slot, s, emit)
		// {} is a placeholder that the deltas replace.
		if args := s.Get("arguments"); args.Given() && !(starts && args.EmptyObject()) {
			d.emitText(stream.Args, slot, args, emit)
		}
	case strings.HasSuffix(st.kind, "_result"):
		st.answer = s.Get("call_id").Text()
		d.answer(st, s, emit)
	case st.kind == "text":
		d.emitText(stream.TextDelta, 0, s.Get("text"), emit)
	case !silent[st.kind]:
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Number, Text: "step " + st.kind})
	}
	for _, list := range [...]struct {
		kind  stream.EventKind
		items dialect.Raw
	}{{stream.ThinkDelta, s.Get("summary")}, {stream.TextDelta, s.Get("content")}} {
		items := list.items.Scan()
		for ok := items.Array(); ok; ok = items.Element() {
			d.emitText(list.kind, 0, items.Value().Get("text"), emit)
		}
	}
}

func (d *decoder) openCall(st *step, slot int32, s dialect.Raw, emit func(stream.Event)) {
	more, _ := callOf(st.kind)
	st.called = true
	if !more.Server {
		d.calls++
	}
	if name := s.Get("name").Text(); name != "" {
		more.Name = name
	}
	more.ID, more.Host, more.Signature = s.Get("id").Text(), s.Get("server_name").Text(), s.Get("signature").Text()
	emit(stream.Event{Kind: stream.CallOpen, Turn: d.Number, Slot: slot, More: &more})
}

// answer takes the result of a call that the provider ran.
func (d *decoder) answer(st *step, s dialect.Raw, emit func(stream.Event)) {
	code := stream.AnswerOK
	if string(s.Get("is_error")) == "true" {
		code = stream.AnswerFailed
	}
	emit(stream.Event{Kind: stream.Answer, Turn: d.Number, Slot: stream.NoSlot, Code: code, More: &stream.Detail{ID: st.answer}})
}

func (d *decoder) stepDelta(ev *wireEvent, emit func(stream.Event)) {
	d.ensure("step.delta", emit)
	d.streamed = true
	index, _ := ev.index.Int()
	delta, slot := &ev.delta, int32(index)
	st := d.steps[index]
	switch kind := delta.kind; {
	case kind.Is("arguments_delta"):
		if st == nil { // the fold says that it never opened
			d.steps[index] = &step{called: true}
			d.calls++
		}
		d.emitText(stream.Args, slot, delta.arguments, emit)
	case kind.Is("text"):
		d.emitText(stream.TextDelta, 0, delta.text, emit)
	case kind.Is("thought_summary"):
		d.emitText(stream.ThinkDelta, 0, delta.whole.Get("content").Get("text"), emit)
	case kind.Is("thought_signature") && st != nil && st.called:
		emit(stream.Event{Kind: stream.CallMeta, Turn: d.Number, Slot: slot,
			More: &stream.Detail{Signature: delta.whole.Get("signature").Text()}})
	default:
		d.wholeDelta(st, index, delta.whole, kind.Text(), emit)
	}
}

// wholeDelta takes a delta that is a call or a result, as what the provider runs
// is sent, and in the older form of the stream all is.
func (d *decoder) wholeDelta(st *step, index int64, delta dialect.Raw, kind string, emit func(stream.Event)) {
	_, isCall := callOf(kind)
	switch isResult := strings.HasSuffix(kind, "_result"); {
	case !isCall && !isResult:
		if !silent[kind] {
			emit(stream.Event{Kind: stream.Unknown, Turn: d.Number, Text: "delta " + kind})
		}
		return
	case st == nil:
		st = &step{}
		d.steps[index] = st
	}
	if !isCall {
		if id := delta.Get("call_id").Text(); id != "" {
			st.answer = id
		}
		d.answer(st, delta, emit)
		return
	}
	if st.called {
		if id, name := delta.Get("id").Text(), delta.Get("name").Text(); id != "" || name != "" {
			emit(stream.Event{Kind: stream.CallMeta, Turn: d.Number, Slot: int32(index), More: &stream.Detail{ID: id, Name: name}})
		}
		d.emitText(stream.Args, int32(index), delta.Get("arguments"), emit)
		return
	}
	st.kind = kind
	d.take(st, int32(index), delta, false, emit)
}

// emitText emits value's text; of text that is not shown as arguments only what
// is there counts.
func (d *decoder) emitText(kind stream.EventKind, slot int32, value dialect.Raw, emit func(stream.Event)) {
	if !value.Given() {
		return
	}
	d.buf = value.Append(d.buf[:0])
	if len(d.buf) > 0 || kind == stream.Args {
		emit(stream.Event{Kind: kind, Turn: d.Number, Slot: slot, Text: d.text.Hold(d.buf)})
	}
}

func (d *decoder) stepStop(ev *wireEvent, emit func(stream.Event)) {
	d.ensure("step.stop", emit)
	index, _ := ev.index.Int()
	st := d.steps[index]
	if st == nil {
		d.Diagnose(emit, stream.ProtocolViolation, "step.stop for step %d, which is not open", index)
		return
	}
	delete(d.steps, index)
	if st.called {
		emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: int32(index)})
	}
}
