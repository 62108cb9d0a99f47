package gemini

import (
	"errors"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// decoder reads one exchange.
type decoder struct {
	*protocol.Out
	chunk chunk
	response
	path, from []byte // of the current patch
}

// response is the state of a turn.
type response struct {
	turn          *protocol.Turn
	failed        bool
	promptRefused bool // the prompt was refused
	signed        bool // a thought signature came

	choices []*candidateState
	byIndex map[int32]*candidateState // the same candidates
	running int                       // candidates without a finish reason
	slots   int32                     // number of calls, which is also the next slot
	tokens  tokenCounts
	usage   stream.Usage // last reported
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
	data := protocol.Raw(f.Data)
	switch {
	case protocol.IsDone(data): // not of this protocol, but gateways add it
		d.Close()
		return nil
	case data.Kind() == '[':
		return d.readChunks(data)
	}
	return d.readChunk(data)
}

// readChunks reads an array of responses in one frame.
func (d *decoder) readChunks(data protocol.Raw) error {
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
			return err // can't happen: it was checked above
		}
	}
	return nil
}

func (d *decoder) readChunk(data protocol.Raw) error {
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
		ch := d.ensureCandidate(k.index.AsSlot())
		for j := range k.parts.Len() {
			d.readPart(ch, k.parts.At(j))
		}
		d.reportFinish(ch, k)
	}
	d.reportPromptFeedback(c.feedback)
	d.reportUsage(&c.usage)
	if c.err.IsPresent() {
		d.reportError(c.err)
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

// isNext reports whether c begins another response: it has candidates and a new id, and all earlier
// candidates have finished.
func (d *decoder) isNext(c *chunk) bool {
	return d.isFinished() && d.turn.ID != "" && c.id.HasText() && !c.id.Is(d.turn.ID) && c.candidates.Len() > 0
}

func (d *decoder) ensureCandidate(index int32) *candidateState {
	ch := d.byIndex[index]
	if ch == nil {
		ch = &candidateState{index: index}
		d.byIndex[index] = ch
		d.choices = append(d.choices, ch)
		d.running++
	}
	return ch
}

func (d *decoder) readPart(ch *candidateState, p *part) {
	d.signed = d.signed || p.signature.HasText()
	kind, value := p.kindAndValue()
	if kind == partText {
		d.turn.Part(p.text, p.signature, p.thought.IsTrue())
		return
	}
	d.turn.Part(p.text, nil, p.thought.IsTrue()) // the signature belongs to the rest of the part, not to the text
	d.turn.EndThinking()
	switch kind {
	case partCall:
		d.readFunctionCall(ch, p)
	case partCode:
		d.reportServerCall(ch, p, codeTool, value, value)
	case partTool:
		d.reportServerCall(ch, p, toolType(value), value, value.Get("args"))
	case partResult, partAnswer:
		d.reportResult(ch, kind, value)
	case partNew:
		d.Unknown("part " + string(p.other))
	}
}

// Close ends the turn: in this protocol only the end of the bytes does.
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

// isFinished reports whether every candidate has finished, or none will come.
func (d *decoder) isFinished() bool {
	return d.running == 0 && (len(d.choices) > 0 || d.promptRefused)
}
