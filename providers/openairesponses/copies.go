package openairesponses

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
		d.about(t, it, argsObject, stream.Warn, "the arguments are a JSON value, not a string with JSON in it: clients that expect a string fail")
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
	if bytes.Equal(text, it.args) || bytes.Equal(text, joinHalves(it.args)) {
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
	equal := !it.call.freeform && same(came, text)
	if !equal || !it.grow.begun && it.call.word != "server" {
		d.mismatch(t, it, text, from, equal)
	}
	if len(text) > 0 && !it.done {
		it.args, it.from = append(it.args[:0], text...), from
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
	f := stream.Finding{Code: doneMismatch, Severity: stream.Error, Offset: at, Message: fmt.Sprintf(
		"the arguments in %s differ from those in %s at byte %d: which a client runs depends on where it reads them", from, before, at)}
	switch {
	case equal:
		f.Severity = stream.Info
		f.Message = fmt.Sprintf("the arguments in %s are those in %s, spelled differently from byte %d on", from, before, at)
	case it.remote:
		f.Severity = stream.Info
		f.Message = fmt.Sprintf("the arguments in %s differ from those in %s at byte %d: what the provider ran is not sure", from, before, at)
	case len(text) == 0:
		f.Message = fmt.Sprintf("the arguments in %s are empty, those in %s are not: which a client runs depends on where it reads them", from, before)
	}
	d.emit(stream.Event{Kind: stream.Diagnosis, Turn: t.number, Slot: it.slot, More: &stream.Detail{Finding: f}})
}

// joinHalves joins the surrogate pairs of text that deltas have cut in half: each
// half stands there as three bytes.
func joinHalves(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if h := text[i:]; len(h) >= 6 && h[0] == 0xed && h[1]&0xf0 == 0xa0 && h[3] == 0xed && h[4]&0xf0 == 0xb0 {
			high, low := rune(h[1]&0x0f)<<6|rune(h[2]&0x3f), rune(h[4]&0x0f)<<6|rune(h[5]&0x3f)
			out = utf8.AppendRune(out, 0x10000+high<<10+low)
			i += 5
			continue
		}
		out = append(out, text[i])
	}
	return out
}

// same reports whether two JSON texts stand for one value, in whatever order
// and spelling.
func same(a, b dialect.Raw) bool {
	x, y := a.Scan(), b.Scan()
	p, q := plain(nil, &x), plain(nil, &y)
	return x.End() == nil && y.End() == nil && bytes.Equal(p, q)
}

// plain appends the one spelling of a JSON value that all of the same value share.
func plain(dst []byte, s *dialect.Scanner) []byte {
	switch s.Kind() {
	case '{':
		var members []string
		for ok := s.Object(); ok; ok = s.Member() {
			members = append(members, string(plain(append(strconv.AppendQuote(nil, string(s.Key())), ':'), s)))
		}
		slices.Sort(members)
		return append(append(append(dst, '{'), strings.Join(members, ",")...), '}')
	case '[':
		dst = append(dst, '[')
		for ok := s.Array(); ok; ok = s.Element() {
			dst = append(plain(dst, s), ',')
		}
		return append(dst, ']')
	}
	v := s.Value()
	if v.IsString() {
		return strconv.AppendQuote(dst, v.Text())
	}
	if n, ok := v.Int(); ok {
		return strconv.AppendInt(dst, n, 10)
	}
	if f, ok := v.Float(); ok {
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	}
	return append(dst, v...)
}
