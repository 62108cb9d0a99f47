package aistudio

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// decoder reads one exchange, which is one turn.
type decoder struct {
	*protocol.Out
	turn    *protocol.Turn
	finish  []string // finish reason of each choice, or "" until it arrives
	blocked bool     // the prompt was blocked, so no candidate follows
	usage   stream.Usage
	chunks  int
	slots   int32 // number of calls opened so far
	calls   map[callKey]*call

	parser      parser
	args        argsReader
	lengthFirst []byte
}

func (d *decoder) Frame(f stream.Frame) error {
	v, err := d.parser.parse(stripPrefix(f.Data))
	if err != nil {
		return err
	}
	d.readFrame(v, maxNesting)
	return nil
}

// readFrame reads the content of a frame: a chunk, a candidate, an error, or a list of these.
func (d *decoder) readFrame(v jsonNodes, lists int) {
	switch shapeOf(v, lists) {
	case anError:
		d.ensureTurn(nil)
		code, _ := v.element(0).raw().Int()
		d.turn.Fail(nameOf(code, errorCodes), v.element(1).raw().Text())
	case aChunk:
		d.ensureTurn(v.element(7).raw())
		d.chunks++
		choice := int32(0)
		for e := range v.element(0).elements() {
			d.readCandidate(e, choice)
			choice++
		}
		d.reportBlocked(v.element(1))
		d.reportUsage(v.element(2))
	case aCandidate:
		d.ensureTurn(nil)
		d.chunks++
		d.readCandidate(v, 0)
	case aList:
		for e := range v.elements() {
			if !isEmpty(e) {
				d.readFrame(e, lists-1)
			}
		}
	case nothing:
		d.Heartbeat()
	default:
		d.readNonMessage(v.raw())
	}
}

// readNonMessage reads a value that is not a message of the protocol. The only known value is the error of a
// Google front end.
func (d *decoder) readNonMessage(raw json.Value) {
	err := raw.Get("error")
	if !err.Get("message").IsString() {
		d.Unknown("not a message in this protocol")
		return
	}
	d.ensureTurn(nil)
	d.turn.Fail(protocol.GoogleErrorOf(err))
}

// ensureTurn opens the turn, or updates its id from a later chunk.
func (d *decoder) ensureTurn(id json.Value) {
	if d.turn.IsOpen() {
		d.turn.UpdateIDs(id, nil)
	} else {
		d.turn = d.Open(stream.Opening{ID: id.Text()})
	}
}

func (d *decoder) readCandidate(v jsonNodes, choice int32) {
	for int(choice) >= len(d.finish) {
		d.finish = append(d.finish, "")
	}
	for p := range v.element(0).element(0).elements() {
		d.readPart(p, choice)
	}
	if reason := v.element(1); reason.isNumber() {
		d.reportFinish(choice, reason.raw(), v.element(3).raw())
	}
}

// reportFinish reports a finish reason. Later chunks may repeat it.
func (d *decoder) reportFinish(choice int32, reason, message json.Value) {
	n, _ := reason.Int()
	if n == 0 || d.finish[choice] == string(reason) {
		return
	}
	d.finish[choice] = string(reason)
	if n == malformedCall {
		// Show the call that the model wrote and the provider discarded.
		c := d.openNextCall(stream.CallInfo{Kind: "function", Choice: choice, Freeform: true, Discarded: true})
		if message.IsString() {
			c.Args(message)
		}
	}
	r, known := reasonOf(n)
	d.turn.FinishChoice(choice, string(reason), r.word, r.code)
	why := stream.Messagef("finish reason %s is %s", stream.Fact(reason), stream.Own(r.word))
	if text := message.Text(); text != "" {
		why = stream.Messagef("%s: %s", why, text)
	}
	switch {
	case !known:
		d.turn.Find(protocol.FinishUnknown, "%s", why)
	case r.code == stream.FinishRefused:
		d.turn.Find(stream.ProviderError, "%s", why)
	case r.code == stream.FinishCut:
		d.turn.Find(finishNumber, "%s", why)
	}
}

// reportBlocked reports that the provider refused the prompt.
func (d *decoder) reportBlocked(feedback jsonNodes) {
	reason := feedback.element(0).raw()
	n, ok := reason.Int()
	if !ok || n == 0 || d.blocked {
		return
	}
	d.blocked = true
	d.turn.Finish(string(reason), stream.FinishRefused)
	d.turn.Find(stream.ProviderError, "the prompt was blocked: %s", stream.OwnFact(nameOf(n, blockReasons)))
}

// reportUsage reports the usage. In the response, the visible output excludes reasoning. In stream.Usage, the output
// includes it.
func (d *decoder) reportUsage(v jsonNodes) {
	visible, reasoning := v.element(1).asCount(), v.element(9).asCount()
	u := stream.Usage{
		Input: v.element(0).asCount(), CacheRead: v.element(3).asCount(), Reasoning: reasoning,
		Output: stream.Count{N: visible.N + reasoning.N, Reported: visible.Reported || reasoning.Reported},
	}
	if u == (stream.Usage{}) || u == d.usage {
		return
	}
	d.usage = u
	d.turn.Usage(u)
}

// Close ends the turn. The framing checks whether the outer arrays were closed. Whatever it finds, a response without
// a finish reason was cut off, unless the prompt was blocked.
func (d *decoder) Close() {
	if d.blocked || len(d.finish) > 0 && !slices.Contains(d.finish, "") {
		d.turn.End()
	} else {
		d.turn.Cut("the stream ended before a finish reason")
	}
}

// call is a call, together with the facts that identify it if it arrives again.
type call struct {
	*protocol.Call
	chunk     int // the first chunk that contained the call
	signature string
}

// callKey identifies a call that arrives again.
type callKey struct {
	id, name string
	args     string // as sent
}

// readPart reads one part of a content. The kind of the part depends on the fields that are set, never on the
// number of fields.
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
		// The code is [language, code]. The provider runs it.
		c := d.openNextCall(stream.CallInfo{Name: codeTool, Kind: "server", RunByProvider: true, Choice: choice, Freeform: true})
		c.Args(code.element(1).raw())
		c.Seal()
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

// fieldAtEither returns the message at index i. If there is none, it returns the message at the index older, as in
// older captures, if that message begins with a string. Otherwise, it returns nil.
func fieldAtEither(p jsonNodes, i, older int) jsonNodes {
	if v := p.element(i); v.isArray() {
		return v
	}
	if v := p.element(older); v.element(0).isString() {
		return v
	}
	return nil
}

// otherFields contains the known fields of a part that are neither text nor a call.
var otherFields = map[int]string{2: "inlineData", 5: "fileData"}

// fieldNames returns the names of at most five fields that are set in p.
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
		if signature != "" && signature != first.signature {
			first.signature = signature
			first.Meta(stream.CallInfo{Signature: signature})
		}
		first.Once(dupChunks, "a later chunk repeats the call with the same id: there is only one call, but clients that count parts run it twice")
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
		c.Find(argsAbsent, "the call has no arguments field: toolscope uses {} instead")
	case err != nil:
		c.Find(badStruct, "toolscope shows the arguments as they arrived: %s", stream.Own(err.Error()))
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
		c.Find(dupChunks, "an earlier chunk contains the same call, and neither call has an id: either one call was sent twice, or there are two identical calls")
	}
}

// openNextCall opens a call in the next slot.
func (d *decoder) openNextCall(info stream.CallInfo) *protocol.Call {
	d.slots++
	return d.turn.OpenCall(d.slots-1, info)
}

// setArguments sets the object that positional arguments represent, and keeps the form in which they were sent.
// Arguments that don't represent an object are set as they arrived.
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

// codeTool is toolscope's name for the tool that runs code. The protocol has no name for this tool.
const codeTool = "code_execution"
