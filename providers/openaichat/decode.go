package openaichat

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange.
type decoder struct {
	dialect.OneTurn
	id     string
	model  string
	tier   string // the service tier that answers
	failed bool

	choices []*choiceState
	byIndex map[int32]*choiceState // the same
	running int                    // choices without a finish reason
	calls   int32                  // calls of the turn: also the next slot
	usages  int                    // chunks that told usage

	names map[string]bool // of all calls of the exchange
	said  dialect.Told    // turn findings that were made once
	chunk chunk
	text  stream.Arena
	buf   []byte
	leak  dialect.Leak

	thinking bool // what came last is reasoning that is not signed yet
}

// choiceState is one of the alternative responses of a turn.
type choiceState struct {
	index   int32
	calls   []*call
	byIndex map[int64]*call
	byID    map[string]*call    // the first of each
	open    []*call             // not sealed
	ran     map[int64]*executed // by index in executed_tools
	finish  string
	finally bool // a finish reason has come
}

func (d *decoder) Decode(f stream.Frame, emit func(stream.Event)) error {
	if dialect.IsDone(f.Data) {
		d.close(stream.CloseEnd, emit)
		return nil
	}
	c := &d.chunk
	if err := c.parse(f.Data); err != nil {
		return err
	}
	if c.object.Is("error") && !c.err.Given() {
		c.err = dialect.Raw(f.Data) // Mistral and vLLM: the error is the whole body
	}
	if c.err.Given() && len(c.choices) == 0 {
		d.fail(c, emit)
		return nil
	}
	if !c.listed && !c.usage.Given() && !c.groqUsage.Given() {
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Turn(), Text: "a chunk without choices"})
		return nil
	}
	body, at := !d.Open && len(c.choices) == 0 && c.object.Is("chat.completion"), 0
	d.ensure(c, emit)
	for i := range c.choices {
		ch := &c.choices[i]
		d.choice(ch, c.calls[at:at+ch.calls], emit)
		at += ch.calls
		body = body || ch.whole && !c.object.Is("chat.completion.chunk")
	}
	d.usage(c, emit)
	if c.err.Given() {
		d.fail(c, emit)
	}
	if body && !d.failed {
		d.close(stream.CloseEnd, emit)
	}
	return nil
}

// ensure opens a turn, or takes what a later chunk says of it: Azure's first
// chunk has neither id nor model.
func (d *decoder) ensure(c *chunk, emit func(stream.Event)) {
	if d.Open && d.isNext(c) {
		d.Diagnose(emit, dialect.ResponseRestarted, "another response begins in the same body without a terminator between")
		d.close(stream.CloseEnd, emit)
	}
	if !d.Open {
		d.begin(c, emit)
		return
	}
	if id, model := dialect.Learn(&d.id, c.id), dialect.Learn(&d.model, c.model); id || model {
		emit(stream.Event{Kind: stream.TurnMeta, Turn: d.Number, More: &stream.Detail{ID: d.id, Model: d.model}})
	}
}

// isNext reports whether c begins another response: a new id and a role, after
// every choice has finished.
func (d *decoder) isNext(c *chunk) bool {
	if d.id == "" || !c.id.IsString() || c.id.Empty() || c.id.Is(d.id) {
		return false
	}
	return d.finished() && len(c.choices) > 0 && c.choices[0].role.Given() && !c.choices[0].finish.Given()
}

func (d *decoder) begin(c *chunk, emit func(stream.Event)) {
	d.Number++
	d.Open, d.failed, d.id, d.model = true, false, c.id.Text(), c.model.Text()
	d.tier = ""
	d.choices, d.byIndex, d.running, d.calls, d.usages = nil, map[int32]*choiceState{}, 0, 0, 0
	d.said, d.leak, d.thinking = nil, dialect.Leak{}, false
	if d.names == nil {
		d.names = map[string]bool{}
	}
	emit(stream.Event{Kind: stream.TurnOpen, Turn: d.Number, More: &stream.Detail{ID: d.id, Model: d.model}})
}

func (d *decoder) choice(ch *choice, calls []wireCall, emit func(stream.Event)) {
	st := d.state(ch.index)
	d.answer(ch, emit)
	d.executed(st, ch.executed, emit)
	for i := range calls {
		d.toolCall(st, &calls[i], emit)
	}
	if ch.finish.IsString() && !ch.finish.Empty() {
		d.finish(st, ch, emit)
	}
}

func (d *decoder) state(index dialect.Raw) *choiceState {
	n, _ := index.Int()
	st := d.byIndex[int32(n)]
	if st == nil {
		st = &choiceState{index: int32(n), byIndex: map[int64]*call{}, byID: map[string]*call{}}
		d.byIndex[st.index] = st
		d.choices = append(d.choices, st)
		d.running++
	}
	return st
}

// finish seals the calls of a choice: finish_reason is the only evidence the
// protocol has.
func (d *decoder) finish(st *choiceState, ch *choice, emit func(stream.Event)) {
	word := ch.finish.Text()
	code, known := finishCodes[word]
	if native := ch.native.Text(); code == stream.FinishDone && cutWords[native] {
		code = stream.FinishCut
		d.once(emit, finishRewritten,
			"finish_reason is %q, but the upstream said %q: the gateway rewrote it and the response is cut", word, native)
	}
	if !st.finally {
		d.running--
	}
	st.finally, st.finish = true, word
	if code != stream.FinishFailed {
		for _, k := range st.open {
			d.checkCall(k, code == stream.FinishCut, emit)
			emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: k.slot})
		}
		st.open = nil
	}
	emit(stream.Event{Kind: stream.Finish, Turn: d.Number, Slot: st.index, Text: word, Code: code})
	switch {
	case !known:
		d.once(emit, dialect.FinishUnknown, "finish reason %q is not documented", word)
	case word == "stop" && len(st.calls) > 0:
		d.once(emit, dialect.FinishStop, "finish_reason is stop although calls came: clients that wait for tool_calls never run them")
	case code == stream.FinishFailed:
		d.once(emit, dialect.FinishError, "the choice ended in an error")
	}
}

// fail takes an error object, inside a stream or as the whole body.
func (d *decoder) fail(c *chunk, emit func(stream.Event)) {
	if !d.Open {
		d.begin(c, emit)
	}
	d.failed = true
	err := c.err
	message := err.Get("message").Text()
	switch {
	case err.IsString():
		message = err.Text()
	case message == "" && c.message.IsString():
		message = c.message.Text()
	case message == "":
		message = string(err)
	}
	id := err.Get("type").Text()
	if code := err.Get("code"); code.Given() && (id == "" || code.IsString()) {
		id = string(code.Append(nil))
	}
	emit(stream.Event{Kind: stream.Failure, Turn: d.Number, Text: message, More: &stream.Detail{ID: id}})
	if failed := err.Get("failed_generation").Text(); failed != "" {
		d.Diagnose(emit, dialect.GenerationRejected, "the provider threw away what the model wrote: %s", failed)
	}
	if raw := err.Get("metadata").Get("raw").Text(); raw != "" {
		d.Diagnose(emit, upstreamError, "the upstream's own words: %s", raw)
	}
}

// Close says that the bytes have ended.
func (d *decoder) Close(emit func(stream.Event)) {
	if !d.Open {
		return
	}
	code := stream.CloseCut
	switch {
	case d.failed:
	case d.finished():
		code = stream.CloseEnd
		d.Diagnose(emit, stream.NoTerminator.As(stream.Info), "a finish reason came, but no [DONE]: usage may be missing")
	}
	d.close(code, emit)
}

// finished reports whether every choice has its finish reason.
func (d *decoder) finished() bool { return d.running == 0 && len(d.choices) > 0 }

func (d *decoder) close(code stream.Code, emit func(stream.Event)) {
	if !d.Open {
		return
	}
	if code == stream.CloseEnd && !d.failed {
		d.checkChoices(emit)
	}
	e := stream.Event{Kind: stream.TurnClose, Turn: d.Number, Code: code}
	if code == stream.CloseCut {
		e.Text = "the stream ended without a finish reason and without [DONE]"
	}
	emit(e)
	d.Open = false
}

// checkChoices compares finish reasons with the calls that came.
func (d *decoder) checkChoices(emit func(stream.Event)) {
	for _, st := range d.choices {
		switch {
		case len(st.calls) == 0 && (st.finish == "tool_calls" || st.finish == "function_call"):
			d.once(emit, dialect.FinishWithoutCall,
				"finish_reason is %s, but no call came: it was dropped on the way", st.finish)
		case len(st.calls) > 0 && !st.finally:
			d.once(emit, dialect.FinishMissing, "no finish_reason ever came: nothing says that the calls are complete")
			for _, k := range st.calls {
				d.checkCall(k, false, emit)
			}
		}
	}
}

// once makes a finding about the turn unless it was made before.
func (d *decoder) once(emit func(stream.Event), of *stream.Diagnosis, format string, args ...any) {
	if d.said.First(of) {
		d.Diagnose(emit, of, format, args...)
	}
}
