package cohere

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// messageEnd takes the finish reason and usage, and ends the turn.
func (d *decoder) messageEnd(ev *wireEvent, emit func(stream.Event)) {
	if !d.Open && d.ended {
		emit(stream.Event{Kind: stream.Heartbeat, Turn: stream.NoTurn}) // once more
		return
	}
	d.ensure("message-end", emit)
	d.ended = true
	d.tell(ev.usage, emit)
	d.finish(ev, emit)
	d.close(stream.CloseEnd, emit)
}

// doneWord takes [DONE], which gateways add after message-end.
func (d *decoder) doneWord(emit func(stream.Event)) {
	if d.Open {
		d.Diagnose(emit, dialect.FinishMissing, "[DONE] came without message-end: nothing says why the response ended")
	}
	d.close(stream.CloseEnd, emit)
}

// body takes a response that was not streamed.
func (d *decoder) body(ev *wireEvent, emit func(stream.Event)) {
	d.close(stream.CloseCut, emit)
	d.begin(ev, emit)
	d.ended = true
	d.words(&ev.message, emit)
	d.wholeCalls(ev.message.calls, 0, emit)
	d.tell(ev.usage, emit)
	d.finish(ev, emit)
	d.close(stream.CloseEnd, emit)
}

// wholeCalls takes a list of calls that are complete where they stand.
func (d *decoder) wholeCalls(list dialect.Raw, slot int32, emit func(stream.Event)) {
	s := list.Scan()
	for ok := s.Array(); ok; ok = s.Element() {
		var call dialect.FunctionCall
		call.Read(&s)
		d.callOpen(slot, &call, emit)
		switch {
		case !call.ArgsIn:
			d.about(emit, slot, dialect.ArgsMissing, "no arguments field came at all: meant as {}")
		case !call.Args.Given() || call.Args.Is("null"):
			d.nullArguments(slot, emit)
		case call.Args.Empty():
			d.about(emit, slot, dialect.ArgsEmpty, "the arguments are the empty string: meant as {}")
		}
		if call.Args.Given() {
			d.arguments(slot, call.Args, emit)
		}
		emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: slot})
		slot++
	}
}

// finish takes a finish reason, unless it is null or absent, and an error beside it.
func (d *decoder) finish(ev *wireEvent, emit func(stream.Event)) {
	reason := ev.finish.Text()
	code, known := finishCodes[reason]
	if reason != "" {
		emit(stream.Event{Kind: stream.Finish, Turn: d.Number, Slot: stream.AllChoices, Text: reason, Code: code})
	}
	if ev.err.Given() && !ev.err.Empty() {
		emit(stream.Event{Kind: stream.Failure, Turn: d.Number, Text: errorText(ev.err), More: &stream.Detail{ID: reason}})
	}
	switch {
	case reason == "" && d.calls > 0:
		d.Diagnose(emit, dialect.FinishMissing, "no finish_reason came: nothing says that the calls are complete")
	case reason == "":
	case !known:
		d.Diagnose(emit, dialect.FinishUnknown, "finish reason %q is not documented", reason)
	case reason == "TOOL_CALL" && d.calls == 0:
		d.Diagnose(emit, dialect.FinishWithoutCall, "the finish reason is TOOL_CALL, but no call came: it was dropped on the way")
	case reason == "COMPLETE" && d.calls > 0:
		d.Diagnose(emit, dialect.FinishStop, "the finish reason is COMPLETE although calls came: clients that wait for TOOL_CALL never run them")
	case code == stream.FinishFailed:
		d.Diagnose(emit, dialect.FinishError, "the response ended in %s", reason)
	}
}

func errorText(err dialect.Raw) string {
	if message := err.Get("message").Text(); message != "" {
		return message
	}
	return string(err.Append(nil))
}

// Close says that the bytes have ended: without message-end that is a cut.
func (d *decoder) Close(emit func(stream.Event)) {
	d.close(stream.CloseCut, emit)
}

func (d *decoder) close(code stream.Code, emit func(stream.Event)) {
	if !d.Open {
		return
	}
	e := stream.Event{Kind: stream.TurnClose, Turn: d.Number, Code: code}
	if code == stream.CloseCut {
		e.Text = "the stream ended without message-end"
	}
	emit(e)
	d.Open = false
}

// tell emits usage: what is billed, and beside it what was processed. The
// cached tokens are part of the latter, so they are told only where nothing says
// what is billed.
func (d *decoder) tell(u dialect.Raw, emit func(stream.Event)) {
	billed, seen := u.Get("billed_units"), u.Get("tokens")
	n := stream.Usage{
		Input: billed.Get("input_tokens").Count(), Output: billed.Get("output_tokens").Count(),
		SeenInput: seen.Get("input_tokens").Count(), SeenOutput: seen.Get("output_tokens").Count(),
	}
	if !n.Input.Told && !n.Output.Told {
		n.Input, n.Output = n.SeenInput, n.SeenOutput
		n.CacheRead = u.Get("cached_tokens").Count()
	}
	if n != (stream.Usage{}) {
		emit(stream.Event{Kind: stream.UsageEvent, Turn: d.Number, More: &stream.Detail{Usage: n}})
	}
}
