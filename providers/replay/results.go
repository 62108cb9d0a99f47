package replay

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// noResult is the text that clients send for a call without a result.
const noResult = "No result provided"

// resultPairer pairs calls and results, one to one.
type resultPairer struct {
	c          *previewBuilder
	messages   []protocol.Message
	waiting    map[callKey][]place      // unpaired results, in order
	taken      map[place]bool           // results that are paired and stay in their place
	made       map[int][]*protocol.Part // results to insert after a message with calls, by index of the message
	moved      map[place]bool           // places from which results in the field made were moved
	unanswered []unanswered             // calls without a result in the required place
	numbers    map[*protocol.Part]int   // numbers of the calls in the source
}

// callKey is the common key of a call and its result: the id, or the name of the tool if there is no id.
type callKey struct{ id, name string }

// keyOf returns the key of a call or result.
func keyOf(p *protocol.Part) callKey {
	if p.ID != "" {
		return callKey{id: p.ID}
	}
	return callKey{name: p.Name}
}

// unanswered is a call without a result, with the index of its message.
type unanswered struct {
	call    *protocol.Part
	message int
}

// pairResults checks a rule of most providers: each call is followed by its result, and each result follows its call.
// If the policy adds missing results, pairResults repairs the history.
func (c *previewBuilder) pairResults(messages []protocol.Message) []protocol.Message {
	if c.src.split && c.To.ResultsFollow { // the target requires the calls of a turn in one message
		c.addLoss(ParallelSplit.newLoss("the calls that the model made together are sent as if the model had made them one after another"))
	}
	p := &resultPairer{
		c: c, messages: messages, waiting: map[callKey][]place{}, taken: map[place]bool{},
		made: map[int][]*protocol.Part{}, moved: map[place]bool{}, numbers: map[*protocol.Part]int{},
	}
	p.collectResults()
	p.match()
	for _, l := range p.unanswered {
		p.fillMissing(l)
	}
	return protocol.MergeResults(p.writeMessages())
}

// isResult reports whether a part is the result of a call that the client runs.
func isResult(p *protocol.Part) bool { return p.Kind == protocol.ResultPart && !p.RunByProvider }

// collectResults finds all results in user messages, and the numbers of all calls.
func (p *resultPairer) collectResults() {
	calls := 0
	for i, m := range p.messages {
		for k := range m.Parts {
			switch part := &m.Parts[k]; {
			case part.Kind == protocol.CallPart:
				p.numbers[part] = p.c.sent[calls]
				calls++
			case isResult(part) && m.Role == protocol.User:
				key := keyOf(part)
				p.waiting[key] = append(p.waiting[key], place{i, k})
			}
		}
	}
}

// match pairs each call with the first result that has the same key and directly follows the call's message. Calls at
// the end of a history don't need results yet.
func (p *resultPairer) match() {
	late := map[callKey][]place{} // results without a call directly before them
	for i, m := range p.messages {
		if m.Role != protocol.Assistant || i+1 == len(p.messages) {
			continue
		}
		end := resultsEnd(p.messages, i)
		for k := range m.Parts {
			call := &m.Parts[k]
			if !isClientCall(call) {
				continue
			}
			key := keyOf(call)
			for len(p.waiting[key]) > 0 && p.waiting[key][0].message <= i {
				late[key], p.waiting[key] = append(late[key], p.waiting[key][0]), p.waiting[key][1:]
			}
			if list := p.waiting[key]; len(list) > 0 && list[0].message < end {
				p.taken[list[0]], p.waiting[key] = true, list[1:]
			} else {
				p.unanswered = append(p.unanswered, unanswered{call, i})
			}
		}
	}
	for key, list := range late {
		p.waiting[key] = append(list, p.waiting[key]...)
	}
}

// fillMissing inserts a missing result, or records the loss and the refusal that its absence causes.
func (p *resultPairer) fillMissing(l unanswered) {
	c, call := p.c, l.call
	c.call = p.numbers[call]
	defer func() { c.call = 0 }()
	what := quoteTitle(call)
	if !c.Policy.fillsIn {
		c.addLoss(OrphanCall.newLoss("call %s has no result after it", what))
		c.noteRefusal(c.To.Refusal.LoneCall, call, "a call has no result right after it")
		return
	}
	key := keyOf(call)
	for len(p.waiting[key]) > 0 {
		later := p.waiting[key][0]
		if p.waiting[key] = p.waiting[key][1:]; later.message > l.message {
			c.addLoss(AdjacencyFix.newLoss("the result of call %s is moved to the place that the target requires", what))
			p.moved[later] = true
			p.made[l.message] = append(p.made[l.message], &p.messages[later.message].Parts[later.part])
			return
		}
	}
	c.addLoss(AdjacencyFix.newLoss("call %s has no result: the client adds a made-up result that says so", what))
	p.made[l.message] = append(p.made[l.message], &protocol.Part{
		Kind: protocol.ResultPart, ID: call.ID, Name: call.Name, ToolKind: call.ToolKind, Text: []byte(noResult), Failed: c.To.ErrorFlag,
	})
}

// writeMessages returns the messages, with made-up and moved results inserted after their calls. Results without a
// call stay, and a loss is added for each.
func (p *resultPairer) writeMessages() (out []protocol.Message) {
	var made []protocol.Part // results for the next user message
	for i, m := range p.messages {
		if m.Role != protocol.User && len(made) > 0 {
			out, made = append(out, protocol.Message{Role: protocol.User, Parts: made}), nil
		}
		kept := m
		if m.Role == protocol.User {
			kept.Parts, made = made, nil
			for k := range m.Parts {
				if !p.moved[place{i, k}] {
					kept.Parts = append(kept.Parts, m.Parts[k])
				}
			}
		}
		p.addOrphanLosses(i)
		if len(kept.Parts) > 0 || len(m.Parts) == 0 {
			out = append(out, kept)
		}
		for _, result := range p.made[i] {
			made = append(made, *result)
		}
	}
	return out
}

// addOrphanLosses adds a loss for each result in message i that has no call directly before it.
func (p *resultPairer) addOrphanLosses(i int) {
	for k := range p.messages[i].Parts {
		r, at := &p.messages[i].Parts[k], place{i, k}
		if !isResult(r) || p.taken[at] || p.moved[at] {
			continue
		}
		p.c.addLoss(OrphanResult.newLoss("the result of %s has no call right before it", quoteTitle(r)))
		p.c.noteRefusal(p.c.To.Refusal.LoneResult, r, "a result has no call right before it")
	}
}

// quoteTitle returns the id of a call or a result in quotes. If there is none, it returns the name of the tool.
func quoteTitle(p *protocol.Part) string {
	if p.ID != "" {
		return quoteShort(p.ID)
	}
	return quoteShort(p.Name)
}

// noteRefusal records that the provider would refuse the history, unless the target accepts unpaired calls
// and results. Only the first refusal is kept.
func (c *previewBuilder) noteRefusal(words string, p *protocol.Part, ours string) {
	if c.doubt = true; !c.To.TakesUnpaired && c.Refused == "" {
		c.Refused = refusalText(words, p.ID, p.Name, ours)
	}
}

// The rule of smolagents follows. Its history contains no calls, only text that describes them.
// See https://github.com/huggingface/smolagents: memory.py and agents.py.

// callAsText prepares a call to become text. The call stays in its message until all calls of the message are
// prepared. callAsText returns false if the call is left out.
func (c *previewBuilder) callAsText(p *protocol.Part, f *argsFacts, sent Sent) bool {
	text := f.raw
	if f.invalid.is() {
		c.addLossAt(f.invalid, UnicodeSanitized.newLoss("bytes that are not UTF-8 become U+FFFD"))
		text = json.ReplaceNonUTF8(text)
	}
	if p.ID == "" {
		p.ID = fmt.Sprintf("call_%d", c.call)
		c.addLoss(IDRewritten.newLoss("the call has no id and gets the id %s", stream.Own(p.ID)))
	}
	args, ok := reprOf(nil, text, true)
	if !ok || slices.Contains(c.textIDs, p.ID) { // a later call with the same id replaces the earlier one
		return c.markUnknown(sent, ArgsUnknown.newLoss("it is unknown how %s treats these arguments, or two calls with the same id", stream.Own(c.Policy.Client.Title)))
	}
	if p.Signature != "" {
		c.addLoss(SignatureDropped.newLoss("%s has no field for the call's signature", stream.Own(c.Policy.Client.Title)))
	}
	l := CallAsText.newLoss("the call and its result are sent as text: the provider sees no call")
	l.End = len(f.raw)
	c.addLoss(l)
	c.textIDs = append(c.textIDs, p.ID)
	p.Args, sent.ID, sent.Outcome = args, p.ID, AsText
	c.Calls = append(c.Calls, sent)
	return true
}

// asText replaces all calls and results with text. A message with calls or results is merged with the message before
// it if both have the same role.
func (c *previewBuilder) asText(messages []protocol.Message) (out []protocol.Message) {
	for _, m := range messages {
		tells := slices.ContainsFunc(m.Parts, func(p protocol.Part) bool { return p.Kind == protocol.CallPart || p.Kind == protocol.ResultPart })
		if n := len(out) - 1; n >= 0 && tells && out[n].Role == m.Role {
			out[n].Parts = append(out[n].Parts, m.Parts...)
		} else {
			out = append(out, m)
		}
	}
	for i := range out {
		// One text replaces the calls in a message and follows the model's text. Another text replaces the results. In both
		// texts, the entries are sorted by id.
		m := &out[i]
		calls, rest := splitByKind(m.Parts, protocol.CallPart)
		results, rest := splitByKind(rest, protocol.ResultPart)
		if len(calls)+len(results) > 0 {
			m.Raw = nil
		}
		if len(calls) > 0 {
			said, other := splitByKind(rest, protocol.TextPart)
			rest = append([]protocol.Part{{Kind: protocol.TextPart, Text: c.formatCalls(said, calls)}}, other...)
		}
		if len(results) > 0 {
			rest = append([]protocol.Part{{Kind: protocol.TextPart, Text: formatResults(results)}}, rest...)
		}
		m.Parts = rest
	}
	return out
}

// splitByKind separates the parts of one kind from all other parts.
func splitByKind(all []protocol.Part, kind protocol.PartKind) (these, others []protocol.Part) {
	for _, p := range all {
		if p.Kind == kind {
			these = append(these, p)
		} else {
			others = append(others, p)
		}
	}
	return these, others
}

// byID compares the ids of parts.
func byID(a, b protocol.Part) int { return cmp.Compare(a.ID, b.ID) }

// formatCalls returns the model's text, followed by a list of the calls as Python's str writes it.
func (c *previewBuilder) formatCalls(said, calls []protocol.Part) (text []byte) {
	for _, p := range said {
		text = append(text, p.Text...)
	}
	if text = slices.Clone(bytes.TrimSpace(text)); len(text) > 0 {
		text = append(text, '\n')
	}
	if !slices.IsSortedFunc(calls, byID) {
		c.addLoss(CallsReordered.newLoss("the calls of the turn are sorted by their ids"))
		slices.SortStableFunc(calls, byID)
	}
	text = append(text, "Calling tools:\n["...)
	for i, p := range calls {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = append(appendRepr(append(text, "{'id': "...), []byte(p.ID)), ", 'type': 'function', 'function': {'name': "...)
		text = append(append(append(appendRepr(text, []byte(p.Name)), ", 'arguments': "...), p.Args...), "}}"...)
	}
	return append(text, ']')
}

// formatResults returns the text for the results of one step.
func formatResults(results []protocol.Part) []byte {
	slices.SortStableFunc(results, byID)
	var texts [][]byte
	for _, p := range results {
		texts = append(texts, bytes.TrimSpace(p.Text))
	}
	return append([]byte("Observation:\n"), bytes.TrimRight(bytes.Join(texts, []byte("\n")), "\n")...)
}
