package replay

import (
	"fmt"

	"toolscope/providers/dialect"
)

// noResult is what clients send for a call whose result they do not have.
const noResult = "No result provided"

// pair checks that every call is followed by its result, and every result
// follows its call: what providers insist on. A policy that fills in mends it.
func (c *coercion) pair(messages []dialect.Message) (out []dialect.Message) {
	if c.src.split {
		c.tellSplit()
	}
	moved := map[*dialect.Part]bool{}
	var made []dialect.Part // results that wait for the message they belong into
	for i, m := range messages {
		if m.Role == dialect.User {
			m = c.withoutLone(m, messages, i, moved)
			m.Parts = append(made, m.Parts...)
			made = nil
			if len(m.Parts) > 0 {
				out = append(out, m)
			}
			continue
		}
		if len(made) > 0 {
			out, made = append(out, dialect.Message{Role: dialect.User, Parts: made}), nil
		}
		out = append(out, m)
		if missing := c.missing(clientCalls(m), messages, i); len(missing) > 0 {
			made = c.mend(missing, messages, i, moved)
		}
	}
	return dialect.OneAnswer(out)
}

func clientCalls(m dialect.Message) (calls []*dialect.Part) {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == dialect.CallPart && !p.Server && m.Role == dialect.Assistant {
			calls = append(calls, p)
		}
	}
	return calls
}

// answers reports whether a result is that of a call.
func answers(r, call *dialect.Part) bool {
	if r.Kind != dialect.ResultPart || r.Server {
		return false
	}
	if r.ID != "" || call.ID != "" {
		return r.ID == call.ID
	}
	return r.Name == call.Name
}

// missing are the calls of message i that the next one has no result for. A
// history that ends with calls waits for their results.
func (c *coercion) missing(calls []*dialect.Part, messages []dialect.Message, i int) (missing []*dialect.Part) {
	if i+1 >= len(messages) {
		return nil
	}
	taken := map[*dialect.Part]bool{}
	for _, call := range calls {
		found := false
		for j := i + 1; j < len(messages) && messages[j].Role == dialect.User && !found; j++ {
			for k := range messages[j].Parts {
				if r := &messages[j].Parts[k]; !taken[r] && answers(r, call) {
					taken[r], found = true, true
					break
				}
			}
		}
		if !found {
			missing = append(missing, call)
		}
	}
	return missing
}

// mend makes up for missing results, or says what comes of it.
func (c *coercion) mend(missing []*dialect.Part, messages []dialect.Message, i int, moved map[*dialect.Part]bool) (made []dialect.Part) {
	for _, call := range missing {
		if !c.Policy.fillsIn {
			c.lose(Loss{Code: OrphanCall, Message: fmt.Sprintf("no result of call %s follows it", quote(call.ID+call.Name))})
			c.refuse(c.To.Refusal.LoneCall, call, "a call has no result right after it")
			continue
		}
		later := findLater(call, messages, i+1)
		if later == nil {
			c.lose(Loss{Code: AdjacencyFix, Message: fmt.Sprintf("call %s has no result: one is made up that says so", quote(call.ID+call.Name))})
			made = append(made, dialect.Part{
				Kind: dialect.ResultPart, ID: call.ID, Name: call.Name, Tool: call.Tool, Text: []byte(noResult), Failed: c.To.ErrorFlag,
			})
			continue
		}
		c.lose(Loss{Code: AdjacencyFix, Message: fmt.Sprintf("the result of call %s is moved to where it must be", quote(call.ID+call.Name))})
		moved[later] = true
		made = append(made, *later)
	}
	return made
}

func findLater(call *dialect.Part, messages []dialect.Message, from int) *dialect.Part {
	for i := from; i < len(messages); i++ {
		for k := range messages[i].Parts {
			if r := &messages[i].Parts[k]; messages[i].Role == dialect.User && answers(r, call) {
				return r
			}
		}
	}
	return nil
}

// withoutLone is a message of the user's without the results that were moved.
// Results without a call before them stay, and are told.
func (c *coercion) withoutLone(m dialect.Message, messages []dialect.Message, i int, moved map[*dialect.Part]bool) dialect.Message {
	before := i - 1
	for before >= 0 && messages[before].Role == dialect.User {
		before--
	}
	var calls []*dialect.Part
	if before >= 0 {
		calls = clientCalls(messages[before])
	}
	kept := m
	kept.Parts = nil
	for k := range m.Parts {
		p := &messages[i].Parts[k]
		if moved[p] {
			continue
		}
		if p.Kind == dialect.ResultPart && !p.Server && !answersAny(p, calls) {
			c.lose(Loss{Code: OrphanResult, Message: fmt.Sprintf("the result %s has no call right before it", quote(p.ID+p.Name))})
			c.refuse(c.To.Refusal.LoneResult, p, "a result has no call right before it")
		}
		kept.Parts = append(kept.Parts, *p)
	}
	return kept
}

func answersAny(r *dialect.Part, calls []*dialect.Part) bool {
	for _, call := range calls {
		if answers(r, call) {
			return true
		}
	}
	return false
}

// refuse notes that the provider would not take the history.
func (c *coercion) refuse(words string, p *dialect.Part, ours string) {
	if c.To.Unpaired || c.Refused != "" {
		return
	}
	if words == "" {
		c.Refused = ours
		return
	}
	c.Refused = dialect.Say(words, p.ID, p.Name, "")
}

// tellSplit says what comes of the calls of one turn in several messages.
func (c *coercion) tellSplit() {
	if len(c.src.facts) < 2 || !c.To.Together {
		return
	}
	c.call = 0
	c.lose(Loss{Code: ParallelSplit, Message: "calls the model made together are sent as if it had made them one after another"})
}
