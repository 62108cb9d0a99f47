package ollama

import (
	"bytes"
	"time"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange, which may hold several responses.
type decoder struct {
	dialect.OneTurn
	calls int32 // calls of the turn: also the next slot
	line  line
	text  stream.Arena
	leak  dialect.Leak
	buf   []byte

	base  time.Time // when the first line was made
	stamp []byte    // when the line being decoded was made, as it says

	lines int    // of the open turn
	last  []byte // the line that closed a turn of several
}

// Now is when the line was made, since the first one that said so.
func (d *decoder) Now() time.Duration {
	made, err := time.Parse(time.RFC3339Nano, string(d.stamp))
	if err != nil {
		return stream.NoTime
	}
	return max(0, made.Sub(d.base))
}

func (d *decoder) Decode(f stream.Frame, emit func(stream.Event)) error {
	l := &d.line
	d.stamp = d.stamp[:0]
	if err := l.parse(f.Data); err != nil {
		return err
	}
	if !d.Open && len(d.last) > 0 && bytes.Equal(f.Data, d.last) {
		emit(stream.Event{Kind: stream.Heartbeat, Turn: stream.NoTurn}) // the last line again
		return nil
	}
	defer d.count(f.Data)
	d.clock(l.created)
	isDone := string(l.done) == "true"
	switch {
	case l.err.Given():
		d.fail(l, emit)
		return nil
	case !l.messageIn && !l.response.IsString() && len(l.calls) == 0 && !isDone:
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Turn(), Text: "a line without an answer"})
		return nil
	}
	d.ensure(l, emit)
	d.emitText(stream.ThinkDelta, l.thinking, emit)
	d.emitText(stream.TextDelta, l.content, emit)
	d.emitText(stream.TextDelta, l.response, emit)
	for i := range l.calls {
		d.call(&l.calls[i], emit)
	}
	if isDone {
		d.done(l, emit)
	}
	return nil
}

// count counts the lines of a turn, and remembers the one that closed it.
func (d *decoder) count(line []byte) {
	switch d.lines++; {
	case d.Open:
		return
	case d.lines > 1:
		d.last = append(d.last[:0], line...)
	}
	d.lines = 0
}

func (d *decoder) clock(created dialect.Raw) {
	if !created.IsString() {
		return
	}
	d.stamp = created.Append(d.stamp)
	if d.base.IsZero() {
		d.base, _ = time.Parse(time.RFC3339Nano, string(d.stamp))
	}
}

// ensure opens a turn if none is.
func (d *decoder) ensure(l *line, emit func(stream.Event)) {
	if d.Open {
		return
	}
	d.Number++
	d.Open, d.calls, d.leak = true, 0, dialect.Leak{}
	emit(stream.Event{Kind: stream.TurnOpen, Turn: d.Number, More: &stream.Detail{Model: l.model.Text()}})
}

func (d *decoder) emitText(kind stream.EventKind, value dialect.Raw, emit func(stream.Event)) {
	if !value.IsString() || value.Empty() {
		return
	}
	d.buf = value.Append(d.buf[:0])
	if kind == stream.TextDelta {
		d.leak.Look(d.buf, d.Number, emit)
	}
	emit(stream.Event{Kind: kind, Turn: d.Number, Text: d.text.Hold(d.buf)})
}

// call takes a call, which is complete where it stands.
func (d *decoder) call(w *dialect.FunctionCall, emit func(stream.Event)) {
	slot, id := d.calls, w.ID.Text()
	d.calls++
	emit(stream.Event{Kind: stream.CallOpen, Turn: d.Number, Slot: slot, More: &stream.Detail{
		ID: id, Name: w.Name.Text(), CallKind: "function",
	}})
	about := func(of *stream.Diagnosis, message string) {
		emit(dialect.Diagnose(d.Number, slot, of, "%s", message))
	}
	if id == "" {
		about(dialect.IDMissing.As(stream.Info).Blames(stream.Provider), "no id came, as from old versions: a result is matched by the tool's name or by its place")
	}
	switch {
	case !w.ArgsIn:
		about(dialect.ArgsMissing, "no arguments field came at all: meant as {}")
	case !w.Args.Given():
		about(dialect.ArgsNull, "the arguments are null: meant as {}")
	default:
		if w.Args.IsString() {
			about(dialect.ArgsString, "the arguments are a string, not an object: Ollama's own clients fail on it")
		}
		d.buf = w.Args.Append(d.buf[:0])
		emit(stream.Event{Kind: stream.Args, Turn: d.Number, Slot: slot, Text: d.text.Hold(d.buf)})
	}
	emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: slot})
}

// done takes the last line of a response. Cached tokens are in prompt_eval_count.
func (d *decoder) done(l *line, emit func(stream.Event)) {
	u := stream.Usage{Input: l.promptCount.Count(), CacheRead: l.cachedCount.Count(), Output: l.outCount.Count()}
	if u != (stream.Usage{}) {
		emit(stream.Event{Kind: stream.UsageEvent, Turn: d.Number, More: &stream.Detail{Usage: u}})
	}
	if reason := l.doneReason.Text(); reason != "" { // old versions give none
		code, known := finishCodes[reason]
		emit(stream.Event{Kind: stream.Finish, Turn: d.Number, Slot: stream.AllChoices, Text: reason, Code: code})
		if !known {
			emit(dialect.Diagnose(d.Number, stream.NoSlot, dialect.FinishUnknown,
				"done reason %q is not documented", reason))
		}
	}
	emit(stream.Event{Kind: stream.TurnClose, Turn: d.Number})
	d.Open = false
}

// fail takes an error line or body: it ends the response.
func (d *decoder) fail(l *line, emit func(stream.Event)) {
	d.ensure(l, emit)
	message := l.err.Text()
	if message == "" {
		message = l.err.Get("message").Text()
	}
	if message == "" {
		message = string(l.err)
	}
	emit(stream.Event{Kind: stream.Failure, Turn: d.Number, Text: message, More: new(stream.Detail)})
	d.cut("an error ended the response", emit)
}

// Close says that the bytes have ended: without "done":true that is a cut.
func (d *decoder) Close(emit func(stream.Event)) {
	if d.Open {
		d.cut(`the lines ended without "done":true`, emit)
	}
}

func (d *decoder) cut(why string, emit func(stream.Event)) {
	emit(stream.Event{Kind: stream.TurnClose, Turn: d.Number, Code: stream.CloseCut, Text: why})
	d.Open = false
}
