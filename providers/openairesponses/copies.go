package openairesponses

import (
	"bytes"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// theDeltas names the first copy of the arguments: the others are named after
// the event that brings them.
const theDeltas = "the deltas"

// args appends to a call's arguments.
func (d *decoder) args(t *turn, it *item, text []byte, source string) {
	it.args = append(it.args, text...)
	e := stream.Event{Kind: stream.Args, Turn: t.number, Slot: it.slot, Text: d.text.Hold(text)}
	if source != "" {
		e.More = &stream.Detail{Source: source}
	}
	d.emit(e)
}

// takeCopy takes the arguments as an item has them.
func (d *decoder) takeCopy(t *turn, it *item, value dialect.Raw, wrap, from string) {
	switch {
	case from != itemAdded:
	case len(it.args) > 0:
		return // what was announced is what the deltas were to follow
	case !value.IsString():
		it.grow.object = bytes.Clone(value) // to be filled: the item that is done has the rest
		return
	}
	source := ""
	d.buf = d.buf[:0]
	if wrap != "" {
		source = string(value)
		d.buf = append(append(append(d.buf, `{"`...), wrap...), `":`...)
	}
	d.buf = value.Append(d.buf)
	if wrap != "" {
		d.buf = append(d.buf, '}')
	}
	if !value.IsString() && it.call.word != "server" && !it.saidObject {
		it.saidObject = true
		d.about(t, it, dialect.ArgsObject, "the arguments are a JSON value, not a string with JSON in it: clients that expect a string fail")
	}
	d.compare(t, it, d.buf, from, source)
}

// compare takes one more copy of the whole arguments. What came last is what has
// to be sent back; after the seal a copy can only agree or not.
func (d *decoder) compare(t *turn, it *item, text []byte, from, source string) {
	if len(it.args) == 0 && !it.done {
		if len(text) > 0 {
			d.args(t, it, text, source)
			it.from = from
		}
		return
	}
	if bytes.Equal(text, it.args) || bytes.Equal(text, dialect.JoinHalves(it.args)) {
		if len(text) > 0 {
			it.same++
			d.emit(stream.Event{Kind: stream.CallMeta, Turn: t.number, Slot: it.slot, More: &stream.Detail{Copies: it.same + 1}})
		}
		return
	}
	if it.grow.begun && !it.done && bytes.HasPrefix(text, it.args) {
		d.args(t, it, text[len(it.args):], "")
		return
	}
	came := it.args
	if it.grow.begun && !it.done {
		came = it.grow.closed(it.args)
	}
	equal := !it.call.freeform && dialect.Same(dialect.JoinHalves(came), text)
	if !equal || !it.grow.begun && it.call.word != "server" {
		d.mismatch(t, it, text, from, equal)
	}
	if len(text) > 0 && !it.done {
		it.args, it.from, it.same = append(it.args[:0], text...), from, 0
		it.grow.off, it.grow.inside = true, false // there is no open part in it any more
		e := stream.Event{Kind: stream.Rewrite, Turn: t.number, Slot: it.slot, Text: d.text.Hold(text)}
		if source != "" {
			e.More = &stream.Detail{Source: source}
		}
		d.emit(e)
	}
}

// mismatch says which copies differ, and where.
func (d *decoder) mismatch(t *turn, it *item, text []byte, from string, equal bool) {
	before := it.from
	if before == "" {
		before = itemDone
	}
	at := 0
	for at < len(text) && at < len(it.args) && text[at] == it.args[at] {
		at++
	}
	var f stream.Finding
	bad, odd := dialect.DoneMismatch.As(stream.Error), dialect.DoneMismatch.As(stream.Info)
	switch {
	case equal:
		f = odd.Finding("the arguments in %s are those in %s, spelled differently from byte %d on", from, before, at)
	case it.remote:
		f = odd.Finding("the arguments in %s differ from those in %s at byte %d: what the provider ran is not sure", from, before, at)
	case len(text) == 0:
		f = bad.Finding("the arguments in %s are empty, those in %s are not: which a client runs depends on where it reads them", from, before)
	default:
		f = bad.Finding("the arguments in %s differ from those in %s at byte %d: which a client runs depends on where it reads them", from, before, at)
	}
	f.Offset = at
	d.emit(stream.Event{Kind: stream.Found, Turn: t.number, Slot: it.slot, More: &stream.Detail{Finding: f}})
}
