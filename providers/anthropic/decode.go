package anthropic

import (
	"bytes"
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange. Between messages turn is the one that ended last.
type decoder struct {
	*dialect.Out
	ev     event
	turn   *dialect.Turn
	blocks map[int32]block
	usage  tokenCounts
	served []string // models of usage.iterations, when there are several
}

// block is a content block that began.
type block struct {
	kind string
	open bool
}

// startSlot is the slot of the first call that message_start brings whole; the blocks of the stream
// count from 0 regardless.
const startSlot = 1 << 20

func newDecoder(o *dialect.Out) dialect.Decoder {
	d := &decoder{Out: o}
	d.ev.bind()
	return d
}

// Frame reads one event. Its type is that in the body, and where that has none the name of the
// server-sent event.
func (d *decoder) Frame(f stream.Frame) error {
	if dialect.IsDone(f.Data) { // not of this protocol, but gateways add it
		d.turn.End()
		return nil
	}
	if err := d.ev.shape.Read(f.Data); err != nil {
		return err
	}
	kind := d.ev.kind.Or(f.Event)
	switch string(kind) {
	case "message_start":
		d.messageStart(d.ev.message)
	case "content_block_start":
		d.blockStart(d.during("content_block_start"), d.ev.index.Slot(), d.ev.block)
	case "content_block_delta":
		d.blockDelta(d.during("content_block_delta"), d.ev.index.Slot())
	case "content_block_stop":
		d.blockStop(d.during("content_block_stop"), d.ev.index.Slot())
	case "message_delta":
		t := d.during("message_delta")
		d.tell(t, d.ev.usage)
		d.finish(t, d.ev.delta.stopReason, d.ev.delta.stopDetails)
	case "message_stop":
		d.fill(d.ev.metrics)
		d.turn.End()
	case "ping":
		d.Heartbeat()
	case "error": // the HTTP status was already 200 when it comes inside a stream
		if !d.turn.IsOpen() {
			d.begin(nil)
		}
		d.turn.Fail(dialect.ErrorOf(d.ev.err))
	case "message":
		d.whole(f.Data)
		return nil
	default:
		d.Unknown(string(kind))
	}
	if !bytes.Equal(f.Event, kind) {
		d.CheckName(f.Event, kind, f.Named && eventTypes[string(kind)])
	}
	return nil
}

// Close says that the bytes have ended: without message_stop that is a cut.
func (d *decoder) Close() { d.turn.Cut("the stream ended without message_stop") }

func (d *decoder) messageStart(message dialect.Raw) {
	if d.turn.IsOpen() {
		d.turn.Find(dialect.MessageRestarted, "a second message began before this one ended: a retry was spliced into one body")
		d.turn.Cut("another message began before message_stop")
	}
	d.content(d.begin(message), message, startSlot)
}

// begin opens a turn.
func (d *decoder) begin(message dialect.Raw) *dialect.Turn {
	d.blocks, d.usage, d.served = map[int32]block{}, tokenCounts{}, nil
	d.turn = d.Open(stream.Opening{ID: message.Get("id").Text(), Model: message.Get("model").Text()})
	return d.turn
}

// during is the open turn; an event that came before its message_start opens one.
func (d *decoder) during(event string) *dialect.Turn {
	if !d.turn.IsOpen() {
		d.begin(nil).Find(stream.ProtocolViolation, "%s came before message_start", event)
	}
	return d.turn
}

// whole takes a response that was not streamed.
func (d *decoder) whole(message dialect.Raw) {
	d.Close()
	d.content(d.begin(message), message, 0)
	d.turn.End()
}

// content takes what a message has when it begins, or all of one that came whole.
func (d *decoder) content(t *dialect.Turn, message dialect.Raw, slot int32) {
	blocks := message.Get("content").Scan()
	for ok := blocks.Array(); ok; ok = blocks.Element() {
		d.wholeBlock(t, slot, blocks.Value())
		slot++
	}
	d.tell(t, message.Get("usage"))
	d.finish(t, message.Get("stop_reason"), message.Get("stop_details"))
}

// wholeBlock takes a block that is complete where it stands: in message_start, as programmatic tool
// calling has it, or in a body that was not streamed.
func (d *decoder) wholeBlock(t *dialect.Turn, slot int32, block dialect.Raw) {
	kind := block.Get("type").Text()
	if c := callOpen(t, slot, kind, block); c != nil {
		if input := block.Get("input"); input.Given() {
			c.Args(input)
		}
		c.Seal()
		return
	}
	otherBlock(d.Out, t, slot, kind, block)
}

func (d *decoder) blockStart(t *dialect.Turn, slot int32, start dialect.Raw) {
	kind := start.Get("type").Text()
	if before, ok := d.blocks[slot]; ok && !before.open {
		t.Once(dialect.IndexReused,
			"block %d begins again after it was stopped: clients that keep blocks by their index lose the first", slot)
	}
	d.blocks[slot] = block{kind, true}
	if c := callOpen(t, slot, kind, start); c != nil {
		// {} is a placeholder that the first fragment replaces; anything else is the whole input,
		// sent without deltas.
		if input := start.Get("input"); input.Given() && !input.EmptyObject() {
			c.Args(input)
		}
		return
	}
	otherBlock(d.Out, t, slot, kind, start)
}

// callOpen opens a call if the block proposes one.
func callOpen(t *dialect.Turn, slot int32, kind string, block dialect.Raw) *dialect.Call {
	info, isTool := toolBlocks[kind]
	if !isTool {
		return nil
	}
	info.ID, info.Name = block.Get("id").Text(), block.Get("name").Text()
	info.Parent = block.Get("caller").Get("tool_id").Text()
	info.Host = block.Get("server_name").Text()
	c := t.OpenCall(slot, info)
	if info.ID == "" && !info.Server {
		c.Find(dialect.IDMissing, "no id came: a result has nothing to refer to")
	}
	return c
}

// otherBlock takes a block that is no call.
func otherBlock(o *dialect.Out, t *dialect.Turn, slot int32, kind string, block dialect.Raw) {
	switch {
	case kind == "text":
		t.Text(block.Get("text"))
	case kind == "thinking":
		t.Think(slot, block.Get("thinking"))
		t.Sign(slot, block.Get("signature"))
	case kind == "redacted_thinking":
		t.Signed(block.Get("data"), "", stream.SignedHidden)
	case strings.HasSuffix(kind, "_tool_result"):
		failed := block.Get("is_error").IsTrue() || strings.HasSuffix(block.Get("content").Get("type").Text(), "_error")
		t.Answer(block.Get("tool_use_id").Text(), "", failed)
	case kind == "fallback":
		from, to := block.Get("from").Get("model").Text(), block.Get("to").Get("model").Text()
		t.Meta(stream.Opening{Model: to})
		t.Find(modelFallback, "%s declined and %s continues: calls before this came from the first", from, to)
	case kind == "container_upload", kind == "compaction":
	default:
		o.Unknown("content block " + kind)
	}
}

func (d *decoder) blockDelta(t *dialect.Turn, slot int32) {
	switch delta := &d.ev.delta; string(delta.kind.Word()) {
	case "input_json_delta":
		t.Call(slot).Args(delta.json)
	case "text_delta":
		t.Text(delta.text)
	case "thinking_delta", "signature_delta":
		t.Think(slot, delta.thinking)
		t.Sign(slot, delta.signature)
	case "citations_delta", "compaction_delta":
	default:
		d.Unknown("delta " + delta.kind.Text())
	}
}

func (d *decoder) blockStop(t *dialect.Turn, slot int32) {
	was := d.blocks[slot]
	d.blocks[slot] = block{kind: was.kind}
	if !was.open {
		t.Find(stream.ProtocolViolation, dialect.StopOfNone, slot)
	}
	if _, isTool := toolBlocks[was.kind]; isTool {
		t.Call(slot).Seal()
	}
}

// finish takes a stop reason, unless it is null or absent. Several may come.
func (d *decoder) finish(t *dialect.Turn, stopReason, details dialect.Raw) {
	reason := stopReason.Text()
	if reason == "" || t.Stop(reason, &endings) != stream.FinishRefused {
		return
	}
	why := details.Get("explanation").Text()
	if why == "" {
		why = "no explanation given"
	}
	t.Find(stream.ProviderError, "refused: %s", why)
}
