package cohere

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// readMessageObject takes what stands complete in a message: all of a body, and what message-start has.
func (d *decoder) readMessageObject(t *protocol.Turn, slot int32) {
	d.readContent(t)
	for v := range d.ev.message.calls.Elements() {
		var call protocol.FunctionCall
		call.Read(v)
		c := openCall(t, slot, &call)
		switch {
		case call.Args == nil:
			c.Find(protocol.ArgsMissing, "no arguments field came at all: meant as {}")
		case !call.Args.IsPresent() || call.Args.Is("null"):
			reportNullArguments(c)
		case call.Args.Empty():
			c.Find(protocol.ArgsEmpty, "the arguments are the empty string: meant as {}")
		}
		d.appendArguments(c, call.Args)
		c.Seal()
		slot++
	}
}

func (d *decoder) endMessage(kind []byte) {
	if !d.turn.IsOpen() && d.ended {
		d.Heartbeat() // once more
		return
	}
	d.ensureTurn(kind)
	d.endTurn()
}

// endTurn takes the finish reason, usage and error of a message that is complete.
func (d *decoder) endTurn() {
	d.ended = true
	reportUsage(d.turn, d.ev.usage)
	reportFinish(d.turn, d.ev.finish.Text(), d.ev.err)
	d.turn.End()
}

// reportFinish takes a finish reason, which is "" where it is null or absent, and an error beside it.
func reportFinish(t *protocol.Turn, reason string, err protocol.Raw) {
	code := endings.Codes[reason]
	if reason != "" {
		t.Finish(reason, code)
	}
	if err.IsPresent() && !err.Empty() {
		t.Fail(reason, errorText(err))
	}
	switch {
	case reason != "":
		t.CheckStop(reason, &endings)
	case t.HasClientCalls():
		t.Find(protocol.FinishMissing, "no finish_reason came: nothing says that the calls are complete")
	}
	if code == stream.FinishFailed {
		t.Find(protocol.FinishError, "the response ended in %s", reason)
	}
}

func errorText(err protocol.Raw) string {
	if message := err.Get("message").Text(); message != "" {
		return message
	}
	return string(err.Append(nil))
}

// reportUsage tells usage: what is billed, and beside it what was processed. The cached tokens are part of
// the latter, so they are told only where nothing says what is billed.
func reportUsage(t *protocol.Turn, u protocol.Raw) {
	billed, seen := u.Get("billed_units"), u.Get("tokens")
	n := stream.Usage{
		Input: billed.Get("input_tokens").Count(), Output: billed.Get("output_tokens").Count(),
		SeenInput: seen.Get("input_tokens").Count(), SeenOutput: seen.Get("output_tokens").Count(),
	}
	if !n.Input.Reported && !n.Output.Reported {
		n.Input, n.Output = n.SeenInput, n.SeenOutput
		n.CacheRead = u.Get("cached_tokens").Count()
	}
	if n != (stream.Usage{}) {
		t.Usage(n)
	}
}
