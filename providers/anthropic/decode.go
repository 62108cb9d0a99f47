package anthropic

import (
	"bytes"
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange. Between messages Number is that of the last one.
type decoder struct {
	dialect.OneTurn
	blocks map[int64]block
	calls  int // client-side calls of the turn
	usage  tokenCounts
	model  string   // of the message
	served []string // models of usage.iterations, when there are several
	event  wireEvent
	kind   []byte // of the event
	text   stream.Arena
	buf    []byte

	thinking bool  // what came last is reasoning that is not signed yet
	thought  int64 // the block it is in

	saidMissing, saidMismatch, saidReused bool
}

// block is a content block that began.
type block struct {
	kind string
	open bool
}

// startSlot is the slot of the first call that message_start brings whole; the
// blocks of the stream count from 0 regardless.
const startSlot = 1 << 20

func (d *decoder) Decode(f stream.Frame, emit func(stream.Event)) error {
	if dialect.IsDone(f.Data) { // not of this protocol, but gateways add it
		d.close(stream.CloseEnd, emit)
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
	case "content_block_delta":
		d.blockDelta(ev, emit)
	case "content_block_start":
		d.blockStart(ev, emit)
	case "content_block_stop":
		d.blockStop(ev, emit)
	case "message_start":
		d.messageStart(ev.message, emit)
	case "message_delta":
		d.messageDelta(ev, emit)
	case "message_stop":
		d.fill(ev.metrics, emit)
		d.close(stream.CloseEnd, emit)
	case "ping":
		emit(stream.Event{Kind: stream.Heartbeat, Turn: d.Turn()})
	case "error":
		d.fail(ev.err, emit)
	case "message":
		d.body(dialect.Raw(f.Data), emit)
	default:
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Turn(), Text: string(kind)})
	}
	d.checkEventName(f.Event, kind, emit)
	return nil
}

// checkEventName compares the SSE event name with the type in the body, which
// is what counts: proxies drop the name.
func (d *decoder) checkEventName(name, kind []byte, emit func(stream.Event)) {
	switch {
	case bytes.Equal(name, kind) || string(kind) == "message":
	case len(name) == 0 && eventTypes[string(kind)] && !d.saidMissing:
		d.saidMissing = true
		emit(dialect.Diagnose(d.Number, stream.NoSlot, dialect.EventNameMissing,
			"events have no event: line; clients that dispatch on the name see nothing"))
	case len(name) > 0 && !d.saidMismatch:
		d.saidMismatch = true
		emit(dialect.Diagnose(d.Number, stream.NoSlot, dialect.EventNameMismatch,
			"the event is named %q, its body says %q", name, kind))
	}
}

func (d *decoder) messageStart(message dialect.Raw, emit func(stream.Event)) {
	if d.Open {
		emit(dialect.Diagnose(d.Number, stream.NoSlot, dialect.MessageRestarted,
			"a second message began before this one ended: a retry was spliced into one body"))
		d.closeAs(stream.CloseCut, "another message began before message_stop", emit)
	}
	d.begin(message, emit)
	slot := int32(startSlot)
	content := message.Get("content").Scan()
	for ok := content.Array(); ok; ok = content.Element() {
		d.wholeBlock(slot, content.Value(), emit)
		slot++
	}
	d.tell(message.Get("usage"), emit)
	d.finish(message.Get("stop_reason"), message.Get("stop_details"), emit)
}

// begin opens a turn.
func (d *decoder) begin(message dialect.Raw, emit func(stream.Event)) {
	d.Number++
	d.Open, d.calls, d.thinking = true, 0, false
	d.blocks, d.usage = map[int64]block{}, tokenCounts{}
	d.model, d.served = message.Get("model").Text(), nil
	emit(stream.Event{Kind: stream.TurnOpen, Turn: d.Number, More: &stream.Detail{
		ID: message.Get("id").Text(), Model: d.model,
	}})
}

// ensure opens a turn for an event that came before its message_start.
func (d *decoder) ensure(what string, emit func(stream.Event)) {
	if d.Open {
		return
	}
	d.begin(nil, emit)
	emit(dialect.Diagnose(d.Number, stream.NoSlot, stream.ProtocolViolation,
		"%s came before message_start", what))
}

// wholeBlock takes a block that is complete where it stands: in message_start,
// as programmatic tool calling has it, or in a body that was not streamed.
func (d *decoder) wholeBlock(slot int32, block dialect.Raw, emit func(stream.Event)) {
	kind := block.Get("type").Text()
	switch {
	case d.callOpen(slot, kind, block, emit):
		if input := block.Get("input"); input.Given() {
			d.emitText(stream.Args, slot, input, emit)
		}
		emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: slot})
	case kind == "text":
		d.emitText(stream.TextDelta, 0, block.Get("text"), emit)
	case kind == "thinking":
		d.think(int64(slot), block.Get("thinking"), block.Get("signature"), emit)
	default:
		d.otherBlock(kind, block, emit)
	}
}

func (d *decoder) blockStart(ev *wireEvent, emit func(stream.Event)) {
	d.ensure("content_block_start", emit)
	index, _ := ev.index.Int()
	kind := ev.block.Get("type").Text()
	if before, ok := d.blocks[index]; ok && !before.open && !d.saidReused {
		d.saidReused = true
		emit(dialect.Diagnose(d.Number, stream.NoSlot, dialect.IndexReused,
			"block %d begins again after it was stopped: clients that keep blocks by their index lose the first", index))
	}
	d.blocks[index] = block{kind, true}
	switch {
	case d.callOpen(int32(index), kind, ev.block, emit):
		// {} is a placeholder that the first fragment replaces; anything else is
		// the whole input, sent without deltas.
		if input := ev.block.Get("input"); input.Given() && !input.EmptyObject() {
			d.emitText(stream.Args, int32(index), input, emit)
		}
	case kind == "text":
		d.emitText(stream.TextDelta, 0, ev.block.Get("text"), emit)
	case kind == "thinking":
		d.think(index, ev.block.Get("thinking"), ev.block.Get("signature"), emit)
	default:
		d.otherBlock(kind, ev.block, emit)
	}
}

// callOpen opens a call if the block proposes one.
func (d *decoder) callOpen(slot int32, kind string, block dialect.Raw, emit func(stream.Event)) bool {
	more, isTool := toolBlocks[kind]
	if !isTool {
		return false
	}
	if !more.Server {
		d.calls++
	}
	more.ID, more.Name = block.Get("id").Text(), block.Get("name").Text()
	more.Parent = block.Get("caller").Get("tool_id").Text()
	more.Host = block.Get("server_name").Text()
	emit(stream.Event{Kind: stream.CallOpen, Turn: d.Number, Slot: slot, More: &more})
	if more.ID == "" && !more.Server {
		emit(dialect.Diagnose(d.Number, slot, dialect.IDMissing, "no id came: a result has nothing to refer to"))
	}
	return true
}

// otherBlock takes the blocks that are neither text nor a call.
func (d *decoder) otherBlock(kind string, block dialect.Raw, emit func(stream.Event)) {
	switch {
	case strings.HasSuffix(kind, "_tool_result"):
		code := stream.AnswerOK
		if string(block.Get("is_error")) == "true" || strings.HasSuffix(block.Get("content").Get("type").Text(), "_error") {
			code = stream.AnswerFailed
		}
		emit(stream.Event{Kind: stream.Answer, Turn: d.Number, Code: code,
			More: &stream.Detail{ID: block.Get("tool_use_id").Text()}})
	case kind == "fallback":
		from, to := block.Get("from").Get("model").Text(), block.Get("to").Get("model").Text()
		emit(stream.Event{Kind: stream.TurnMeta, Turn: d.Number, More: &stream.Detail{Model: to}})
		emit(dialect.Diagnose(d.Number, stream.NoSlot, modelFallback,
			"%s declined and %s continues: calls before this came from the first", from, to))
	case kind == "redacted_thinking":
		if data := block.Get("data"); data.IsString() && !data.Empty() {
			d.sign(data, stream.SignedHidden, emit)
		}
	case kind == "container_upload", kind == "compaction":
	default:
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Number, Text: "content block " + kind})
	}
}

func (d *decoder) blockDelta(ev *wireEvent, emit func(stream.Event)) {
	d.ensure("content_block_delta", emit)
	kind, text := ev.delta.kind, ev.delta.text
	switch {
	case kind.Is("input_json_delta"):
		index, _ := ev.index.Int()
		if !text.Given() {
			text = nil // null is nothing
		}
		d.emitText(stream.Args, int32(index), text, emit)
	case kind.Is("text_delta"):
		d.emitText(stream.TextDelta, 0, text, emit)
	case kind.Is("thinking_delta"), kind.Is("signature_delta"):
		index, _ := ev.index.Int()
		d.think(index, text, ev.delta.signature, emit)
	case kind.Is("citations_delta"), kind.Is("compaction_delta"):
	default:
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Number, Text: "delta " + kind.Text()})
	}
}

// emitText emits value's text; of text that is not shown as arguments only
// what is there counts.
func (d *decoder) emitText(kind stream.EventKind, slot int32, value dialect.Raw, emit func(stream.Event)) {
	d.buf = value.Append(d.buf[:0])
	if len(d.buf) > 0 || kind == stream.Args {
		emit(stream.Event{Kind: kind, Turn: d.Number, Slot: slot, Text: d.text.Hold(d.buf)})
		d.thinking = false
	}
}

func (d *decoder) blockStop(ev *wireEvent, emit func(stream.Event)) {
	d.ensure("content_block_stop", emit)
	index, _ := ev.index.Int()
	was := d.blocks[index]
	d.blocks[index] = block{kind: was.kind}
	if !was.open {
		emit(dialect.Diagnose(d.Number, stream.NoSlot, stream.ProtocolViolation,
			"content_block_stop for block %d, which is not open", index))
	}
	if _, isTool := toolBlocks[was.kind]; isTool {
		emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: int32(index)})
	}
}
