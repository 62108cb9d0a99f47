package gemini

import (
	"bytes"

	"toolscope/providers/dialect"
	"toolscope/stream"
	"toolscope/stream/jsonbytes"
)

// call is a call whose arguments are being streamed.
type call struct {
	slot int32
	id   string

	signature string

	args    dialect.Builder
	whole   []byte // arguments that came at once, although the call goes on
	empty   []byte // an object without members, which counts if nothing else comes
	started bool   // some argument came
	said    dialect.Told
}

// functionCall takes a functionCall part. One without a name continues the
// call that is being streamed, of which there is one at a time.
func (d *decoder) functionCall(ch *choice, p *part, patches []patch, emit func(stream.Event)) {
	w := &p.call
	name, id := w.name.Text(), w.id.Text()
	k := ch.active
	if k != nil && name != "" && (id == "" || id != k.id) {
		d.implicitEnd(ch, emit)
		k = nil
	}
	if k == nil {
		if name == "" && id == "" && !w.args.Given() && w.patches == 0 {
			// An end or a heartbeat of no call: what it belongs to has ended.
			emit(stream.Event{Kind: stream.Heartbeat, Turn: d.Number})
			return
		}
		k = d.openCall(ch, p, emit)
	} else {
		d.news(k, id, p.signature.Text(), emit)
	}
	waits := w.continues
	switch {
	case w.args.EmptyObject() && (waits || k.started || w.patches > 0):
		k.empty = bytes.Clone(w.args)
	case w.args.Given():
		d.wholeArgs(k, w.args, emit)
	}
	for i := range patches {
		d.patch(k, &patches[i], emit)
		waits = waits || patches[i].continues
	}
	switch {
	case !waits && !w.args.Given() && w.patches == 0:
		d.seal(ch, k, &stream.Detail{Source: "{}"}, emit)
	case !waits:
		d.seal(ch, k, nil, emit)
	default:
		ch.active = k
		if !w.args.Given() && w.patches == 0 && w.name == nil {
			emit(stream.Event{Kind: stream.Heartbeat, Turn: d.Number})
		}
	}
}

func (d *decoder) openCall(ch *choice, p *part, emit func(stream.Event)) *call {
	k := &call{slot: d.slots, id: p.call.id.Text(), signature: p.signature.Text()}
	d.slots++
	if ch.calls++; ch.calls == 1 {
		ch.first = k.slot
	}
	emit(stream.Event{Kind: stream.CallOpen, Turn: d.Number, Slot: k.slot, More: &stream.Detail{
		ID: k.id, Name: p.call.name.Text(), CallKind: "function", Choice: ch.index, Signature: k.signature,
	}})
	if ch.finished {
		d.about(emit, k.slot, stream.ProtocolViolation, "the call came after the finishReason: clients that stop there never see it")
	}
	return k
}

// news takes what a later part of a call has to say of it.
func (d *decoder) news(k *call, id, signature string, emit func(stream.Event)) {
	var more stream.Detail
	if id != "" && k.id == "" {
		k.id, more.ID = id, id
	}
	if signature != "" && signature != k.signature {
		k.signature, more.Signature = signature, signature
	}
	if more.ID != "" || more.Signature != "" {
		emit(stream.Event{Kind: stream.CallMeta, Turn: d.Number, Slot: k.slot, More: &more})
	}
}

// wholeArgs takes arguments that stand as an object in the part, as the bytes
// they are.
func (d *decoder) wholeArgs(k *call, args dialect.Raw, emit func(stream.Event)) {
	e := stream.Event{Kind: stream.Args, Turn: d.Number, Slot: k.slot, Text: d.text.Hold(args)}
	if k.started {
		e.Kind = stream.Rewrite
		d.about(emit, k.slot, patchOverwrites, "arguments came in pieces and then as a whole object: the object is taken")
	}
	k.started, k.whole = true, append(k.whole[:0], args...)
	emit(e)
}

// patch takes one element of partialArgs.
func (d *decoder) patch(k *call, p *patch, emit func(stream.Event)) {
	d.buf = p.path.Append(d.buf[:0])
	path := d.buf
	more := &stream.Detail{Source: source(path, p)}
	if k.whole != nil {
		emit(stream.Event{Kind: stream.Args, Turn: d.Number, Slot: k.slot, More: more})
		d.say(emit, k, patchOverwrites, "arguments came as a whole object and then in pieces: the pieces are not taken")
		return
	}
	k.started = true
	done, err := k.args.Apply(path, p.value, p.continues)
	d.emitPatched(k, done, more, emit)
	switch {
	case err != nil:
		d.about(emit, k.slot, patchUnreadable, "a value is lost: %v", err)
	case done.Overwritten:
		d.say(emit, k, patchOverwrites,
			"the value at %s was complete and is given again: clients that append differ from those that replace", path)
	case done.Rewritten:
		d.say(emit, k, patchGoesBack,
			"%s goes back to what stood already: the text so far is void", path)
	}
}

// source is a patch as the wire has it, short: its path, its value, and … when
// more of the string is to come.
func source(path []byte, p *patch) string {
	s := string(path) + " " + string(p.value)
	if p.continues {
		s += "…"
	}
	return s
}

func (d *decoder) emitPatched(k *call, done dialect.Patched, more *stream.Detail, emit func(stream.Event)) {
	e := stream.Event{Kind: stream.Args, Turn: d.Number, Slot: k.slot, Text: d.text.Hold(done.Added), More: more}
	if done.Rewritten {
		e.Kind, e.Text = stream.Rewrite, d.text.Hold(k.args.Text())
	}
	emit(e)
}

// seal ends a call whose arguments are final; more says how the wire put it.
func (d *decoder) seal(ch *choice, k *call, more *stream.Detail, emit func(stream.Event)) {
	ch.active = nil
	if k.whole == nil && k.args.Waiting() {
		d.say(emit, k, patchUnclosed, "the call ended although more of its last string was announced")
	}
	if k.empty != nil && !k.started {
		d.wholeArgs(k, k.empty, emit)
	}
	text := k.whole
	if text == nil {
		if done := k.args.Close(); done.Rewritten || len(done.Added) > 0 {
			d.emitPatched(k, done, more, emit)
		}
		text = k.args.Text()
	}
	if at, number := bigInteger(text); number != "" {
		e := dialect.Diagnose(d.Number, k.slot, dialect.IntPrecision,
			"%s has more digits than a double holds: Google passes arguments on as doubles, and so do most clients", number)
		e.More.Finding.Offset = at
		emit(e)
	}
	emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: k.slot})
}

// implicitEnd ends the call that is being streamed because another begins. Its
// arguments are whole only if no string waits for more.
func (d *decoder) implicitEnd(ch *choice, emit func(stream.Event)) {
	k := ch.active
	d.about(emit, k.slot, implicitEnd, "another call began before this one was ended: nothing says that it is whole")
	if k.whole == nil && k.args.Waiting() {
		d.flush(ch, emit)
		emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: k.slot})
		ch.active = nil
		return
	}
	d.seal(ch, k, nil, emit)
}

// flush brings out arguments that were held back.
func (d *decoder) flush(ch *choice, emit func(stream.Event)) {
	if k := ch.active; k != nil {
		if done := k.args.Flush(); done.Rewritten {
			d.emitPatched(k, done, nil, emit)
		}
	}
}

// serverCall takes a call that the provider runs.
func (d *decoder) serverCall(ch *choice, p *part, name string, args dialect.Raw, emit func(stream.Event)) {
	ch.server = d.slots
	d.slots++
	emit(stream.Event{Kind: stream.CallOpen, Turn: d.Number, Slot: ch.server, More: &stream.Detail{
		ID: p.value.Get("id").Text(), Name: name, CallKind: "server", Server: true, Choice: ch.index, Signature: p.signature.Text(),
	}})
	if args.Given() {
		emit(stream.Event{Kind: stream.Args, Turn: d.Number, Slot: ch.server, Text: d.text.Hold(args)})
	}
	emit(stream.Event{Kind: stream.Seal, Turn: d.Number, Slot: ch.server})
}

// answer takes the result of such a call, which has no id in older responses:
// then it answers the last one.
func (d *decoder) answer(ch *choice, p *part, emit func(stream.Event)) {
	code := stream.AnswerOK
	if failed(p) {
		code = stream.AnswerFailed
	}
	emit(stream.Event{Kind: stream.Answer, Turn: d.Number, Slot: ch.server, Code: code,
		More: &stream.Detail{ID: p.value.Get("id").Text()}})
}

// codeTool is the name of the tool that runs code, which the wire does not name.
const codeTool = "code_execution"

// toolType is the name of another tool that the provider runs.
func toolType(value dialect.Raw) string {
	name := value.Get("toolType")
	if !name.Given() {
		name = value.Get("tool_type")
	}
	return string(name.Append(nil))
}

const outcomeOK = "OUTCOME_OK"

// failed reports whether the result of a call that the provider ran is an error.
func failed(p *part) bool {
	if p.kind == partAnswer {
		return p.value.Get("response").Get("error").Given()
	}
	outcome := word(p.value.Get("outcome"))
	return outcome != outcomeOK && outcome != "1"
}

// say makes a finding about a call unless it was made before.
func (d *decoder) say(emit func(stream.Event), k *call, of *stream.Diagnosis, format string, args ...any) {
	if k.said.First(of) {
		d.about(emit, k.slot, of, format, args...)
	}
}

// bigInteger finds the first integer in a JSON text that is beyond 2^53, from
// where on doubles leave integers out.
func bigInteger(text []byte) (at int, number string) {
	const limit = "9007199254740992"
	for i := 0; i < len(text); {
		c := text[i]
		start := i
		switch {
		case c == '"':
			size, _ := jsonbytes.StringEnd(text[i:])
			i += size
			continue
		case c != '-' && (c < '0' || c > '9'):
			i++
			continue
		}
		integer := true
		for i++; i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '.' || text[i]|0x20 == 'e' || text[i] == '+' || text[i] == '-'); i++ {
			integer = integer && text[i] >= '0' && text[i] <= '9'
		}
		digits := string(text[start:i])
		if c == '-' {
			digits = digits[1:]
		}
		if integer && (len(digits) > len(limit) || len(digits) == len(limit) && digits > limit) {
			return start, string(text[start:i])
		}
	}
	return 0, ""
}
