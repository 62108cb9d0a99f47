package replay

import (
	"toolscope/providers/dialect"
)

// noResult is what clients send for a call whose result they do not have.
const noResult = "No result provided"

// pairing finds the result of every call, and the call of every result. Each answers one only.
type pairing struct {
	c          *coercion
	messages   []dialect.Message
	waiting    map[callKey][]place     // results that answer no call yet, in order
	taken      map[place]bool          // results that answer a call where they stand
	made       map[int][]*dialect.Part // by the message of the calls: results to put behind it
	moved      map[place]bool          // those that are put there from elsewhere
	unanswered []unanswered            // calls without a result where it must be
	numbers    map[*dialect.Part]int   // of calls, in the source
}

// callKey is what a result and its call share: the id, or without one the name of the tool.
type callKey struct{ id, name string }

func keyOf(p *dialect.Part) callKey {
	if p.ID != "" {
		return callKey{id: p.ID}
	}
	return callKey{name: p.Name}
}

type unanswered struct {
	call    *dialect.Part
	message int
}

// pair checks what providers insist on: every call is followed by its result, and every result
// follows its call. A policy that fills in mends it.
func (c *coercion) pair(messages []dialect.Message) []dialect.Message {
	if c.src.split {
		c.tellSplit()
	}
	p := &pairing{
		c: c, messages: messages, waiting: map[callKey][]place{}, taken: map[place]bool{},
		made: map[int][]*dialect.Part{}, moved: map[place]bool{}, numbers: map[*dialect.Part]int{},
	}
	p.collect()
	p.match()
	for _, l := range p.unanswered {
		p.mend(l)
	}
	return dialect.MergeResults(p.write())
}

func isResult(p *dialect.Part) bool { return p.Kind == dialect.ResultPart && !p.RunByProvider }

// collect finds all results that the user brings, and the numbers of the calls.
func (p *pairing) collect() {
	calls := 0
	for i, m := range p.messages {
		for k := range m.Parts {
			switch part := &m.Parts[k]; {
			case part.Kind == dialect.CallPart:
				p.numbers[part] = p.c.sent[calls]
				calls++
			case isResult(part) && m.Role == dialect.User:
				key := keyOf(part)
				p.waiting[key] = append(p.waiting[key], place{i, k})
			}
		}
	}
}

// match gives each call the first result right behind its message. A history that ends with calls
// waits for their results.
func (p *pairing) match() {
	late := map[callKey][]place{} // results that no call right before them asked for
	for i, m := range p.messages {
		if m.Role != dialect.Assistant || i+1 == len(p.messages) {
			continue
		}
		end := answersBehind(p.messages, i)
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

// mend makes up for a missing result, or says what comes of it.
func (p *pairing) mend(l unanswered) {
	c, call := p.c, l.call
	c.call = p.numbers[call]
	defer func() { c.call = 0 }()
	what := title(call)
	if !c.Policy.fillsIn {
		c.lose(OrphanCall.loss("no result of call %s follows it", what))
		c.refuse(c.To.Refusal.LoneCall, call, "a call has no result right after it")
		return
	}
	key := keyOf(call)
	for len(p.waiting[key]) > 0 {
		later := p.waiting[key][0]
		if p.waiting[key] = p.waiting[key][1:]; later.message > l.message {
			c.lose(AdjacencyFix.loss("the result of call %s is moved to where it must be", what))
			p.moved[later] = true
			p.made[l.message] = append(p.made[l.message], &p.messages[later.message].Parts[later.part])
			return
		}
	}
	c.lose(AdjacencyFix.loss("call %s has no result: one is made up that says so", what))
	p.made[l.message] = append(p.made[l.message], &dialect.Part{
		Kind: dialect.ResultPart, ID: call.ID, Name: call.Name, ToolKind: call.ToolKind, Text: []byte(noResult), Failed: c.To.ErrorFlag,
	})
}

// write are the messages with the results that were made up or moved, each behind its call. Results
// without a call stay, and are told.
func (p *pairing) write() (out []dialect.Message) {
	var made []dialect.Part // results that wait for the message they belong into
	for i, m := range p.messages {
		if m.Role != dialect.User && len(made) > 0 {
			out, made = append(out, dialect.Message{Role: dialect.User, Parts: made}), nil
		}
		kept := m
		if m.Role == dialect.User {
			kept.Parts, made = made, nil
			for k := range m.Parts {
				if !p.moved[place{i, k}] {
					kept.Parts = append(kept.Parts, m.Parts[k])
				}
			}
		}
		p.tellOrphans(i)
		if len(kept.Parts) > 0 || len(m.Parts) == 0 {
			out = append(out, kept)
		}
		for _, result := range p.made[i] {
			made = append(made, *result)
		}
	}
	return out
}

// tellOrphans tells the results of message i that answer no call before it.
func (p *pairing) tellOrphans(i int) {
	for k := range p.messages[i].Parts {
		r, at := &p.messages[i].Parts[k], place{i, k}
		if !isResult(r) || p.taken[at] || p.moved[at] {
			continue
		}
		p.c.lose(OrphanResult.loss("the result of %s has no call right before it", title(r)))
		p.c.refuse(p.c.To.Refusal.LoneResult, r, "a result has no call right before it")
	}
}

// title names a call, or the call that a result is for.
func title(p *dialect.Part) string {
	if p.ID != "" {
		return quote(p.ID)
	}
	return quote(p.Name)
}

// refuse notes that the provider would not take the history.
func (c *coercion) refuse(words string, p *dialect.Part, ours string) {
	if c.doubt = true; !c.To.TakesUnpaired && c.Refused == "" {
		c.Refused = refusal(words, p.ID, p.Name, ours)
	}
}

// tellSplit says what comes of the calls of one turn in several messages.
func (c *coercion) tellSplit() {
	if c.To.ResultsFollow {
		c.lose(ParallelSplit.loss("calls the model made together are sent as if it had made them one after another"))
	}
}
