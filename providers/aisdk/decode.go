package aisdk

import (
	"cmp"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange. Between messages turn is the one that ended last.
type decoder struct {
	*dialect.Out
	chunk    chunk
	turn     *dialect.Turn
	finished bool    // finish came; only [DONE] or another start may follow
	ended    bool    // finish, an abort or an error came: no open call is a mistake
	order    []*call // of the message: the slot of each is its place

	calls     map[string]*call // of the whole exchange: outputs may come a message later
	approvals map[string]*call // by approvalId
}

func newDecoder(o *dialect.Out) dialect.Decoder {
	d := &decoder{Out: o, calls: map[string]*call{}, approvals: map[string]*call{}}
	d.chunk.bind()
	return d
}

// Frame reads one chunk. Any that is known belongs to a message, whose start may be left out.
func (d *decoder) Frame(f stream.Frame) error {
	if dialect.IsDone(f.Data) {
		d.done()
		return nil
	}
	c := &d.chunk
	if err := c.shape.Read(f.Data); err != nil {
		return err
	}
	switch kind := c.kind.Or(nil); string(kind) {
	case "tool-input-start":
		d.openCall(d.during())
	case "tool-input-delta":
		d.inputDelta(d.during())
	case "tool-input-available":
		d.available(d.during())
	case "tool-input-error":
		d.rejected(d.during())
	case "tool-approval-request":
		d.askApproval()
	case "tool-approval-response":
		d.approval()
	case "tool-output-available", "tool-output-error", "tool-output-denied":
		d.output(string(kind))
	case "text-delta":
		d.during().Text(c.delta)
	case "reasoning-delta":
		d.during().Think(0, c.delta)
	case "start":
		d.start()
	case "finish":
		d.finish()
	case "abort":
		d.abort()
	case "error":
		d.during().Fail("", c.errorText.Text())
		d.ended = true
	case "message-metadata":
		d.metadata(d.during())
	case "start-step", "finish-step", "text-start", "text-end", "reasoning-start", "reasoning-end",
		"source-url", "source-document", "file":
		d.during()
	default:
		d.Unknown(string(kind))
	}
	return nil
}

// during is the open turn; a message whose start was left out opens one.
func (d *decoder) during() *dialect.Turn {
	if !d.turn.IsOpen() {
		d.begin("")
	}
	return d.turn
}

func (d *decoder) begin(id string) {
	d.finished, d.ended, d.order = false, false, nil
	d.turn = d.Open(stream.Opening{ID: id})
}

// start begins a message, unless one is under way: servers that merge streams say start again, and
// clients take only the new id from it.
func (d *decoder) start() {
	id := d.chunk.messageID.Text()
	if d.finished {
		d.done()
	}
	if d.turn.IsOpen() {
		d.turn.Find(dialect.MessageRestarted.As(stream.Info), "a second start in one message: streams were merged, clients keep the last id")
		d.turn.Meta(stream.Opening{ID: id})
	} else {
		d.begin(id)
	}
	d.metadata(d.turn)
}

func (d *decoder) finish() {
	if d.finished || d.turn != nil && !d.turn.IsOpen() {
		return // said before
	}
	t := d.during()
	d.finished, d.ended = true, true
	d.metadata(t)
	word := d.chunk.finish.Text()
	code, known := finishCodes[word]
	if code == stream.FinishDone {
		d.checkCalls()
	}
	if word == "" {
		return // version 5 does not say why
	}
	t.Finish(word, code)
	if !known {
		t.Find(dialect.FinishUnknown, "finish reason %q is not documented", word)
	}
}

// abort says that whoever runs the stream stopped it.
func (d *decoder) abort() {
	if d.ended && !d.turn.IsOpen() {
		return
	}
	t := d.during()
	d.ended = true
	t.Finish("abort", stream.FinishFailed)
	t.Find(aborted, "the application stopped the response: %s", cmp.Or(d.chunk.reason.Text(), "no reason given"))
}

// metadata takes model and usage from an application's own metadata, where they have the names the
// SDK's guides give them.
func (d *decoder) metadata(t *dialect.Turn) {
	m := d.chunk.metadata
	if model := m.Get("model").Text(); model != "" {
		t.Meta(stream.Opening{Model: model})
	}
	u := m.Get("totalUsage")
	if u.Kind() != '{' {
		u = m.Get("usage")
	}
	if !u.Get("inputTokens").Given() && !u.Get("outputTokens").Given() {
		return
	}
	in, out := u.Get("inputTokenDetails"), u.Get("outputTokenDetails")
	t.Usage(stream.Usage{
		Input:      u.Get("inputTokens").Count(),
		CacheRead:  first(in.Get("cacheReadTokens"), u.Get("cachedInputTokens")),
		CacheWrite: in.Get("cacheWriteTokens").Count(),
		Output:     u.Get("outputTokens").Count(),
		Reasoning:  first(out.Get("reasoningTokens"), u.Get("reasoningTokens")),
	})
}

func first(a, b dialect.Raw) stream.Count {
	if n := a.Count(); n.Told {
		return n
	}
	return b.Count()
}

// done ends the message as the protocol does.
func (d *decoder) done() {
	if d.turn.IsOpen() && !d.ended {
		d.checkCalls()
	}
	d.turn.End()
}

// Close says that the bytes have ended.
func (d *decoder) Close() {
	switch {
	case !d.turn.IsOpen():
	case d.finished:
		d.turn.Find(stream.NoTerminator.As(stream.Info), "the message finished, but no [DONE] came")
		d.turn.End()
	case d.ended:
		d.turn.Cut("")
	default:
		d.turn.Cut("the stream ended without finish and without [DONE]")
	}
}
