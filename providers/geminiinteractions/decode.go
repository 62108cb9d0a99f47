package geminiinteractions

import (
	"maps"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// decoder reads one exchange.
type decoder struct {
	*protocol.Out
	ev event
	interaction
}

// interaction is the state of a turn.
type interaction struct {
	turn     *protocol.Turn
	steps    map[int32]*step // open steps
	headless bool            // whether the beginning of the interaction is missing
	streamed bool            // whether a step or a delta has arrived as an event
	finished string          // status that ended the interaction; "" before its end; "none" for a snapshot
}

// step is a step that has started but not yet stopped.
type step struct {
	call   *protocol.Call // the call that the step opened, or nil
	answer string         // id of a call, if the step is its result
}

// Frame reads one event. The event's type is in the body. If the body has no type, the name of the
// server-sent event is the type.
func (d *decoder) Frame(f stream.Frame) error {
	if protocol.IsDone(f.Data) { // this marker is not part of the protocol, but gateways add it
		d.Close()
		return nil
	}
	ev := &d.ev
	if err := ev.shape.Read(f.Data); err != nil {
		return err
	}
	kind := ev.kind.OrDefault(f.Event)
	switch string(kind) {
	case "step.delta", "content.delta":
		d.ensureTurn("step.delta")
		d.readDelta(d.turn.ReadSlot(ev.index))
	case "step.start", "content.start":
		d.ensureTurn("step.start")
		d.streamed = true
		index := d.turn.ReadSlot(ev.index)
		d.readStep(d.newStep(index), index, ev.step, true)
	case "step.stop", "content.stop":
		d.ensureTurn("step.stop")
		d.stopStep(d.turn.ReadSlot(ev.index))
	case "interaction.created", "interaction.start":
		if d.turn.IsOpen() {
			d.turn.Find(protocol.ResponseRestarted, "another interaction began before this interaction ended")
			d.Close()
		}
		d.openTurn(ev.interaction)
	case "interaction.status_update", "interaction.completed", "interaction.complete":
		d.updateInteraction(string(kind))
	case "error":
		d.reportError()
	default:
		d.readNonEvent(string(kind), f.Data)
	}
	return nil
}

// readNonEvent reads a body, an error or an unknown event.
func (d *decoder) readNonEvent(kind string, data json.Value) {
	ev := &d.ev
	switch {
	case ev.kind.IsPresent():
	case ev.object.Is("interaction"), ev.steps.Kind() == '[' && ev.status.IsString():
		// The interaction was not streamed.
		d.Close()
		d.openTurn(data)
		d.readSteps(ev.steps)
		d.endInteraction(data)
		if d.finished == "" {
			d.finished = "none"
			d.turn.Find(responseUnfinished, "the interaction is still running: the body is a snapshot of the interaction so far")
		}
		d.Close()
		return
	case protocol.IsError(ev.err):
		d.reportError()
		return
	}
	if kind == "" {
		kind = "an object without event_type"
	}
	d.Unknown(kind)
}

func (d *decoder) openTurn(whole json.Value) {
	d.interaction = interaction{
		turn:  d.Open(stream.Opening{ID: whole.Get("id").Text(), Model: modelOf(whole)}),
		steps: map[int32]*step{},
	}
}

func modelOf(interaction json.Value) string {
	if m := interaction.Get("model").Text(); m != "" {
		return m
	}
	return interaction.Get("agent").Text()
}

// ensureTurn opens a turn for an event that arrived before the start of the interaction. A resumed stream begins in
// the middle of an interaction.
func (d *decoder) ensureTurn(event string) {
	if !d.turn.IsOpen() {
		d.openTurn(nil)
		d.headless = true
		d.turn.Find(stream.ProtocolViolation.WithSeverity(stream.Warn), "%s arrived before interaction.created: the stream was resumed, or its beginning is lost", stream.OwnFact(event))
	}
}

func (d *decoder) newStep(slot int32) *step {
	st := new(step)
	if len(d.steps) < stream.MaxCalls {
		d.steps[slot] = st
	}
	return st
}

// readStep reads a complete step or, if starts is set, the start of a step.
func (d *decoder) readStep(st *step, slot int32, s json.Value, starts bool) {
	kind := s.Get("type").Text()
	switch info, isCall := callOf(kind); {
	case isCall:
		if name := s.Get("name").Text(); name != "" {
			info.Name = name
		}
		info.ID, info.MCPServer, info.Signature = s.Get("id").Text(), s.Get("server_name").Text(), s.Get("signature").Text()
		st.call = d.turn.OpenCall(slot, info)
		// At the start of a step, {} is a placeholder that the deltas replace.
		if args := s.Get("arguments"); args.IsPresent() && !(starts && args.EmptyObject()) {
			st.call.Args(args)
		}
	case strings.HasSuffix(kind, "_result"):
		d.reportResult(st, s)
	case kind == "text":
		d.turn.AppendText(s.Get("text"))
	case !ignoredTypes[kind]:
		d.Unknown("step " + kind)
	}
	for item := range s.Get("summary").Elements() {
		d.turn.AppendReasoning(slot, item.Get("text"))
	}
	for item := range s.Get("content").Elements() {
		d.turn.AppendText(item.Get("text"))
	}
}

// reportResult reports the result of a call that the provider ran. A delta may omit the id of the call.
func (d *decoder) reportResult(st *step, s json.Value) {
	if id := s.Get("call_id").Text(); id != "" {
		st.answer = id
	}
	d.turn.AddResult(st.answer, "", s.Get("is_error").IsTrue())
}

func (d *decoder) readDelta(slot int32) {
	d.streamed = true
	delta, st := &d.ev.delta, d.steps[slot]
	switch kind := delta.kind; string(kind.Word()) {
	case "arguments_delta":
		if st == nil { // the turn reports that the call was never opened
			d.newStep(slot).call = d.turn.Call(slot)
		}
		d.turn.Call(slot).Args(delta.arguments)
	case "text":
		d.turn.AppendText(delta.text)
	case "thought_summary":
		d.turn.AppendReasoning(slot, delta.summary)
	case "thought_signature":
		if st != nil && st.call != nil {
			st.call.Meta(stream.CallInfo{Signature: delta.signature.Text()})
		}
	default:
		d.readCompleteDelta(st, slot, kind.Text())
	}
}

// readCompleteDelta reads a delta that is a call or a result. Calls that the provider runs arrive in such deltas. In
// older streams, all calls do.
func (d *decoder) readCompleteDelta(st *step, slot int32, kind string) {
	delta := d.ev.delta.whole
	_, isCall := callOf(kind)
	isResult := strings.HasSuffix(kind, "_result")
	if st == nil && (isCall || isResult) {
		st = d.newStep(slot)
	}
	switch {
	case isResult:
		d.reportResult(st, delta)
	case !isCall:
		if !ignoredTypes[kind] {
			d.Unknown("delta " + kind)
		}
	case st.call == nil:
		d.readStep(st, slot, delta, false)
	default:
		if news := (stream.CallInfo{ID: delta.Get("id").Text(), Name: delta.Get("name").Text()}); news != (stream.CallInfo{}) {
			st.call.Meta(news)
		}
		if args := delta.Get("arguments"); args.IsPresent() {
			st.call.Args(args)
		}
	}
}

func (d *decoder) stopStep(slot int32) {
	st := d.steps[slot]
	if st == nil {
		d.turn.Find(stream.ProtocolViolation, "step.stop arrived for step %d, which is not open", slot)
		return
	}
	delete(d.steps, slot)
	if st.call != nil {
		st.call.Seal()
	}
}

// updateInteraction reads an event about the interaction itself. After the end of the interaction, these
// events are only heartbeats.
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
	interaction := d.ev.interaction
	if !d.streamed {
		steps := interaction.Get("steps")
		if steps == nil {
			steps = interaction.Get("outputs")
		}
		if d.readSteps(steps); d.turn.HasClientCalls() {
			d.turn.Find(protocol.ItemNotStreamed,
				"the calls are only in the complete interaction at the end: clients that read the streamed steps never see the calls")
		}
	}
	d.endInteraction(interaction)
	d.Close()
}

// endInteraction reads the final state of an interaction, or a complete body.
func (d *decoder) endInteraction(interaction json.Value) {
	t := d.turn
	if m := modelOf(interaction); m != "" && m != t.Model {
		t.Model = m
		t.Update(stream.Opening{ID: interaction.Get("id").Text(), Model: m})
	}
	d.reportUsage(interaction.Get("usage"), interaction.Get("service_tier").Text())
	status := interaction.Get("status")
	if code, _ := endings.Codes.Of(status.Text()); code == stream.FinishDone {
		for _, slot := range slices.Sorted(maps.Keys(d.steps)) {
			if c := d.steps[slot].call; c != nil {
				c.Find(protocol.ItemDoneMissing,
					"the call has no step.stop: only the end of the interaction shows that the call is complete")
				c.Seal()
			}
		}
		clear(d.steps)
	}
	d.reportStatus(status)
}

// reportStatus reports a status as the finish reason. If the status is in_progress, missing or repeated, the event is
// only a heartbeat.
func (d *decoder) reportStatus(status json.Value) {
	word := status.Text()
	if word == "" || word == "in_progress" || word == d.finished {
		d.Heartbeat()
		return
	}
	d.finished = word
	if d.headless && word == endings.Calls { // the stream may have begun after the calls
		d.turn.Finish(word, endings.Codes[word])
	} else {
		d.turn.FinishAndCheck(word, &endings)
	}
}

// readSteps reads a complete list of steps.
func (d *decoder) readSteps(steps json.Value) {
	slot := int32(0)
	for s := range steps.Elements() {
		st := new(step)
		if d.readStep(st, slot, s, false); st.call != nil {
			st.call.Seal()
		}
		slot++
	}
}

// reportError reports an error event, or a body that is an error.
func (d *decoder) reportError() {
	if !d.turn.IsOpen() {
		d.openTurn(nil)
	}
	d.turn.Fail(protocol.GoogleErrorOf(d.ev.err))
}

// Close ends the turn. The turn is cut off if no status has ended the interaction.
func (d *decoder) Close() {
	if d.finished == "" {
		d.turn.Cut("the stream ended without interaction.completed")
	} else {
		d.turn.End()
	}
}

// reportUsage reports the usage. It adds the tool-use tokens to the input count, and the thoughts to the output
// count. It doesn't add the thoughts if the total shows that the output count already includes them.
func (d *decoder) reportUsage(u json.Value, tier string) {
	if u.Kind() != '{' {
		return
	}
	input, tool := protocol.CountOf(u.Get("total_input_tokens")), protocol.CountOf(u.Get("total_tool_use_tokens"))
	output, thought := protocol.CountOf(u.Get("total_output_tokens")), protocol.CountOf(u.Get("total_thought_tokens"))
	usage := stream.Usage{
		Input:     stream.Count{N: input.N + tool.N, Reported: input.Reported || tool.Reported},
		CacheRead: protocol.CountOf(u.Get("total_cached_tokens")),
		Output:    stream.Count{N: output.N + thought.N, Reported: output.Reported || thought.Reported},
		Reasoning: thought,
		Tier:      tier,
	}
	if total := protocol.CountOf(u.Get("total_tokens")); total.Reported && total.N == usage.Input.N+output.N {
		usage.Output.N = output.N
	}
	d.turn.Usage(usage)
}
