package gemini

import (
	"errors"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// decoder reads one exchange.
type decoder struct {
	*protocol.Out
	chunk chunk
	response
	path, from []byte // buffers for the path and the wire form of the current patch
}

// response is the state of a turn.
type response struct {
	turn          *protocol.Turn
	failed        bool
	promptRefused bool // whether the prompt was refused
	signed        bool // whether a thought signature has arrived

	choices []*candidateState
	byIndex map[int32]*candidateState // the same candidates, by index
	running int                       // candidates without a finish reason
	slots   int32                     // number of calls, which is also the next slot
	tokens  tokenCounts
	usage   stream.Usage // the usage as last reported
}

// candidateState is the state of a candidate, one of the alternative responses of a turn.
type candidateState struct {
	index    int32
	first    *protocol.Call // first call that the client is to run
	active   *call          // the call whose arguments are being streamed
	server   *protocol.Call // latest call that the provider runs
	finished bool
}

func newDecoder(o *protocol.Out) protocol.Decoder {
	d := &decoder{Out: o}
	d.chunk.bindShape()
	return d
}

func (d *decoder) Frame(f stream.Frame) error {
	data := json.Value(f.Data)
	switch {
	case protocol.IsDone(data): // this marker is not part of the protocol, but gateways add it
		d.Close()
		return nil
	case data.Kind() == '[':
		return d.readChunks(data)
	}
	return d.readChunk(data)
}

// readChunks reads an array of responses in one frame. If any element is not an object, it reads nothing and returns
// an error.
func (d *decoder) readChunks(data json.Value) error {
	check := data.Scan()
	for ok := check.Array(); ok; ok = check.Element() {
		if check.Kind() != '{' {
			return errors.New("an array with elements that are not objects")
		}
	}
	if err := check.End(); err != nil {
		return err
	}
	s := data.Scan()
	for ok := s.Array(); ok; ok = s.Element() {
		if err := d.readChunk(s.Value()); err != nil {
			return err // can't happen: the array was checked above
		}
	}
	return nil
}

func (d *decoder) readChunk(data json.Value) error {
	c := &d.chunk
	if err := c.shape.Read(data); err != nil {
		return err
	}
	if !c.isResponse() {
		d.Unknown("an object without candidates")
		return nil
	}
	d.ensureTurn(c)
	for i := range c.candidates.Len() {
		k := c.candidates.At(i)
		index := k.index.Int32()
		ch := d.byIndex[index]
		if ch == nil {
			ch = &candidateState{index: index}
			d.byIndex[index] = ch
			d.choices = append(d.choices, ch)
			d.running++
		}
		for j := range k.parts.Len() {
			d.readPart(ch, k.parts.At(j))
		}
		d.reportFinish(ch, k)
	}
	d.reportPromptFeedback(c.feedback)
	d.reportUsage(&c.usage)
	if protocol.IsError(c.err) {
		// The error is a complete body, an element of the array, or a frame of a stream whose HTTP status was already 200.
		d.failed = true
		d.flush()
		d.turn.Fail(protocol.GoogleErrorOf(c.err))
	}
	return nil
}

// ensureTurn opens a turn, or updates its id and model from a later chunk.
func (d *decoder) ensureTurn(c *chunk) {
	if d.turn.IsOpen() && d.isNext(c) {
		d.turn.Find(protocol.ResponseRestarted, "another response begins in the same body")
		d.Close()
	}
	if d.turn.IsOpen() {
		d.turn.UpdateIDs(c.id, c.model)
		return
	}
	d.response = response{
		turn:    d.Open(stream.Opening{ID: c.id.Text(), Model: c.model.Text()}),
		byIndex: map[int32]*candidateState{},
	}
}

// isNext reports whether c begins another response. Such a chunk has candidates and a new id, and all earlier
// candidates have finished.
func (d *decoder) isNext(c *chunk) bool {
	return d.isFinished() && d.turn.ID != "" && c.id.HasText() && !c.id.Is(d.turn.ID) && c.candidates.Len() > 0
}

func (d *decoder) readPart(ch *candidateState, p *part) {
	d.signed = d.signed || p.signature.HasText()
	kind, value := p.kindAndValue()
	if kind == partText {
		d.turn.Part(p.text, p.signature, p.thought.IsTrue())
		return
	}
	d.turn.Part(p.text, nil, p.thought.IsTrue()) // the signature belongs to the part's other content, not to the text
	d.turn.EndThinking()
	switch kind {
	case partCall:
		d.readFunctionCall(ch, p)
	case partCode:
		d.reportServerCall(ch, p, codeTool, value, value)
	case partTool:
		d.reportServerCall(ch, p, toolType(value), value, value.Get("args"))
	case partResult, partAnswer:
		// In older responses, results have no id and belong to the latest call that the provider ran.
		if id := value.Get("id").Text(); id == "" && ch.server != nil {
			ch.server.AddResult(hasFailed(kind, value))
		} else {
			d.turn.AddResult(id, "", hasFailed(kind, value))
		}
	case partNew:
		d.Unknown("part " + string(p.other))
	}
}

// Close ends the turn. In this protocol, only the end of the bytes ends a turn.
func (d *decoder) Close() {
	if !d.turn.IsOpen() {
		return
	}
	d.flush()
	if d.failed || !d.isFinished() {
		d.turn.Cut("the stream ended without a finishReason")
	} else {
		d.turn.End()
	}
}

// isFinished reports whether every candidate has finished, or whether none will follow because the prompt was
// refused.
func (d *decoder) isFinished() bool {
	return d.running == 0 && (len(d.choices) > 0 || d.promptRefused)
}

// reportFinish reports a candidate's finishReason, unless it is missing or unspecified.
func (d *decoder) reportFinish(ch *candidateState, k *candidate) {
	reason := enumWord(k.finish)
	if reason == "" || reason == "0" || reason == "FINISH_REASON_UNSPECIFIED" {
		return
	}
	code, known := protocol.GoogleFinishCodes.Of(reason)
	ch.flush()
	switch {
	case code == stream.FinishRefused && !ch.finished:
		d.reportRefusal(ch, reason, k.message)
	case ch.active != nil && code == stream.FinishDone:
		code = stream.FinishCut
		ch.active.Find(stream.FinishContradicts,
			"the finish reason is %s, but a delta announced more of this call: the call is cut off", stream.Fact(reason))
	}
	d.turn.FinishChoice(ch.index, reason, "", code)
	switch {
	case !known:
		d.turn.Once(protocol.FinishUnknown, "finish reason %q is not documented", stream.Fact(reason))
	case code == stream.FinishCut && protocol.GoogleFinishCodes[reason] == code && reason != "MAX_TOKENS" && reason != "2":
		d.turn.Once(stream.ProviderError, "a filter stopped the response: %s%s", stream.Fact(reason), afterColon(k.message))
	case code == stream.FinishDone && ch.first != nil && !d.signed && strings.Contains(d.turn.Model, "gemini-3"):
		ch.first.Once(protocol.SignatureMissing,
			"the first call has no thoughtSignature: Gemini 3 refuses a history without the signature")
	}
	if !ch.finished {
		d.running--
	}
	ch.active, ch.finished = nil, true
}

// signatureMissed is the finding about a finish reason that refuses the history in the request.
var signatureMissed = stream.ProviderError.WithCause(stream.Client)

// reportRefusal reports why the provider discarded a response. If it discarded a call, reportRefusal opens a call
// that shows the discarded one.
func (d *decoder) reportRefusal(ch *candidateState, reason string, message json.Value) {
	attempt := reason == malformedCall || reason == "10" || reason == unexpectedCall && message.HasText()
	if !attempt || ch.active != nil || reason == unexpectedCall && ch.first != nil {
		found := stream.ProviderError
		if reason == "MISSING_THOUGHT_SIGNATURE" { // "Request has at least one thought signature missing"
			found = signatureMissed
		}
		d.turn.Once(found, "refused: %s%s", stream.Fact(reason), afterColon(message))
		return
	}
	c := d.openNextCall(stream.CallInfo{
		Name: attemptName(message.Text()), Kind: "function", Choice: ch.index, Freeform: true, Discarded: true,
	})
	described := "without describing it"
	if message.HasText() {
		c.Args(message)
		described = "and toolscope shows the provider's description of it"
	}
	d.turn.Once(protocol.GenerationRejected, "%s: the provider discarded a call that the model wrote, %s", stream.Fact(reason), stream.Own(described))
}

// attemptName returns the name of the call in a finishMessage, or "" if there is none. The message quotes the model's
// output: print(default_api.NAME(…)) or call:default_api:NAME{…}.
func attemptName(message string) string {
	for i, c := range message {
		if c != '(' && c != '{' {
			continue
		}
		start := i
		for start > 0 && isNameByte(message[start-1]) {
			start--
		}
		name := message[start:i]
		_, api, isAPI := strings.Cut(name, "default_api")
		if isAPI {
			name = strings.TrimLeft(api, ".:")
		}
		if name = strings.TrimPrefix(name, "call:"); name != "" && !notNames[name] && (c == '(' || isAPI) {
			return name
		}
	}
	return ""
}

// notNames are words before a bracket that are not names of calls.
var notNames = map[string]bool{"print": true, "call": true, "calls": true}

// isNameByte reports whether a function's name, or the prefix in front of it, may contain c.
func isNameByte(c byte) bool {
	return c == '_' || c == '.' || c == ':' || c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// reportPromptFeedback reports that the prompt was refused. After a refusal, no candidates follow.
func (d *decoder) reportPromptFeedback(feedback json.Value) {
	if feedback.Kind() != '{' {
		return
	}
	reason, message := feedback.Get("blockReason"), feedback.Get("blockReasonMessage")
	if !reason.IsPresent() {
		reason, message = feedback.Get("block_reason"), feedback.Get("block_reason_message")
	}
	why := enumWord(reason)
	if why == "" || why == "0" || why == "BLOCK_REASON_UNSPECIFIED" || d.promptRefused {
		return
	}
	d.promptRefused = true
	d.turn.Finish(why, stream.FinishRefused)
	d.turn.Find(stream.ProviderError, "the prompt was refused: %s%s", stream.Fact(why), afterColon(message))
}

// enumWord returns the value of an enum: its name, or its number.
func enumWord(r json.Value) string {
	if _, isNumber := r.Int(); isNumber {
		return string(r)
	}
	return r.Text()
}

// afterColon returns a colon and the text, or an empty message if there is no text.
func afterColon(text json.Value) stream.Message {
	if !text.HasText() {
		return stream.Message{}
	}
	return stream.Messagef(": %s", text.Text())
}

// tokenCounts are the counts as the provider sent them. A count that is missing in a chunk keeps its last value.
type tokenCounts struct{ prompt, tool, cached, candidates, thoughts stream.Count }

// countOfKind returns the number of tokens of one modality in a list of counts.
func countOfKind(list json.Value, kind string) (n stream.Count) {
	each := list.Scan()
	for ok := each.Array(); ok; ok = each.Element() {
		if of := each.Value(); of.Get("modality").Is(kind) {
			if n = protocol.PositiveCount(of.Get("tokenCount")); !n.Reported {
				n = protocol.PositiveCount(of.Get("token_count"))
			}
		}
	}
	return n
}

// reportUsage reports the usage if it has changed.
func (d *decoder) reportUsage(u *usage) {
	t := &d.tokens
	told := false
	for _, c := range [...]struct {
		count *stream.Count
		now   json.Value
	}{{&t.prompt, u.prompt}, {&t.tool, u.tool}, {&t.cached, u.cached}, {&t.candidates, u.candidates}, {&t.thoughts, u.thoughts}} {
		if n := protocol.CountOf(c.now); n.Reported {
			*c.count, told = n, true
		}
	}
	if !told {
		return
	}
	usage := stream.Usage{
		Input:     stream.Count{N: t.prompt.N + t.tool.N, Reported: t.prompt.Reported || t.tool.Reported},
		CacheRead: t.cached,
		Output:    stream.Count{N: t.candidates.N + t.thoughts.N, Reported: t.candidates.Reported || t.thoughts.Reported},
		Reasoning: t.thoughts,
		Tier:      d.usage.Tier,

		InputAudio: countOfKind(u.promptKinds, "AUDIO"), CacheReadAudio: countOfKind(u.cachedKinds, "AUDIO"),
		OutputAudio: countOfKind(u.candidateKinds, "AUDIO"),
		Doubt:       d.usage.Doubt,
	}
	if countOfKind(u.candidateKinds, "IMAGE").Reported || countOfKind(u.candidateKinds, "VIDEO").Reported {
		usage.Doubt = "images and video are priced separately"
	}
	for i := range d.chunk.candidates.Len() {
		if g := d.chunk.candidates.At(i).grounding; g.Get("webSearchQueries").IsPresent() || g.Get("web_search_queries").IsPresent() {
			usage.Doubt = "Google's searches are billed in addition to the tokens"
		}
	}
	if v := u.tier.Text(); v != "" {
		usage.Tier = v
	}
	if v := tiers[string(u.traffic.Word())]; v != "" {
		usage.Tier = v
	}
	if usage != d.usage {
		d.usage = usage
		d.turn.Usage(usage)
	}
}
