package cohere

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// readMessageObject reads the complete content of a message: in a body, or in message-start.
func (d *decoder) readMessageObject(t *protocol.Turn, slot int32) {
	d.readContent(t)
	for v := range d.ev.message.calls.Elements() {
		var call protocol.FunctionCall
		call.Read(v)
		c := openCall(t, slot, &call)
		switch {
		case call.Args == nil:
			c.Find(protocol.ArgsMissing, "the call has no arguments field: treated as {}")
		case !call.Args.IsPresent() || call.Args.Is("null"):
			reportNullArguments(c)
		case call.Args.Empty():
			c.Find(protocol.ArgsEmpty, "the arguments are an empty string: treated as {}")
		}
		d.appendArguments(c, call.Args)
		c.Seal()
		slot++
	}
}

func (d *decoder) endMessage(kind []byte) {
	if !d.turn.IsOpen() && d.ended {
		d.Heartbeat() // the event came twice
		return
	}
	d.ensureTurn(kind)
	d.endTurn()
}

// endTurn reads the finish reason, usage and error of a complete message.
func (d *decoder) endTurn() {
	d.ended = true
	reportUsage(d.turn, d.ev.usage)
	reportFinish(d.turn, d.ev.finish.Text(), d.ev.err)
	d.turn.End()
}

// reportFinish reports a finish reason, which is "" if it is null or missing, and an error.
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
		t.Find(protocol.FinishMissing, "the response has no finish reason: nothing says that its calls are complete")
	}
	if code == stream.FinishFailed {
		t.Find(protocol.FinishError, "the finish reason is an error: %s", stream.Fact(reason))
	}
}

func errorText(err protocol.Raw) string {
	if message := err.Get("message").Text(); message != "" {
		return message
	}
	return string(err.Append(nil))
}

// reportUsage reports the billed tokens and the processed tokens. Cached tokens are part of the
// processed ones, so they are reported only if no billed tokens are.
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
