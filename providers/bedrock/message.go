package bedrock

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// messageStop takes the stop reason. The turn stays open for the metadata,
// unless that came first.
func (d *decoder) messageStop(ev *wireEvent, emit func(stream.Event)) {
	if !d.Open && d.stopped {
		emit(stream.Event{Kind: stream.Heartbeat, Turn: stream.NoTurn}) // once more
		return
	}
	d.ensure(emit)
	d.stopped = true
	d.finish(ev.stopReason, emit)
	if d.counted {
		d.close(stream.CloseEnd, emit)
	}
}

// metadata takes usage. It is normally the last event.
func (d *decoder) metadata(ev *wireEvent, emit func(stream.Event)) {
	if !d.Open && d.stopped {
		d.tell(ev, emit) // once more
		return
	}
	d.ensure(emit)
	d.counted = true
	d.tell(ev, emit)
	if d.stopped {
		d.close(stream.CloseEnd, emit)
	}
}

// finish takes a stop reason, unless it is null or absent.
func (d *decoder) finish(stopReason dialect.Raw, emit func(stream.Event)) {
	reason := stopReason.Text()
	if reason != "" && d.Stop(reason, finishCodes, d.calls, emit) == stream.FinishRefused {
		d.Diagnose(emit, stream.ProviderError, "%s", refusals[reason])
	}
}

// refusals say what a stop reason that refuses the response means.
var refusals = map[string]string{
	"guardrail_intervened":   "a guardrail stopped the response",
	"content_filtered":       "the content filter stopped the response",
	"malformed_model_output": "the model's output was malformed and is not to be used",
	"malformed_tool_use":     "the model's tool call was malformed and is not to be run",
}

// body takes a response that was not streamed.
func (d *decoder) body(ev *wireEvent, emit func(stream.Event)) {
	if d.Open {
		d.close(stream.CloseCut, emit)
	}
	d.begin(emit)
	d.stopped, d.counted = true, true
	content := ev.output.Get("message").Get("content").Scan()
	for slot, ok := int32(0), content.Array(); ok; slot, ok = slot+1, content.Element() {
		d.wholeBlock(slot, content.Value(), emit)
	}
	d.tell(ev, emit)
	d.finish(ev.stopReason, emit)
	d.close(stream.CloseEnd, emit)
}

// wholeBlock takes a content block of a body: a union, one field says what it is.
func (d *decoder) wholeBlock(slot int32, block dialect.Raw, emit func(stream.Event)) {
	s := block.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "text":
			d.emitText(stream.TextDelta, s.Value(), emit)
		case "toolUse":
			d.wholeCall(slot, s.Value(), emit)
		case "toolResult":
			d.answer(s.Value(), emit)
		case "reasoningContent":
			reasoning := s.Value()
			shown := reasoning.Get("reasoningText")
			d.think(int64(slot), shown.Get("text"), shown.Get("signature"), reasoning.Get("redactedContent"), emit)
		case "citationsContent":
			parts := s.Value().Get("content").Scan()
			for ok := parts.Array(); ok; ok = parts.Element() {
				d.emitText(stream.TextDelta, parts.Value().Get("text"), emit)
			}
		case "type", "image", "document", "video", "audio", "guardContent", "cachePoint", "searchResult":
		default:
			emit(stream.Event{Kind: stream.Unknown, Turn: d.Number, Text: "content block " + string(s.Key())})
		}
	}
}

// wholeCall takes a call whose input is the object itself: its bytes are kept.
func (d *decoder) wholeCall(slot int32, use dialect.Raw, emit func(stream.Event)) {
	d.callOpen(slot, use, emit)
	if input := use.Get("input"); input.Given() {
		if input.IsString() {
			emit(dialect.Diagnose(d.Number, slot, dialect.ArgsString,
				"the arguments are a string, not an object: in history Bedrock refuses it"))
		}
		d.buf = input.Append(d.buf[:0])
		emit(stream.Event{Kind: stream.Args, Turn: d.Number, Slot: slot, Text: d.text.Hold(d.buf)})
	}
	emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: slot})
}

// Close says that the bytes have ended: without messageStop that is a cut.
func (d *decoder) Close(emit func(stream.Event)) {
	code := stream.CloseCut
	if d.stopped {
		code = stream.CloseEnd
	}
	if d.Open {
		d.close(code, emit)
	}
}

func (d *decoder) close(code stream.Code, emit func(stream.Event)) {
	e := stream.Event{Kind: stream.TurnClose, Turn: d.Number, Code: code}
	switch {
	case code == stream.CloseCut:
		e.Text = "the stream ended without messageStop"
	case !d.counted:
		d.Diagnose(emit, stream.NoTerminator.As(stream.Info), "messageStop came, but no metadata after it: usage is missing")
	}
	emit(e)
	d.Open = false
}

// tell emits what a body or a metadata event says of the cost.
func (d *decoder) tell(ev *wireEvent, emit func(stream.Event)) {
	u := readUsage(ev.usage)
	if u.Tier = ev.tier.Get("type").Text(); ev.tier.IsString() {
		u.Tier = ev.tier.Text()
	}
	if u != (stream.Usage{}) {
		emit(stream.Event{Kind: stream.UsageEvent, Turn: d.Number, More: &stream.Detail{Usage: u}})
	}
	if invoked := ev.trace.Get("promptRouter").Get("invokedModelId").Text(); invoked != "" {
		emit(stream.Event{Kind: stream.TurnMeta, Turn: d.Number, More: &stream.Detail{Model: invoked}})
	}
}

// readUsage brings the wire's counts to normal form. Cached tokens are not in
// inputTokens, but they are in totalTokens; where inputTokens and outputTokens
// alone make the total, inputTokens holds them.
func readUsage(u dialect.Raw) stream.Usage {
	n := stream.Usage{
		Input: u.Get("inputTokens").Count(), Output: u.Get("outputTokens").Count(),
		CacheRead: u.Get("cacheReadInputTokens").Count(), CacheWrite: u.Get("cacheWriteInputTokens").Count(),
	}
	total := u.Get("totalTokens").Count()
	if inside := total.Told && n.Input.N+n.Output.N == total.N; n.Input.Told && !inside {
		n.Input.N += n.CacheRead.N + n.CacheWrite.N
	}
	details := u.Get("cacheDetails").Scan()
	for ok := details.Array(); ok; ok = details.Element() {
		if detail := details.Value(); detail.Get("ttl").Is("1h") {
			n.CacheWriteHour = detail.Get("inputTokens").Count()
		}
	}
	return n
}
