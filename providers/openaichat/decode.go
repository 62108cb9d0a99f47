package openaichat

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// decoder reads one exchange. Between responses, turn is the latest turn, which has ended.
type decoder struct {
	*protocol.Out
	chunk *chunk // nil before the first frame and after Close
	turn  *protocol.Turn
	response
	names map[string]bool // names of all calls so far in the exchange
}

// response is the state of a turn.
type response struct {
	choices []*choiceState
	byIndex map[int32]*choiceState // the same choices, by index
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
	byID     map[string]*call        // the first call with each id
	function *call                   // the call sent as function_call
	open     []*call                 // calls that are not final
	ran      map[int64]*executedTool // by index in executed_tools
	answered map[string]bool         // ids of calls whose results came in the stream
	finish   string
	finished bool // a finish reason has arrived
	early    bool // arguments arrived after the finish reason
	isBody   bool // the current frame is a body
	streamed bool // deltas with text or calls have arrived

	emptyLists int // number of deltas that contain only an empty list of calls
}

func newDecoder(o *protocol.Out) protocol.Decoder {
	return &decoder{Out: o, names: map[string]bool{}}
}

// Frame reads a chunk, or a body that was not streamed.
func (d *decoder) Frame(f stream.Frame) error {
	if protocol.IsDone(f.Data) {
		d.endTurn()
		return nil
	}
	if d.chunk == nil {
		d.chunk = chunks.Get().(*chunk)
	}
	c := d.chunk
	if err := c.shape.Read(f.Data); err != nil {
		return err
	}
	failure := c.err
	if c.object.Is("error") && !failure.IsPresent() {
		failure = json.Value(f.Data) // for Mistral and vLLM, the body itself is the error
	}
	if !protocol.IsError(failure) {
		failure = nil
	}
	choices := c.choices.Len()
	status, _ := c.baseStatus.Int()
	switch {
	case failure.IsPresent() && choices == 0:
		d.reportError(failure)
		return nil
	case status != 0 && choices == 0:
		d.reportStatus(status)
		return nil
	case !c.choices.IsPresent() && !c.usage.IsPresent() && !c.groqUsage.IsPresent():
		d.Unknown("a chunk without choices")
		return nil
	}
	if d.isLate() {
		d.reportUsage()
		d.turn.Once(lateChunk, "a chunk arrived after [DONE]: clients that stop at [DONE] don't see its finish reason or usage")
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
	} else if status != 0 {
		d.reportStatus(status)
	}
	if whole && !d.failed {
		d.endTurn()
	}
	return nil
}

// lateChunk is the finding about a chunk after the end of the response.
var lateChunk = stream.ProtocolViolation.WithSeverity(stream.Info)

// isLate reports whether the chunk belongs to the response that has ended: it has the same id, and only a finish reason
// or usage.
func (d *decoder) isLate() bool {
	c := d.chunk
	if d.turn == nil || d.turn.IsOpen() || d.failed || !c.id.Is(d.turn.ID) || c.object.Is("chat.completion") {
		return false
	}
	for i := range c.choices.Len() {
		says, whole := c.choices.At(i).content()
		if whole || says.role.IsPresent() || says.content.HasText() || says.callList.IsPresent() || says.function.object.IsPresent() ||
			says.reasoning.HasText() || says.reasoningContent.HasText() || says.reasoningText.HasText() {
			return false
		}
	}
	return true
}

// Close ends the stream. An open turn is cut off if it has an error, if a choice has no finish reason, or if
// arguments arrived after the finish reason. Otherwise only [DONE] is missing, and the turn ends normally.
func (d *decoder) Close() {
	isEarly := func(st *choiceState) bool { return st.early }
	switch {
	case !d.turn.IsOpen() || !d.isFinished() || d.failed:
		d.turn.Cut("the stream ended without a finish reason and without [DONE]")
	case slices.ContainsFunc(d.choices, isEarly):
		d.turn.Cut("the stream ended without [DONE], and its finish reasons arrived before the end of the arguments")
	default:
		d.turn.Find(stream.NoTerminator.WithSeverity(stream.Info), "a finish reason arrived without [DONE]: the usage may be missing")
		d.endTurn()
	}
	if d.chunk != nil {
		d.chunk.shape.Clear()
		chunks.Put(d.chunk)
		d.chunk = nil
	}
}

// ensureTurn opens a turn, or updates its id and model from a later chunk. Azure's first chunk has neither an
// id nor a model.
func (d *decoder) ensureTurn() {
	if d.turn.IsOpen() && d.isNext() {
		d.turn.Find(protocol.ResponseRestarted, "another response begins in the same body without a terminator between the two")
		d.endTurn()
	}
	if d.turn.IsOpen() {
		d.turn.UpdateIDs(d.chunk.id, d.chunk.model)
	} else {
		d.openTurn()
	}
}

// isNext reports whether the chunk begins another response. Such a chunk has a new id, a role and no finish
// reason, and comes after every choice has finished.
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
}

// readChoice reads a choice. It reports whether the choice is complete, as in a body.
func (d *decoder) readChoice(c *choice) (whole bool) {
	st := d.ensureChoice(d.turn.ReadSlot(c.index))
	says, whole := c.content()
	st.isBody = whole
	switch {
	case whole && st.streamed: // MiniMax's last chunk repeats the streamed message
		says, whole = &choiceContent{}, false
	case whole && d.chunk.object.Is("chat.completion.chunk") && (says.content.HasText() || says.calls.Len() > 0):
		d.turn.Once(messageInChunk, "a chunk has a message instead of a delta: clients that read the deltas lose its text and calls")
	case !whole:
		st.streamed = st.streamed || says.content.HasText() || says.calls.Len() > 0 || says.function.object.Kind() == '{'
	}
	if says.role.Is("tool") && says.resultOf.HasText() {
		// An agent that is offered as a model sends the results of its calls in its stream.
		id := says.resultOf.Text()
		d.turn.AddResultContent(id, false, says.content)
		if st.byID[id] != nil {
			if st.answered == nil {
				st.answered = map[string]bool{}
			}
			st.answered[id] = true
		}
	} else {
		appendText(d.turn, says.content)
		if appendText(d.turn, says.refusal); says.refusal.HasText() {
			d.turn.NoteRefusal()
		}
		d.readReasoning(says)
		d.turn.SignLast(thoughtSignature(says.extra), "", stream.SignedShown)
	}
	d.readExecuted(st, says.executed)
	for i := range says.calls.Len() {
		d.readCall(st, says.calls.At(i))
	}
	switch {
	case says.callList.Kind() == '{':
		d.turn.Once(stream.ProtocolViolation, "tool_calls is an object, not a list: clients that expect the list fail or see no call")
		var w wireCall
		if json.ShapeOf(w.shapeFields()...).Read(says.callList) == nil {
			d.readCall(st, &w)
		}
	case says.calls.Len() == 0:
		st.noteEmptyList(says)
	}
	if says.function.object.Kind() == '{' && !says.function.isStub() {
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
		if len(d.choices) < stream.MaxCalls { // a choice beyond this limit is not kept after its chunk
			d.byIndex[index] = st
			d.choices = append(d.choices, st)
		}
		d.running++
	}
	return st
}

// reportError reports an error object that is inside a stream or is the complete body.
func (d *decoder) reportError(err json.Value) {
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
	case message == "": // Mistral's message is an object with the problems
		message = cmp.Or(protocol.ValidationWords(err.Get("message").Get("detail")), string(err))
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

// reportStatus reports MiniMax's status of a failed response, which comes with the HTTP status 200.
func (d *decoder) reportStatus(status int64) {
	if !d.turn.IsOpen() {
		d.openTurn()
	}
	d.failed = true
	d.turn.Fail(strconv.FormatInt(status, 10), d.chunk.baseMessage.Text())
}

// isFinished reports whether every choice has its finish reason.
func (d *decoder) isFinished() bool { return d.running == 0 && len(d.choices) > 0 }

// endTurn ends the turn if it is open. If no error was reported, it first checks the choices.
func (d *decoder) endTurn() {
	if d.turn.IsOpen() && !d.failed {
		d.checkChoices()
	}
	d.turn.End()
}

// appendText appends text, which is a string or a list of parts with text or reasoning.
func appendText(t *protocol.Turn, v json.Value) {
	t.AppendText(v)
	for part := range v.Elements() {
		appendText(t, part.Get("text"))
		appendReasoning(t, part.Get("thinking"))
	}
}

// appendReasoning appends reasoning, which is a string or a list of parts.
func appendReasoning(t *protocol.Turn, v json.Value) {
	t.AppendReasoning(0, v)
	for part := range v.Elements() {
		appendReasoning(t, part.Get("text"))
		appendReasoning(t, part.Get("thinking"))
	}
}

// readReasoning reads reasoning from the fields in which providers send it.
func (d *decoder) readReasoning(says *choiceContent) {
	told := 0
	inPieces := false // the list repeats the field in several elements, each with its own signature
	for _, field := range [...]json.Value{says.reasoningContent, says.reasoning, says.reasoningText} {
		if !field.IsPresent() || field.Empty() {
			continue
		}
		if told++; told == 1 {
			if inPieces = repeatsField(says.reasoningDetails, field); !inPieces {
				appendReasoning(d.turn, field)
			}
		}
	}
	if told > 1 {
		d.turn.Once(reasoningTwice, "the same reasoning is in two fields: toolscope shows one of them")
	}
	for item := range says.reasoningDetails.Elements() {
		if told == 0 || inPieces {
			appendReasoning(d.turn, item.Get("text"))
			appendReasoning(d.turn, item.Get("summary"))
		}
		if item.Get("data").IsPresent() || item.Get("signature").IsPresent() {
			d.turn.Once(reasoningDetails, "the response has encrypted or signed reasoning: clients must send it back unchanged")
		}
		// A signature may come in a delta without text, and may belong to reasoning that is not shown.
		id := item.Get("id").Text()
		if data := item.Get("data"); data.HasText() {
			d.turn.SignLast(data, id, stream.SignedHidden)
		} else if signature := item.Get("signature"); signature.HasText() {
			d.turn.BeginThinking(0)
			d.turn.SignLast(signature, id, stream.SignedShown)
		}
	}
}

// repeatsField reports whether reasoning_details has several elements whose texts together equal field.
func repeatsField(details, field json.Value) bool {
	pieces := 0
	for range details.Elements() {
		pieces++
	}
	if pieces < 2 {
		return false
	}
	var said []byte
	for item := range details.Elements() {
		said = append(said, readDetail(item).Text...)
	}
	return bytes.Equal(said, field.Append(nil))
}

// reportUsage reads token counts from all fields in which providers send them. If counts arrive several times, the
// last ones are used: a sum would be too high for providers that repeat totals.
func (d *decoder) reportUsage() {
	c := d.chunk
	if c.tier.IsString() && !c.tier.Is(d.tier) {
		d.tier = c.tier.Text()
	}
	told := c.usage
	if !told.IsPresent() {
		told = c.groqUsage
	}
	for i := range c.choices.Len() {
		if u := c.choices.At(i).usage; u.IsPresent() && !told.IsPresent() {
			told = u
			d.turn.Once(usageInChoice, "the usage is inside a choice instead of the chunk itself")
		}
	}
	if told.Kind() != '{' {
		return
	}
	if d.usages++; d.usages == 3 {
		d.turn.Once(usageCumulative, "many chunks repeat the usage: toolscope uses the last one, because the sum would be too high")
	}
	t := readTotals(told)
	n := t.asUsage()
	n.Tier = d.tier
	n.CostUSD, n.CostReported = ownCost(told)
	why := t.describeConflict()
	if why == "" && c.groqUsage.Kind() == '{' && !t.equalCounts(readTotals(c.groqUsage)) {
		why = "usage and x_groq.usage differ"
	}
	if why != "" {
		n.Doubt = why
		d.turn.Once(usageUnclear, "%s: the billed amount is uncertain", stream.Own(why))
	}
	if told.Get("is_byok").IsTrue() {
		d.turn.Once(costByok, "the cost contains only the gateway's own charges: you pay the upstream separately, with another key")
	}
	d.turn.Usage(n)
}

// tokenTotals are the counts as the provider sent them.
type tokenTotals struct{ prompt, completion, total, read, write, reasoning, heard, spoken stream.Count }

func readTotals(u json.Value) tokenTotals {
	in, out := u.Get("prompt_tokens_details"), u.Get("completion_tokens_details")
	return tokenTotals{
		prompt: protocol.CountOf(u.Get("prompt_tokens")), completion: protocol.CountOf(u.Get("completion_tokens")), total: protocol.CountOf(u.Get("total_tokens")),
		read:      firstCount(in.Get("cached_tokens"), u.Get("prompt_cache_hit_tokens"), u.Get("cached_tokens")),
		write:     firstCount(in.Get("cache_write_tokens"), u.Get("cache_creation_input_tokens")),
		reasoning: firstCount(out.Get("reasoning_tokens"), u.Get("reasoning_tokens")),
		heard:     protocol.PositiveCount(in.Get("audio_tokens")), spoken: protocol.PositiveCount(out.Get("audio_tokens")),
	}
}

// hasSeparateReasoning reports whether completion_tokens excludes reasoning, as it does for xAI. Most providers
// include reasoning. If the total is reported, it shows whether reasoning is included. Otherwise, reasoning counts as
// separate if it exceeds the completion.
func (t tokenTotals) hasSeparateReasoning() bool {
	if t.total.Reported {
		return t.reasoning.N > 0 && t.prompt.N+t.completion.N+t.reasoning.N == t.total.N
	}
	return t.reasoning.N > t.completion.N
}

// asUsage returns the counts as stream.Usage. prompt_tokens includes the tokens read from the cache and the
// tokens written to it.
func (t tokenTotals) asUsage() stream.Usage {
	n := stream.Usage{Input: t.prompt, CacheRead: t.read, CacheWrite: t.write, Output: t.completion, Reasoning: t.reasoning, InputAudio: t.heard, OutputAudio: t.spoken}
	if t.hasSeparateReasoning() {
		n.Output = stream.Tokens(t.completion.N + t.reasoning.N)
	}
	return n
}

// describeConflict describes how the counts contradict each other. If they don't, it returns "".
func (t tokenTotals) describeConflict() string {
	switch {
	case t.prompt.Reported && t.read.N+t.write.N > t.prompt.N:
		return fmt.Sprintf("the %d tokens read from and written to the cache exceed the prompt's %d", t.read.N+t.write.N, t.prompt.N)
	case !t.total.Reported && t.reasoning.N > t.completion.N:
		return fmt.Sprintf("the %d reasoning tokens exceed the completion's %d, and no total shows whether the completion includes them", t.reasoning.N, t.completion.N)
	case !t.total.Reported || !t.prompt.Reported || !t.completion.Reported || t.prompt.N+t.completion.N == t.total.N || t.hasSeparateReasoning():
		return ""
	case t.reasoning.N > 0:
		return fmt.Sprintf("total_tokens is %d, but prompt and completion add up to %d, or to %d with reasoning", t.total.N, t.prompt.N+t.completion.N, t.prompt.N+t.completion.N+t.reasoning.N)
	}
	return fmt.Sprintf("total_tokens is %d, but prompt and completion add up to %d", t.total.N, t.prompt.N+t.completion.N)
}

func (t tokenTotals) equalCounts(other tokenTotals) bool {
	return t.prompt == other.prompt && t.completion == other.completion && t.total == other.total
}

// ownCost returns the cost that the provider reports. OpenRouter and similar gateways report dollars, and xAI reports
// ten-billionths of a dollar.
func ownCost(u json.Value) (usd float64, told bool) {
	if usd, told = u.Get("cost").Float(); told {
		return usd, true
	}
	ticks, told := u.Get("cost_in_usd_ticks").Float()
	return math.Round(ticks) / 1e10, told
}

func firstCount(fields ...json.Value) stream.Count {
	for _, f := range fields {
		if n := protocol.CountOf(f); n.Reported {
			return n
		}
	}
	return stream.Count{}
}
