package gemini

import (
	"errors"
	"fmt"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// decoder reads one exchange.
type decoder struct {
	dialect.OneTurn
	id     string
	model  string
	failed bool
	barred bool // the prompt was refused
	signed bool // a thought signature came
	mused  bool // the last thing that came is a thought without a signature

	choices []*choice
	byIndex map[int32]*choice // the same
	running int               // choices without a finish reason
	slots   int32             // calls of the turn: also the next slot
	tokens  tokenCounts
	usage   stream.Usage // last told

	said  dialect.Told // turn findings that were made once
	chunk chunk
	text  stream.Arena
	buf   []byte
}

// choice is one of the alternative responses of a turn, a candidate.
type choice struct {
	index    int32
	first    int32 // slot of its first call
	calls    int
	active   *call // the call whose arguments are being streamed
	server   int32 // slot of the last call that the provider runs
	finished bool
}

func (d *decoder) Decode(f stream.Frame, emit func(stream.Event)) error {
	data := dialect.Raw(f.Data)
	switch {
	case dialect.IsDone(data): // not of this protocol, but gateways add it
		d.Close(emit)
		return nil
	case data.Kind() == '[':
		return d.list(data, emit)
	}
	return d.response(data, emit)
}

// list takes an array of responses that came as one frame.
func (d *decoder) list(data dialect.Raw, emit func(stream.Event)) error {
	var elements []dialect.Raw
	s := data.Scan()
	for ok := s.Array(); ok; ok = s.Element() {
		if s.Kind() != '{' {
			return errors.New("an array of something else than objects")
		}
		elements = append(elements, s.Value())
	}
	if err := s.End(); err != nil {
		return err
	}
	for _, e := range elements {
		if err := d.response(e, emit); err != nil {
			return err // cannot be: it was scanned above
		}
	}
	return nil
}

func (d *decoder) response(data dialect.Raw, emit func(stream.Event)) error {
	c := &d.chunk
	if err := c.parse(data); err != nil {
		return err
	}
	if !c.listed && !c.err.Given() && !c.usage.Given() && !c.feedback.Given() && !c.model.Given() && !c.id.Given() {
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Turn(), Text: "an object without candidates"})
		return nil
	}
	d.ensure(c, emit)
	parts, patches := c.parts, c.patches
	for i := range c.candidates {
		k := &c.candidates[i]
		ch := d.choice(k.index)
		for j := range parts[:k.parts] {
			p := &parts[j]
			d.part(ch, p, patches[:p.call.patches], emit)
			patches = patches[p.call.patches:]
		}
		parts = parts[k.parts:]
		d.finish(ch, k, emit)
	}
	d.promptFeedback(c.feedback, emit)
	d.tell(c.usage, emit)
	if c.err.Given() {
		d.fail(c.err, emit)
	}
	return nil
}

// ensure opens a turn, or takes what a later chunk says of it.
func (d *decoder) ensure(c *chunk, emit func(stream.Event)) {
	if d.Open && d.isNext(c) {
		d.Diagnose(emit, dialect.ResponseRestarted, "another response begins in the same body")
		d.Close(emit)
	}
	if d.Open {
		if id, model := dialect.Learn(&d.id, c.id), dialect.Learn(&d.model, c.model); id || model {
			emit(stream.Event{Kind: stream.TurnMeta, Turn: d.Number, More: &stream.Detail{ID: d.id, Model: d.model}})
		}
		return
	}
	d.Number++
	d.Open, d.failed, d.barred, d.signed, d.mused = true, false, false, false, false
	d.id, d.model = c.id.Text(), c.model.Text()
	d.choices, d.byIndex, d.running, d.slots, d.said = nil, map[int32]*choice{}, 0, 0, nil
	d.tokens, d.usage = tokenCounts{}, stream.Usage{}
	emit(stream.Event{Kind: stream.TurnOpen, Turn: d.Number, More: &stream.Detail{ID: d.id, Model: d.model}})
}

// isNext reports whether c begins another response: one with candidates and a
// new id, after all there was has finished.
func (d *decoder) isNext(c *chunk) bool {
	return d.finished() && d.id != "" && c.id.Text() != "" && !c.id.Is(d.id) && len(c.candidates) > 0
}

func (d *decoder) choice(index dialect.Raw) *choice {
	n, _ := index.Int()
	ch := d.byIndex[int32(n)]
	if ch == nil {
		ch = &choice{index: int32(n), first: stream.NoSlot, server: stream.NoSlot}
		d.byIndex[ch.index] = ch
		d.choices = append(d.choices, ch)
		d.running++
	}
	return ch
}

func (d *decoder) part(ch *choice, p *part, patches []patch, emit func(stream.Event)) {
	signed := p.signature.IsString() && !p.signature.Empty()
	d.signed = d.signed || signed
	d.write(p, emit)
	if signed && p.kind == partText {
		d.sign(p, emit)
	}
	d.mused = d.mused && p.kind == partText
	switch p.kind {
	case partCall:
		d.functionCall(ch, p, patches, emit)
	case partCode:
		d.serverCall(ch, p, codeTool, p.value, emit)
	case partTool:
		d.serverCall(ch, p, toolType(p.value), p.value.Get("args"), emit)
	case partResult, partAnswer:
		d.answer(ch, p, emit)
	case partNew:
		emit(stream.Event{Kind: stream.Unknown, Turn: d.Number, Text: "part " + p.key})
	}
}

// write takes the text of a part, if it has any.
func (d *decoder) write(p *part, emit func(stream.Event)) {
	if d.buf = p.text.Append(d.buf[:0]); !p.text.IsString() || len(d.buf) == 0 {
		return
	}
	kind := stream.TextDelta
	if p.thought {
		kind = stream.ThinkDelta
	}
	d.mused = p.thought
	emit(stream.Event{Kind: kind, Turn: d.Number, Text: d.text.Hold(d.buf)})
}

// sign takes the signature of a text or a thought. Of a thought it may come in
// an empty part behind it. Behind a text such a part stands for itself: Google
// wants signed parts back as they were, not merged with others ("Thought
// signatures" at ai.google.dev).
func (d *decoder) sign(p *part, emit func(stream.Event)) {
	d.buf = p.signature.Append(d.buf[:0])
	e := stream.Event{Kind: stream.Signed, Turn: d.Number, Text: d.text.Hold(d.buf)}
	if (!p.text.IsString() || p.text.Empty()) && !(p.thought && d.mused) {
		e.Code = stream.SignedHidden
	}
	d.mused = false
	emit(e)
}

// Close says that the bytes have ended, which is all that ends this protocol.
func (d *decoder) Close(emit func(stream.Event)) {
	if !d.Open {
		return
	}
	for _, ch := range d.choices {
		d.flush(ch, emit)
	}
	e := stream.Event{Kind: stream.TurnClose, Turn: d.Number}
	if d.failed || !d.finished() {
		e.Code, e.Text = stream.CloseCut, "the stream ended without a finishReason"
	}
	emit(e)
	d.Open = false
}

// finished reports whether every candidate has finished, or none will come.
func (d *decoder) finished() bool {
	return d.running == 0 && (len(d.choices) > 0 || d.barred)
}

// once makes a finding about the turn unless it was made before.
func (d *decoder) once(emit func(stream.Event), of *stream.Diagnosis, format string, args ...any) {
	if d.said.First(of) {
		d.Diagnose(emit, of, format, args...)
	}
}

// about makes a finding about the call in slot.
func (d *decoder) about(emit func(stream.Event), slot int32, of *stream.Diagnosis, format string, args ...any) {
	emit(dialect.Diagnose(d.Number, slot, of, format, args...))
}

// word is an enum's value, by name or by number.
func word(r dialect.Raw) string {
	if _, isNumber := r.Int(); isNumber {
		return string(r)
	}
	return r.Text()
}

// quoted is what follows a colon in a message, if anything.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(": %s", text)
}
