package aistudio

import (
	"fmt"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// call is a call and the facts that recognise it when it arrives again.
type call struct {
	*protocol.Call
	chunk     int // the first one that contained it
	signature string
}

// callKey identifies a call that arrives again.
type callKey struct {
	id, name string
	args     string // as on the wire
}

// readPart reads one part of a content. The fields that are set decide its kind, never the number of
// fields.
func (d *decoder) readPart(p jsonNodes, choice int32) {
	text := p.element(1).raw()
	known := text.IsString()
	if known || onlySigned(p) {
		d.turn.Part(text, p.element(14).raw(), p.element(12).isTrue())
	} else {
		d.turn.EndThinking()
	}
	if fields := fieldAtEither(p, 10, 3); fields != nil {
		d.readCall(p, fields, choice)
		known = true
	}
	if fields := fieldAtEither(p, 11, 4); fields != nil {
		d.turn.AddResult(fields.element(2).raw().Text(), fields.element(0).raw().Text(), false)
		known = true
	}
	if code := p.element(8); code.isArray() {
		d.reportCodeCall(code, choice)
		known = true
	}
	if result := p.element(9); result.isArray() {
		n, _ := result.element(0).asInt()
		d.turn.AddResult("", codeTool, n != outcomeOK)
		known = true
	}
	if !known && !isEmpty(p) && !p.element(14).isString() {
		d.Unknown("part with " + fieldNames(p))
	}
}

// onlySigned reports whether a part has a signature and nothing else, except perhaps the thought flag.
func onlySigned(p jsonNodes) bool {
	i, only := 0, p.element(14).isString()
	for e := range p.elements() {
		only = only && (e.isNull() || i == 12 || i == 14)
		i++
	}
	return only
}

// fieldAtEither returns the message at index i, or else at index older, its place in older captures,
// where it must begin with a name. It is nil if neither is there.
func fieldAtEither(p jsonNodes, i, older int) jsonNodes {
	if v := p.element(i); v.isArray() {
		return v
	}
	if v := p.element(older); v.element(0).isString() {
		return v
	}
	return nil
}

// otherFields are the known fields of a part that are neither text nor a call.
var otherFields = map[int]string{2: "inlineData", 5: "fileData"}

// fieldNames lists the first fields that p has.
func fieldNames(p jsonNodes) string {
	var names []string
	i := 0
	for e := range p.elements() {
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

// readCall reads the call in part p.
func (d *decoder) readCall(p, fields jsonNodes, choice int32) {
	args, signature := fields.element(1), p.element(14).raw().Text()
	key := callKey{fields.element(2).raw().Text(), fields.element(0).raw().Text(), string(args.raw())}
	first := d.calls[key]
	repeated := first != nil && first.chunk < d.chunks
	if repeated && key.id != "" {
		first.reportRepeat(signature)
		return
	}
	c := d.openNextCall(stream.CallInfo{ID: key.id, Name: key.name, Kind: "function", Choice: choice, Signature: signature})
	if first == nil && !c.IsCounted() {
		d.calls[key] = &call{c, d.chunks, signature}
	}
	err := d.setArguments(c, args)
	c.Seal()
	switch {
	case args.isNull():
		c.Find(argsAbsent, "no arguments field: treated as {}")
	case err != nil:
		c.Find(badStruct, "the arguments are shown as they arrived: %s", stream.Own(err.Error()))
	case args.isArray():
		d.checkReading(c, args)
	default:
		c.Find(argsNotPositional,
			"the arguments are JSON, not a positional array: clients that expect an array get no arguments")
	}
	if n := p.len(); n != 11 {
		c.Find(signedPartMissed, "the part has %d fields: clients that expect 11 never see the call", n)
	}
	if repeated {
		c.Find(dupChunks, "an earlier chunk contains the same call, and neither has an id: one call was sent twice, or there are two equal calls")
	}
}

// openNextCall opens a call in the next slot.
func (d *decoder) openNextCall(info stream.CallInfo) *protocol.Call {
	d.slots++
	return d.turn.OpenCall(d.slots-1, info)
}

// setArguments sets the object that positional arguments mean, next to their wire form. Arguments that
// mean no object are set as they arrived.
func (d *decoder) setArguments(c *protocol.Call, args jsonNodes) error {
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

// reportRepeat reports a call that an earlier chunk already contained.
func (c *call) reportRepeat(signature string) {
	if signature != "" && signature != c.signature {
		c.signature = signature
		c.Meta(stream.CallInfo{Signature: signature})
	}
	c.Once(dupChunks, "a later chunk repeats the call with the same id: it is one call, and clients that count parts run it twice")
}

// reportAttempt shows the call that the model wrote and the provider discarded.
func (d *decoder) reportAttempt(choice int32, message protocol.Raw) {
	c := d.openNextCall(stream.CallInfo{Kind: "function", Choice: choice, Freeform: true, Discarded: true})
	if message.IsString() {
		c.Args(message)
	}
}

// codeTool is our name for the tool that runs code, which has none on the wire.
const codeTool = "code_execution"

// reportCodeCall reports the call of [language, code], which the provider runs.
func (d *decoder) reportCodeCall(v jsonNodes, choice int32) {
	c := d.openNextCall(stream.CallInfo{Name: codeTool, Kind: "server", RunByProvider: true, Choice: choice, Freeform: true})
	c.Args(v.element(1).raw())
	c.Seal()
}
