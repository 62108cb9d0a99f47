package openairesponses

import (
	"bytes"
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange: one response over HTTP, many over a WebSocket, where several lanes
// may each have one open.
type decoder struct {
	*dialect.Out
	ev       event
	kind     []byte       // of the event
	item     wireItem     // of the event, or of the response
	response wireResponse // of the event, or the body
	lanes    []*turn      // the latest turn of each lane
}

func newDecoder(o *dialect.Out) dialect.Decoder {
	d := &decoder{Out: o}
	d.ev.bind()
	return d
}

// Frame reads one event or one whole body. The type of an event is that in its body, and where that
// has none the name of the server-sent event.
func (d *decoder) Frame(f stream.Frame) error {
	if dialect.IsDone(f.Data) { // not of this protocol, but hosts add it
		d.sentinel()
		return nil
	}
	ev := &d.ev
	if err := ev.shape.Read(f.Data); err != nil {
		return err
	}
	d.kind = ev.kind.Or(f.Event)
	switch string(d.kind) {
	case "response.created":
		d.created()
	case "response.queued", "response.in_progress":
		d.progress()
	case "response.completed", "response.done": // as Codex's back end has said it over WebSocket
		d.terminal("completed")
	case "response.incomplete":
		d.terminal("incomplete")
	case "response.failed":
		d.terminal("failed")
	case "response.cancelled":
		d.terminal("cancelled")
	case "response.output_item.added":
		d.itemAdded(d.during())
	case "response.output_item.done":
		d.itemDone(d.during())
	case "error":
		d.fail(f.Data)
	case "keepalive":
		d.Heartbeat()
	case "rate_limits.updated", "codex.rate_limits":
	case "":
		d.nameless(f.Data)
	default:
		d.itemEvent()
	}
	if d.Last() != nil { // OpenRouter sends no names; a WebSocket has none
		d.CheckName(f.Event, d.kind, f.Named && bytes.HasPrefix(d.kind, []byte("response.")))
	}
	return nil
}

// Close says that the bytes have ended: a response that is not over was cut.
func (d *decoder) Close() {
	for _, t := range d.lanes {
		if t.IsOpen() && !t.waiting {
			t.close("the stream ended without response.completed")
		}
	}
}

// sentinel takes [DONE]: nothing more comes, even if a response is open.
func (d *decoder) sentinel() {
	for _, t := range d.lanes {
		if t.IsOpen() && !t.failed {
			t.Find(dialect.FinishMissing,
				"[DONE] came, but no response.completed: clients that wait for it never finish, and usage is missing")
		}
		t.close("")
	}
}

// nameless takes what has no type: a body, or an error.
func (d *decoder) nameless(data dialect.Raw) {
	switch ev := &d.ev; {
	case ev.object.Is("response"), ev.output.Kind() == '[':
		d.body(data)
	case ev.err.Given(), ev.message.IsString():
		d.fail(data)
	default:
		d.Unknown("")
	}
}

// itemEvent takes an event about an item.
func (d *decoder) itemEvent() {
	e, ok := itemEvents[string(d.kind)]
	switch {
	case !ok:
		d.Unknown(string(d.kind))
	case e.does != nil:
		e.does(d, d.during().about(&d.ev, e.item))
	}
}

// from names the event after what it repeats.
func (d *decoder) from() string { return strings.TrimPrefix(string(d.kind), "response.") }

// lane is the latest turn of the event's lane, one that never began if there is none.
func (d *decoder) lane() *turn {
	for _, t := range d.lanes {
		if t.lane == "" && !d.ev.lane.IsString() || d.ev.lane.Is(t.lane) {
			return t
		}
	}
	return new(turn)
}

// begin opens a turn in the event's lane.
func (d *decoder) begin(r *wireResponse) *turn {
	t := d.lane()
	if t.Turn == nil {
		d.lanes = append(d.lanes, t)
	}
	*t = turn{Turn: d.Open(stream.Opening{ID: r.id.Text(), Model: r.model.Text()}), lane: d.ev.lane.Text()}
	return t
}

// during is the open turn of the event's lane. What came before, or without, a response.created
// opens one.
func (d *decoder) during() *turn {
	t := d.lane()
	if !t.IsOpen() {
		t = d.begin(d.response.read(d.ev.response))
		t.Find(stream.ProtocolViolation.As(stream.Warn),
			"%s came without a response.created before it: the beginning is missing", d.kind)
	}
	return t
}

func (d *decoder) created() {
	r := d.response.read(d.ev.response)
	switch t := d.lane(); {
	case !t.IsOpen():
	case t.is(r): // said twice
		t.meta(r)
		return
	default:
		if !t.failed {
			t.Find(dialect.ResponseRestarted,
				"a second response began before this one ended: a retry was spliced into one body, or its end was lost")
		}
		t.close("the response ended without response.completed: another began in its place")
	}
	d.begin(r)
}

func (d *decoder) progress() {
	r := d.response.read(d.ev.response)
	switch t := d.lane(); {
	case t.IsOpen():
		t.meta(r)
	case !t.is(r):
		d.begin(r)
	}
}

// terminal takes the event that ends a response; status is what it implies. It may come twice.
func (d *decoder) terminal(status string) {
	r := d.response.read(d.ev.response)
	if t := d.lane(); t.Turn == nil || t.IsOpen() || !t.is(r) && r.id.Text() != "" {
		d.finish(d.during(), r, string(d.kind), status)
	}
}

// bodyCopy names the copy of the arguments that a whole body is.
const bodyCopy = "the body"

// body takes a response that was not streamed, or a snapshot of one that the provider makes in the
// background.
func (d *decoder) body(raw dialect.Raw) {
	d.lane().close("the stream ended without response.completed: a whole response follows")
	r := d.response.read(raw)
	t := d.begin(r)
	t.whole = true
	if r.status.Is("queued") || r.status.Is("in_progress") {
		t.waiting = true
		d.output(t, r, bodyCopy)
		t.Find(responseNotOver, "the response is %s: the body is a snapshot, more is to be fetched", r.status.Text())
		return
	}
	d.finish(t, r, bodyCopy, r.status.Text())
}

// fail takes an error event: its fields stand in the event itself, as documented, or in an error
// object, as seen on wires. response.failed may follow and repeat it, or have come before.
func (d *decoder) fail(data dialect.Raw) {
	err, message, code := data, d.ev.message, d.ev.code
	if d.ev.err.Given() {
		err, message, code = d.ev.err, d.ev.err.Get("message"), d.ev.err.Get("code")
		if !code.Given() {
			code = d.ev.err.Get("type")
		}
	}
	t := d.lane()
	switch {
	case t.IsOpen():
	case t.failed && t.failure == words(err, message):
		return
	default:
		t = d.begin(new(wireResponse))
	}
	t.fail(err, message, code)
}
