package gemini

import (
	"bytes"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// call is the active call of a candidate, with its arguments so far.
type call struct {
	*protocol.Call
	signature string

	args    json.Builder
	object  []byte // arguments that arrived as an object, or nil
	empty   []byte // an object without fields, which is used if no other arguments arrive
	started bool   // arguments have come
}

// readFunctionCall reads a functionCall part. A part without a name, or with the active call's id, continues
// the active call. Only one call of a candidate is streamed at a time.
func (d *decoder) readFunctionCall(ch *candidateState, p *part) {
	w := &p.call
	count := w.patches.Len()
	if k := ch.active; k != nil && w.name.HasText() && !(w.id.HasText() && w.id.Is(k.ID)) {
		d.endCallImplicitly(ch)
	}
	if ch.active != nil {
		ch.active.updateInfo(w.id, p.signature)
	} else if !w.name.HasText() && !w.id.HasText() && !w.args.IsPresent() && count == 0 {
		d.Heartbeat() // the end of a call that has already ended, or a heartbeat
		return
	} else {
		signature := p.signature.Text()
		c := d.openNextCall(stream.CallInfo{ID: w.id.Text(), Name: w.name.Text(), Kind: "function", Choice: ch.index, Signature: signature})
		ch.active = &call{Call: c, signature: signature}
		if ch.first == nil {
			ch.first = c
		}
		if ch.finished {
			c.Find(stream.ProtocolViolation, "the call arrived after the finish reason: clients that stop there never see it")
		}
	}
	k := ch.active
	waits := w.continues.IsTrue()
	switch {
	case w.args.EmptyObject() && (waits || k.started || count > 0):
		k.empty = bytes.Clone(w.args)
	case w.args.IsPresent():
		k.setArguments(w.args)
	}
	for i := range count {
		patch := w.patches.At(i)
		d.applyPatch(k, patch)
		waits = waits || patch.continues.IsTrue()
	}
	switch bare := !w.args.IsPresent() && count == 0; {
	case !waits && bare:
		d.sealCall(ch, []byte("{}"))
	case !waits:
		d.sealCall(ch, nil)
	case bare && w.name == nil:
		d.Heartbeat()
	}
}

// openNextCall opens a call in the next slot.
func (d *decoder) openNextCall(info stream.CallInfo) *protocol.Call {
	d.slots++
	return d.turn.OpenCall(d.slots-1, info)
}

// updateInfo reads the id and signature in a later part of a call.
func (k *call) updateInfo(id, signature json.Value) {
	var news stream.CallInfo
	if k.ID == "" {
		news.ID = id.Text()
	}
	if signature.HasText() && !signature.Is(k.signature) {
		k.signature = signature.Text()
		news.Signature = k.signature
	}
	if news != (stream.CallInfo{}) {
		k.Meta(news)
	}
}

// setArguments sets the arguments to the exact bytes of the object in the part.
func (k *call) setArguments(args []byte) {
	if k.started {
		k.Find(patchOverwrites, "the arguments arrived in deltas and then as a complete object: toolscope uses the object")
		k.Rewrite(args, nil)
	} else {
		k.ArgsText(args, nil)
	}
	k.started, k.object = true, append(k.object[:0], args...)
}

// applyPatch applies one element of partialArgs. The WireForm of the delta is a short form of this element: the path,
// the value, and "…" if more of the string follows.
func (d *decoder) applyPatch(k *call, p *patch) {
	path, value, more := p.path.Append(d.path[:0]), p.value, p.continues.IsTrue()
	if p.null != nil {
		value = null
	}
	from := append(append(append(d.from[:0], path...), ' '), value...)
	if more {
		from = append(from, "…"...)
	}
	d.path, d.from = path, from
	if k.object != nil {
		k.ArgsText(nil, from)
		k.Once(patchOverwrites, "the arguments arrived as a complete object and then in deltas: toolscope uses the object")
		return
	}
	k.started = true
	done, err := k.args.Apply(path, value, more)
	k.reportPatch(done, from)
	switch {
	case err != nil:
		k.Find(patchUnreadable, "a value is lost: %v", err)
	case done.Overwritten:
		k.Once(patchOverwrites,
			"the value at %s was complete but was sent again: clients that append the new value and clients that replace the old value get different arguments", stream.Fact(path))
	case done.Rewritten:
		k.Once(patchGoesBack,
			"the delta at %s changes earlier arguments: the text so far is no longer valid", stream.Fact(path))
	}
}

var null = json.Value("null")

// reportPatch reports the change that a patch makes: either text that is appended to the arguments, or new arguments.
func (k *call) reportPatch(done json.PatchResult, from []byte) {
	if done.Rewritten {
		k.Rewrite(k.args.Text(), from)
	} else {
		k.ArgsText(done.Added, from)
	}
}

// sealCall ends the active call and makes its arguments final. The parameter from is the wire form of the end.
func (d *decoder) sealCall(ch *candidateState, from []byte) {
	k := ch.active
	ch.active = nil
	if k.isWaiting() {
		k.Once(patchUnclosed, "the call ended, although a delta announced more of the last string")
	}
	if k.empty != nil && !k.started {
		k.setArguments(k.empty)
	}
	text := k.object
	if text == nil {
		if done := k.args.Close(); done.Rewritten || len(done.Added) > 0 {
			k.reportPatch(done, from)
		}
		text = k.args.Text()
	}
	if at, number := bigInteger(text); number != nil {
		k.FindAt(at, protocol.IntPrecision,
			"%s has more digits than a double can store: Google and most clients pass numbers on as doubles", number)
	}
	k.Seal()
}

// isWaiting reports whether a delta announced more of a string that has not arrived yet.
func (k *call) isWaiting() bool { return k.object == nil && k.args.AwaitsString() }

// endCallImplicitly ends the active call because another call begins. The arguments are taken to be complete, unless
// a delta announced more of a string.
func (d *decoder) endCallImplicitly(ch *candidateState) {
	k := ch.active
	k.Find(implicitEnd, "another call began before this call ended: nothing confirms that the arguments of this call are complete")
	if !k.isWaiting() {
		d.sealCall(ch, nil)
		return
	}
	ch.flush()
	k.Seal()
	ch.active = nil
}

// flush reports the arguments that were held back.
func (d *decoder) flush() {
	for _, ch := range d.choices {
		ch.flush()
	}
}

func (ch *candidateState) flush() {
	if k := ch.active; k != nil {
		if done := k.args.Flush(); done.Rewritten {
			k.reportPatch(done, nil)
		}
	}
}

// reportServerCall reports a call that the provider runs.
func (d *decoder) reportServerCall(ch *candidateState, p *part, name string, value, args json.Value) {
	ch.server = d.openNextCall(stream.CallInfo{
		ID: value.Get("id").Text(), Name: name, Kind: "server", RunByProvider: true, Choice: ch.index, Signature: p.signature.Text(),
	})
	if args.IsPresent() {
		ch.server.ArgsText(args, nil)
	}
	ch.server.Seal()
}

// codeTool is toolscope's name for the tool that runs code. The tool has no name on the wire.
const codeTool = "code_execution"

// toolType returns the type in a toolCall or toolResponse, which is the name of one of the provider's tools.
func toolType(value json.Value) string {
	name := value.Get("toolType")
	if !name.IsPresent() {
		name = value.Get("tool_type")
	}
	return string(name.Append(nil))
}

const outcomeOK = "OUTCOME_OK"

// hasFailed reports whether the result of a call that the provider ran is an error.
func hasFailed(kind partKind, value json.Value) bool {
	if kind == partAnswer {
		return value.Get("response").Get("error").IsPresent()
	}
	outcome := enumWord(value.Get("outcome"))
	return outcome != outcomeOK && outcome != "1"
}

// bigInteger finds the first integer in a JSON text that a double can't represent. If there is none, number
// is nil.
func bigInteger(text []byte) (at int, number json.Value) {
	for at < len(text) {
		c := text[at]
		if c != '"' && c != '-' && (c < '0' || c > '9') {
			at++
			continue
		}
		n := json.ValueEnd(text[at:])
		if number = text[at : at+n]; number.BeyondDouble() {
			return at, number
		}
		at += n
	}
	return 0, nil
}
