package aistudio

import (
	"fmt"
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// call is what is remembered of a call to know it when it comes again.
type call struct {
	slot      int32
	chunk     int // that brought it first
	signature string
	confirmed bool
}

// callKey is what is the same when a call comes again.
type callKey struct {
	id, name string
	args     string // as on the wire
}

// part takes one part of a content. Its kind is told by which field is set,
// never by how many there are.
func (d *decoder) part(p value, choice int32, emit func(stream.Event)) {
	known := d.content(p, emit)
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

// content takes the text of a part, and the signature of one that is text or
// nothing else; false if it has no text. As in Gemini's own protocol an empty
// part signs the thought before it, but behind a text it stands for itself.
func (d *decoder) content(p value, emit func(stream.Event)) bool {
	text, signature, thought := p.at(1), p.at(14).raw(), p.at(12).isTrue()
	said := text.isString() && !text.raw().Empty()
	if said {
		kind := stream.TextDelta
		if thought {
			kind = stream.ThinkDelta
		}
		d.emitText(kind, text.raw(), emit)
	}
	switch {
	case !text.isString() && !onlySigned(p):
		d.mused = false
	case signature.IsString() && !signature.Empty():
		d.buf = signature.Append(d.buf[:0])
		e := stream.Event{Kind: stream.Signed, Text: d.text.Hold(d.buf)}
		if !said && !(thought && d.mused) {
			e.Code = stream.SignedHidden
		}
		d.mused = false
		emit(e)
	case said:
		d.mused = thought
	}
	return text.isString()
}

// onlySigned reports whether a part has a signature, is perhaps a thought, and
// holds nothing else.
func onlySigned(p value) bool {
	i, only := 0, p.at(14).isString()
	for e := range p.all() {
		only = only && (e.isNull() || i == 12 || i == 14)
		i++
	}
	return only
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

// otherFields are the known fields of a part that are neither text nor a call.
var otherFields = map[int]string{2: "inlineData", 5: "fileData"}

// fieldNames are the first fields that p has.
func fieldNames(p value) string {
	var names []string
	i := 0
	for e := range p.all() {
		if !e.isNull() && len(names) < 5 {
			name := otherFields[i]
			if name == "" {
				name = fmt.Sprintf("field [%d]", i)
			}
			names = append(names, name)
		}
		i++
	}
	return strings.Join(names, ", ")
}

// emitText emits text that is not shown as arguments, if there is any.
func (d *decoder) emitText(kind stream.EventKind, text dialect.Raw, emit func(stream.Event)) {
	if d.buf = text.Append(d.buf[:0]); len(d.buf) > 0 {
		emit(stream.Event{Kind: kind, Text: d.text.Hold(d.buf)})
	}
}

// call takes the call in part p.
func (d *decoder) call(p, fields value, choice int32, emit func(stream.Event)) {
	args, signature := fields.at(1), p.at(14).raw().Text()
	key := callKey{fields.at(2).raw().Text(), fields.at(0).raw().Text(), string(args.raw())}
	first := d.calls[key]
	repeated := first != nil && first.chunk < d.chunks
	if repeated && key.id != "" {
		d.confirm(first, signature, emit)
		return
	}
	slot := d.openCall(stream.Detail{ID: key.id, Name: key.name, CallKind: "function", Choice: choice, Signature: signature}, emit)
	if first == nil {
		d.calls[key] = &call{slot: slot, chunk: d.chunks, signature: signature}
	}
	err := d.arguments(slot, args, key.args, emit)
	emit(stream.Event{Kind: stream.Seal, Slot: slot})
	switch {
	case args.isNull():
		d.about(emit, slot, argsAbsent, "no arguments field came: meant as {}")
	case err != nil:
		emit(dialect.Diagnose(0, slot, badStruct, "the arguments are shown as they came: %s", err))
	case args.isArray():
		d.checkReading(slot, args, emit)
	default:
		emit(dialect.Diagnose(0, slot, argsNotPositional,
			"the arguments are JSON, not the positional array of a Struct: clients that expect one get nothing"))
	}
	if n := p.len(); n != 11 {
		d.about(emit, slot, signedPartMissed, "the part has %d fields: clients that know a call by its 11 never see it", n)
	}
	if repeated {
		d.about(emit, slot, dupChunks, "an earlier chunk had the same call, and neither has an id: one call sent twice, or two")
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
func (d *decoder) arguments(slot int32, args value, wire string, emit func(stream.Event)) error {
	switch {
	case args.isNull():
		return nil
	case args.isString(), args.raw().Kind() == '{':
		d.buf = args.raw().Append(d.buf[:0])
		emit(stream.Event{Kind: stream.Args, Slot: slot, Text: d.text.Hold(d.buf)})
		return nil
	}
	err := errBadStruct
	if args.isArray() {
		err = d.args.read(args)
	}
	if err != nil {
		emit(stream.Event{Kind: stream.Args, Slot: slot, Text: wire})
		return err
	}
	emit(stream.Event{Kind: stream.Args, Slot: slot, Text: d.text.Hold(d.args.text), More: &stream.Detail{Source: wire}})
	return nil
}

// confirm takes a call that came in an earlier chunk.
func (d *decoder) confirm(c *call, signature string, emit func(stream.Event)) {
	if signature != "" && signature != c.signature {
		c.signature = signature
		emit(stream.Event{Kind: stream.CallMeta, Slot: c.slot, More: &stream.Detail{Signature: signature}})
	}
	if !c.confirmed {
		c.confirmed = true
		d.about(emit, c.slot, dupChunks, "a later chunk has the same call again, with the same id: it is one call, and clients that count parts run it twice")
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
	code := stream.AnswerFailed
	if n, _ := v.at(0).integer(); n == outcomeOK {
		code = stream.AnswerOK
	}
	emit(stream.Event{Kind: stream.Answer, Code: code, More: &stream.Detail{Name: codeTool}})
}

// about makes a finding about the call in slot.
func (d *decoder) about(emit func(stream.Event), slot int32, of *stream.Diagnosis, format string, args ...any) {
	emit(dialect.Diagnose(0, slot, of, format, args...))
}
