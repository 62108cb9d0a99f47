package openaichat

import (
	"cmp"
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// call is what the decoder must remember of a call to find it again and to
// judge how it was sent.
type call struct {
	slot    int32
	id      string
	name    string
	legacy  bool
	custom  bool
	tail    byte // last argument byte, 0 when none came
	sawArgs bool // an arguments field was there
	sawNull bool // and it was null, or is the word
	said    dialect.Told
}

// toolCall takes one element of tool_calls.
func (d *decoder) toolCall(st *choiceState, w *wireCall, emit func(stream.Event)) {
	id := w.id.Text()
	if id == "null" { // Mistral's SDK fills a missing id with this word
		id = ""
	}
	k := d.find(st, w, id, emit)
	if k == nil {
		if !w.says() && len(st.calls) > 0 {
			return // metadata only, e.g. a thought signature
		}
		k = d.openCall(st, w, id, emit)
	} else {
		d.continueCall(st, k, w, id, emit)
	}
	if w.id.Is("null") {
		d.about(emit, k, idIsNull, `the id is the word "null": there is no id`)
	}
	if w.argsIn {
		d.arguments(k, w, emit)
	}
}

// find is the call that w continues, or nil when w begins one.
func (d *decoder) find(st *choiceState, w *wireCall, id string, emit func(stream.Event)) *call {
	if w.legacy {
		return st.byIndex[legacyIndex]
	}
	index, given := w.index.Int()
	if !given {
		return d.findWithoutIndex(st, w, id, emit)
	}
	if index < 0 {
		index = 0
		d.once(emit, indexNegative, "the index is negative: read as 0")
	}
	k := st.byIndex[index]
	switch name := w.name.Text(); {
	case k == nil && id != "" && name == "":
		if k = st.byID[id]; k != nil {
			st.byIndex[index] = k
			d.about(emit, k, indexChanged, "later fragments have another index: only the id says whose they are")
		}
	case k == nil:
	case id != "" && k.id != "" && id != k.id:
		if other := st.byID[id]; other != nil {
			st.byIndex[index] = other
			return other
		}
		if k.goesOn(w, name) {
			d.about(emit, k, dialect.CallIDChanged, "the id changes from fragment to fragment: the first is kept, clients that go by the id see calls that are none")
			return k
		}
		d.reused(index, emit)
		return nil
	case id == "" && name != "" && k.tail == '}' && startsObject(w.args):
		d.reused(index, emit)
		return nil
	}
	return k
}

func (d *decoder) reused(index int64, emit func(stream.Event)) {
	d.once(emit, dialect.IndexReused,
		"several calls share index %d: clients that go by the index glue their arguments together", index)
}

// goesOn reports whether w continues call k in spite of another id: the
// arguments are in the middle of an object, and w does not begin one.
func (k *call) goesOn(w *wireCall, name string) bool {
	if k.tail == 0 || k.tail == '}' || k.custom {
		return false
	}
	return name == "" || name == k.name && w.argsIn && !w.args.Empty() && !startsObject(w.args)
}

// idIs says that a call has an id. Of several that have the same the first counts.
func (st *choiceState) idIs(k *call, id string) {
	k.id = id
	if first := st.byID[id]; id != "" && (first == nil || first.slot > k.slot) {
		st.byID[id] = k
	}
}

// legacyIndex is where function_call, of which there is one, keeps its call.
const legacyIndex = int64(-1) << 40

// findWithoutIndex goes by the id, else takes the latest call unless w names a
// new one.
func (d *decoder) findWithoutIndex(st *choiceState, w *wireCall, id string, emit func(stream.Event)) *call {
	if w.whole {
		return nil // a body lists its calls: there is nothing to continue
	}
	d.once(emit, dialect.IndexMissing, "tool calls have no index: clients that need one lose or merge calls")
	if id != "" {
		return st.byID[id]
	}
	n := len(st.calls)
	switch {
	case n == 0:
		return nil
	case w.name.Text() == "":
		return st.calls[n-1]
	}
	d.once(emit, indexAndIDMissing, "several calls have neither index nor id: only a name tells where one begins")
	return nil
}

func startsObject(args dialect.Raw) bool {
	return args.Kind() == '{' || strings.HasPrefix(args.Text(), "{")
}

func (d *decoder) openCall(st *choiceState, w *wireCall, id string, emit func(stream.Event)) *call {
	k := &call{slot: d.calls, name: w.name.Text(), legacy: w.legacy, custom: w.custom}
	d.calls++
	st.idIs(k, id)
	index, given := w.index.Int()
	switch {
	case w.legacy:
		st.byIndex[legacyIndex] = k
	case given:
		index = max(index, 0)
		if index != int64(len(st.byIndex)) && st.byIndex[index] == nil {
			d.once(emit, indexSparse, "call %d of the choice has index %d: clients that size a list by it crash or leave holes", len(st.calls)+1, index)
		}
		st.byIndex[index] = k
	}
	st.calls, st.open = append(st.calls, k), append(st.open, k)
	kind := "function"
	if w.custom {
		kind = "custom"
	}
	emit(stream.Event{Kind: stream.CallOpen, Turn: d.Number, Slot: k.slot, More: &stream.Detail{
		ID: id, Name: k.name, CallKind: kind, Freeform: w.custom, Choice: st.index, Signature: w.signature.Text(),
	}})
	d.checkName(k, emit)
	if st.finally {
		d.about(emit, k, stream.ProtocolViolation, "the call came after the finish reason: clients that stop there never see it")
	}
	if w.legacy {
		d.about(emit, k, legacyCall, "sent as function_call, which has no id and allows one call")
	}
	return k
}

// continueCall takes what a later element says of a known call.
func (d *decoder) continueCall(st *choiceState, k *call, w *wireCall, id string, emit func(stream.Event)) {
	name := w.name.Text()
	if signature := w.signature.Text(); signature != "" {
		emit(stream.Event{Kind: stream.CallMeta, Turn: d.Number, Slot: k.slot, More: &stream.Detail{Signature: signature}})
	}
	switch {
	case w.id.Empty() && k.id != "":
		d.about(emit, k, idEmpty, "later fragments carry an empty id: it does not replace the first")
	case id == "":
	case k.id == "":
		st.idIs(k, id)
		d.late(k, "id", emit)
		emit(stream.Event{Kind: stream.CallMeta, Turn: d.Number, Slot: k.slot, More: &stream.Detail{ID: id}})
	case id == k.id && !k.legacy:
		d.about(emit, k, idRepeated, "the id is repeated on later fragments: it is not to be appended")
	}
	switch {
	case w.name.Empty():
		d.about(emit, k, nameEmptied, "later fragments carry an empty name: it does not replace the first")
	case name == "":
	case k.name == "":
		k.name = name
		d.late(k, "name", emit)
		emit(stream.Event{Kind: stream.CallMeta, Turn: d.Number, Slot: k.slot, More: &stream.Detail{Name: name}})
		d.checkName(k, emit)
	case name == k.name:
		d.about(emit, k, nameRepeated, "the name is repeated on later fragments: clients that append it call an unknown tool")
	default:
		d.about(emit, k, nameFragmented,
			"the name came as %q and then %q: the first is kept, together they would be %q", k.name, name, k.name+name)
	}
}

func (d *decoder) late(k *call, what string, emit func(stream.Event)) {
	if k.tail != 0 {
		d.about(emit, k, idLate, "the %s came after the first argument bytes: they had to wait for it", what)
	}
}

// arguments takes the arguments field of a fragment: normally a string.
func (d *decoder) arguments(k *call, w *wireCall, emit func(stream.Event)) {
	k.sawArgs = true
	if !w.args.Given() {
		k.sawNull = true
		return
	}
	if !w.args.IsString() {
		d.about(emit, k, dialect.ArgsObject, "the arguments are a JSON value, not a string with JSON in it: clients that expect a string fail")
	}
	d.buf = w.args.Append(d.buf[:0])
	if n := len(d.buf); n > 0 {
		k.sawNull = k.tail == 0 && string(d.buf) == "null"
		k.tail = d.buf[n-1]
	}
	emit(stream.Event{Kind: stream.Args, Turn: d.Number, Slot: k.slot, Text: d.text.Hold(d.buf)})
}

// checkCall judges a call that no more fragments come for. What a limit has cut
// is not meant to be empty.
func (d *decoder) checkCall(k *call, cut bool, emit func(stream.Event)) {
	if k.id == "" && !k.legacy {
		d.about(emit, k, dialect.IDMissing, "no id came: a result has nothing to refer to, clients invent one")
	}
	switch {
	case cut:
	case k.sawNull:
		d.about(emit, k, dialect.ArgsNull, "the arguments are null and were never filled: meant as {}")
	case k.tail != 0:
	case k.sawArgs:
		d.about(emit, k, dialect.ArgsEmpty, "the arguments are the empty string: meant as {}")
	default:
		d.about(emit, k, dialect.ArgsMissing, "no arguments field came at all: meant as {}")
	}
}

// checkName looks for names that a client or gateway glued together.
func (d *decoder) checkName(k *call, emit func(stream.Event)) {
	if k.name == "" {
		return
	}
	if part := glued(k.name, d.names); part != "" {
		d.about(emit, k, nameGlued, "%q is several names glued together, %q among them: calls that shared an index were merged", k.name, part)
		return
	}
	d.names[k.name] = true
}

// glued returns the first of the names that name is made of, if it is made of
// two or more that were seen before, or of one repeated.
func glued(name string, seen map[string]bool) string {
	if len(name) > longestName || seen[name] {
		return ""
	}
	for n := 3; n <= len(name)/2; n++ {
		if len(name)%n == 0 && strings.Repeat(name[:n], len(name)/n) == name {
			return name[:n]
		}
	}
	from := make([]string, len(name)+1) // the first part on a way to here
	for i := range name {
		if i > 0 && from[i] == "" {
			continue
		}
		for end := i + 3; end <= len(name); end++ {
			if part := name[i:end]; seen[part] && from[end] == "" {
				from[end] = cmp.Or(from[i], part)
			}
		}
	}
	return from[len(name)]
}

const longestName = 256 // no provider allows more than 128

// about makes a finding about a call unless it was made before.
func (d *decoder) about(emit func(stream.Event), k *call, of *stream.Diagnosis, format string, args ...any) {
	if k.said.First(of) {
		emit(dialect.Diagnose(d.Number, k.slot, of, format, args...))
	}
}
