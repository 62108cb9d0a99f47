package geminiinteractions

import (
	"fmt"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// completed takes an interaction that has ended, or a whole one.
func (d *decoder) completed(interaction dialect.Raw, emit func(stream.Event)) {
	if m := modelOf(interaction); m != "" && m != d.model {
		d.model = m
		emit(stream.Event{Kind: stream.TurnMeta, Turn: d.number, More: &stream.Detail{ID: interaction.Get("id").Text(), Model: m}})
	}
	d.tell(interaction.Get("usage"), interaction.Get("service_tier").Text(), emit)
	d.status(interaction.Get("status"), emit)
}

// status takes the state of the interaction; what ends it is the nearest this
// protocol has to a finish reason.
func (d *decoder) status(status dialect.Raw, emit func(stream.Event)) {
	word := status.Text()
	if word == "" || word == "in_progress" || word == d.finished {
		emit(stream.Event{Kind: stream.Heartbeat, Turn: d.number})
		return
	}
	d.finished = word
	code, known := finishCodes[word]
	emit(stream.Event{Kind: stream.Finish, Turn: d.number, Slot: stream.AllChoices, Text: word, Code: code})
	switch {
	case !known:
		d.diagnose("FIN_UNKNOWN", stream.Info, fmt.Sprintf("status %q is not documented", word), emit)
	case word == "requires_action" && d.calls == 0 && !d.headless:
		d.diagnose("FIN_TOOLCALLS_NO_CALL", stream.Error, "the status is requires_action, but no call came: it was dropped on the way", emit)
	case word == "completed" && d.calls > 0:
		d.diagnose("FIN_STOP", stream.Info, "the status is completed although calls came: clients that wait for requires_action never run them", emit)
	}
}

// body takes an interaction that was not streamed.
func (d *decoder) body(ev *wireEvent, data dialect.Raw, emit func(stream.Event)) {
	d.close(emit)
	d.begin(data, emit)
	steps := ev.steps.Scan()
	for slot, ok := int32(0), steps.Array(); ok; slot, ok = slot+1, steps.Element() {
		s := steps.Value()
		st := &step{kind: s.Get("type").Text()}
		d.take(st, slot, s, false, emit)
		if st.called {
			emit(stream.Event{Kind: stream.Seal, Turn: d.number, Slot: slot})
		}
	}
	d.completed(data, emit)
	if d.finished == "" {
		d.finished = "none"
		d.diagnose("RESPONSE_UNFINISHED", stream.Info, "the interaction is still running: this is what there was of it", emit)
	}
	d.close(emit)
}

// fail takes an error event, or an error that is the whole body.
func (d *decoder) fail(err dialect.Raw, emit func(stream.Event)) {
	if !d.open {
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
	emit(stream.Event{Kind: stream.Failure, Turn: d.number, Text: message, More: &stream.Detail{ID: id}})
}

// Close says that the bytes have ended: unless the interaction has, that is a cut.
func (d *decoder) Close(emit func(stream.Event)) { d.close(emit) }

func (d *decoder) close(emit func(stream.Event)) {
	if !d.open {
		return
	}
	e := stream.Event{Kind: stream.TurnClose, Turn: d.number}
	if d.finished == "" {
		e.Code, e.Text = stream.CloseCut, "the stream ended without interaction.completed: the connection was cut"
	}
	emit(e)
	d.open = false
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
	emit(stream.Event{Kind: stream.UsageEvent, Turn: d.number, More: &stream.Detail{Usage: usage}})
}
