package agui

import (
	"time"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange. Between runs Number is that of the last one.
type decoder struct {
	dialect.OneTurn
	failed bool // the last run ended in RUN_ERROR
	slots  int32

	calls   map[string]*call // of the whole exchange, by id
	order   []*call          // of the run
	chunked *call            // the call whose chunks are coming, if any
	others  map[string]bool  // messages that are not the assistant's

	began int64 // first time stamp, in milliseconds
	now   time.Duration
	event event
	kind  []byte // of the event
	text  stream.Arena
	buf   []byte
}

// Now makes the decoder a dialect.Clock.
func (d *decoder) Now() time.Duration { return d.now }

func (d *decoder) Decode(f stream.Frame, emit func(stream.Event)) error {
	if dialect.IsDone(f.Data) { // TanStack AI adds it
		return nil
	}
	ev := &d.event
	if err := ev.parse(f.Data); err != nil {
		return err
	}
	d.stamp(ev)
	d.kind = d.kind[:0]
	if ev.kind.IsString() {
		d.kind = ev.kind.Append(d.kind)
	}
	known := eventKinds[string(d.kind)]
	if known.points > 0 && !known.between {
		d.endChunks(emit)
	}
	switch string(d.kind) {
	case "RUN_STARTED":
		d.start(ev, emit)
	case "RUN_FINISHED":
		d.finish(ev, emit)
	case "RUN_ERROR":
		d.fail(ev, emit)
	default:
		if known.points == 0 {
			emit(stream.Event{Kind: stream.Unknown, Turn: d.Turn(), Text: string(d.kind)})
			break
		}
		d.ensure(emit)
		d.inRun(ev, emit)
	}
	return nil
}

// inRun takes the events inside a run. What is not named here says nothing
// about calls.
func (d *decoder) inRun(ev *event, emit func(stream.Event)) {
	switch string(d.kind) {
	case "TOOL_CALL_ARGS":
		d.callArgs(ev, emit)
	case "TOOL_CALL_START":
		d.openCall(ev, emit)
	case "TOOL_CALL_END":
		d.callEnd(ev, emit)
	case "TOOL_CALL_CHUNK":
		d.callChunk(ev, emit)
	case "TOOL_CALL_RESULT":
		d.result(ev, emit)
	case "TEXT_MESSAGE_START", "TEXT_MESSAGE_CHUNK", "TEXT_MESSAGE_CONTENT":
		d.message(ev, emit)
	case "THINKING_TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_CHUNK",
		"STEP_FINISHED": // TanStack AI puts reasoning there
		d.say(stream.ThinkDelta, ev.delta, emit)
	case "REASONING_ENCRYPTED_VALUE":
		d.signature(ev, emit)
	case "MESSAGES_SNAPSHOT":
		d.snapshot(ev.messages, emit)
	}
}

// stamp reads the event's time stamp, in milliseconds since 1970.
func (d *decoder) stamp(ev *event) {
	at, ok := ev.timestamp.Int()
	switch {
	case !ok:
	case d.now == stream.NoTime:
		d.began, d.now = at, 0
	case at > d.began:
		d.now = max(d.now, time.Duration(at-d.began)*time.Millisecond)
	}
}

func (d *decoder) start(ev *event, emit func(stream.Event)) {
	if d.Open {
		d.Diagnose(emit, dialect.MessageRestarted, "a second run began before this one ended: clients stop here")
		d.close(stream.CloseCut, "", emit)
	}
	d.begin(ev, emit)
}

func (d *decoder) begin(ev *event, emit func(stream.Event)) {
	d.Number++
	d.Open, d.failed, d.slots, d.order, d.chunked = true, false, 0, nil, nil
	emit(stream.Event{Kind: stream.TurnOpen, Turn: d.Number, More: &stream.Detail{ID: ev.runID.Text(), Model: ev.model.Text()}})
}

// ensure opens a turn for an event outside of any run.
func (d *decoder) ensure(emit func(stream.Event)) {
	if d.Open {
		return
	}
	d.begin(&event{}, emit)
	d.Diagnose(emit, stream.ProtocolViolation, "%s came outside of a run: clients stop here", string(d.kind))
}

func (d *decoder) finish(ev *event, emit func(stream.Event)) {
	if !d.Open {
		if d.Number >= 0 {
			return // said before
		}
		d.ensure(emit)
	}
	d.usage(ev.usage, emit)
	word := ev.finish.Text()
	if word == "" {
		word = ev.outcome.Text()
	}
	if word == "" {
		word = ev.outcome.Get("type").Text()
	}
	code, known := finishCodes[word]
	if code == stream.FinishDone {
		d.checkCalls(emit)
	}
	if word != "" {
		emit(stream.Event{Kind: stream.Finish, Turn: d.Number, Slot: stream.AllChoices, Text: word, Code: code})
		if !known {
			d.Diagnose(emit, dialect.FinishUnknown, "%q is no end of a run that is documented", word)
		}
	}
	d.close(stream.CloseEnd, "", emit)
}

// fail ends the run, and with it everything: clients take nothing after it but
// another run.
func (d *decoder) fail(ev *event, emit func(stream.Event)) {
	if !d.Open {
		if d.failed {
			return // said before
		}
		d.begin(&event{}, emit)
	}
	message, code := ev.message.Text(), ev.code
	if message == "" {
		message, code = ev.err.Get("message").Text(), ev.err.Get("code")
	}
	emit(stream.Event{Kind: stream.Failure, Turn: d.Number, Text: message, More: &stream.Detail{ID: code.Text()}})
	d.close(stream.CloseEnd, "", emit)
	d.failed = true
}

// message takes a text message's events: the answer, unless it is the user's
// own words or instructions that are sent along.
func (d *decoder) message(ev *event, emit func(stream.Event)) {
	id := ev.messageID.Text()
	if ev.role.IsString() {
		if d.others == nil {
			d.others = map[string]bool{}
		}
		d.others[id] = !ev.role.Is("assistant")
	}
	if !d.others[id] {
		d.say(stream.TextDelta, ev.delta, emit)
	}
}

// say emits text that is not empty.
func (d *decoder) say(kind stream.EventKind, text dialect.Raw, emit func(stream.Event)) {
	if !text.IsString() {
		return
	}
	if d.buf = text.Append(d.buf[:0]); len(d.buf) > 0 {
		emit(stream.Event{Kind: kind, Turn: d.Number, Text: d.text.Hold(d.buf)})
	}
}

// usage takes token counts, which TanStack AI tells when a run finishes.
func (d *decoder) usage(u dialect.Raw, emit func(stream.Event)) {
	in, out := u.Get("promptTokens").Count(), u.Get("completionTokens").Count()
	if in.Told || out.Told {
		emit(stream.Event{Kind: stream.UsageEvent, Turn: d.Number, More: &stream.Detail{Usage: stream.Usage{Input: in, Output: out}}})
	}
}

// Close says that the bytes have ended: without RUN_FINISHED that is a cut.
func (d *decoder) Close(emit func(stream.Event)) {
	if d.Open {
		d.close(stream.CloseCut, "the stream ended without RUN_FINISHED", emit)
	}
}

func (d *decoder) close(code stream.Code, missing string, emit func(stream.Event)) {
	emit(stream.Event{Kind: stream.TurnClose, Turn: d.Number, Code: code, Text: missing})
	d.Open = false
}
