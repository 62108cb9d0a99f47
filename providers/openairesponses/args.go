package openairesponses

import (
	"bytes"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// deltasCopy names the copy of the arguments in the deltas. Each other copy has the name of its event.
const deltasCopy = "the deltas"

// readArgsDelta reads a delta of a call's arguments.
func (d *decoder) readArgsDelta(it *item) {
	came := len(it.args)
	if d.ev.delta.IsPresent() {
		it.args = d.ev.delta.Append(it.args)
	}
	it.call.ArgsText(it.args[came:], nil)
	it.from = deltasCopy
}

// readArgsDone reads the event that repeats the deltas.
func (d *decoder) readArgsDone(it *item) {
	if d.ev.whole.IsPresent() {
		it.addCopy(d.ev.whole, "", d.eventName())
	}
}

func (d *decoder) readCodeDone(it *item) {
	if d.ev.code.IsPresent() {
		it.addCopy(d.ev.code, "", d.eventName())
	}
}

// appendArguments appends to the arguments. If the text was derived, source is its form on the wire;
// else nil.
func (it *item) appendArguments(text, source []byte) {
	it.args = append(it.args, text...)
	it.call.ArgsText(text, source)
}

// addCopy reads the arguments in a copy of the item.
func (it *item) addCopy(value protocol.Raw, wrap, from string) {
	switch {
	case from != itemAdded:
	case len(it.args) > 0:
		return // only the announcement of the item; deltas follow
	case !value.IsString():
		it.grow.object = bytes.Clone(value) // incomplete: output_item.done has the rest
		return
	}
	if !value.IsString() && it.callKind.word != "server" {
		it.call.Once(protocol.ArgsObject, "the arguments are a JSON value, not a string of JSON: clients that expect the string fail")
	}
	if wrap == "" {
		it.turn.buf = value.Append(it.turn.buf[:0])
		it.compareCopy(it.turn.buf, from, nil)
		return
	}
	var list protocol.Writer
	it.compareCopy(list.Open('{').Key(wrap).Raw(value).Close('}').Text, from, value)
}

// compareCopy reads another copy of the complete arguments. Before the arguments are final, the latest
// copy replaces them, because it has to be sent back. After that, a copy is only compared.
func (it *item) compareCopy(text []byte, from string, source []byte) {
	growing := it.grow.begun && !it.done
	switch {
	case len(it.args) == 0 && !it.done:
		if len(text) > 0 {
			it.appendArguments(text, source)
			it.from = from
		}
		return
	case bytes.Equal(text, it.args), bytes.Equal(text, protocol.JoinSurrogates(it.args)):
		if len(text) > 0 {
			it.same++
			it.call.Meta(stream.CallInfo{Copies: it.same + 1})
		}
		return
	case growing && bytes.HasPrefix(text, it.args):
		it.appendArguments(text[len(it.args):], nil)
		return
	}
	came := it.args
	if growing {
		came = it.grow.closeText(came)
	}
	equal := !it.callKind.freeform && protocol.Same(protocol.JoinSurrogates(came), text)
	if !equal || !it.grow.begun && it.callKind.word != "server" {
		it.reportMismatch(text, from, equal)
	}
	if len(text) > 0 && !it.done {
		it.args, it.from, it.same = append(it.args[:0], text...), from, 0
		it.grow.off, it.grow.inside = true, false // it has no open part any more
		it.call.Rewrite(text, source)
	}
}

// reportMismatch reports which copies differ, and where.
func (it *item) reportMismatch(text []byte, from string, equal bool) {
	before := it.from
	if before == "" {
		before = itemDone
	}
	at := 0
	for at < len(text) && at < len(it.args) && text[at] == it.args[at] {
		at++
	}
	bad, odd := protocol.DoneMismatch.WithSeverity(stream.Error), protocol.DoneMismatch.WithSeverity(stream.Info)
	switch c := it.call; {
	case equal:
		c.FindAt(at, odd, "the arguments in %s equal those in %s, but are written differently from byte %d on", stream.OwnFact(from), stream.OwnFact(before), at)
	case c.RunByProvider:
		c.FindAt(at, odd, "the arguments in %s differ from those in %s at byte %d: it is unknown which copy the provider ran", stream.OwnFact(from), stream.OwnFact(before), at)
	case len(text) == 0:
		c.FindAt(at, bad, "the arguments in %s are empty, those in %s are not: what a client runs depends on the copy that it reads", stream.OwnFact(from), stream.OwnFact(before))
	default:
		c.FindAt(at, bad, "the arguments in %s differ from those in %s at byte %d: what a client runs depends on the copy that it reads", stream.OwnFact(from), stream.OwnFact(before), at)
	}
}
