package openairesponses

import (
	"bytes"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// decoder reads one exchange: one response over HTTP, or many over a WebSocket, where several streams
// may each have an open response.
type decoder struct {
	*protocol.Out
	ev       event
	kind     []byte       // type of the event
	item     wireItem     // of the event, or of the response
	response wireResponse // of the event, or the body
	turns    []*turn      // latest turn of each stream_id
}

func newDecoder(o *protocol.Out) protocol.Decoder {
	d := &decoder{Out: o}
	d.ev.bindShape()
	return d
}

// Frame reads one event or one complete body. The type of an event is in its body, or else it is the
// name of the server-sent event.
func (d *decoder) Frame(f stream.Frame) error {
	if protocol.IsDone(f.Data) { // not of this protocol, but providers add it
		d.endStream()
		return nil
	}
	ev := &d.ev
	if err := ev.shape.Read(f.Data); err != nil {
		return err
	}
	d.kind = ev.kind.OrDefault(f.Event)
	switch string(d.kind) {
	case "response.created":
		d.startResponse()
	case "response.queued", "response.in_progress":
		d.updateResponse()
	case "response.completed", "response.done": // Codex's back end has sent response.done over a WebSocket
		d.endResponse("completed")
	case "response.incomplete":
		d.endResponse("incomplete")
	case "response.failed":
		d.endResponse("failed")
	case "response.cancelled":
		d.endResponse("cancelled")
	case "response.output_item.added":
		d.itemAdded(d.ensureTurn())
	case "response.output_item.done":
		d.itemDone(d.ensureTurn())
	case "error":
		d.reportError(f.Data)
	case "keepalive":
		d.Heartbeat()
	case "rate_limits.updated", "codex.rate_limits":
	case "":
		d.readNonEvent(f.Data)
	default:
		d.readItemEvent()
	}
	if d.Last() != nil { // OpenRouter sends no names; a WebSocket has none
		d.CheckName(f.Event, d.kind, f.Named && bytes.HasPrefix(d.kind, []byte("response.")))
	}
	return nil
}

// Close ends the stream. A response that is still open is cut off.
func (d *decoder) Close() {
	for _, t := range d.turns {
		if t.IsOpen() && !t.waiting {
			t.close("the stream ended without response.completed")
		}
	}
}

// endStream handles [DONE]: nothing follows, even if a response is open.
func (d *decoder) endStream() {
	for _, t := range d.turns {
		if t.IsOpen() && !t.failed {
			t.Find(protocol.FinishMissing,
				"[DONE] came without response.completed: clients that wait for it never finish, and usage is missing")
		}
		t.close("")
	}
}

// readNonEvent reads an object without a type: a body, or an error.
func (d *decoder) readNonEvent(data protocol.Raw) {
	switch ev := &d.ev; {
	case ev.object.Is("response"), ev.output.Kind() == '[':
		d.readResponse(data)
	case ev.err.IsPresent(), ev.message.IsString():
		d.reportError(data)
	default:
		d.Unknown("")
	}
}

// readItemEvent reads an event about an item.
func (d *decoder) readItemEvent() {
	e, ok := itemEvents[string(d.kind)]
	switch {
	case !ok:
		d.Unknown(string(d.kind))
	case e.does != nil:
		e.does(d, d.ensureTurn().ensureItem(&d.ev, e.item))
	}
}

// eventName returns the name of the event without "response.", as the name of the copy in it.
func (d *decoder) eventName() string { return strings.TrimPrefix(string(d.kind), "response.") }

// latestTurn returns the latest turn with the event's stream_id. If there is none, it returns a turn
// that never began.
func (d *decoder) latestTurn() *turn {
	for _, t := range d.turns {
		if t.streamID == "" && !d.ev.streamID.IsString() || d.ev.streamID.Is(t.streamID) {
			return t
		}
	}
	return new(turn)
}

// openTurn opens a turn with the event's stream_id.
func (d *decoder) openTurn(r *wireResponse) *turn {
	t := d.latestTurn()
	if t.Turn == nil {
		d.turns = append(d.turns, t)
	}
	*t = turn{Turn: d.Open(stream.Opening{ID: r.id.Text(), Model: r.model.Text()}), streamID: d.ev.streamID.Text()}
	return t
}

// ensureTurn returns the open turn with the event's stream_id. An event before or without
// response.created opens one.
func (d *decoder) ensureTurn() *turn {
	t := d.latestTurn()
	if !t.IsOpen() {
		t = d.openTurn(d.response.read(d.ev.response))
		t.Find(stream.ProtocolViolation.WithSeverity(stream.Warn),
			"%s came before response.created: the beginning of the stream is missing", stream.OwnFact(d.kind))
	}
	return t
}

func (d *decoder) startResponse() {
	r := d.response.read(d.ev.response)
	switch t := d.latestTurn(); {
	case !t.IsOpen():
	case t.isFor(r): // the event came twice
		t.updateTurn(r)
		return
	default:
		if !t.failed {
			t.Find(protocol.ResponseRestarted,
				"another response began before this one ended: a retry was spliced into the body, or the end of this one was lost")
		}
		t.close("the response ended without response.completed: another began in its place")
	}
	d.openTurn(r)
}

func (d *decoder) updateResponse() {
	r := d.response.read(d.ev.response)
	switch t := d.latestTurn(); {
	case t.IsOpen():
		t.updateTurn(r)
	case !t.isFor(r):
		d.openTurn(r)
	}
}

// endResponse reads the event that ends a response; status is the status that it implies. The event may
// come twice.
func (d *decoder) endResponse(status string) {
	r := d.response.read(d.ev.response)
	if t := d.latestTurn(); t.Turn == nil || t.IsOpen() || !t.isFor(r) && r.id.Text() != "" {
		d.finishTurn(d.ensureTurn(), r, string(d.kind), status)
	}
}

// bodyCopy names the copy of the arguments in a complete body.
const bodyCopy = "the body"

// readResponse reads a response that was not streamed, or a snapshot of a background response.
func (d *decoder) readResponse(raw protocol.Raw) {
	d.latestTurn().close("the stream ended without response.completed: a complete response follows")
	r := d.response.read(raw)
	t := d.openTurn(r)
	t.isBody = true
	if r.status.Is("queued") || r.status.Is("in_progress") {
		t.waiting = true
		d.compareOutput(t, r, bodyCopy)
		t.Find(responseNotOver, "the response is %s: the body is a snapshot of it", stream.Fact(r.status.Text()))
		return
	}
	d.finishTurn(t, r, bodyCopy, r.status.Text())
}

// reportError reports an error event. Its fields are in the event itself, as documented, or in an error
// object, as seen on real wires. response.failed may come before or after it and repeat it.
func (d *decoder) reportError(data protocol.Raw) {
	err, message, code := data, d.ev.message, d.ev.code
	if d.ev.err.IsPresent() {
		err, message, code = d.ev.err, d.ev.err.Get("message"), d.ev.err.Get("code")
		if !code.IsPresent() {
			code = d.ev.err.Get("type")
		}
	}
	t := d.latestTurn()
	switch {
	case t.IsOpen():
	case t.failed && t.failure == errorText(err, message):
		return
	default:
		t = d.openTurn(new(wireResponse))
	}
	t.reportError(err, message, code)
}
