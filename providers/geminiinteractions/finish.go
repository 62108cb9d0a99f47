package geminiinteractions

import (
	"maps"
	"slices"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// completed takes an interaction that has ended, or a whole one.
func (d *decoder) completed(interaction dialect.Raw, emit func(stream.Event)) {
	if m := modelOf(interaction); m != "" && m != d.model {
		d.model = m
		emit(stream.Event{Kind: stream.TurnMeta, Turn: d.Number, More: &stream.Detail{ID: interaction.Get("id").Text(), Model: m}})
	}
	d.tell(interaction.Get("usage"), interaction.Get("service_tier").Text(), emit)
	status := interaction.Get("status")
	if code, known := finishCodes[status.Text()]; known && code == stream.FinishDone {
		d.sealRest(emit)
	}
	d.status(status, emit)
}

// status takes the state of the interaction; what ends it is the nearest this
// protocol has to a finish reason.
func (d *decoder) status(status dialect.Raw, emit func(stream.Event)) {
	word := status.Text()
	if word == "" || word == "in_progress" || word == d.finished {
		emit(stream.Event{Kind: stream.Heartbeat, Turn: d.Number})
		return
	}
	d.finished = word
	code, known := finishCodes[word]
	emit(stream.Event{Kind: stream.Finish, Turn: d.Number, Slot: stream.AllChoices, Text: word, Code: code})
	switch {
	case !known:
		d.Diagnose(emit, dialect.FinishUnknown, "status %q is not documented", word)
	case word == "requires_action" && d.calls == 0 && !d.headless:
		d.Diagnose(emit, dialect.FinishWithoutCall, "the status is requires_action, but no call came: it was dropped on the way")
	case word == "completed" && d.calls > 0:
		d.Diagnose(emit, dialect.FinishStop, "the status is completed although calls came: clients that wait for requires_action never run them")
	}
}

// body takes an interaction that was not streamed.
func (d *decoder) body(ev *wireEvent, data dialect.Raw, emit func(stream.Event)) {
	d.close(emit)
	d.begin(data, emit)
	d.whole(ev.steps, emit)
	d.completed(data, emit)
	if d.finished == "" {
		d.finished = "none"
		d.Diagnose(emit, responseUnfinished, "the interaction is still running: this is what there was of it")
	}
	d.close(emit)
}

// whole takes the steps of an interaction that come at once.
func (d *decoder) whole(list dialect.Raw, emit func(stream.Event)) {
	steps := list.Scan()
	for slot, ok := int32(0), steps.Array(); ok; slot, ok = slot+1, steps.Element() {
		s := steps.Value()
		st := &step{kind: s.Get("type").Text()}
		d.take(st, slot, s, false, emit)
		if st.called {
			emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: slot})
		}
	}
}

// notStreamed takes the steps of an interaction that has ended when none came
// before it.
func (d *decoder) notStreamed(interaction dialect.Raw, emit func(stream.Event)) {
	list := interaction.Get("steps")
	if list == nil {
		list = interaction.Get("outputs")
	}
	if d.streamed {
		return
	}
	if d.whole(list, emit); d.calls > 0 {
		d.Diagnose(emit, dialect.ItemNotStreamed,
			"the calls stand only in the interaction as a whole: clients that go by the steps of the stream miss them")
	}
}

// sealRest seals the calls that no step.stop came for.
func (d *decoder) sealRest(emit func(stream.Event)) {
	for _, index := range slices.Sorted(maps.Keys(d.steps)) {
		if st := d.steps[index]; st.called {
			emit(dialect.Diagnose(d.Number, int32(index), dialect.ItemDoneMissing,
				"no step.stop came for the call: only the end of the interaction says that it is complete"))
			emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: int32(index)})
		}
		delete(d.steps, index)
	}
}

// fail takes an error event, or an error that is the whole body.
func (d *decoder) fail(err dialect.Raw, emit func(stream.Event)) {
	if !d.Open {
		d.begin(nil, emit)
	}
	message := err.Get("message").Text()
	if message == "" {
		message = string(err.Append(nil))
	}
	id := err.Get("status").Text()
	if code := err.Get("code"); code.Given() && id == "" {
		id = string(code.Append(nil))
	}
	emit(stream.Event{Kind: stream.Failure, Turn: d.Number, Text: message, More: &stream.Detail{ID: id}})
}

// Close says that the bytes have ended: unless the interaction has, that is a cut.
func (d *decoder) Close(emit func(stream.Event)) { d.close(emit) }

func (d *decoder) close(emit func(stream.Event)) {
	if !d.Open {
		return
	}
	e := stream.Event{Kind: stream.TurnClose, Turn: d.Number}
	if d.finished == "" {
		e.Code, e.Text = stream.CloseCut, "the stream ended without interaction.completed"
	}
	emit(e)
	d.Open = false
}

// tell emits usage. Thoughts and the tokens of tool use are outside of output
// and input, as the total shows; where the total says otherwise it is believed.
func (d *decoder) tell(u dialect.Raw, tier string, emit func(stream.Event)) {
	if u.Kind() != '{' {
		return
	}
	input, tool := u.Get("total_input_tokens").Count(), u.Get("total_tool_use_tokens").Count()
	output, thought := u.Get("total_output_tokens").Count(), u.Get("total_thought_tokens").Count()
	usage := stream.Usage{
		Input:     stream.Count{N: input.N + tool.N, Told: input.Told || tool.Told},
		CacheRead: u.Get("total_cached_tokens").Count(),
		Output:    stream.Count{N: output.N + thought.N, Told: output.Told || thought.Told},
		Reasoning: thought,
		Tier:      tier,
	}
	if total := u.Get("total_tokens").Count(); total.Told && total.N == usage.Input.N+output.N {
		usage.Output.N = output.N
	}
	emit(stream.Event{Kind: stream.UsageEvent, Turn: d.Number, More: &stream.Detail{Usage: usage}})
}
