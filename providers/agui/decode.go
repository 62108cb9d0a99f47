package agui

import (
	"cmp"
	"time"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// decoder reads one exchange. Between runs, turn is the one that ended last.
type decoder struct {
	*protocol.Out
	ev     event
	turn   *protocol.Turn
	failed bool // the last run ended in RUN_ERROR

	calls       map[string]*protocol.Call // of the exchange, by id
	order       []*protocol.Call          // calls of the run, by slot
	chunkedCall *protocol.Call            // the call whose chunks are arriving, if any
	others      map[string]bool           // ids of messages that are not the assistant's

	began int64 // first time stamp, in milliseconds
}

func newDecoder(o *protocol.Out) protocol.Decoder {
	d := &decoder{Out: o, calls: map[string]*protocol.Call{}, others: map[string]bool{}}
	d.ev.bindShape()
	return d
}

// Frame reads one event.
func (d *decoder) Frame(f stream.Frame) error {
	if protocol.IsDone(f.Data) { // TanStack AI adds it
		return nil
	}
	if err := d.ev.shape.Read(f.Data); err != nil {
		return err
	}
	d.readTimestamp()
	kind := d.ev.kind.OrDefault(nil)
	known := eventKinds[string(kind)]
	if known.points > 0 && !known.between {
		d.endChunks()
	}
	switch string(kind) {
	case "RUN_STARTED":
		d.startRun()
	case "RUN_FINISHED":
		d.finishRun()
	case "RUN_ERROR":
		d.reportError()
	default:
		if known.points == 0 {
			d.Unknown(string(kind))
			break
		}
		d.inRun(d.ensureTurn(kind), kind)
	}
	return nil
}

// inRun reads an event inside a run. The events not named here don't concern calls.
func (d *decoder) inRun(t *protocol.Turn, kind []byte) {
	switch string(kind) {
	case "TOOL_CALL_START":
		d.openCall(t)
	case "TOOL_CALL_ARGS":
		d.ensureCall(t, "TOOL_CALL_ARGS").Args(d.ev.delta)
	case "TOOL_CALL_END":
		d.endCall(d.ensureCall(t, "TOOL_CALL_END"))
	case "TOOL_CALL_CHUNK":
		d.readCallChunk(t)
	case "TOOL_CALL_RESULT":
		d.reportResult(t)
	case "TEXT_MESSAGE_START", "TEXT_MESSAGE_CHUNK", "TEXT_MESSAGE_CONTENT":
		d.readText(t)
	case "THINKING_TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_CHUNK",
		"STEP_FINISHED": // TanStack AI puts reasoning there
		t.AppendReasoning(0, d.ev.delta)
	case "REASONING_ENCRYPTED_VALUE": // some are of messages
		if c := d.knownCall(d.ev.entityID); c != nil && d.ev.subtype.Is("tool-call") {
			c.Meta(stream.CallInfo{Signature: d.ev.encrypted.Text()})
		}
	case "MESSAGES_SNAPSHOT":
		d.checkSnapshot(t)
	}
}

// Close ends the turn: without RUN_FINISHED it was cut off.
func (d *decoder) Close() { d.turn.Cut("the stream ended without RUN_FINISHED") }

// readTimestamp reads the event's time stamp, in milliseconds since 1970.
func (d *decoder) readTimestamp() {
	at, ok := d.ev.timestamp.Int()
	switch {
	case !ok:
	case d.LastStamp() == stream.NoTime:
		d.began = at
		d.Stamp(0)
	case at > d.began:
		d.Stamp(max(d.LastStamp(), time.Duration(at-d.began)*time.Millisecond))
	}
}

func (d *decoder) startRun() {
	if d.turn.IsOpen() {
		d.turn.Find(protocol.MessageRestarted, "a second run began before this one ended: clients stop here")
		d.turn.Cut("")
	}
	d.openTurn(stream.Opening{ID: d.ev.runID.Text(), Model: d.ev.model.Text()})
}

func (d *decoder) openTurn(run stream.Opening) *protocol.Turn {
	d.failed, d.order, d.chunkedCall = false, nil, nil
	d.turn = d.Open(run)
	return d.turn
}

// ensureTurn returns the open turn. It opens one for an event outside of any run.
func (d *decoder) ensureTurn(kind []byte) *protocol.Turn {
	if !d.turn.IsOpen() {
		d.openTurn(stream.Opening{}).Find(stream.ProtocolViolation, "%s arrived outside of a run: clients stop here", stream.Fact(kind))
	}
	return d.turn
}

func (d *decoder) finishRun() {
	if d.turn != nil && !d.turn.IsOpen() {
		return // already reported
	}
	t, ev := d.ensureTurn([]byte("RUN_FINISHED")), &d.ev
	// TanStack AI sends token counts here.
	in, out := ev.usage.Get("promptTokens").Count(), ev.usage.Get("completionTokens").Count()
	if in.Reported || out.Reported {
		t.Usage(stream.Usage{Input: in, Output: out})
	}
	word := cmp.Or(ev.finish.Text(), ev.outcome.Text(), ev.outcome.Get("type").Text())
	code, known := finishCodes[word]
	if code == stream.FinishDone {
		d.checkCalls()
	}
	if word != "" {
		t.Finish(word, code)
		if !known {
			t.Find(protocol.FinishUnknown, "%q is not a documented end of a run", stream.Fact(word))
		}
	}
	t.End()
}

// reportError ends the run. After it, clients accept only another run.
func (d *decoder) reportError() {
	if !d.turn.IsOpen() {
		if d.failed {
			return // already reported
		}
		d.openTurn(stream.Opening{})
	}
	message, code := d.ev.message.Text(), d.ev.code
	if message == "" {
		message, code = d.ev.err.Get("message").Text(), d.ev.err.Get("code")
	}
	d.turn.Fail(code.Text(), message)
	d.turn.End()
	d.failed = true
}

// readText reads the events of a text message: the response, unless it is the user's own message or
// instructions that are sent along.
func (d *decoder) readText(t *protocol.Turn) {
	id := d.ev.messageID.OrDefault(nil)
	if d.ev.role.IsString() {
		d.others[string(id)] = !d.ev.role.Is("assistant")
	}
	if !d.others[string(id)] {
		t.AppendText(d.ev.delta)
	}
}
