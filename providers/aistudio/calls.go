package aistudio

import (
	"fmt"
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// call is what is remembered of a call, to recognise it when it comes again.
type call struct {
	*dialect.Call
	chunk     int // that brought it first
	signature string
}

// callKey is what is the same when a call comes again.
type callKey struct {
	id, name string
	args     string // as on the wire
}

// part takes one part of a content. Its kind is told by which field is set, never by how many there
// are.
func (d *decoder) part(p value, choice int32) {
	text := p.at(1).raw()
	known := text.IsString()
	if known || onlySigned(p) {
		d.turn.Part(text, p.at(14).raw(), p.at(12).isTrue())
	} else {
		d.turn.EndThinking()
	}
	if fields := either(p, 10, 3); fields != nil {
		d.call(p, fields, choice)
		known = true
	}
	if fields := either(p, 11, 4); fields != nil {
		d.turn.Answer(fields.at(2).raw().Text(), fields.at(0).raw().Text(), false)
		known = true
	}
	if code := p.at(8); code.isArray() {
		d.execution(code, choice)
		known = true
	}
	if result := p.at(9); result.isArray() {
		n, _ := result.at(0).integer()
		d.turn.Answer("", codeTool, n != outcomeOK)
		known = true
	}
	if !known && !isEmpty(p) && !p.at(14).isString() {
		d.Unknown("part with " + fieldNames(p))
	}
}

// onlySigned reports whether a part has a signature, is perhaps a thought, and holds nothing else.
func onlySigned(p value) bool {
	i, only := 0, p.at(14).isString()
	for e := range p.all() {
		only = only && (e.isNull() || i == 12 || i == 14)
		i++
	}
	return only
}

// either is the message at index i, or else at the index older, where it stood in older captures;
// there it must begin with a name. It is nil if neither is there.
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

// call takes the call in part p.
func (d *decoder) call(p, fields value, choice int32) {
	args, signature := fields.at(1), p.at(14).raw().Text()
	key := callKey{fields.at(2).raw().Text(), fields.at(0).raw().Text(), string(args.raw())}
	first := d.calls[key]
	repeated := first != nil && first.chunk < d.chunks
	if repeated && key.id != "" {
		first.again(signature)
		return
	}
	c := d.open(stream.CallInfo{ID: key.id, Name: key.name, Kind: "function", Choice: choice, Signature: signature})
	if first == nil {
		d.calls[key] = &call{c, d.chunks, signature}
	}
	err := d.arguments(c, args)
	c.Seal()
	switch {
	case args.isNull():
		c.Find(argsAbsent, "no arguments field came: meant as {}")
	case err != nil:
		c.Find(badStruct, "the arguments are shown as they came: %s", err)
	case args.isArray():
		d.checkReading(c, args)
	default:
		c.Find(argsNotPositional,
			"the arguments are JSON, not the positional array of a Struct: clients that expect one get nothing")
	}
	if n := p.len(); n != 11 {
		c.Find(signedPartMissed, "the part has %d fields: clients that know a call by its 11 never see it", n)
	}
	if repeated {
		c.Find(dupChunks, "an earlier chunk had the same call, and neither has an id: one call sent twice, or two")
	}
}

// open opens a call in the next slot.
func (d *decoder) open(info stream.CallInfo) *dialect.Call {
	d.slots++
	return d.turn.OpenCall(d.slots-1, info)
}

// arguments takes the object that the arguments mean, and what stands on the wire beside it; what
// means none as it came.
func (d *decoder) arguments(c *dialect.Call, args value) error {
	switch {
	case args.isNull():
		return nil
	case args.isString(), args.raw().Kind() == '{':
		c.Args(args.raw())
		return nil
	}
	err := errBadStruct
	if args.isArray() {
		err = d.args.read(args)
	}
	if err != nil {
		c.ArgsText(args.raw(), nil)
		return err
	}
	c.ArgsText(d.args.text, args.raw())
	return nil
}

// again takes a call that came in an earlier chunk.
func (c *call) again(signature string) {
	if signature != "" && signature != c.signature {
		c.signature = signature
		c.Meta(stream.CallInfo{Signature: signature})
	}
	c.Once(dupChunks, "a later chunk has the same call again, with the same id: it is one call, and clients that count parts run it twice")
}

// attempt shows the call that the model wrote and the provider threw away.
func (d *decoder) attempt(choice int32, message dialect.Raw) {
	c := d.open(stream.CallInfo{Kind: "function", Choice: choice, Freeform: true, Attempt: true})
	if message.IsString() {
		c.Args(message)
	}
}

// codeTool is the name of the tool that runs code, which the wire does not name.
const codeTool = "code_execution"

// execution takes [language, code] that the provider runs.
func (d *decoder) execution(v value, choice int32) {
	c := d.open(stream.CallInfo{Name: codeTool, Kind: "server", Server: true, Choice: choice, Freeform: true})
	c.Args(v.at(1).raw())
	c.Seal()
}
