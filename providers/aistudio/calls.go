package aistudio

import (
	"fmt"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// call is what is remembered of a call to know it when it comes again.
type call struct {
	id, name, signature string
	args                string // as on the wire
	slot                int32
	chunk               int // that brought it first
	confirmed           bool
}

// part takes one part of a content. Its kind is told by which field is set,
// never by how many there are.
func (d *decoder) part(p value, choice int32, emit func(stream.Event)) {
	text, known := p.at(1), false
	if text.isString() {
		kind := stream.TextDelta
		if p.at(12).isTrue() {
			kind = stream.ThinkDelta
		}
		d.emitText(kind, text.raw(), emit)
		known = true
	}
	if fields := either(p, 10, 3); fields != nil {
		d.call(p, fields, choice, emit)
		known = true
	}
	if fields := either(p, 11, 4); fields != nil {
		emit(stream.Event{Kind: stream.Answer, Code: stream.AnswerOK, More: &stream.Detail{
			ID: fields.at(2).raw().Text(), Name: fields.at(0).raw().Text(),
		}})
		known = true
	}
	if code := p.at(8); code.isArray() {
		d.execution(code, choice, emit)
		known = true
	}
	if result := p.at(9); result.isArray() {
		d.executed(result, emit)
		known = true
	}
	if !known && !isEmpty(p) && !p.at(14).isString() {
		emit(stream.Event{Kind: stream.Unknown, Text: "part with " + fieldNames(p)})
	}
}

// either is the message at index i, or at the index where older notes saw it,
// if it has a name there.
func either(p value, i, older int) value {
	if v := p.at(i); v.isArray() {
		return v
	}
	if v := p.at(older); v.at(0).isString() {
		return v
	}
	return nil
}

// fieldNames are the indices at which p has something.
func fieldNames(p value) (names string) {
	i := 0
	for e := range p.all() {
		if !e.isNull() {
			names += fmt.Sprintf("[%d]", i)
		}
		i++
	}
	return names
}

// emitText emits text that is not shown as arguments, if there is any.
func (d *decoder) emitText(kind stream.EventKind, text dialect.Raw, emit func(stream.Event)) {
	if d.buf = text.Append(d.buf[:0]); len(d.buf) > 0 {
		emit(stream.Event{Kind: kind, Text: d.text.Hold(d.buf)})
	}
}

// call takes the call in part p.
func (d *decoder) call(p, fields value, choice int32, emit func(stream.Event)) {
	args := fields.at(1)
	c := call{
		id: fields.at(2).raw().Text(), name: fields.at(0).raw().Text(), args: string(args.raw()),
		signature: p.at(14).raw().Text(), chunk: d.chunks,
	}
	earlier := d.earlier(&c)
	if earlier != nil && c.id != "" {
		d.confirm(earlier, &c, emit)
		return
	}
	c.slot = d.openCall(stream.Detail{ID: c.id, Name: c.name, CallKind: "function", Choice: choice, Signature: c.signature}, emit)
	d.calls = append(d.calls, c)
	err := d.arguments(&c, args, emit)
	emit(stream.Event{Kind: stream.Seal, Slot: c.slot})
	switch {
	case args.isNull():
		d.about(c.slot, argsAbsent, "no arguments field came: meant as {}", emit)
	case err != nil:
		emit(dialect.Diagnose(0, c.slot, badStruct, stream.Error, "the arguments are shown as they came: "+err.Error()))
	case args.isArray():
		d.checkReading(c.slot, args, emit)
	}
	if n := p.len(); n != 11 {
		d.about(c.slot, signedPartMissed, fmt.Sprintf("the part has %d fields: clients that know a call by its 11 never see it", n), emit)
	}
	if earlier != nil {
		d.about(c.slot, dupChunks, "an earlier chunk had the same call, and neither has an id: one call sent twice, or two", emit)
	}
}

func (d *decoder) openCall(more stream.Detail, emit func(stream.Event)) (slot int32) {
	slot = d.slots
	d.slots++
	emit(stream.Event{Kind: stream.CallOpen, Slot: slot, More: &more})
	return slot
}

// arguments emits the object that the arguments mean, and what stands on the
// wire beside it; what means none as it came.
func (d *decoder) arguments(c *call, args value, emit func(stream.Event)) error {
	switch {
	case args.isNull():
		return nil
	case args.isString(), args.raw().Kind() == '{':
		d.buf = args.raw().Append(d.buf[:0])
		emit(stream.Event{Kind: stream.Args, Slot: c.slot, Text: d.text.Hold(d.buf)})
		return nil
	}
	err := errBadStruct
	if args.isArray() {
		err = d.args.read(args)
	}
	if err != nil {
		emit(stream.Event{Kind: stream.Args, Slot: c.slot, Text: c.args})
		return err
	}
	emit(stream.Event{Kind: stream.Args, Slot: c.slot, Text: d.text.Hold(d.args.text), More: &stream.Detail{Source: c.args}})
	return nil
}

// earlier is the same call in an earlier chunk.
func (d *decoder) earlier(c *call) *call {
	for i := range d.calls {
		e := &d.calls[i]
		if e.chunk < c.chunk && e.id == c.id && e.name == c.name && e.args == c.args {
			return e
		}
	}
	return nil
}

// confirm takes a call that an earlier chunk had.
func (d *decoder) confirm(earlier, c *call, emit func(stream.Event)) {
	if c.signature != "" && c.signature != earlier.signature {
		earlier.signature = c.signature
		emit(stream.Event{Kind: stream.CallMeta, Slot: earlier.slot, More: &stream.Detail{Signature: c.signature}})
	}
	if !earlier.confirmed {
		earlier.confirmed = true
		d.about(earlier.slot, dupChunks, "a later chunk has the same call again, with the same id: it is one call, and clients that count parts run it twice", emit)
	}
}

// attempt shows the call that the model wrote and the provider threw away.
func (d *decoder) attempt(choice int32, message value, emit func(stream.Event)) {
	slot := d.openCall(stream.Detail{CallKind: "function", Choice: choice, Freeform: true, Attempt: true}, emit)
	if d.buf = message.raw().Append(d.buf[:0]); message.isString() {
		emit(stream.Event{Kind: stream.Args, Slot: slot, Text: d.text.Hold(d.buf)})
	}
}

// codeTool is the name of the tool that runs code, which the wire does not name.
const codeTool = "code_execution"

// execution takes [language, code] that the provider runs.
func (d *decoder) execution(v value, choice int32, emit func(stream.Event)) {
	slot := d.openCall(stream.Detail{Name: codeTool, CallKind: "server", Server: true, Choice: choice, Freeform: true}, emit)
	d.buf = v.at(1).raw().Append(d.buf[:0])
	emit(stream.Event{Kind: stream.Args, Slot: slot, Text: d.text.Hold(d.buf)})
	emit(stream.Event{Kind: stream.Seal, Slot: slot})
}

// executed takes [outcome, output] of it.
func (d *decoder) executed(v value, emit func(stream.Event)) {
	const outcomeOK = 1
	code := stream.AnswerFailed
	if n, _ := v.at(0).integer(); n == outcomeOK {
		code = stream.AnswerOK
	}
	emit(stream.Event{Kind: stream.Answer, Code: code, More: &stream.Detail{Name: codeTool}})
}

// about makes an info finding about the call in slot.
func (d *decoder) about(slot int32, code, message string, emit func(stream.Event)) {
	emit(dialect.Diagnose(0, slot, code, stream.Info, message))
}
