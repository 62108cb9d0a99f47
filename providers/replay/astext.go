package replay

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// The rule of smolagents, whose history has no calls, only text about them.
// https://github.com/huggingface/smolagents, memory.py and agents.py.

// callAsText prepares a call for the text of its message. It stays in the message as a call until all calls
// are there. false leaves it out.
func (c *previewBuilder) callAsText(p *protocol.Part, f *argsFacts, sent Sent) bool {
	text := f.raw
	if f.invalid.is() {
		c.addLossAt(f.invalid, UnicodeSanitized.newLoss("bytes that are not UTF-8 become U+FFFD"))
		text = replaceNonUTF8(text)
	}
	if p.ID == "" {
		p.ID = fmt.Sprintf("call_%d", c.call)
		c.addLoss(IDRewritten.newLoss("the call has no id and gets %s", stream.Own(p.ID)))
	}
	args, ok := reprOf(nil, text, true)
	if !ok || slices.Contains(c.textIDs, p.ID) { // a later call with the same id replaces the earlier one
		return c.markUnknown(sent, ArgsUnknown.newLoss("how %s treats these arguments, or two calls with the same id, is unknown", stream.Own(c.Policy.Client.Title)))
	}
	if p.Signature != "" {
		c.addLoss(SignatureDropped.newLoss("%s has no place for the call's signature", stream.Own(c.Policy.Client.Title)))
	}
	l := CallAsText.newLoss("the call and its result are sent as text: the provider sees no call")
	l.End = len(f.raw)
	c.addLoss(l)
	c.textIDs = append(c.textIDs, p.ID)
	p.Args, sent.ID, sent.Outcome = args, p.ID, AsText
	c.Calls = append(c.Calls, sent)
	return true
}

// resultAsText adds the losses of a result that is sent as text.
func (c *previewBuilder) resultAsText(p *protocol.Part) bool {
	if p.Failed {
		c.addLoss(ErrorFlagLoss.newLoss("the result is an error, but text has no field for that"))
	}
	if p.Media > 0 {
		c.addLoss(MediaResultLoss.newLoss("the parts of the result that are not text are left out"))
	}
	return true
}

// asText replaces all calls and results by text. A message with calls or results is joined to the one before
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
		c.replaceByText(&out[i])
	}
	return out
}

// replaceByText replaces the calls of a message by one text, after the model's text, and its results by
// another. Both are in the order of the ids.
func (c *previewBuilder) replaceByText(m *protocol.Message) {
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

// splitByKind returns the parts of one kind, and the others.
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

// formatCalls returns the model's text, and after it Python's str of a list of the calls.
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

// formatResults returns the text of the results of a step.
func formatResults(results []protocol.Part) []byte {
	slices.SortStableFunc(results, byID)
	var texts [][]byte
	for _, p := range results {
		texts = append(texts, bytes.TrimSpace(p.Text))
	}
	return append([]byte("Observation:\n"), bytes.TrimRight(bytes.Join(texts, []byte("\n")), "\n")...)
}
