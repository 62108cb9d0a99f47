package aigateway

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// decoder reads one exchange.
type decoder struct {
	*protocol.Out
	turn     *protocol.Turn
	calls    protocol.Calls
	finished bool
	failed   bool
}

// Frame reads one part, or a complete response.
func (d *decoder) Frame(f stream.Frame) error {
	if protocol.IsDone(f.Data) {
		d.turn.End()
		return nil
	}
	part := json.Value(f.Data)
	if err := json.Read(part); err != nil {
		return err
	}
	kind := part.Get("type").Text()
	if kind == "" && part.Get("content").Kind() == '[' {
		t := d.ensureTurn()
		for p := range part.Get("content").Elements() {
			d.readPart(t, p.Get("type").Text(), p)
		}
		response := part.Get("response")
		t.UpdateIDs(response.Get("id"), response.Get("modelId"))
		d.finishTurn(t, part)
		d.turn.End()
		return nil
	}
	switch kind {
	case "", "raw", "source", "file", "tool-approval-request":
		if err := part.Get("error"); kind == "" && protocol.IsError(err) {
			d.reportError(d.ensureTurn(), err)
			return nil
		}
		d.Unknown(kind)
	case "finish":
		if !d.finished {
			d.finishTurn(d.ensureTurn(), part)
		}
	default:
		switch {
		case d.turn.IsOpen() || partTypes[kind]:
			d.readPart(d.ensureTurn(), kind, part)
		case endTypes[kind]:
			d.Heartbeat()
		default:
			d.Unknown(kind)
		}
	}
	return nil
}

// endTypes are the types of known parts that don't open a turn.
var endTypes = map[string]bool{
	"tool-input-end": true, "text-start": true, "text-end": true, "reasoning-start": true, "reasoning-end": true,
}

// partTypes are the types of parts that open a turn if none is open.
var partTypes = map[string]bool{
	"stream-start": true, "response-metadata": true, "text-delta": true, "reasoning-delta": true, "error": true,
	"tool-input-start": true, "tool-input-delta": true, "tool-call": true, "tool-result": true,
}

func (d *decoder) ensureTurn() *protocol.Turn {
	if !d.turn.IsOpen() {
		d.turn, d.calls, d.finished, d.failed = d.Open(stream.Opening{}), protocol.Calls{}, false, false
	}
	return d.turn
}

func (d *decoder) readPart(t *protocol.Turn, kind string, part json.Value) {
	switch kind {
	case "stream-start":
		for w := range part.Get("warnings").Elements() {
			t.Find(modelWarning, "the model warns: %s", stream.Fact(protocol.Clip(w)))
		}
	case "response-metadata":
		t.UpdateIDs(part.Get("id"), part.Get("modelId"))
	case "text", "text-delta":
		t.AppendText(firstPresent(part, "delta", "text"))
	case "reasoning", "reasoning-delta":
		t.AppendReasoning(0, firstPresent(part, "delta", "text"))
	case "tool-input-start":
		d.ensureCall(t, part, "id")
	case "tool-input-delta":
		d.ensureCall(t, part, "id").Args(part.Get("delta"))
	case "tool-call":
		d.sealCall(d.ensureCall(t, part, "toolCallId"), part.Get("input"))
	case "tool-result":
		if !part.Get("preliminary").IsTrue() {
			t.AddResultContent(part.Get("toolCallId").Text(), part.Get("isError").IsTrue(), part.Get("result"))
		}
	case "error":
		d.reportError(t, part.Get("error"))
	case "tool-input-end", "text-start", "text-end", "reasoning-start", "reasoning-end":
		d.Heartbeat()
	default:
		t.Unknown(kind)
	}
}

func firstPresent(part json.Value, keys ...string) (v json.Value) {
	for _, key := range keys {
		if v = part.Get(key); v.IsPresent() {
			break
		}
	}
	return v
}

func (d *decoder) ensureCall(t *protocol.Turn, part json.Value, key string) *protocol.Call {
	info := stream.CallInfo{ID: part.Get(key).Text(), Name: part.Get("toolName").Text(), Kind: "function"}
	if part.Get("providerExecuted").IsTrue() {
		info.Kind, info.RunByProvider = "server", true
	}
	return d.calls.Ensure(t, info)
}

// sealCall reads the complete input, with which the SDK runs the call. This input replaces deltas that differ from
// it.
func (d *decoder) sealCall(c *protocol.Call, input json.Value) {
	differs := !c.Sealed && c.Bytes > 0 && !c.Matches(input)
	if differs {
		c.Rewrite(input.Append(nil), nil)
	}
	c.SealWhole(input)
	if differs {
		c.Find(protocol.DoneMismatch, "the input in tool-call differs from the earlier deltas: the SDK runs the call with the input in tool-call, %s", protocol.Clip(input))
	}
}

func (d *decoder) reportError(t *protocol.Turn, err json.Value) {
	id, message := protocol.ErrorOf(err)
	if name := err.Get("name"); id == "" {
		id = name.Text()
	}
	if err.IsString() {
		message = err.Text()
	}
	t.Fail(id, message)
	d.failed = true
}

// finishTurn reads the finish reason and the usage. The reason is either the SDK's word alone, or an object with the
// SDK's word and the provider's word.
func (d *decoder) finishTurn(t *protocol.Turn, part json.Value) {
	reason := part.Get("finishReason")
	word, shown := reason.Text(), reason.Text()
	if reason.Kind() == '{' {
		word = reason.Get("unified").Text()
		if shown = reason.Get("raw").Text(); shown == "" {
			shown = word
		}
	}
	code, _ := finishes.Codes.Of(word)
	if code == stream.FinishDone {
		for _, c := range t.OpenCalls() {
			c.Find(protocol.NotSealed, "the response ended without a tool-call part: the SDK doesn't run this call")
		}
	}
	t.Finish(shown, code)
	t.CheckStop(word, &finishes)
	d.finished = true
	u := part.Get("usage")
	in, out := u.Get("inputTokens"), u.Get("outputTokens")
	n := stream.Usage{Input: protocol.CountOf(in), Output: protocol.CountOf(out),
		CacheRead: protocol.CountOf(u.Get("cachedInputTokens")), Reasoning: protocol.CountOf(u.Get("reasoningTokens"))}
	if in.Kind() == '{' {
		n = stream.Usage{Input: protocol.CountOf(in.Get("total")), Output: protocol.CountOf(out.Get("total")),
			CacheRead: protocol.CountOf(in.Get("cacheRead")), CacheWrite: protocol.CountOf(in.Get("cacheWrite")),
			Reasoning: protocol.CountOf(out.Get("reasoning"))}
	}
	t.Usage(n)
}

// Close ends the turn at the end of the stream. If the finish part is missing, the turn is cut off.
func (d *decoder) Close() {
	switch {
	case d.finished:
		d.turn.End()
	case d.failed:
		d.turn.Cut("")
	default:
		d.turn.Cut("the stream ended without finish")
	}
}
