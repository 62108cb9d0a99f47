package fix

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/providers/requestrules"
	"toolscope/stream"
	"toolscope/stream/json"
)

// fieldPlace contains the range of a field, from its key to the end of its value, and the range of the value.
type fieldPlace struct{ field, value valueRange }

// findField returns the place of a field of a part, or of an object inside the part. The field has one of the given
// names, and is(value) is true for its value. If there is no such field, ok is false.
func (d *document) findField(place valueRange, names []string, is func(json.Value) bool) (f fieldPlace, ok bool) {
	var search func(object json.Value, depth int)
	search = func(object json.Value, depth int) {
		s := object.Scan()
		for more := s.Object(); more; more = s.Member() {
			key, from := string(s.Key()), d.rangeOf(object).from+s.KeyOffset()
			v := s.Value()
			switch {
			case slices.Contains(names, key) && is(v):
				value := d.rangeOf(v)
				f, ok = fieldPlace{valueRange{from, value.to}, value}, true
			case depth > 0 && v.Kind() == '{' && slices.Contains(callObjects, key):
				search(v, depth-1)
			}
		}
	}
	search(d.rawOf(place), 1)
	return f, ok
}

// callObjects are the fields of a part that contain a call or a result.
var callObjects = []string{"function", "custom", "functionCall", "functionResponse", "function_call", "function_response", "toolUse", "toolResult"}

// These are the names of fields in calls and results.
var (
	idFields   = []string{"id", "call_id", "tool_use_id", "tool_call_id", "toolUseId"}
	argsFields = []string{"input", "args", "arguments"}
)

// renamePart returns an edit that replaces the id or the name of a part. If the part has no such field, ok is false.
func (d *document) renamePart(at partPlace, fields []string, from, to string) (e edit, ok bool) {
	place := d.placeOf(at.message, at.part)
	if !place.isKnown() {
		return e, false
	}
	f, ok := d.findField(place, fields, func(v json.Value) bool { return v.IsString() && v.Is(from) })
	return edit{f.value, json.AppendQuoted(nil, []byte(to))}, ok
}

// freshID returns an id that the target accepts and that no part has yet. It is similar to the given id.
func (d *document) freshID(id string) string {
	rule := d.Target.IDs
	legal := mapClass(id, rule.Class)
	limit := rule.Max
	if limit == 0 {
		limit = max(len(id)+4, 64)
	}
	for n := 1; ; n++ {
		suffix := ""
		if n > 1 {
			suffix = "_" + strconv.Itoa(n)
		}
		suffix = mapClass(suffix, rule.Class)
		fresh := legal[:min(len(legal), limit-len(suffix))] + suffix
		for len(fresh) < rule.Min {
			fresh += "0"
		}
		if !d.hasID(fresh) && !d.given[fresh] {
			return fresh
		}
	}
}

// mapClass replaces characters that are not in a class with an underscore, or with the digit 0 if the class has no
// underscore.
func mapClass(text, class string) string {
	fill := byte('_')
	if class != "" && !protocol.InClass(class, fill) {
		fill = '0'
	}
	out := []byte(text)
	for i, c := range out {
		if class != "" && !protocol.InClass(class, c) {
			out[i] = fill
		}
	}
	return strings.ToValidUTF8(string(out), string(fill))
}

func (d *document) hasID(id string) bool {
	for _, p := range d.eachPart {
		if p.ID == id || p.Item == id {
			return true
		}
	}
	return false
}

// renameID replaces an id that the target doesn't accept, in the call and its results. It returns nil if it
// can't replace all of them.
func (d *document) renameID(id string) *correction {
	fresh := d.freshID(id)
	var edits []edit
	for at, p := range d.eachPart {
		if p.ID != id {
			continue
		}
		e, ok := d.renamePart(at, idFields, id, fresh)
		if !ok {
			return nil
		}
		edits = append(edits, e)
	}
	if len(edits) == 0 {
		return nil
	}
	c := newCorrection(stream.Messagef("replace the id %s with %s", stream.Clip([]byte(id), 0, 80), fresh), edits...)
	c.fresh = fresh
	return c
}

// separateCall gives a new id to the later of two calls with the same id, and to its result. If the later call has no
// result and equals the earlier one, it is left out instead. If neither is possible, separateCall returns nil.
func (d *document) separateCall(at requestrules.Spot, call *protocol.Part) *correction {
	calls, results := 0, 0
	later := partPlace{at.Message, at.Part}
	var of *partPlace // result of the later call
	isTwin := false
	for place, p := range d.eachPart {
		isAfter := later.isBefore(place)
		switch {
		case p.ID != call.ID || p.RunByProvider:
		case p.Kind == protocol.CallPart && !isAfter:
			calls++
			isTwin = isTwin || p != call && p.Name == call.Name && json.Same(p.Args, call.Args)
		case p.Kind == protocol.ResultPart:
			if results++; isAfter && results >= calls && of == nil {
				of = &place
			}
		}
	}
	if of == nil && isTwin {
		return d.dropPart(at, stream.Messagef("leave out the second call with the id %s", nameOf(call)))
	}
	fresh := d.freshID(call.ID)
	e, ok := d.renamePart(later, idFields, call.ID, fresh)
	if !ok {
		return nil
	}
	edits := []edit{e}
	if of != nil {
		if e, ok = d.renamePart(*of, idFields, call.ID, fresh); !ok {
			return nil
		}
		edits = append(edits, e)
	}
	c := newCorrection(stream.Messagef("give the second call with the id %s the new id %s", nameOf(call), fresh), edits...)
	c.fresh = fresh
	return c
}

// dropItemID removes the id of an item if an earlier item has the same id. A reasoning item needs an id, so the whole
// item is removed. The result is nil if neither is possible.
func (d *document) dropItemID(at requestrules.Spot, p *protocol.Part) *correction {
	words := stream.Messagef("remove the repeated item id %s", stream.Clip([]byte(p.Item), 0, 80))
	place := d.placeOf(at.Message, at.Part)
	if p.Kind == protocol.ReasoningPart || !place.isKnown() {
		return d.dropPart(at, words)
	}
	f, ok := d.findField(place, []string{"id"}, func(v json.Value) bool { return v.Is(p.Item) })
	if !ok {
		return nil
	}
	return newCorrection(words, d.removeValue(f.field))
}

// renameTool replaces a tool name in calls, results and declarations, because the target doesn't accept it. It
// returns nil if the name is empty, or if no part and no declaration has it.
func (d *document) renameTool(name string) *correction {
	rule := d.Target.Names
	fresh := mapClass(name, rule.Class)
	if rule.First != "" && fresh != "" && !protocol.InClass(rule.First, fresh[0]) {
		fresh = "_" + fresh
	}
	if rule.Max > 0 {
		fresh = fresh[:min(len(fresh), rule.Max)]
	}
	base := fresh
	for n := 2; d.hasToolName(fresh) || d.given[fresh]; n++ {
		suffix, size := "_"+strconv.Itoa(n), len(base)
		if rule.Max > 0 {
			size = min(size, rule.Max-len(suffix))
		}
		fresh = base[:size] + suffix
	}
	var edits []edit
	for at, p := range d.eachPart {
		if p.Name != name || p.RunByProvider {
			continue
		}
		if e, ok := d.renamePart(at, []string{"name"}, name, fresh); ok {
			edits = append(edits, e)
		}
	}
	for _, r := range append(d.findToolNames(name, declarationFields), d.findToolNames(name, choiceFields)...) {
		edits = append(edits, edit{r, json.AppendQuoted(nil, []byte(fresh))})
	}
	if len(edits) == 0 || fresh == "" {
		return nil
	}
	c := newCorrection(stream.Messagef("replace the tool name %s with %s", stream.Clip([]byte(name), 0, 80), fresh), edits...)
	c.fresh = fresh
	return c
}

// hasToolName reports whether the request declares a tool with the given name, or contains a call to it or a result
// from it.
func (d *document) hasToolName(name string) bool {
	for _, p := range d.eachPart {
		if p.Name == name {
			return true
		}
	}
	return slices.ContainsFunc(d.Tools, func(t protocol.Tool) bool { return t.Name == name })
}

// These fields of a request contain the names of tools.
var (
	declarationFields = []string{"tools", "functions"}
	choiceFields      = []string{"tool_choice", "function_call", "toolConfig", "tool_config", "toolChoice"}
	// toolObjects are the fields, inside the fields above, that contain tool names.
	toolObjects = []string{
		"function", "custom", "functionDeclarations", "function_declarations", "functionCallingConfig", "function_calling_config",
		"allowed_tools", "tools", "toolSpec", "toolChoice", "tool",
	}
	allowedNames = []string{"allowedFunctionNames", "allowed_function_names"}
)

// findToolNames returns the places in the given fields of the request body that contain a tool's name.
func (d *document) findToolNames(name string, fields []string) (all []valueRange) {
	var search func(v json.Value)
	addName := func(v json.Value) {
		if v.IsString() && v.Is(name) {
			all = append(all, d.rangeOf(v))
		}
	}
	searchObject := func(object json.Value, inside bool) {
		s := object.Scan()
		for ok := s.Object(); ok; ok = s.Member() {
			key, v := string(s.Key()), s.Value()
			switch {
			case !inside && slices.Contains(fields, key), inside && slices.Contains(toolObjects, key):
				search(v)
			case inside && key == "name":
				addName(v)
			case inside && slices.Contains(allowedNames, key):
				for element := range v.Elements() {
					addName(element)
				}
			}
		}
	}
	search = func(v json.Value) {
		for element := range v.Elements() {
			searchObject(element, true)
		}
		searchObject(v, true)
	}
	if d.Form == Body {
		searchObject(d.text, false)
		searchObject(json.Value(d.text).Get("request"), false) // some clients put the request inside a field
	}
	return all
}

// toolNamePlace returns the range of the name in a tool's declaration.
func (d *document) toolNamePlace(tool int) valueRange {
	if tool < len(d.Tools) {
		if all := d.findToolNames(d.Tools[tool].Name, declarationFields); len(all) > 0 {
			return all[0]
		}
	}
	return valueRange{}
}

// wrapArgs makes the arguments of a call an object. If they are a string that contains an object, they become that
// object. If they are missing or an empty string, they become an empty object. Any other value becomes a field of a
// new object.
func (d *document) wrapArgs(at requestrules.Spot, p *protocol.Part) *correction {
	place := d.placeOf(at.Message, at.Part)
	if !place.isKnown() {
		return nil
	}
	f, ok := d.findField(place, argsFields, func(v json.Value) bool { return v.Kind() != '{' })
	if !ok {
		return nil
	}
	value := d.rawOf(f.value)
	text := []byte("{}")
	words := stream.Messagef("make the arguments of %s an object", nameOf(p))
	switch inner := bytes.TrimSpace(value.Unquoted()); {
	case value.IsString() && json.IsObject(inner):
		text = slices.Clone(inner)
	case value.IsString() && len(inner) == 0, !value.IsPresent():
	default:
		words = stream.Messagef("put the arguments of %s into the field %s of an object", nameOf(p), stream.Own(unparsedField))
		var w json.Writer
		text = w.Open('{').Key(unparsedField).Raw(value).Close('}').Text
	}
	return newCorrection(words, edit{f.value, text})
}

// quoteArgs makes the arguments of a call a string.
func (d *document) quoteArgs(at requestrules.Spot, p *protocol.Part) *correction {
	place := d.placeOf(at.Message, at.Part)
	if !place.isKnown() {
		return nil
	}
	f, ok := d.findField(place, argsFields, func(v json.Value) bool { return v.Kind() == '{' })
	if !ok {
		return nil
	}
	var w json.Writer
	return newCorrection(stream.Messagef("make the arguments of %s a string", nameOf(p)), edit{f.value, w.String(string(d.rawOf(f.value))).Text})
}

// trimText removes the white space at the end of a text part, or leaves the part out if it is blank. It returns nil
// if the request doesn't contain the text.
func (d *document) trimText(at requestrules.Spot, p *protocol.Part) *correction {
	place := d.placeOf(at.Message, at.Part)
	text := bytes.TrimRight(p.Text, " \t\r\n")
	if len(text) == 0 {
		return d.dropPart(at, stream.Messagef("leave out blank text"))
	}
	if !place.isKnown() {
		place = d.places[at.Message].message
	}
	if !place.isKnown() {
		return nil
	}
	f, ok := d.findField(place, []string{"text", "content"}, func(v json.Value) bool { return v.IsString() && bytes.Equal(v.Unquoted(), p.Text) })
	if !ok {
		return nil
	}
	return newCorrection(stream.Messagef("remove white space from the end of the last text"), edit{f.value, json.AppendQuoted(nil, text)})
}

// dropCacheMarks removes cache marks from the beginning of the messages until the request has no more than are
// allowed. It returns nil if the messages have none.
func (d *document) dropCacheMarks() *correction {
	var edits []edit
	total := 0
	for tool := range json.Value(d.text).Get("tools").Elements() {
		if tool.Get("cache_control").Kind() == '{' {
			total++
		}
	}
	for i := range d.Messages {
		for _, place := range d.places[i].parts {
			f, ok := d.findField(place, []string{"cache_control"}, func(v json.Value) bool { return v.Kind() == '{' })
			if !place.isKnown() || !ok {
				continue
			}
			if total++; d.Messages[i].Role != protocol.System {
				edits = append(edits, d.removeValue(f.field))
			}
		}
	}
	if len(edits) == 0 {
		return nil
	}
	n := min(len(edits), max(1, total-requestrules.MaxCacheMarks))
	return newCorrection(stream.Messagef("remove cache marks from the messages: the first %d", n), edits[:n]...)
}
