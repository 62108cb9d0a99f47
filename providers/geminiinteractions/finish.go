package geminiinteractions

import (
	"maps"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// updateInteraction takes an event about the interaction as a whole. One about an interaction that has ended
// already says nothing new.
func (d *decoder) updateInteraction(event string) {
	if d.turn != nil && !d.turn.IsOpen() {
		d.Heartbeat()
		return
	}
	d.ensureTurn(event)
	if event == "interaction.status_update" {
		d.reportStatus(d.ev.status)
		return
	}
	d.readUnstreamedSteps(d.ev.interaction)
	d.endInteraction(d.ev.interaction)
	d.Close()
}

// endInteraction takes an interaction that has ended, or a whole one.
func (d *decoder) endInteraction(interaction protocol.Raw) {
	t := d.turn
	if m := modelOf(interaction); m != "" && m != t.Model {
		t.Model = m
		t.Update(stream.Opening{ID: interaction.Get("id").Text(), Model: m})
	}
	d.reportUsage(interaction.Get("usage"), interaction.Get("service_tier").Text())
	status := interaction.Get("status")
	if code, known := endings.Codes[status.Text()]; known && code == stream.FinishDone {
		d.sealRest()
	}
	d.reportStatus(status)
}

// reportStatus takes the state of the interaction; what ends it is the nearest this protocol has to a
// finish reason.
func (d *decoder) reportStatus(status protocol.Raw) {
	word := status.Text()
	if word == "" || word == "in_progress" || word == d.finished {
		d.Heartbeat()
		return
	}
	d.finished = word
	if d.headless && word == endings.Calls { // the calls may have come before
		d.turn.Finish(word, endings.Codes[word])
	} else {
		d.turn.FinishAndCheck(word, &endings)
	}
}

// readResponse takes an interaction that was not streamed.
func (d *decoder) readResponse(data protocol.Raw) {
	d.Close()
	d.openTurn(data)
	d.readSteps(d.ev.steps)
	d.endInteraction(data)
	if d.finished == "" {
		d.finished = "none"
		d.turn.Find(responseUnfinished, "the interaction is still running: this is what there was of it")
	}
	d.Close()
}

// readSteps takes the steps of an interaction that come at once.
func (d *decoder) readSteps(steps protocol.Raw) {
	slot := int32(0)
	for s := range steps.Elements() {
		st := new(step)
		if d.readStep(st, slot, s, false); st.call != nil {
			st.call.Seal()
		}
		slot++
	}
}

// readUnstreamedSteps takes the steps of an interaction that has ended when none came before it.
func (d *decoder) readUnstreamedSteps(interaction protocol.Raw) {
	if d.streamed {
		return
	}
	steps := interaction.Get("steps")
	if steps == nil {
		steps = interaction.Get("outputs")
	}
	if d.readSteps(steps); d.turn.HasClientCalls() {
		d.turn.Find(protocol.ItemNotStreamed,
			"the calls stand only in the interaction as a whole: clients that go by the steps of the stream miss them")
	}
}

// sealRest seals the calls that no step.stop came for.
func (d *decoder) sealRest() {
	for _, slot := range slices.Sorted(maps.Keys(d.steps)) {
		if c := d.steps[slot].call; c != nil {
			c.Find(protocol.ItemDoneMissing,
				"no step.stop came for the call: only the end of the interaction says that it is complete")
			c.Seal()
		}
	}
	clear(d.steps)
}

// reportError takes an error event, or an error that is the whole body.
func (d *decoder) reportError() {
	if !d.turn.IsOpen() {
		d.openTurn(nil)
	}
	d.turn.Fail(protocol.GoogleErrorOf(d.ev.err))
}

// Close says that the bytes have ended: unless the interaction has, that is a cut.
func (d *decoder) Close() {
	if d.finished == "" {
		d.turn.Cut("the stream ended without interaction.completed")
	} else {
		d.turn.End()
	}
}

// reportUsage tells usage. Thoughts and the tokens of tool use are outside of output and input, as the
// total shows; where the total says otherwise it is believed.
func (d *decoder) reportUsage(u protocol.Raw, tier string) {
	if u.Kind() != '{' {
		return
	}
	input, tool := u.Get("total_input_tokens").Count(), u.Get("total_tool_use_tokens").Count()
	output, thought := u.Get("total_output_tokens").Count(), u.Get("total_thought_tokens").Count()
	usage := stream.Usage{
		Input:     stream.Count{N: input.N + tool.N, Reported: input.Reported || tool.Reported},
		CacheRead: u.Get("total_cached_tokens").Count(),
		Output:    stream.Count{N: output.N + thought.N, Reported: output.Reported || thought.Reported},
		Reasoning: thought,
		Tier:      tier,
	}
	if total := u.Get("total_tokens").Count(); total.Reported && total.N == usage.Input.N+output.N {
		usage.Output.N = output.N
	}
	d.turn.Usage(usage)
}
