package bedrock

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// readResponse reads a response that was not streamed.
func (d *decoder) readResponse() {
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
}

// readCompleteBlock reads a content block of a body. The block is a union: one field names its kind.
func (d *decoder) readCompleteBlock(t *protocol.Turn, slot int32, block protocol.Raw) {
	s := block.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "text":
			t.AppendText(s.Value())
		case "toolUse":
			readCompleteCall(t, slot, s.Value())
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

// readCompleteCall reads a call whose input is an object. The exact bytes of the object are kept.
func readCompleteCall(t *protocol.Turn, slot int32, use protocol.Raw) {
	c := openCall(t, slot, use)
	if input := use.Get("input"); input.IsPresent() {
		if input.IsString() {
			c.Find(protocol.ArgsString, "the arguments are a string, not an object: Bedrock refuses it in a history")
		}
		c.Args(input)
	}
	c.Seal()
}

// reportUsage reports the usage, tier and routed model in a body or a metadata event.
func (d *decoder) reportUsage(t *protocol.Turn) {
	u := readUsage(d.ev.usage)
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

// readUsage returns the wire's counts as stream.Usage. Cached tokens are included in totalTokens but
// not in inputTokens. If inputTokens and outputTokens alone make the total, inputTokens includes them.
func readUsage(u protocol.Raw) stream.Usage {
	n := stream.Usage{
		Input: u.Get("inputTokens").Count(), Output: u.Get("outputTokens").Count(),
		CacheRead: u.Get("cacheReadInputTokens").Count(), CacheWrite: u.Get("cacheWriteInputTokens").Count(),
	}
	total := u.Get("totalTokens").Count()
	if inside := total.Reported && n.Input.N+n.Output.N == total.N; n.Input.Reported && !inside {
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
