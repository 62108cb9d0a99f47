package openaichat

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// call is a call, together with the form in which it was sent.
type call struct {
	*protocol.Call
	legacy  bool // sent as function_call
	custom  bool
	sawArgs bool // the call had an arguments field
	sawNull bool // the arguments field was null
}

// readCall reads one element of tool_calls, or a function_call.
func (d *decoder) readCall(st *choiceState, w *wireCall) {
	id, isNumber := w.id.Text(), false
	switch {
	case id == "null": // Mistral's SDK sends this word if there is no id
		id = ""
	case protocol.CountOf(w.id).Reported:
		id, isNumber = string(w.id), true
	}
	k := d.findCall(st, w, id)
	if k == nil {
		if !w.isNews() && len(st.calls) > 0 {
			return // only metadata, e.g. a thought signature
		}
		k = d.openCall(st, w, id)
	} else {
		d.continueCall(st, k, w, id)
	}
	if w.id.Is("null") {
		k.Once(idIsNull, `the id is the word "null": the call has no id`)
	}
	if isNumber {
		k.Once(idIsNumber, "the id is the number %s, not a string: clients that check types reject it", id)
	}
	if w.args != nil {
		if k.Sealed && w.args.HasText() {
			st.early = true // from now on, a normal finish reason doesn't make the calls of the choice final
			k.Unseal()
			k.Once(stream.ProtocolViolation, "argument bytes arrived after the finish reason: clients that stop there run the call without these bytes")
			st.open = append(st.open, k)
		}
		k.appendArguments(w.args)
	}
}

// findCall returns the call that w continues, or nil if w begins a new call.
func (d *decoder) findCall(st *choiceState, w *wireCall, id string) *call {
	if w.isLegacy() {
		return st.function
	}
	index, given := d.turn.ReadIndex(w.index)
	if !given {
		return d.findWithoutIndex(st, w, id)
	}
	if index < 0 {
		index = 0
		d.turn.Once(indexNegative, "the index is negative: toolscope reads it as 0")
	}
	k := st.byIndex[index]
	switch name := w.name.Text(); {
	case k == nil && id != "" && name == "":
		if k = st.byID[id]; k != nil {
			st.byIndex[index] = k
			k.Once(indexChanged, "later deltas have a different index: only the id shows which call they belong to")
		}
	case k == nil:
	case id != "" && k.ID != "" && id != k.ID:
		if other := st.byID[id]; other != nil {
			st.byIndex[index] = other
			return other
		}
		if k.isContinuedBy(w, name) {
			k.Once(protocol.CallIDChanged, "the id changes from %q to %q within one call: toolscope keeps the first id; clients that start a call for each id see too many calls", k.ID, id)
			return k
		}
		d.reportReused(index)
		return nil
	case id == "" && name != "" && k.LastByte == '}' && startsObject(w.args):
		d.reportReused(index)
		return nil
	}
	return k
}

func (d *decoder) reportReused(index int64) {
	d.turn.Once(protocol.IndexReused,
		"several calls have index %d: clients that merge by index join their arguments", index)
}

// isContinuedBy reports whether w continues call k although their ids differ. If w has no name, it continues k unless
// w begins an object and k ends with a brace. If w repeats k's name and has arguments, it continues k unless k ends
// with a brace or w begins an object. If k has no arguments yet, w must begin an object and not complete it. Custom
// calls are never continued.
func (k *call) isContinuedBy(w *wireCall, name string) bool {
	begins := startsObject(w.args)
	switch {
	case k.custom:
		return false
	case name == "":
		return !(begins && k.LastByte == '}')
	case name != k.Name || k.LastByte == '}' || w.args == nil || w.args.Empty():
		return false
	case k.Bytes == 0:
		return begins && !json.IsObject(w.args.Append(nil))
	}
	return !begins
}

// findWithoutIndex finds the call by its id. If w has no id, it returns the latest call, or nil if w has the name of
// a new call.
func (d *decoder) findWithoutIndex(st *choiceState, w *wireCall, id string) *call {
	if st.isBody {
		return nil // a body lists complete calls, so w continues none
	}
	if !w.index.IsPresent() {
		d.turn.Once(protocol.IndexMissing, "the calls have no index: clients that need an index lose or merge calls")
	}
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
	d.turn.Once(indexAndIDMissing, "several calls have neither index nor id: only a name shows where a call begins")
	return nil
}

func startsObject(args json.Value) bool {
	return args.Kind() == '{' || strings.HasPrefix(args.Text(), "{")
}

func (d *decoder) openCall(st *choiceState, w *wireCall, id string) *call {
	kind := "function"
	if w.isCustom() {
		kind = "custom"
	}
	index, given := d.turn.ReadIndex(w.index)
	if index = max(index, 0); given && index != int64(len(st.byIndex)) && st.byIndex[index] == nil {
		d.turn.Once(protocol.IndexSparse, "call %d of the choice has index %d: clients that use it as a list position crash or create empty calls", len(st.calls)+1, index)
	}
	k := &call{legacy: w.isLegacy(), custom: w.isCustom()}
	k.Call = d.turn.NextCall(stream.CallInfo{
		ID: id, Name: w.name.Text(), Kind: kind, Freeform: k.custom, Choice: st.index, Signature: thoughtSignature(w.extra).Text(),
	})
	if k.IsCounted() {
		return k
	}
	st.addCall(k, index, given)
	d.checkName(k)
	if st.finished {
		k.Once(stream.ProtocolViolation, "the call arrived after the finish reason: clients that stop there never see it")
	}
	if k.legacy {
		k.Once(legacyCall, "the call was sent as function_call, which has no id and allows only one call")
	}
	return k
}

// addCall adds a new call to the choice's lists and indexes, so that later elements find the call.
func (st *choiceState) addCall(k *call, index int64, given bool) {
	if st.byIndex == nil {
		st.byIndex, st.byID = map[int64]*call{}, map[string]*call{}
	}
	st.calls, st.open = append(st.calls, k), append(st.open, k)
	st.setID(k, k.ID)
	if k.legacy {
		st.function = k
	} else if given {
		st.byIndex[index] = k
	}
}

// setID adds a call to the index of ids. If several calls have the same id, the first call has priority.
func (st *choiceState) setID(k *call, id string) {
	if first := st.byID[id]; id != "" && (first == nil || first.Slot > k.Slot) {
		st.byID[id] = k
	}
}

// continueCall reads the id, name and signature in a later element of the same call.
func (d *decoder) continueCall(st *choiceState, k *call, w *wireCall, id string) {
	name := w.name.Text()
	if signature := thoughtSignature(w.extra).Text(); signature != "" {
		k.Meta(stream.CallInfo{Signature: signature})
	}
	switch {
	case w.id.Empty() && k.ID != "":
		k.Once(idEmpty, "later deltas have an empty id: the first id stays valid")
	case id == "":
	case k.ID == "":
		st.setID(k, id)
		k.reportLate("id")
		k.Meta(stream.CallInfo{ID: id})
	case id == k.ID && !k.legacy:
		k.Once(idRepeated, "later deltas repeat the id: clients must not append the repeats")
	}
	switch {
	case w.name.Empty():
		k.Once(nameEmptied, "later deltas have an empty name: the first name stays valid")
	case name == "":
	case k.Name == "":
		k.reportLate("name")
		k.Meta(stream.CallInfo{Name: name})
		d.checkName(k)
	case name == k.Name:
		k.Once(nameRepeated, "later deltas repeat the name: clients that append it each time call an unknown tool")
	default:
		k.Once(nameFragmented,
			"the name arrived as %q and then as %q: toolscope keeps the first part; together, the parts are %q", k.Name, name, k.Name+name)
	}
}

func (k *call) reportLate(what string) {
	if k.LastByte != 0 {
		k.Once(idLate, "the %s arrived after the first bytes of the arguments: clients must not discard those bytes", stream.OwnFact(what))
	}
}

// appendArguments appends the arguments in a delta, which are normally a string.
func (k *call) appendArguments(args json.Value) {
	k.sawArgs = true
	if !args.IsPresent() {
		k.sawNull = true
		if k.Bytes > 0 {
			k.Once(protocol.ArgsNull.WithSeverity(stream.Info), "a delta after the arguments is null: clients that append it as text add the word null")
		}
		return
	}
	if !args.IsString() {
		k.Once(protocol.ArgsObject, "the arguments are a JSON value, not a string of JSON: clients that expect the string fail")
	}
	k.Args(args)
}

// checkCall reports findings about a call after its last delta. If cut is set, a limit cut off the response, so
// missing arguments are not a finding.
func (k *call) checkCall(cut bool) {
	if k.ID == "" && !k.legacy {
		k.Once(protocol.IDMissing, "the call has no id: a result can't refer to it, and clients invent an id")
	}
	switch {
	case cut:
	case k.IsNull(), k.Bytes == 0 && k.sawNull:
		k.reportNull()
	case k.Bytes > 0:
	case k.sawArgs:
		k.Once(protocol.ArgsEmpty, "the arguments are an empty string: toolscope uses {} instead")
	default:
		k.Once(protocol.ArgsMissing, "the call has no arguments field: toolscope uses {} instead")
	}
}

// reportNull reports null arguments once per call.
func (k *call) reportNull() {
	k.Once(protocol.ArgsNull, "the arguments are null: toolscope uses {} instead")
}

// checkName reports a name that consists of several names, which happens if calls are merged. It stores any other
// name for later checks.
func (d *decoder) checkName(k *call) {
	if k.Name == "" {
		return
	}
	if part := splitGluedName(k.Name, d.names); part != "" {
		k.Once(protocol.NameGlued, "%q consists of several names, among them %q: calls with the same index were merged", k.Name, part)
		return
	}
	d.names[k.Name] = true
}

// splitGluedName returns the first part of name if name consists of two or more known names, or of one repeated
// string of at least three bytes. Otherwise, it returns "".
func splitGluedName(name string, seen map[string]bool) string {
	if len(name) > stream.MaxGluedName || seen[name] {
		return ""
	}
	for n := 3; n <= len(name)/2; n++ {
		if len(name)%n == 0 && strings.Repeat(name[:n], len(name)/n) == name {
			return name[:n]
		}
	}
	return stream.SplitGluedName(name, func(part string) bool { return seen[part] })
}

// executedTool is a tool that one of Groq's compound systems ran (ExecutedTool in groq-python). It has no id, and the
// client sends no result for it.
type executedTool struct {
	*protocol.Call
	answered bool
}

// readExecuted reads executed_tools. Each entry is complete: it arrives first with its arguments, and again with the
// same index when there is output.
func (d *decoder) readExecuted(st *choiceState, list json.Value) {
	place := int64(-1)
	for entry := range list.Elements() {
		place++
		index, given := entry.Get("index").Int()
		if !given {
			index = place
		}
		x := st.ran[index]
		if x == nil {
			name := entry.Get("name").Text()
			if name == "" {
				name = entry.Get("type").Text() // search, python, browser_automation, …
			}
			x = &executedTool{Call: d.turn.NextCall(stream.CallInfo{Name: name, Kind: "server", RunByProvider: true, Choice: st.index})}
			if st.ran == nil {
				st.ran = map[int64]*executedTool{}
			}
			if !x.IsCounted() {
				st.ran[index] = x
			}
		}
		args := entry.Get("arguments")
		ran := entry.Get("output").IsPresent()
		if !x.Sealed && (args.IsPresent() || ran) {
			if args.IsPresent() {
				x.Args(args)
			}
			x.Seal()
		}
		if ran && !x.answered {
			x.answered = true
			x.AddResult(false)
		}
	}
}
