package claudecode

import (
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange.
type decoder struct {
	inner    func(*dialect.Out) dialect.Decoder
	lanes    []*lane // in the order they began
	byParent map[string]*lane
	turns    int32            // turns begun
	failed   int32            // the turn whose error has been told, plus one
	calls    map[string]*call // of all lanes, by id
	streamed map[string]bool  // ids of messages that came as events
	model    string           // that the session began with
	begun    bool             // lines came after the last result
	said     dialect.Told

	emit func(stream.Event) // of the line being decoded
	line line
	kind []byte // of an inner event
}

// Turn is the latest turn that is open in any lane.
func (d *decoder) Turn() int32 {
	latest := stream.NoTurn
	for _, l := range d.lanes {
		if n := l.out.Turn(); n != stream.NoTurn && int(n) < len(l.turns) {
			latest = max(latest, l.turns[n])
		}
	}
	return latest
}

// begin gives a new turn of a lane its number.
func (d *decoder) begin(l *lane) int32 {
	l.last = d.turns
	d.turns++
	return l.last
}

func (d *decoder) Decode(f stream.Frame, emit func(stream.Event)) error {
	l := &d.line
	if err := l.parse(f.Data); err != nil {
		return err
	}
	d.emit = emit
	switch {
	case l.kind.Is("stream_event"):
		return d.streamEvent(d.lane(l.parent), l.event)
	case l.kind.Is("assistant"):
		d.begun = true
		return d.assistant(d.lane(l.parent), l)
	case l.kind.Is("user"):
		d.begun = true
		return d.user(d.lane(l.parent), l)
	case l.kind.Is("result"):
		return d.result(l)
	case l.kind.Is("system") && l.subtype.Is("init"):
		d.begun = true
		d.model = l.model.Text()
	default:
		name := l.kind.Text()
		if l.subtype.IsString() {
			name += " " + l.subtype.Text()
		}
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Turn(), Text: name})
	}
	return nil
}

func (d *decoder) lane(parent dialect.Raw) *lane {
	id := parent.Text()
	l := d.byParent[id]
	if l == nil {
		l = d.newLane(id)
		d.byParent[id] = l
		d.lanes = append(d.lanes, l)
	}
	return l
}

// streamEvent hands the lane's decoder an event of its protocol. The name that
// the event would have as a server-sent event is its type.
func (d *decoder) streamEvent(l *lane, event dialect.Raw) error {
	d.kind = typeOf(d.kind[:0], event)
	if string(d.kind) == "message_start" {
		if err := l.endWhole(); err != nil {
			return err
		}
		l.next = 0
		if id := event.Get("message").Get("id").Text(); id != "" {
			d.streamed[id] = true
		}
	}
	d.begun = true
	return l.feed(d.kind, event)
}

// assistant takes a message of the model, or one block of it. What was streamed
// before is confirmed by it.
func (d *decoder) assistant(l *lane, w *line) error {
	message := w.message
	streamed := d.streamed[message.Get("id").Text()] || l.isOpen() && !l.whole
	if text := message.Get("content"); text.IsString() && !streamed {
		block := object(appendMember(appendMember(nil, "type", []byte(`"text"`)), "text", text))
		if err := l.add(message, block); err != nil {
			return err
		}
	}
	blocks := message.Get("content").Scan()
	for ok := blocks.Array(); ok; ok = blocks.Element() {
		block := blocks.Value()
		input := block.Get("input")
		k := d.calls[block.Get("id").Text()]
		switch {
		case input != nil && k != nil:
			d.confirm(k, input)
		case streamed && input == nil:
		default:
			if err := l.add(message, block); err != nil {
				return err
			}
		}
	}
	if l.whole {
		l.stop(message)
	}
	if w.err.IsString() && l.last != stream.NoTurn {
		d.fail(l.last, w.err.Text(), textOf(message.Get("content")))
	}
	return nil
}

// confirm compares a call's input as Claude Code runs it with what the model
// wrote. It corrects some tools' inputs in between.
func (d *decoder) confirm(k *call, input dialect.Raw) {
	if k.args.Empty() && input.EmptyObject() || k.args.Are(input) {
		return
	}
	k.diagnose(d.emit, dialect.DoneMismatch.As(stream.Info).Blames(stream.Client), "Claude Code runs the call with another input than the model wrote, which is shown: %s", input.Clip())
}

// textOf is the text of a message's content.
func textOf(content dialect.Raw) string {
	if content.IsString() {
		return content.Text()
	}
	var parts []string
	blocks := content.Scan()
	for ok := blocks.Array(); ok; ok = blocks.Element() {
		if text := blocks.Value().Get("text").Text(); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

// user takes the results of tools. Newer versions run a tool while its message
// still goes on, so that a result ends nothing.
func (d *decoder) user(l *lane, w *line) error {
	if l.whole && l.message == "" {
		if err := l.endWhole(); err != nil {
			return err
		}
	}
	blocks := w.message.Get("content").Scan()
	for ok := blocks.Array(); ok; ok = blocks.Element() {
		block := blocks.Value()
		if !block.Get("type").Is("tool_result") {
			continue
		}
		id, code := block.Get("tool_use_id").Text(), stream.AnswerOK
		if string(block.Get("is_error")) == "true" {
			code = stream.AnswerFailed
		}
		if sub := d.byParent[id]; sub != nil && sub != l { // the sub-agent is done
			if err := sub.endWhole(); err != nil {
				return err
			}
		}
		k := d.calls[id]
		if k == nil {
			d.emit(dialect.Diagnose(l.last, stream.NoSlot, dialect.OrphanResult, "a tool's result is for a call that these lines do not have"))
			continue
		}
		d.emit(stream.Event{Kind: stream.Answer, Turn: k.turn, Slot: k.slot, Code: code, More: &stream.Detail{ID: id}})
	}
	return nil
}

// fail reports an error once for each turn.
func (d *decoder) fail(turn int32, id, message string) {
	if d.failed == turn+1 {
		return
	}
	d.failed = turn + 1
	d.emit(stream.Event{Kind: stream.Failure, Turn: turn, Text: message, More: &stream.Detail{ID: id}})
}

// once makes a finding about the latest turn unless it was made before.
func (d *decoder) once(of *stream.Diagnosis, message string) {
	if d.said.First(of) {
		d.emit(dialect.Diagnose(d.turns-1, stream.NoSlot, of, "%s", message))
	}
}

// Close says that the lines have ended: without a result that is a cut.
func (d *decoder) Close(emit func(stream.Event)) {
	d.emit = emit
	open := false
	for _, l := range d.lanes {
		if l.isOpen() {
			open = true
			l.decoder.Close()
		}
	}
	switch {
	case !d.begun || open:
	case d.turns == 0:
		emit(stream.Event{Kind: stream.TurnOpen, More: &stream.Detail{Model: d.model}})
		emit(stream.Event{Kind: stream.TurnClose, Code: stream.CloseCut, Text: "the lines ended before the first message"})
	default:
		emit(dialect.Diagnose(d.turns-1, stream.NoSlot, stream.NoTerminator.As(stream.Warn).Blames(stream.Client),
			"the lines ended without a result: Claude Code was stopped between two messages"))
	}
	d.begun = false
}
