package replay

import (
	"toolscope/providers/protocol"
)

// noResult is what clients send for a call whose result they do not have.
const noResult = "No result provided"

// resultPairer finds the result of every call, and the call of every result. Each answers one only.
type resultPairer struct {
	c          *previewBuilder
	messages   []protocol.Message
	waiting    map[callKey][]place      // results that answer no call yet, in order
	taken      map[place]bool           // results that answer a call where they stand
	made       map[int][]*protocol.Part // by the message of the calls: results to put behind it
	moved      map[place]bool           // those that are put there from elsewhere
	unanswered []unanswered             // calls without a result where it must be
	numbers    map[*protocol.Part]int   // of calls, in the source
}

// callKey is what a result and its call share: the id, or without one the name of the tool.
type callKey struct{ id, name string }

func keyOf(p *protocol.Part) callKey {
	if p.ID != "" {
		return callKey{id: p.ID}
	}
	return callKey{name: p.Name}
}

type unanswered struct {
	call    *protocol.Part
	message int
}

// pairResults checks what providers insist on: every call is followed by its result, and every result
// follows its call. A policy that fills in mends it.
func (c *previewBuilder) pairResults(messages []protocol.Message) []protocol.Message {
	if c.src.split {
		c.addSplitLoss()
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

func isResult(p *protocol.Part) bool { return p.Kind == protocol.ResultPart && !p.RunByProvider }

// collectResults finds all results that the user brings, and the numbers of the calls.
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

// match gives each call the first result right behind its message. A history that ends with calls
// waits for their results.
func (p *resultPairer) match() {
	late := map[callKey][]place{} // results that no call right before them asked for
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

// fillMissing makes up for a missing result, or says what comes of it.
func (p *resultPairer) fillMissing(l unanswered) {
	c, call := p.c, l.call
	c.call = p.numbers[call]
	defer func() { c.call = 0 }()
	what := quoteTitle(call)
	if !c.Policy.fillsIn {
		c.addLoss(OrphanCall.newLoss("no result of call %s follows it", what))
		c.noteRefusal(c.To.Refusal.LoneCall, call, "a call has no result right after it")
		return
	}
	key := keyOf(call)
	for len(p.waiting[key]) > 0 {
		later := p.waiting[key][0]
		if p.waiting[key] = p.waiting[key][1:]; later.message > l.message {
			c.addLoss(AdjacencyFix.newLoss("the result of call %s is moved to where it must be", what))
			p.moved[later] = true
			p.made[l.message] = append(p.made[l.message], &p.messages[later.message].Parts[later.part])
			return
		}
	}
	c.addLoss(AdjacencyFix.newLoss("call %s has no result: one is made up that says so", what))
	p.made[l.message] = append(p.made[l.message], &protocol.Part{
		Kind: protocol.ResultPart, ID: call.ID, Name: call.Name, ToolKind: call.ToolKind, Text: []byte(noResult), Failed: c.To.ErrorFlag,
	})
}

// writeMessages are the messages with the results that were made up or moved, each behind its call. Results
// without a call stay, and are told.
func (p *resultPairer) writeMessages() (out []protocol.Message) {
	var made []protocol.Part // results that wait for the message they belong into
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

// addOrphanLosses tells the results of message i that answer no call before it.
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

// quoteTitle names a call, or the call that a result is for.
func quoteTitle(p *protocol.Part) string {
	if p.ID != "" {
		return quoteShort(p.ID)
	}
	return quoteShort(p.Name)
}

// noteRefusal notes that the provider would not take the history.
func (c *previewBuilder) noteRefusal(words string, p *protocol.Part, ours string) {
	if c.doubt = true; !c.To.TakesUnpaired && c.Refused == "" {
		c.Refused = refusalText(words, p.ID, p.Name, ours)
	}
}

// addSplitLoss says what comes of the calls of one turn in several messages.
func (c *previewBuilder) addSplitLoss() {
	if c.To.ResultsFollow {
		c.addLoss(ParallelSplit.newLoss("calls the model made together are sent as if it had made them one after another"))
	}
}
