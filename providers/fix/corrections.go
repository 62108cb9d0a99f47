package fix

import (
	"bytes"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/providers/requestrules"
	"toolscope/stream"
	"toolscope/stream/json"
)

// correction is a list of edits that corrects one fault.
type correction struct {
	code  string
	words stream.Message
	edits []edit
	fresh string // the id or tool name that the correction adds, or ""
}

// Corrections add these texts to a history.
const (
	missingResult = "[interrupted: no result was recorded]"
	missingStart  = "[the beginning of this conversation is missing]"
	emptyText     = "(no content)"
	unparsedField = "__unparsed"
)

// correctFault returns the correction of a fault, or nil if the fault can't be corrected.
func (d *document) correctFault(b *requestrules.Breach, at requestrules.Spot) *correction {
	if at.Message < 0 {
		if b.Rule == "tool-name-legal" {
			return d.renameTool(d.Tools[at.Part].Name)
		}
		return nil
	}
	var p *protocol.Part
	if at.Part >= 0 {
		p = &d.Messages[at.Message].Parts[at.Part]
	}
	switch b.Rule {
	case "call-answered":
		return d.addResults(b, at)
	case "result-has-call":
		if call := d.findCall(at); call != nil {
			return d.moveResult(at, p, *call)
		}
		return d.dropResults(b, at)
	case "result-once":
		return d.dropPart(at, stream.Messagef("leave out the second result of %s", nameOf(p)))
	case "result-follows":
		return d.moveLateResult(at, p)
	case "id-unique":
		return d.separateCall(at, p)
	case "item-unique":
		return d.dropItemID(at, p)
	case "id-legal":
		return d.renameID(p.ID)
	case "name-legal":
		return d.renameTool(p.Name)
	case "arguments-object":
		return d.wrapArgs(at, p)
	case "arguments-string":
		return d.quoteArgs(at, p)
	case "turn-order":
		return d.correctOrder(at)
	case "content-empty":
		return d.dropEmpty(at)
	case "reasoning-alone":
		return d.dropPart(at, stream.Messagef("leave out the reasoning item %s, because nothing follows it", p.Item))
	case "thinking-unsigned":
		if d.isOpenStep(at.Message) {
			return nil
		}
		return d.dropPart(at, stream.Messagef("leave out reasoning without a signature"))
	case "trailing-space":
		return d.trimText(at, p)
	case "cache-marks":
		return d.dropCacheMarks()
	}
	return nil
}

// nameOf returns the id of a call or a result, or the name of its tool if it has no id.
func nameOf(p *protocol.Part) string {
	name := p.ID
	if name == "" {
		name = p.Name
	}
	return stream.Clip([]byte(name), 0, 80)
}

// newCorrection returns a correction that consists of edits.
func newCorrection(words stream.Message, edits ...edit) *correction {
	return &correction{words: words, edits: edits}
}

// findCall returns the call that a result belongs to: the nearest earlier call without a result, or else the first
// such call after the result. If there is none, it returns nil.
func (d *document) findCall(result requestrules.Spot) (found *partPlace) {
	r := &d.Messages[result.Message].Parts[result.Part]
	for at, p := range d.eachPart {
		isAfter := at.message > result.Message
		if found != nil && isAfter {
			break
		}
		isMatch := p.Kind == protocol.CallPart && p.ID == r.ID && (r.ID != "" || p.Name == r.Name)
		if isMatch && (d.unanswered[at] || isAfter && r.ID != "" && !d.hasResultAfter(r.ID, at)) && (found == nil || at.message < result.Message) {
			found = &at
		}
	}
	return found
}

// hasResultAfter reports whether a result with the given id comes after a call.
func (d *document) hasResultAfter(id string, call partPlace) bool {
	for at, p := range d.eachPart {
		if p.Kind == protocol.ResultPart && p.ID == id && call.isBefore(at) {
			return true
		}
	}
	return false
}

// isBlock reports whether a part is a block in the content of its item.
func (d *document) isBlock(place valueRange) bool {
	i := d.itemAt(place.from)
	return i >= 0 && d.items[i].valueRange != place
}

// canChangeItems reports whether items can be added and removed.
func (d *document) canChangeItems() bool { return d.Form == Body || d.newLine != nil }

// insertAfter returns an edit that inserts items after another item.
func (d *document) insertAfter(i int, values ...[]byte) (e edit) {
	it := d.items[i]
	if e.valueRange = (valueRange{it.to, it.to}); it.end > 0 {
		e.valueRange = valueRange{it.end, it.end}
	}
	for _, value := range values {
		if it.end == 0 {
			e.text = append(append(e.text, ','), value...)
		} else {
			e.text = append(e.text, d.insertLine(i, d.newLine(d, i, value)).text...)
		}
	}
	return e
}

// insertLine returns an edit that inserts a line after the line of an item.
func (d *document) insertLine(i int, line []byte) edit {
	end := d.items[i].end
	if d.text[end-1] != '\n' { // the last line of the file has no line end
		line = append([]byte("\n"), bytes.TrimSuffix(line, []byte("\n"))...)
	}
	return edit{valueRange{end, end}, line}
}

// removeItem returns an edit that removes an item, with its line or its comma.
func (d *document) removeItem(i int) edit {
	if it := d.items[i]; it.end > 0 {
		return edit{valueRange: valueRange{it.line, it.end}}
	}
	return d.removeValue(d.items[i].valueRange)
}

// removeValue returns an edit that removes an element of an array, or a field of an object, together with a comma.
func (d *document) removeValue(r valueRange) edit {
	to := r.to + json.SpaceLen(d.text[r.to:])
	if to < len(d.text) && d.text[to] == ',' {
		to++
		return edit{valueRange: valueRange{r.from, to + json.SpaceLen(d.text[to:])}}
	}
	from := r.from
	for from > 0 && json.IsSpace(d.text[from-1]) {
		from--
	}
	if from > 0 && d.text[from-1] == ',' {
		return edit{valueRange: valueRange{from - 1, r.to}}
	}
	return edit{valueRange: r}
}

// dropPart removes a part, or the whole item if it contains nothing else. It returns nil if neither is possible.
func (d *document) dropPart(at requestrules.Spot, words stream.Message) *correction {
	place := d.placeOf(at.Message, at.Part)
	i := d.itemAt(place.from)
	switch {
	case !place.isKnown() || i < 0:
		return nil
	case at.Part >= 0 && d.isBlock(place) && d.countPlaces(at.Message) > 1:
		return newCorrection(words, d.removeValue(place))
	case !d.canChangeItems() || len(d.items) == 1:
		return nil
	}
	return newCorrection(words, d.removeItem(i))
}

// countPlaces returns the number of parts of a message that are separate values.
func (d *document) countPlaces(message int) (n int) {
	for _, p := range d.places[message].parts {
		if p.isKnown() {
			n++
		}
	}
	return n
}

// encodedResults are results in the target's form: items of the history, and blocks if one item contains all results.
type encodedResults struct{ items, blocks [][]byte }

// encodeResults returns the results of calls, in the target's form.
func (d *document) encodeResults(calls, results []protocol.Part) (e encodedResults) {
	for i := range results {
		r, call := &results[i], &calls[i]
		r.Kind, r.ID, r.Name, r.ToolKind, r.Namespace = protocol.ResultPart, call.ID, call.Name, call.ToolKind, call.Namespace
	}
	before := []protocol.Message{{Role: protocol.Assistant, Parts: calls}}
	n := len(d.Target.Encode(before))
	e.items = d.Target.Encode(append(before, protocol.Message{Role: protocol.User, Parts: results}))[n:]
	e.blocks = blocksOf(e.items[0])
	return e
}

// blocksOf returns the blocks of a message, or nil if the message has no list of blocks.
func blocksOf(message json.Value) (all [][]byte) {
	for _, list := range [...]string{"parts", "content"} {
		for block := range message.Get(list).Elements() {
			all = append(all, block)
		}
	}
	return all
}

// addResults adds results to those calls of a message that have none.
func (d *document) addResults(b *requestrules.Breach, at requestrules.Spot) *correction {
	var calls, results []protocol.Part
	var names []string
	first, last := at, at
	for _, other := range b.Spots {
		if other.Message != at.Message {
			continue
		}
		call := d.Messages[other.Message].Parts[other.Part]
		if call.ID == "" && d.Target.IDs.Required {
			return nil // no result can refer to this call
		}
		calls, names = append(calls, call), append(names, nameOf(&call))
		results = append(results, protocol.Part{Text: []byte(missingResult), Failed: true})
		if len(calls) == 1 {
			first = other
		}
		last = other
	}
	edits := d.placeResults(partPlace{first.Message, first.Part}, last.Part, d.encodeResults(calls, results), nil)
	if edits == nil {
		return nil
	}
	return newCorrection(stream.Messagef("add a result for %s: %s", strings.Join(names, ", "), stream.Own(missingResult)), edits...)
}

// dropResults removes consecutive results that have no call.
func (d *document) dropResults(b *requestrules.Breach, at requestrules.Spot) *correction {
	names := nameOf(&d.Messages[at.Message].Parts[at.Part])
	c := d.dropPart(at, stream.Messagef("leave out the result of %s, which has no call", names))
	n := slices.IndexFunc(b.Spots, func(s requestrules.Spot) bool { return s.Message == at.Message && s.Part == at.Part })
	last := at
	for _, next := range b.Spots[n+1:] {
		isNext := next.Message == last.Message && next.Part == last.Part+1 || next.Part == 0 && next.Message == last.Message+1 && last.Part == len(d.Messages[last.Message].Parts)-1
		if !isNext || d.findCall(next) != nil {
			break
		}
		names += ", " + nameOf(&d.Messages[next.Message].Parts[next.Part])
		last = next
	}
	from, to := d.placeOf(at.Message, at.Part), d.placeOf(last.Message, last.Part)
	i, j := d.itemAt(from.from), d.itemAt(to.from)
	if last.Part == at.Part && last.Message == at.Message || c == nil || i < 0 || j < 0 || d.Form != Body {
		return c
	}
	all := valueRange{from.from, to.to}
	isAll := at.Part == 0 && last.Part == d.countPlaces(last.Message)-1
	switch {
	case isAll && j-i+1 < len(d.items):
		all = valueRange{d.items[i].from, d.items[j].to}
	case i != j || isAll:
		return c
	}
	return newCorrection(stream.Messagef("leave out the results of %s, which have no calls", names), d.removeValue(all))
}

// placeResults returns the edits that insert results at the right place for some calls of a message. The parameter
// call is the place of the first of these calls, and last is the part number of the last one. If a result is moved,
// line is the line that contains it.
func (d *document) placeResults(call partPlace, last int, results encodedResults, line []byte) []edit {
	place := d.placeOf(call.message, last)
	i := d.itemAt(place.from)
	if !place.isKnown() || i < 0 || !d.canChangeItems() {
		return nil
	}
	next := call.message + 1
	for next < len(d.Messages) && d.Messages[next].Role == protocol.System {
		next++
	}
	switch {
	case line != nil && d.items[i].end > 0:
		return []edit{d.insertLine(i, line)}
	case results.blocks == nil || next == len(d.Messages) || d.Messages[next].Role != protocol.User || !d.Target.Merges && !hasResults(&d.Messages[next]):
		return []edit{d.insertAfter(i, results.items...)}
	}
	before := 0 // number of calls in the message before the first of these calls
	for _, p := range d.Messages[call.message].Parts[:call.part] {
		if p.Kind == protocol.CallPart && !p.RunByProvider {
			before++
		}
	}
	parts, blocks := d.Messages[next].Parts, bytes.Join(results.blocks, []byte(","))
	n := 0
	for n < len(parts) && n < before && parts[n].Kind == protocol.ResultPart {
		n++
	}
	if edits := d.listContent(next, blocks); edits != nil {
		return edits
	}
	if len(parts) == 0 || !d.places[next].parts[max(0, n-1)].isKnown() {
		return []edit{d.insertAfter(i, results.items...)}
	}
	if n > 0 {
		at := d.places[next].parts[n-1].to
		return []edit{{valueRange{at, at}, append([]byte(","), blocks...)}}
	}
	at := d.places[next].parts[0].from
	return []edit{{valueRange{at, at}, append(blocks, ',')}}
}

// listContent returns the edits that replace string content with a list: the new blocks, and the string as a block.
// For other content, it returns nil.
func (d *document) listContent(message int, blocks []byte) []edit {
	m, place := &d.Messages[message], d.places[message].message
	content := m.Raw.Get("content")
	if !content.HasText() || !place.isKnown() {
		return nil
	}
	texts := []protocol.Part{{Text: []byte("?")}, {Text: []byte("?")}} // two texts, because a single text is not always written as a list
	encoded := blocksOf(d.Target.Encode([]protocol.Message{{Role: protocol.User, Parts: texts}})[0])
	if len(encoded) == 0 {
		return nil
	}
	start, end, ok := bytes.Cut(encoded[0], []byte(`"?"`))
	if !ok {
		return nil
	}
	from := place.from + cap(m.Raw) - cap(content)
	to := from + len(content)
	return []edit{
		{valueRange{from, from}, slices.Concat([]byte("["), blocks, []byte(","), start)},
		{valueRange{to, to}, slices.Concat(end, []byte("]"))},
	}
}

func hasResults(m *protocol.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p protocol.Part) bool { return p.Kind == protocol.ResultPart })
}

// moveResult moves a result to the place after its call. If this is not possible or the result is already there, it
// returns nil.
func (d *document) moveResult(at requestrules.Spot, result *protocol.Part, call partPlace) *correction {
	place := d.placeOf(at.Message, at.Part)
	i := d.itemAt(place.from)
	if !place.isKnown() || i < 0 {
		return nil
	}
	removed := d.dropPart(at, stream.Message{})
	if removed == nil {
		return nil
	}
	moved, line := encodedResults{items: [][]byte{d.rawOf(place)}}, []byte(nil)
	if d.isBlock(place) {
		p := protocol.Part{Kind: protocol.ResultPart, ID: result.ID, Name: result.Name, Raw: d.rawOf(place)}
		moved.items = d.Target.Encode([]protocol.Message{{Role: protocol.User, Parts: []protocol.Part{p}}})
		moved.blocks = [][]byte{bytes.Clone(p.Raw)}
	} else if it := d.items[i]; it.end > 0 {
		line = slices.Clone(d.text[it.line:it.end])
		if !bytes.HasSuffix(line, []byte("\n")) {
			line = append(line, '\n')
		}
	}
	edits := d.placeResults(call, call.part, moved, line)
	if edits == nil {
		return nil
	}
	words := stream.Messagef("move the result of %s directly after its call", nameOf(result))
	if removed.edits[0].from == edits[0].from { // the result is already there
		return nil
	}
	return newCorrection(words, append(removed.edits, edits...)...)
}

// moveLateResult moves a result that doesn't directly follow its call, or moves the text between them. It returns nil
// if neither is possible.
func (d *document) moveLateResult(at requestrules.Spot, call *protocol.Part) *correction {
	before := partPlace{at.Message, at.Part}
	for result, p := range d.eachPart {
		if p.Kind != protocol.ResultPart || !before.isBefore(result) || p.ID != call.ID || p.ID == "" && p.Name != call.Name {
			continue
		}
		if c := d.moveIntruder(result.message); c != nil {
			return c
		}
		return d.moveResult(requestrules.Spot{Message: result.message, Part: result.part}, p, before)
	}
	return nil
}

// moveIntruder moves a single part that precedes the results in a message to the end of the message. It returns nil
// if the message has another form.
func (d *document) moveIntruder(message int) *correction {
	parts := d.Messages[message].Parts
	for _, p := range d.places[message].parts {
		if !p.isKnown() || !d.isBlock(p) {
			return nil
		}
	}
	if len(parts) < 3 || parts[0].Kind == protocol.ResultPart || parts[1].Kind != protocol.ResultPart || parts[2].Kind != protocol.ResultPart {
		return nil
	}
	first, last := d.places[message].parts[0], d.places[message].parts[len(parts)-1]
	moved := append([]byte(","), d.rawOf(first)...)
	return newCorrection(stream.Messagef("move a block after the results of its message"), d.removeValue(first), edit{valueRange{last.to, last.to}, moved})
}

// correctOrder adds a user message at the beginning, or joins two messages of the model. It returns nil if neither is
// possible.
func (d *document) correctOrder(at requestrules.Spot) *correction {
	i := d.itemOf(at.Message)
	if i < 0 || d.Form != Body {
		return nil
	}
	isFirst := !slices.ContainsFunc(d.Messages[:at.Message], func(m protocol.Message) bool { return m.Role != protocol.System })
	if isFirst {
		encoded := d.Target.Encode([]protocol.Message{{Role: protocol.User, Parts: []protocol.Part{{Kind: protocol.TextPart, Text: []byte(missingStart)}}}})
		from := d.items[i].from
		return newCorrection(stream.Messagef("add a user message at the beginning: %s", stream.Own(missingStart)), edit{valueRange{from, from}, append(slices.Clip(encoded[0]), ',')})
	}
	before, parts := d.places[at.Message-1].parts, d.places[at.Message].parts
	if d.Messages[at.Message].Role != protocol.Assistant || len(before) == 0 || !before[len(before)-1].isKnown() || len(parts) == 0 || i == 0 {
		return nil
	}
	first, last := parts[0], parts[len(parts)-1]
	end := before[len(before)-1].to
	if !first.isKnown() || !last.isKnown() || d.itemAt(before[len(before)-1].from) != i-1 {
		return nil
	}
	moved := append([]byte(","), d.text[first.from:last.to]...)
	return newCorrection(stream.Messagef("join two messages of the model"), edit{valueRange{end, end}, moved}, d.removeItem(i))
}

// dropEmpty removes empty text or an empty message. Text that can't be removed is replaced with a placeholder.
func (d *document) dropEmpty(at requestrules.Spot) *correction {
	if c := d.dropPart(at, stream.Messagef("leave out empty text")); c != nil {
		return c
	}
	place := d.placeOf(at.Message, max(0, at.Part))
	if !place.isKnown() {
		return nil
	}
	f, ok := d.findField(place, []string{"text"}, func(v json.Value) bool { return v.IsString() })
	if !ok {
		return nil
	}
	return newCorrection(stream.Messagef("replace empty text with %s", stream.Own(emptyText)), edit{f.value, json.AppendQuoted(nil, []byte(emptyText))})
}

// isOpenStep reports whether no message from the user, except results, follows a message. The reasoning in such a
// message must be sent back.
func (d *document) isOpenStep(message int) bool {
	return !slices.ContainsFunc(d.Messages[message:], func(m protocol.Message) bool { return m.Role == protocol.User && !hasResults(&m) })
}
