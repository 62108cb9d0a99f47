package openaichat

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// decoder reads one exchange. Between responses, turn is the last one that ended.
type decoder struct {
	*protocol.Out
	chunk *chunk
	turn  *protocol.Turn
	response
	names map[string]bool // of all calls of the exchange
}

// response is the state of a turn.
type response struct {
	choices []*choiceState
	byIndex map[int32]*choiceState // the same choices
	running int                    // choices without a finish reason
	usages  int                    // chunks with usage
	tier    string                 // service tier of the response
	failed  bool
}

// choiceState is the state of a choice.
type choiceState struct {
	index    int32
	calls    []*call
	byIndex  map[int64]*call
	byID     map[string]*call        // the first call of each id
	function *call                   // the call sent as function_call
	open     []*call                 // calls that are not final
	ran      map[int64]*executedTool // by index in executed_tools
	finish   string
	finished bool // a finish reason has come
	isBody   bool // the current frame is a body
}

func newDecoder(o *protocol.Out) protocol.Decoder {
	return &decoder{Out: o, chunk: newChunk(), names: map[string]bool{}}
}

// Frame reads a chunk, or a body that was not streamed.
func (d *decoder) Frame(f stream.Frame) error {
	if protocol.IsDone(f.Data) {
		d.endTurn()
		return nil
	}
	c := d.chunk
	if err := c.shape.Read(f.Data); err != nil {
		return err
	}
	failure := c.err
	if c.object.Is("error") && !failure.IsPresent() {
		failure = protocol.Raw(f.Data) // Mistral and vLLM: the body itself is the error
	}
	choices := c.choices.Len()
	switch {
	case failure.IsPresent() && choices == 0:
		d.reportError(failure)
		return nil
	case !c.choices.IsPresent() && !c.usage.IsPresent() && !c.groqUsage.IsPresent():
		d.Unknown("a chunk without choices")
		return nil
	}
	whole := !d.turn.IsOpen() && choices == 0 && c.object.Is("chat.completion")
	d.ensureTurn()
	for i := range choices {
		body := d.readChoice(c.choices.At(i))
		whole = whole || body && !c.object.Is("chat.completion.chunk")
	}
	d.reportUsage()
	if failure.IsPresent() {
		d.reportError(failure)
	}
	if whole && !d.failed {
		d.endTurn()
	}
	return nil
}

// Close ends the stream. Without a finish reason and [DONE] the turn is cut off.
func (d *decoder) Close() {
	if d.turn.IsOpen() && d.isFinished() && !d.failed {
		d.turn.Find(stream.NoTerminator.WithSeverity(stream.Info), "a finish reason came without [DONE]: usage may be missing")
		d.endTurn()
	}
	d.turn.Cut("the stream ended without a finish reason and without [DONE]")
}

// ensureTurn opens a turn, or updates its id and model from a later chunk. Azure's first chunk has
// neither.
func (d *decoder) ensureTurn() {
	if d.turn.IsOpen() && d.isNext() {
		d.turn.Find(protocol.ResponseRestarted, "another response begins in the same body without a terminator between them")
		d.endTurn()
	}
	if d.turn.IsOpen() {
		d.turn.UpdateIDs(d.chunk.id, d.chunk.model)
	} else {
		d.openTurn()
	}
}

// isNext reports whether the chunk begins another response: a new id and a role, after every choice has
// finished.
func (d *decoder) isNext() bool {
	c := d.chunk
	if d.turn.ID == "" || !c.id.HasText() || c.id.Is(d.turn.ID) || !d.isFinished() || c.choices.Len() == 0 {
		return false
	}
	first := c.choices.At(0)
	says, _ := first.content()
	return says.role.IsPresent() && !first.finish.IsPresent()
}

func (d *decoder) openTurn() {
	d.response = response{byIndex: map[int32]*choiceState{}}
	d.turn = d.Open(stream.Opening{ID: d.chunk.id.Text(), Model: d.chunk.model.Text()})
	d.turn.WatchText()
}

// readChoice reads a choice. It reports whether the choice is complete, as in a body.
func (d *decoder) readChoice(c *choice) (whole bool) {
	st := d.ensureChoice(c.index.AsSlot())
	says, whole := c.content()
	st.isBody = whole
	d.readContent(says)
	d.readExecuted(st, says.executed)
	for i := range says.calls.Len() {
		d.readCall(st, says.calls.At(i))
	}
	if says.function.object.Kind() == '{' {
		d.readCall(st, &says.function)
	}
	if c.finish.HasText() {
		d.reportFinish(st, c)
	}
	return whole
}

func (d *decoder) ensureChoice(index int32) *choiceState {
	st := d.byIndex[index]
	if st == nil {
		st = &choiceState{index: index}
		if len(d.choices) < stream.MaxCalls { // a choice beyond this limit is forgotten after its chunk
			d.byIndex[index] = st
			d.choices = append(d.choices, st)
		}
		d.running++
	}
	return st
}

// reportFinish reports a finish reason. It makes the calls of the choice final: the protocol has no
// other evidence.
func (d *decoder) reportFinish(st *choiceState, c *choice) {
	word := c.finish.Text()
	code, known := finishCodes[word]
	if native := c.native.Text(); code == stream.FinishDone && cutWords[native] {
		code = stream.FinishCut
		d.turn.Once(finishRewritten,
			"the finish reason is %q, but the upstream's is %q: the gateway rewrote it, and the response is cut off", stream.Fact(word), stream.Fact(native))
	}
	if !st.finished {
		d.running--
	}
	st.finished, st.finish = true, word
	if code != stream.FinishFailed {
		for _, k := range st.open {
			k.checkCall(code == stream.FinishCut)
			k.Seal()
		}
		st.open = nil
	}
	d.turn.FinishChoice(st.index, word, "", code)
	switch {
	case !known:
		d.turn.Once(protocol.FinishUnknown, "finish reason %q is not documented", stream.Fact(word))
	case word == "stop" && len(st.calls) > 0:
		d.turn.Once(protocol.FinishStop, "the finish reason is stop, but the response has calls: clients that wait for tool_calls never run them")
	case code == stream.FinishFailed:
		d.turn.Once(protocol.FinishError, "the finish reason is an error: %s", stream.Fact(word))
	}
}

// reportError reports an error object, inside a stream or as the complete body.
func (d *decoder) reportError(err protocol.Raw) {
	if !d.turn.IsOpen() {
		d.openTurn()
	}
	d.failed = true
	message := err.Get("message").Text()
	switch beside := d.chunk.message; {
	case err.IsString():
		message = err.Text()
	case message == "" && beside.IsString():
		message = beside.Text()
	case message == "":
		message = string(err)
	}
	id := err.Get("type").Text()
	if code := err.Get("code"); code.IsPresent() && (id == "" || code.IsString()) {
		id = string(code.Append(nil))
	}
	d.turn.Fail(id, message)
	if failed := err.Get("failed_generation").Text(); failed != "" {
		d.turn.Find(protocol.GenerationRejected, "the provider discarded the model's output: %s", failed)
	}
	if raw := err.Get("metadata").Get("raw").Text(); raw != "" {
		d.turn.Find(upstreamError, "the upstream's own message: %s", raw)
	}
}

// isFinished reports whether every choice has its finish reason.
func (d *decoder) isFinished() bool { return d.running == 0 && len(d.choices) > 0 }

// endTurn ends the turn if it is open.
func (d *decoder) endTurn() {
	if d.turn.IsOpen() && !d.failed {
		d.checkChoices()
	}
	d.turn.End()
}

// checkChoices compares the finish reasons with the calls.
func (d *decoder) checkChoices() {
	for _, st := range d.choices {
		switch {
		case len(st.calls) == 0 && (st.finish == "tool_calls" || st.finish == "function_call"):
			d.turn.Once(protocol.FinishWithoutCall,
				"the finish reason is %s, but the response has no call: the call was lost on the way", stream.Fact(st.finish))
		case len(st.calls) > 0 && !st.finished:
			d.turn.Once(protocol.FinishMissing, "the response has no finish reason: nothing says that its calls are complete")
			for _, k := range st.calls {
				k.checkCall(false)
			}
		}
	}
}
