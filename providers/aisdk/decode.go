package aisdk

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange. Between messages Number is that of the last one.
type decoder struct {
	dialect.OneTurn
	finished bool // finish came; only [DONE] or another start may follow
	ended    bool // that, an abort or an error: no call is left open by mistake
	slots    int32

	calls     map[string]*call // of the whole exchange: outputs may come a message later
	approvals map[string]*call // by approvalId
	chunk     chunk
	kind      []byte // of the chunk
	text      stream.Arena
	buf       []byte
}

func (d *decoder) Decode(f stream.Frame, emit func(stream.Event)) error {
	if dialect.IsDone(f.Data) {
		d.close(stream.CloseEnd, emit)
		return nil
	}
	c := &d.chunk
	if err := c.parse(f.Data); err != nil {
		return err
	}
	d.kind = d.kind[:0]
	if c.kind.IsString() {
		d.kind = c.kind.Append(d.kind)
	}
	switch string(d.kind) {
	case "tool-input-delta":
		d.inputDelta(c, emit)
	case "text-delta":
		d.say(stream.TextDelta, c.delta, emit)
	case "reasoning-delta":
		d.say(stream.ThinkDelta, c.delta, emit)
	case "start":
		d.start(c, emit)
	case "finish":
		d.finish(c, emit)
	case "abort":
		d.abort(c, emit)
	case "error":
		d.fail(c, emit)
	case "message-metadata":
		d.ensure(emit)
		d.metadata(c.metadata, emit)
	case "start-step", "finish-step", "text-start", "text-end", "reasoning-start", "reasoning-end",
		"source-url", "source-document", "file":
		d.ensure(emit)
	default:
		if !d.tool(c, emit) {
			emit(stream.Event{Kind: stream.Unknown, Turn: d.Turn(), Text: string(d.kind)})
		}
	}
	return nil
}

// start begins a message, unless one is under way: servers that merge streams
// say start again, and clients take only the new id from it.
func (d *decoder) start(c *chunk, emit func(stream.Event)) {
	id := c.messageID.Text()
	switch {
	case d.Open && d.finished:
		d.close(stream.CloseEnd, emit)
		d.begin(id, emit)
	case d.Open:
		d.Diagnose(emit, dialect.MessageRestarted.As(stream.Info), "a second start in one message: streams were merged, clients keep the last id")
		emit(stream.Event{Kind: stream.TurnMeta, Turn: d.Number, More: &stream.Detail{ID: id}})
	default:
		d.begin(id, emit)
	}
	d.metadata(c.metadata, emit)
}

func (d *decoder) begin(id string, emit func(stream.Event)) {
	d.Number++
	d.Open, d.finished, d.ended, d.slots = true, false, false, 0
	emit(stream.Event{Kind: stream.TurnOpen, Turn: d.Number, More: &stream.Detail{ID: id}})
}

// ensure opens a turn for a message whose start was left out.
func (d *decoder) ensure(emit func(stream.Event)) {
	if !d.Open {
		d.begin("", emit)
	}
}

// say emits text that is not empty.
func (d *decoder) say(kind stream.EventKind, text dialect.Raw, emit func(stream.Event)) {
	d.ensure(emit)
	if !text.IsString() {
		return
	}
	if d.buf = text.Append(d.buf[:0]); len(d.buf) > 0 {
		emit(stream.Event{Kind: kind, Turn: d.Number, Text: d.text.Hold(d.buf)})
	}
}

func (d *decoder) finish(c *chunk, emit func(stream.Event)) {
	if d.finished || !d.Open && d.Number >= 0 {
		return // said before
	}
	d.ensure(emit)
	d.finished, d.ended = true, true
	d.metadata(c.metadata, emit)
	word := c.finish.Text()
	code, known := finishCodes[word]
	if code == stream.FinishDone {
		d.checkCalls(emit)
	}
	if word == "" {
		return // version 5 does not say why
	}
	emit(stream.Event{Kind: stream.Finish, Turn: d.Number, Slot: stream.AllChoices, Text: word, Code: code})
	if !known {
		d.Diagnose(emit, dialect.FinishUnknown, "finish reason %q is not documented", word)
	}
}

// abort says that whoever runs the stream stopped it.
func (d *decoder) abort(c *chunk, emit func(stream.Event)) {
	if d.ended && !d.Open {
		return
	}
	d.ensure(emit)
	d.ended = true
	emit(stream.Event{Kind: stream.Finish, Turn: d.Number, Slot: stream.AllChoices, Text: "abort", Code: stream.FinishFailed})
	why := c.reason.Text()
	if why == "" {
		why = "no reason given"
	}
	d.Diagnose(emit, aborted, "the application stopped the response: %s", why)
}

func (d *decoder) fail(c *chunk, emit func(stream.Event)) {
	d.ensure(emit)
	d.ended = true
	emit(stream.Event{Kind: stream.Failure, Turn: d.Number, Text: c.errorText.Text(), More: new(stream.Detail)})
}

// metadata takes model and usage from an application's own metadata, where they
// have the names the SDK's guides give them.
func (d *decoder) metadata(m dialect.Raw, emit func(stream.Event)) {
	if model := m.Get("model").Text(); model != "" {
		emit(stream.Event{Kind: stream.TurnMeta, Turn: d.Number, More: &stream.Detail{Model: model}})
	}
	u := m.Get("totalUsage")
	if u.Kind() != '{' {
		u = m.Get("usage")
	}
	if !u.Get("inputTokens").Given() && !u.Get("outputTokens").Given() {
		return
	}
	in, out := u.Get("inputTokenDetails"), u.Get("outputTokenDetails")
	emit(stream.Event{Kind: stream.UsageEvent, Turn: d.Number, More: &stream.Detail{Usage: stream.Usage{
		Input:      u.Get("inputTokens").Count(),
		CacheRead:  first(in.Get("cacheReadTokens"), u.Get("cachedInputTokens")),
		CacheWrite: in.Get("cacheWriteTokens").Count(),
		Output:     u.Get("outputTokens").Count(),
		Reasoning:  first(out.Get("reasoningTokens"), u.Get("reasoningTokens")),
	}}})
}

func first(a, b dialect.Raw) stream.Count {
	if n := a.Count(); n.Told {
		return n
	}
	return b.Count()
}

// Close says that the bytes have ended.
func (d *decoder) Close(emit func(stream.Event)) {
	if !d.Open {
		return
	}
	if !d.finished {
		d.close(stream.CloseCut, emit)
		return
	}
	d.Diagnose(emit, stream.NoTerminator.As(stream.Info), "the message finished, but no [DONE] came")
	d.close(stream.CloseEnd, emit)
}

func (d *decoder) close(code stream.Code, emit func(stream.Event)) {
	if !d.Open {
		return
	}
	e := stream.Event{Kind: stream.TurnClose, Turn: d.Number, Code: code}
	switch {
	case code == stream.CloseCut && !d.ended:
		e.Text = "the stream ended without finish and without [DONE]"
	case code == stream.CloseEnd && !d.ended:
		d.checkCalls(emit)
	}
	emit(e)
	d.Open = false
}
