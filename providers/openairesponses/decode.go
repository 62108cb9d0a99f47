package openairesponses

import (
	"bytes"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange: one response over HTTP, many over a WebSocket,
// where several lanes may each have one open.
type decoder struct {
	lanes  []*turn // the latest turn of each lane
	latest *turn
	turns  int32
	event  wireEvent
	kind   []byte // of the event
	text   stream.Arena
	buf    []byte
	emit   func(stream.Event) // of the Decode or Close that runs

	saidMissing, saidMismatch bool
}

func (d *decoder) Turn() int32 {
	var open *turn
	for _, t := range d.lanes {
		if t.open && (open == nil || t.number > open.number) {
			open = t
		}
	}
	if open == nil {
		return stream.NoTurn
	}
	return open.number
}

func (d *decoder) Decode(f stream.Frame, emit func(stream.Event)) error {
	d.emit = emit
	if dialect.IsDone(f.Data) { // not of this protocol, but hosts add it
		d.sentinel()
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
	switch {
	case d.itemEvent(kind, ev), d.responseEvent(kind, ev):
	case len(kind) == 0 && (ev.object.Is("response") || ev.output.Kind() == '['):
		d.body(dialect.Raw(f.Data))
	case string(kind) == "error", len(kind) == 0 && (ev.err.Given() || ev.message.IsString()):
		d.failEvent(ev, dialect.Raw(f.Data))
	case string(kind) == "keepalive":
		emit(stream.Event{Kind: stream.Heartbeat, Turn: d.Turn()})
	case connectionEvents[string(kind)]:
	default:
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Turn(), Text: string(kind)})
	}
	d.checkEventName(f, kind)
	return nil
}

// responseEvent takes an event about the response as a whole; false if it is none.
func (d *decoder) responseEvent(kind []byte, ev *wireEvent) bool {
	switch string(kind) {
	case "response.created":
		d.created(ev)
		return true
	case "response.queued", "response.in_progress":
		r := parseResponse(ev.response)
		if t := d.lane(ev); t == nil || !t.open && !t.is(r) {
			d.begin(ev, r)
		} else if t.open {
			d.meta(t, r)
		}
		return true
	}
	word, ok := terminals[string(kind)]
	if ok {
		d.terminal(ev, string(kind), word)
	}
	return ok
}

// lane is the latest turn of the event's lane, or nil.
func (d *decoder) lane(ev *wireEvent) *turn {
	for _, t := range d.lanes {
		if t.lane == "" && !ev.lane.IsString() || ev.lane.Is(t.lane) {
			return t
		}
	}
	return nil
}

func (d *decoder) created(ev *wireEvent) {
	r := parseResponse(ev.response)
	t := d.lane(ev)
	switch {
	case t != nil && t.open && t.is(r): // said twice
		d.meta(t, r)
		return
	case t != nil && t.open:
		if !t.failed {
			d.diagnose(t, dialect.ResponseRestarted,
				"a second response began before this one ended: a retry was spliced into one body, or its end was lost")
		}
		d.close(t, "the response ended without response.completed: another began in its place")
	}
	d.begin(ev, r)
}

// begin opens a turn in the event's lane.
func (d *decoder) begin(ev *wireEvent, r wireResponse) *turn {
	t := &turn{number: d.turns, lane: ev.lane.Text(), open: true, id: r.id.Text(), model: r.model.Text()}
	d.turns++
	d.latest = t
	replaced := false
	for i, old := range d.lanes {
		if old.lane == t.lane {
			d.lanes[i], replaced = t, true
		}
	}
	if !replaced {
		d.lanes = append(d.lanes, t)
	}
	d.emit(stream.Event{Kind: stream.TurnOpen, Turn: t.number, More: &stream.Detail{ID: t.id, Model: t.model}})
	return t
}

// ensure is the open turn of the event's lane. What came before, or without, a
// response.created opens one.
func (d *decoder) ensure(ev *wireEvent, kind []byte) *turn {
	if t := d.lane(ev); t != nil && t.open {
		return t
	}
	t := d.begin(ev, parseResponse(ev.response))
	d.diagnose(t, stream.ProtocolViolation.As(stream.Warn),
		"%s came without a response.created before it: the beginning is missing", kind)
	return t
}

// terminal takes the event that ends a response. It may come twice.
func (d *decoder) terminal(ev *wireEvent, kind, word string) {
	r := parseResponse(ev.response)
	if t := d.lane(ev); t != nil && !t.open && (t.is(r) || r.id.Text() == "") {
		return
	}
	d.finish(d.ensure(ev, []byte(kind)), r, kind, word)
}

// body takes a response that was not streamed, or a snapshot of one that the
// provider makes in the background.
func (d *decoder) body(raw dialect.Raw) {
	r := parseResponse(raw)
	if t := d.lane(&d.event); t != nil && t.open {
		d.close(t, "the stream ended without response.completed: a whole response follows")
	}
	t := d.begin(&d.event, r)
	t.whole = true
	if r.status.Is("queued") || r.status.Is("in_progress") {
		t.waiting = true
		d.output(t, r, bodyCopy)
		d.diagnose(t, responseNotOver,
			"the response is %s: the body is a snapshot, more is to be fetched", r.status.Text())
		return
	}
	d.finish(t, r, bodyCopy, r.status.Text())
}

// bodyCopy names the copy of the arguments that a whole body is.
const bodyCopy = "the body"

// sentinel takes [DONE]: nothing more comes, whatever is open.
func (d *decoder) sentinel() {
	for _, t := range d.lanes {
		if !t.open {
			continue
		}
		if !t.failed {
			d.diagnose(t, dialect.FinishMissing,
				"[DONE] came, but no response.completed: clients that wait for it never finish, and usage is missing")
		}
		d.close(t, "")
	}
}

// Close says that the bytes have ended: a response that is not over was cut.
func (d *decoder) Close(emit func(stream.Event)) {
	d.emit = emit
	for _, t := range d.lanes {
		if t.open && !t.waiting {
			d.close(t, "the stream ended without response.completed")
		}
	}
}

// checkEventName compares the SSE event name with the type in the body, which
// is what counts. Hosts like OpenRouter send no names; a WebSocket has none.
func (d *decoder) checkEventName(f stream.Frame, kind []byte) {
	if d.latest == nil || len(kind) == 0 || bytes.Equal(f.Event, kind) {
		return
	}
	switch {
	case len(f.Event) == 0 && f.Named && !d.saidMissing && bytes.HasPrefix(kind, []byte("response.")):
		d.saidMissing = true
		d.diagnose(d.latest, dialect.EventNameMissing,
			"events have no event: line; clients that dispatch on the name see nothing")
	case len(f.Event) > 0 && !d.saidMismatch:
		d.saidMismatch = true
		d.diagnose(d.latest, dialect.EventNameMismatch,
			"the event is named %q, its body says %q", f.Event, kind)
	}
}

func (d *decoder) diagnose(t *turn, of *stream.Diagnosis, format string, args ...any) {
	d.emit(dialect.Diagnose(t.number, stream.NoSlot, of, format, args...))
}
