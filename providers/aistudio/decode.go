package aistudio

import (
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// decoder reads one exchange, which is one turn.
type decoder struct {
	*protocol.Out
	turn    *protocol.Turn
	finish  []string // of each choice, "" until it arrives
	blocked bool     // the prompt was blocked: no candidate follows
	usage   stream.Usage
	chunks  int
	slots   int32 // calls opened
	calls   map[callKey]*call

	parser      parser
	args        argsReader
	lengthFirst []byte
}

func newDecoder(o *protocol.Out) protocol.Decoder {
	return &decoder{Out: o, calls: map[callKey]*call{}}
}

func (d *decoder) Frame(f stream.Frame) error {
	v, err := d.parser.parse(stripPrefix(f.Data))
	if err != nil {
		return err
	}
	d.readFrame(v, maxNesting)
	return nil
}

// readFrame reads the content of a frame: a chunk, an error, or a list of them.
func (d *decoder) readFrame(v jsonNodes, lists int) {
	switch shapeOf(v, lists) {
	case anError:
		d.ensureTurn(nil)
		code, _ := v.element(0).raw().Int()
		d.turn.Fail(nameOf(code, errorCodes), v.element(1).raw().Text())
	case aChunk:
		d.readChunk(v)
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

// readNonMessage reads a value that is not a message of the protocol. Only the error of a Google front
// end is known.
func (d *decoder) readNonMessage(raw protocol.Raw) {
	err := raw.Get("error")
	if !err.Get("message").IsString() {
		d.Unknown("not a message of this protocol")
		return
	}
	d.ensureTurn(nil)
	d.turn.Fail(protocol.GoogleErrorOf(err))
}

// ensureTurn opens the turn, or updates its id from a later chunk.
func (d *decoder) ensureTurn(id protocol.Raw) {
	if d.turn.IsOpen() {
		d.turn.UpdateIDs(id, nil)
	} else {
		d.turn = d.Open(stream.Opening{ID: id.Text()})
	}
}

func (d *decoder) readChunk(v jsonNodes) {
	d.ensureTurn(v.element(7).raw())
	d.chunks++
	choice := int32(0)
	for e := range v.element(0).elements() {
		d.readCandidate(e, choice)
		choice++
	}
	d.reportBlocked(v.element(1))
	d.reportUsage(v.element(2))
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

// reportFinish reports a finish reason, which later chunks may repeat.
func (d *decoder) reportFinish(choice int32, reason, message protocol.Raw) {
	n, _ := reason.Int()
	if n == 0 || d.finish[choice] == string(reason) {
		return
	}
	d.finish[choice] = string(reason)
	if n == malformedCall {
		d.reportAttempt(choice, message)
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

// reportBlocked reports a prompt that was refused.
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

// reportUsage reports usage. The wire does not count reasoning as visible output; stream.Usage does.
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

// Close ends the turn. The framing checks whether the outer arrays were closed; a response without a
// finish reason was cut off in any case.
func (d *decoder) Close() {
	if d.isFinished() {
		d.turn.End()
	} else {
		d.turn.Cut("the stream ended before a finish reason")
	}
}

func (d *decoder) isFinished() bool {
	for _, reason := range d.finish {
		if reason == "" {
			return d.blocked
		}
	}
	return d.blocked || len(d.finish) > 0
}
