package geminiinteractions

import (
	"maps"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// updateInteraction reads an event about the interaction itself. After the end of the interaction, such
// events are ignored.
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

// endInteraction reads an interaction that has ended, or a complete body.
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

// reportStatus reports the status of the interaction. The final status takes the place of a finish
// reason.
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

// readResponse reads an interaction that was not streamed.
func (d *decoder) readResponse(data protocol.Raw) {
	d.Close()
	d.openTurn(data)
	d.readSteps(d.ev.steps)
	d.endInteraction(data)
	if d.finished == "" {
		d.finished = "none"
		d.turn.Find(responseUnfinished, "the interaction is still running: the body is a snapshot of it")
	}
	d.Close()
}

// readSteps reads the steps of an interaction that come at once.
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

// readUnstreamedSteps reads the steps of an ended interaction if none was streamed.
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
			"the calls are only in the complete interaction at the end: clients that read the streamed steps never see them")
	}
}

// sealRest seals the calls without a step.stop.
func (d *decoder) sealRest() {
	for _, slot := range slices.Sorted(maps.Keys(d.steps)) {
		if c := d.steps[slot].call; c != nil {
			c.Find(protocol.ItemDoneMissing,
				"the call has no step.stop: only the end of the interaction says that the call is complete")
			c.Seal()
		}
	}
	clear(d.steps)
}

// reportError reports an error event, or a body that is an error.
func (d *decoder) reportError() {
	if !d.turn.IsOpen() {
		d.openTurn(nil)
	}
	d.turn.Fail(protocol.GoogleErrorOf(d.ev.err))
}

// Close ends the turn. It is cut off if the interaction has not ended.
func (d *decoder) Close() {
	if d.finished == "" {
		d.turn.Cut("the stream ended without interaction.completed")
	} else {
		d.turn.End()
	}
}

// reportUsage reports the usage. Thoughts are not included in output, and tool-use tokens not in input.
// If the total shows that thoughts are included, the total counts.
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
