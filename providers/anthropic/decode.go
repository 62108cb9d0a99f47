package anthropic

import (
	"bytes"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// decoder reads one exchange. Between messages, turn is the latest turn, which has ended.
type decoder struct {
	*protocol.Out
	ev            *event // nil before the first frame and after Close
	turn          *protocol.Turn
	blocks        map[int32]contentBlock
	done          bool  // whether the last stop reason is a normal end
	finished      bool  // a stop reason arrived
	unfinished    bool  // the stop reason in message_delta is null
	started       int32 // number of blocks that began at a new index
	usage         tokenCounts
	servingModels []string // models in usage.iterations, if there are several
}

// contentBlock is a content block that has begun.
type contentBlock struct {
	kind   string
	open   bool
	signed bool  // whether the signature of the reasoning has arrived
	text   bool  // whether reasoning text has arrived in deltas
	call   int32 // slot of the block's call, which may have begun in an earlier block
}

// mayContain reports whether a block may contain a kind of delta. It returns true for an unknown kind.
func (b *contentBlock) mayContain(delta []byte) bool {
	switch string(delta) {
	case "text_delta", "citations_delta":
		return b.kind == "text"
	case "thinking_delta", "signature_delta":
		return b.kind == "thinking"
	case "input_json_delta":
		return b.kind == "tool_use" || toolBlocks[b.kind].Kind != "" // the usual kind is first, because this runs for each delta
	}
	return true
}

// deltaBlocks are the kinds of blocks that mayContain checks.
var deltaBlocks = map[string]bool{"text": true, "thinking": true, "tool_use": true, "server_tool_use": true, "mcp_tool_use": true}

// startSlot is the slot of the first complete block in message_start. It is high because the stream's later blocks
// count from 0.
const startSlot = 1 << 20

// Frame reads one event. The event type is in the body. If the body has no type, the name of the server-sent
// event is the type.
func (d *decoder) Frame(f stream.Frame) error {
	if protocol.IsDone(f.Data) { // this marker is not part of the protocol, but gateways add it
		switch {
		case !d.turn.IsOpen():
		case d.finished:
			d.turn.Find(outOfOrder, "[DONE] arrived instead of message_stop: clients that wait for message_stop, such as Claude Code, report that the response was interrupted")
		default:
			d.turn.Find(protocol.FinishMissing, "[DONE] arrived without message_delta and message_stop: the response has no stop reason")
		}
		d.endTurn()
		return nil
	}
	if d.ev == nil {
		d.ev = events.Get().(*event)
	}
	if err := d.ev.shape.Read(f.Data); err != nil {
		return err
	}
	kind := d.ev.kind.OrDefault(f.Event)
	switch string(kind) {
	case "message_start":
		if d.turn.IsOpen() {
			d.turn.Find(protocol.MessageRestarted, "a second message began before this message ended: a gateway inserted a retry into the body")
			d.turn.Cut("another message began before message_stop")
		}
		d.readMessageObject(d.ev.message, startSlot)
	case "content_block_start":
		t := d.ensureTurn("content_block_start")
		d.startBlock(t, t.ReadSlot(d.ev.index), d.ev.block)
	case "content_block_delta":
		t := d.ensureTurn("content_block_delta")
		d.readDelta(t, t.ReadSlot(d.ev.index))
	case "content_block_stop":
		t := d.ensureTurn("content_block_stop")
		d.stopBlock(t, t.ReadSlot(d.ev.index))
	case "message_delta":
		if d.hasEnded() {
			d.turn.Once(outOfOrder, "message_delta arrived again after the end of the message: clients such as Claude Code stop with an error")
			break
		}
		t := d.ensureTurn("message_delta")
		d.reportUsage(t, d.ev.usage)
		d.unfinished = d.ev.delta.stopReason != nil && !d.ev.delta.stopReason.HasText()
		d.reportFinish(t, d.ev.delta.stopReason, d.ev.delta.stopDetails)
	case "message_stop":
		if d.hasEnded() { // gateways repeat it
			break
		}
		if d.turn.IsOpen() && d.unfinished && !d.finished {
			d.turn.Find(protocol.FinishMissing, "message_stop arrived without a stop reason: clients that wait for tool_use never run the calls")
		}
		d.ensureTurn("message_stop")
		d.fillUsage(d.ev.metrics)
		d.endTurn()
	case "ping":
		d.Heartbeat()
	case "error": // an error within a stream, or the body of a refused request
		if !d.turn.IsOpen() {
			d.openTurn("", "")
		}
		d.turn.Fail(protocol.ErrorOf(d.ev.err))
	case "message":
		d.cutTurn() // the response was not streamed
		d.readMessageObject(f.Data, 0)
		d.turn.End()
		return nil
	default:
		d.Unknown(string(kind))
	}
	if !bytes.Equal(f.Event, kind) {
		d.CheckName(f.Event, kind, f.Named && eventTypes[string(kind)])
	}
	return nil
}

// Close ends the stream. A turn that is still open is cut off, because message_stop is missing.
func (d *decoder) Close() {
	d.cutTurn()
	if d.ev != nil {
		d.ev.shape.Clear()
		events.Put(d.ev)
		d.ev = nil
	}
}

// cutTurn ends a turn that is still open.
func (d *decoder) cutTurn() { d.turn.Cut("the stream ended without message_stop") }

// endTurn ends the turn if it is open. If the stop reason is a normal end, endTurn first reports the calls whose
// blocks have not ended.
func (d *decoder) endTurn() {
	if d.turn.IsOpen() && d.done {
		for _, c := range d.turn.OpenCalls() {
			c.Once(protocol.NotSealed, "block %d has no content_block_stop: clients that run a call at the end of its block never run it", c.Slot)
		}
	}
	d.turn.End()
}

func (d *decoder) openTurn(id, model string) *protocol.Turn {
	d.blocks, d.started, d.done, d.finished, d.unfinished, d.usage, d.servingModels = map[int32]contentBlock{}, 0, false, false, false, tokenCounts{}, nil
	d.turn = d.Open(stream.Opening{ID: id, Model: model})
	return d.turn
}

// outOfOrder is the finding about events at the end of a message that come in the wrong order, or twice.
var outOfOrder = stream.ProtocolViolation.WithSeverity(stream.Warn)

// hasEnded reports whether the latest message has ended.
func (d *decoder) hasEnded() bool { return d.turn != nil && !d.turn.IsOpen() }

// ensureTurn returns the open turn. If an event arrives before message_start, it opens a turn.
func (d *decoder) ensureTurn(event string) *protocol.Turn {
	if !d.turn.IsOpen() {
		d.openTurn("", "").Find(stream.ProtocolViolation, "%s arrived without a message_start: clients that wait for message_start fail", stream.OwnFact(event))
	}
	return d.turn
}

// readMessageObject opens a turn and reads a message object: a complete message, or the content in message_start.
func (d *decoder) readMessageObject(message json.Value, slot int32) {
	var id, model, content, usage, stopReason, stopDetails json.Value
	s := message.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "id":
			id = s.Value()
		case "model":
			model = s.Value()
		case "content":
			content = s.Value()
		case "usage":
			usage = s.Value()
		case "stop_reason":
			stopReason = s.Value()
		case "stop_details":
			stopDetails = s.Value()
		}
	}
	t := d.openTurn(id.Text(), model.Text())
	blocks := content.Scan()
	for ok := blocks.Array(); ok; ok = blocks.Element() {
		block := blocks.Value()
		f := readCallBlock(block)
		kind := f.kind.Text()
		if c := openCall(t, slot, kind, &f); c == nil {
			readOtherBlock(d.Out, t, slot, kind, block)
		} else {
			if f.input.IsPresent() {
				c.Args(f.input)
			} else {
				reportNoInput(c)
			}
			c.Seal()
		}
		slot++
	}
	d.reportUsage(t, usage)
	d.reportFinish(t, stopReason, stopDetails)
}

// callBlock contains the fields of a content block that is a call.
type callBlock struct{ kind, id, name, input, caller, server, signature json.Value }

func readCallBlock(block json.Value) (f callBlock) {
	s := block.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "type":
			f.kind = s.Value()
		case "id":
			f.id = s.Value()
		case "name":
			f.name = s.Value()
		case "input":
			f.input = s.Value()
		case "caller":
			f.caller = s.Value()
		case "server_name":
			f.server = s.Value()
		case "signature":
			f.signature = s.Value()
		}
	}
	return f
}

func (d *decoder) startBlock(t *protocol.Turn, slot int32, start json.Value) {
	f := readCallBlock(start)
	kind := f.kind.Text()
	if before, ok := d.blocks[slot]; ok && !before.open {
		t.Once(protocol.IndexReused,
			"block %d starts again after its end: clients that store blocks by index lose the first block", slot)
	}
	if _, known := d.blocks[slot]; !known {
		if slot != d.started && slot < startSlot {
			t.Once(protocol.IndexSparse, "block %d in the response has index %d: clients that keep blocks in a list fail", d.started+1, slot)
		}
		d.started++
	}
	d.blocks[slot] = contentBlock{kind: kind, open: true, call: slot, signed: f.signature.HasText()}
	if d.continueCall(t, slot, kind, &f) {
		return
	}
	if c := openCall(t, slot, kind, &f); c != nil {
		// An empty object is a placeholder that the first delta replaces. Any other input is complete,
		// and no deltas follow.
		switch {
		case !f.input.IsPresent():
			reportNoInput(c)
		case !f.input.EmptyObject():
			c.Args(f.input)
		}
		return
	}
	readOtherBlock(d.Out, t, slot, kind, start)
}

// continueCall assigns a block to the latest call if the block continues that call, and reports whether it does. Such
// a block has the id of the call. It either has no name, or has the call's name while the arguments so far don't end
// with a brace.
func (d *decoder) continueCall(t *protocol.Turn, slot int32, kind string, start *callBlock) bool {
	before, isOpen := t.Latest(), toolBlocks[kind].Kind != ""
	if !isOpen || before == nil || before.Slot == slot || before.ID == "" || !start.id.Is(before.ID) {
		return false
	}
	if name := start.name.Text(); name != "" && (name != before.Name || before.LastByte == '}') || before.Bytes == 0 {
		return false
	}
	if before.Sealed {
		before.Unseal()
	}
	before.Once(protocol.CallSplit, "block %d has the id of this call and continues the arguments: together, the fragments are one call", slot)
	d.blocks[slot] = contentBlock{kind: kind, open: true, call: before.Slot}
	return true
}

// reportNoInput reports a call whose block has no input field, unless the provider runs the call.
func reportNoInput(c *protocol.Call) {
	if !c.RunByProvider {
		c.Once(protocol.ArgsMissing.WithSeverity(stream.Warn), "the block has no input field, which the protocol requires: Claude Code fails without the field")
	}
}

// openCall opens the call in a block. It returns nil if the block is not a call.
func openCall(t *protocol.Turn, slot int32, kind string, block *callBlock) *protocol.Call {
	info, isTool := toolBlocks[kind]
	if !isTool {
		return nil
	}
	info.ID, info.Name = block.id.Text(), block.name.Text()
	info.Parent = block.caller.Get("tool_id").Text()
	info.MCPServer = block.server.Text()
	c := t.OpenCall(slot, info)
	if info.ID == "" && !info.RunByProvider {
		c.Find(protocol.IDMissing, "the call has no id: a result can't refer to it, and clients invent an id")
	}
	return c
}

// readOtherBlock reads a block that is not a call.
func readOtherBlock(o *protocol.Out, t *protocol.Turn, slot int32, kind string, block json.Value) {
	switch {
	case kind == "text":
		t.AppendText(block.Get("text"))
	case kind == "thinking":
		t.AppendReasoning(slot, block.Get("thinking"))
		t.AddSignature(slot, block.Get("signature"))
	case kind == "redacted_thinking":
		t.SignLast(block.Get("data"), "", stream.SignedHidden)
	case strings.HasSuffix(kind, "_tool_result"):
		failed := block.Get("is_error").IsTrue() || strings.HasSuffix(block.Get("content").Get("type").Text(), "_error")
		t.AddResult(block.Get("tool_use_id").Text(), "", failed)
	case kind == "fallback":
		from, to := block.Get("from").Get("model").Text(), block.Get("to").Get("model").Text()
		t.Update(stream.Opening{Model: to})
		t.Find(modelFallback, "%s declined, and %s continues: the calls before this point are from the first model", stream.Fact(from), stream.Fact(to))
	case kind == "container_upload", kind == "compaction":
	default:
		o.Unknown("content block " + kind)
	}
}

func (d *decoder) readDelta(t *protocol.Turn, slot int32) {
	b, begun := d.blocks[slot]
	if begun && !b.mayContain(d.ev.delta.kind.Word()) && deltaBlocks[b.kind] {
		t.Once(stream.ProtocolViolation, "%s arrived in block %d, whose type is %s: Claude Code stops here",
			stream.OwnFact(d.ev.delta.kind.Text()), slot, stream.OwnFact(b.kind))
	}
	switch delta := &d.ev.delta; string(delta.kind.Word()) {
	case "input_json_delta":
		if begun {
			slot = b.call
		}
		t.Call(slot).Args(delta.json)
	case "text_delta":
		t.AppendText(delta.text)
	case "thinking_delta", "signature_delta":
		t.AppendReasoning(slot, delta.thinking)
		t.AddSignature(slot, delta.signature)
		if text, signed := b.text || delta.thinking.HasText(), b.signed || delta.signature.HasText(); begun && (text != b.text || signed != b.signed) {
			b.text, b.signed = text, signed
			d.blocks[slot] = b
		}
	case "citations_delta", "compaction_delta":
	default:
		d.Unknown("delta " + delta.kind.Text())
	}
}

func (d *decoder) stopBlock(t *protocol.Turn, slot int32) {
	was, known := d.blocks[slot]
	if known {
		d.blocks[slot] = contentBlock{kind: was.kind, call: was.call}
	}
	if was.kind == "thinking" && was.text && !was.signed && strings.Contains(t.Model, "claude") {
		t.Once(protocol.SignatureMissing.WithSeverity(stream.Info).WithCause(stream.Gateway),
			"the reasoning in block %d has no signature: Anthropic refuses such reasoning in a history", slot)
	}
	if !was.open {
		t.Find(stream.ProtocolViolation, protocol.StopOfNone, slot)
	}
	if _, isTool := toolBlocks[was.kind]; isTool {
		t.Call(was.call).Seal()
	}
}

// reportFinish reports a stop reason, unless it is null or missing. A turn can contain several stop reasons.
func (d *decoder) reportFinish(t *protocol.Turn, stopReason, details json.Value) {
	reason := stopReason.Text()
	if reason == "" {
		return
	}
	d.finished = true
	code := t.FinishAndCheck(reason, &endings)
	if d.done = code == stream.FinishDone; code != stream.FinishRefused {
		return
	}
	why := stream.Messagef("%s", details.Get("explanation").Text())
	if why.Text == "" {
		why.Text = "no explanation given"
	}
	t.Find(stream.ProviderError, "refused: %s", why)
}

// tokenCounts are the token counts as the protocol sends them. The counts input, read and write don't overlap, but
// hour is part of write, and thinking is part of output.
type tokenCounts struct {
	input, read, write, hour, output, thinking, searches stream.Count

	tier   string
	doubts []string // reasons why the price is only approximate
}

// usageFields contains the fields of a usage object that are read.
type usageFields struct {
	input, read, write, creation, output, details json.Value
	tier, speed, geo, tools, iterations           json.Value
}

func readUsage(u json.Value) (f usageFields) {
	s := u.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "input_tokens":
			f.input = s.Value()
		case "cache_read_input_tokens":
			f.read = s.Value()
		case "cache_creation_input_tokens":
			f.write = s.Value()
		case "cache_creation":
			f.creation = s.Value()
		case "output_tokens":
			f.output = s.Value()
		case "output_tokens_details":
			f.details = s.Value()
		case "service_tier":
			f.tier = s.Value()
		case "speed":
			f.speed = s.Value()
		case "inference_geo":
			f.geo = s.Value()
		case "server_tool_use":
			f.tools = s.Value()
		case "iterations":
			f.iterations = s.Value()
		}
	}
	return f
}

// reportUsage updates the usage with the counts in u and reports it. A field that is missing or null keeps its last
// value, because gateways omit fields in message_delta.
func (d *decoder) reportUsage(turn *protocol.Turn, u json.Value) {
	if u.Kind() != '{' {
		return
	}
	set := func(c *stream.Count, v json.Value) {
		if n := protocol.CountOf(v); n.Reported {
			*c = n
		}
	}
	t := &d.usage
	before := t.totalInput()
	f := readUsage(u)
	set(&t.input, f.input)
	set(&t.read, f.read)
	set(&t.write, f.write)
	set(&t.hour, f.creation.Get("ephemeral_1h_input_tokens"))
	set(&t.output, f.output)
	set(&t.thinking, f.details.Get("thinking_tokens"))
	d.readPricing(&f)
	d.reportModels(turn, f.iterations)
	turn.Usage(d.usage.asUsage())
	if input := t.totalInput(); input.N < before.N {
		turn.Find(usageCorrected,
			"the provider first reported %d input tokens, then %d: it bills the second number", before.N, input.N)
	}
}

// fillUsage adds Bedrock's own counts where the message reported none.
func (d *decoder) fillUsage(metrics json.Value) {
	if !d.turn.IsOpen() || metrics.Kind() != '{' {
		return
	}
	told := false
	set := func(c *stream.Count, name string) {
		if n := protocol.CountOf(metrics.Get(name)); n.Reported && !c.Reported {
			*c, told = n, true
		}
	}
	set(&d.usage.input, "inputTokenCount")
	set(&d.usage.read, "cacheReadInputTokenCount")
	set(&d.usage.write, "cacheWriteInputTokenCount")
	set(&d.usage.output, "outputTokenCount")
	if told {
		d.turn.Usage(d.usage.asUsage())
	}
}

// asUsage returns the counts as stream.Usage.
func (t *tokenCounts) asUsage() stream.Usage {
	return stream.Usage{
		Input: t.totalInput(), CacheRead: t.read, CacheWrite: t.write, CacheWriteHour: t.hour,
		Output: t.output, Reasoning: t.thinking, WebSearches: t.searches, Tier: t.tier, Doubt: strings.Join(t.doubts, "; "),
	}
}

// totalInput returns the number of input tokens, including tokens read from and written to the cache.
func (t *tokenCounts) totalInput() stream.Count {
	return stream.Count{N: t.input.N + t.read.N + t.write.N, Reported: t.input.Reported}
}

// addDoubt adds a reason to doubts, unless it is already there.
func (t *tokenCounts) addDoubt(why string) {
	if !slices.Contains(t.doubts, why) {
		t.doubts = append(t.doubts, why)
	}
}

// readPricing reads the fields that affect the price of the tokens or add other costs.
func (d *decoder) readPricing(f *usageFields) {
	t := &d.usage
	if tier := f.tier.Text(); tier != "" && t.tier != "fast" {
		t.tier = tier
	}
	if f.speed.Is("fast") {
		t.tier = "fast"
	}
	if f.geo.Is("us") {
		t.addDoubt("inference limited to one country costs more")
	}
	server := f.tools.Scan()
	for ok := server.Object(); ok; ok = server.Member() {
		switch n := protocol.PositiveCount(server.Value()); {
		case string(server.Key()) == "web_search_requests":
			t.searches = n
		case n.N > 0:
			t.addDoubt("the provider's own tools are billed in addition to the tokens")
		}
	}
}

// reportModels reports that several models served the turn, e.g. an advisor or a model that took over. The totals
// don't show each model's tokens.
func (d *decoder) reportModels(turn *protocol.Turn, list json.Value) {
	if list == nil {
		return
	}
	models := []string{}
	add := func(m string) {
		if m != "" && !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	each := list.Scan()
	for ok := each.Array(); ok; ok = each.Element() {
		one := each.Value()
		if m := one.Get("model").Text(); m != "" {
			add(m)
		} else {
			add(turn.Model)
		}
	}
	if len(models) < 2 {
		return
	}
	if !slices.Equal(models, d.servingModels) {
		d.servingModels = models
		turn.Find(usageModels,
			"%s served this turn at different prices: usage.iterations contains the token counts of each model, but the totals don't", stream.Fact(strings.Join(models, " and ")))
	}
	d.usage.addDoubt("several models served the turn")
}
