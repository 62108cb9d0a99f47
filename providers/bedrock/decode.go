package bedrock

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// decoder reads one exchange. Between messages, turn is the latest turn, which has ended.
type decoder struct {
	*protocol.Out
	ev      event
	turn    *protocol.Turn
	stopped bool // messageStop has come
	done    bool // whether the stop reason is a normal end
	counted bool // metadata has come
}

// Frame reads one event, a complete body or an error.
func (d *decoder) Frame(f stream.Frame) error {
	if err := d.ev.shape.Read(f.Data); err != nil {
		return err
	}
	switch name := d.ev.name(f.Event); name {
	case "messageStart":
		switch {
		case d.stopped:
			d.endTurn()
		case d.turn.IsOpen():
			d.turn.Find(protocol.MessageRestarted, "a second message began before this message ended: a gateway inserted a retry into the body")
			d.cutTurn()
		}
		d.openTurn()
	case "contentBlockStart":
		t := d.ensureTurn("contentBlockStart")
		d.startBlock(t, t.ReadSlot(d.ev.index))
	case "contentBlockDelta":
		t := d.ensureTurn("contentBlockDelta")
		d.readDelta(t, t.ReadSlot(d.ev.index))
	case "contentBlockStop": // for text blocks, a stop without a start is normal
		t := d.ensureTurn("contentBlockStop")
		if c := t.FindCall(t.ReadSlot(d.ev.index)); c != nil && !c.Sealed {
			c.Seal()
		}
	case "messageStop":
		d.stopMessage()
	case "metadata":
		// The metadata event is normally the last event, and may arrive twice.
		if !d.stopped {
			d.ensureTurn("metadata")
		}
		d.reportUsage(d.turn)
		if d.counted = true; d.stopped {
			d.endTurn()
		}
	case "":
		d.readNonEvent(f.Data)
	default:
		d.Unknown(name)
	}
	return nil
}

// readNonEvent reads a complete body, or an error in place of a body or an event.
func (d *decoder) readNonEvent(data json.Value) {
	switch {
	case d.ev.output.Kind() == '{':
		// The response was not streamed.
		d.cutTurn()
		t := d.openTurn()
		d.stopped, d.counted = true, true
		content := d.ev.output.Get("message").Get("content").Scan()
		for slot, ok := int32(0), content.Array(); ok; slot, ok = slot+1, content.Element() {
			d.readCompleteBlock(t, slot, content.Value())
		}
		d.reportUsage(t)
		reportFinish(t, d.ev.stopReason)
		t.End()
	case d.ev.message.IsString():
		if !d.turn.IsOpen() {
			d.openTurn()
		}
		d.turn.Fail(d.ev.errType.Text(), d.ev.message.Text())
	default: // reported under the name of its first field
		s := data.Scan()
		s.Object()
		d.Unknown(string(s.Key()))
	}
}

// Close ends the stream. A turn without messageStop is cut off.
func (d *decoder) Close() {
	if d.stopped {
		d.endTurn()
	}
	d.cutTurn()
}

func (d *decoder) cutTurn() { d.turn.Cut("the stream ended without messageStop") }

// endTurn ends the turn after messageStop. It reports missing metadata and, if the stop reason is a normal end, calls
// without contentBlockStop.
func (d *decoder) endTurn() {
	if d.turn.IsOpen() && d.done {
		for _, c := range d.turn.OpenCalls() {
			c.Once(protocol.NotSealed, "block %d has no contentBlockStop: clients that run a call at the end of its block never run it", c.Slot)
		}
	}
	if d.turn.IsOpen() && !d.counted {
		d.turn.Find(stream.NoTerminator.WithSeverity(stream.Info), "messageStop arrived without metadata: the usage is missing")
	}
	d.turn.End()
}

// openTurn opens a turn. Neither the events nor the body contains the model.
func (d *decoder) openTurn() *protocol.Turn {
	d.stopped, d.counted = false, false
	d.turn = d.Open(stream.Opening{})
	return d.turn
}

// ensureTurn returns the open turn. If an event arrives before messageStart, it opens a turn.
func (d *decoder) ensureTurn(event string) *protocol.Turn {
	if !d.turn.IsOpen() {
		d.openTurn().Find(stream.ProtocolViolation, "%s arrived before messageStart", stream.OwnFact(event))
	}
	return d.turn
}

func (d *decoder) startBlock(t *protocol.Turn, slot int32) {
	s := d.ev.start.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "toolUse":
			use := s.Value()
			c := openCall(t, slot, use)
			if input := use.Get("input"); input.IsPresent() && !input.Empty() && !input.EmptyObject() {
				appendArguments(c, input) // the protocol sends no input here, but a gateway might
			}
		case "toolResult":
			reportResult(t, s.Value())
		case "text", "image", "reasoningContent":
		default:
			d.Unknown("content block " + string(s.Key()))
		}
	}
}

func openCall(t *protocol.Turn, slot int32, use json.Value) *protocol.Call {
	info := stream.CallInfo{ID: use.Get("toolUseId").Text(), Name: use.Get("name").Text(), Kind: "function"}
	if use.Get("type").Is(serverToolUse) {
		info.Kind, info.RunByProvider = "server", true
	}
	return t.OpenCall(slot, info)
}

// reportResult reports the result of a call that the provider ran.
func reportResult(t *protocol.Turn, result json.Value) {
	t.AddResult(result.Get("toolUseId").Text(), "", result.Get("status").Is("error"))
}

func (d *decoder) readDelta(t *protocol.Turn, slot int32) {
	delta := &d.ev.delta
	c := t.FindCall(slot)
	if delta.input.IsPresent() {
		appendArguments(t.Call(slot), delta.input)
	} else if c != nil && !c.Sealed && (delta.text.HasText() || delta.thinking.HasText()) {
		c.Once(stream.ProtocolViolation, "text arrived in block %d, whose kind is toolUse: strict clients stop here", slot)
	}
	t.AppendText(delta.text)
	appendReasoning(t, slot, delta.thinking, delta.signature, delta.redacted)
	if delta.text == nil && delta.toolUse == nil && delta.reasoning == nil && delta.aside == nil {
		d.Unknown("delta " + string(delta.other))
	}
}

// appendArguments appends a delta of a call's arguments. According to the protocol, a delta is a string.
func appendArguments(c *protocol.Call, fragment json.Value) {
	if !fragment.IsString() {
		c.Once(protocol.ArgsObject,
			"the arguments are a JSON value, not a string of JSON: clients that expect the string fail")
	}
	c.Args(fragment)
}

// appendReasoning appends reasoning, its signature, and reasoning that only the provider can read, whichever of these
// are present.
func appendReasoning(t *protocol.Turn, block int32, text, signature, redacted json.Value) {
	t.AppendReasoning(block, text)
	t.AddSignature(block, signature)
	t.SignLast(redacted, "", stream.SignedHidden)
}

// stopMessage reads the stop reason. The turn stays open for the metadata, unless the metadata came first.
func (d *decoder) stopMessage() {
	if !d.turn.IsOpen() && d.stopped {
		d.Heartbeat() // the same event arrived again
		return
	}
	d.done = reportFinish(d.ensureTurn("messageStop"), d.ev.stopReason) == stream.FinishDone
	if d.stopped = true; d.counted {
		d.endTurn()
	}
}

// reportFinish reports a stop reason and returns its code. If the stop reason is null or missing, it reports
// nothing and returns FinishCut.
func reportFinish(t *protocol.Turn, stopReason json.Value) (code stream.Code) {
	reason := stopReason.Text()
	if reason == "" {
		return stream.FinishCut
	}
	if code = t.FinishAndCheck(reason, &endings); code == stream.FinishRefused {
		t.Find(stream.ProviderError, "%s", stream.OwnFact(refusals[reason]))
	}
	return code
}

// refusals are the messages for stop reasons that mean a refusal.
var refusals = map[string]string{
	"guardrail_intervened":   "a guardrail stopped the response",
	"content_filtered":       "the content filter stopped the response",
	"malformed_model_output": "the model's output was malformed and must not be used",
	"malformed_tool_use":     "the model's tool call was malformed and must not be run",
}

// readCompleteBlock reads a content block in a body. The block is a union: the name of its only field is its kind.
func (d *decoder) readCompleteBlock(t *protocol.Turn, slot int32, block json.Value) {
	s := block.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "text":
			t.AppendText(s.Value())
		case "toolUse":
			use := s.Value() // its input is an object, whose exact bytes are kept
			c := openCall(t, slot, use)
			if input := use.Get("input"); input.IsPresent() {
				if input.IsString() {
					c.Find(protocol.ArgsString, "the arguments are a string, not an object: Bedrock refuses a string in a history")
				}
				c.Args(input)
			}
			c.Seal()
		case "toolResult":
			reportResult(t, s.Value())
		case "reasoningContent":
			reasoning := s.Value()
			shown := reasoning.Get("reasoningText")
			appendReasoning(t, slot, shown.Get("text"), shown.Get("signature"), reasoning.Get("redactedContent"))
		case "citationsContent":
			parts := s.Value().Get("content").Scan()
			for ok := parts.Array(); ok; ok = parts.Element() {
				t.AppendText(parts.Value().Get("text"))
			}
		case "type", "image", "document", "video", "audio", "guardContent", "cachePoint", "searchResult":
		default:
			d.Unknown("content block " + string(s.Key()))
		}
	}
}

// reportUsage reports the usage, the tier and the routed model in a body or a metadata event.
func (d *decoder) reportUsage(t *protocol.Turn) {
	from := d.ev.usage
	u := stream.Usage{
		Input: protocol.CountOf(from.Get("inputTokens")), Output: protocol.CountOf(from.Get("outputTokens")),
		CacheRead: protocol.CountOf(from.Get("cacheReadInputTokens")), CacheWrite: protocol.CountOf(from.Get("cacheWriteInputTokens")),
	}
	// Normally, cached tokens are part of totalTokens but not of inputTokens. If inputTokens and outputTokens alone add
	// up to the total, inputTokens includes the cached tokens.
	total := protocol.CountOf(from.Get("totalTokens"))
	if inside := total.Reported && u.Input.N+u.Output.N == total.N; u.Input.Reported && !inside {
		u.Input.N += u.CacheRead.N + u.CacheWrite.N
	}
	details := from.Get("cacheDetails").Scan()
	for ok := details.Array(); ok; ok = details.Element() {
		if detail := details.Value(); detail.Get("ttl").Is("1h") {
			u.CacheWriteHour = protocol.CountOf(detail.Get("inputTokens"))
		}
	}
	if u.Tier = d.ev.tier.Get("type").Text(); d.ev.tier.IsString() {
		u.Tier = d.ev.tier.Text()
	}
	if u != (stream.Usage{}) {
		t.Usage(u)
	}
	if invoked := d.ev.trace.Get("promptRouter").Get("invokedModelId").Text(); invoked != "" {
		t.Update(stream.Opening{Model: invoked})
	}
}
