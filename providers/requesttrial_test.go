package providers

import (
	"fmt"
	"slices"
	"strings"
)

// A trialShape describes a conversation of three rounds of calls, and the place where a rule is broken.
type trialShape struct {
	number int
	round  int  // the round that breaks the rule
	calls  int  // number of parallel calls in each round
	of     int  // the call that breaks the rule
	text   bool // the model writes a text before its calls
	step   bool // the rounds are one step, without questions by the user between them
	ids    int  // style of the ids
	seen   bool // the responses of the model are seen
}

// trialShapes lists the conversations in which each rule is broken.
var trialShapes = []trialShape{
	{number: 0, round: 0, calls: 1},
	{number: 1, round: 1, calls: 2, of: 1, text: true},
	{number: 2, round: 2, calls: 3, of: 2, ids: 1},
	{number: 3, round: 2, calls: 1, text: true, step: true, ids: 2},
	{number: 4, round: 0, calls: 3, of: 0, step: true, ids: 1},
	{number: 5, round: 1, calls: 2, of: 0, text: true, step: true, ids: 2},
}

// A trial is a request that breaks a rule, or almost breaks one.
type trial struct {
	trialShape
	form     *requestForm
	messages []wireMessage
	at       int // index of the model's message in the round
	fields   string
	tools    []string
	model    string  // replaces the name of the model
	earlier  []asked // earlier requests with their responses, if these are seen

	emptyReasoning bool // in Chat Completions, messages with calls have a field for reasoning, which is empty
}

var toolNames = []string{"ls", "cat", "grep"}

// newTrial returns a legal conversation. If reasons is set, the model reasons before its calls, the rounds are one
// step, and the responses are seen.
func newTrial(f *requestForm, s trialShape, reasons bool) *trial {
	s.step, s.seen = s.step || reasons, s.seen || reasons
	c := &trial{trialShape: s, form: f, tools: slices.Clone(toolNames)}
	if reasons && f.name == "anthropic" {
		c.fields = `"thinking":{"type":"enabled","budget_tokens":5},`
	}
	for round := range 3 {
		if round == 0 || !s.step {
			if round > 0 {
				c.say(true, wirePart{text: withNumber("Done with part", round)})
			}
			c.say(false, wirePart{text: withNumber("please list part", round)})
		}
		var parts, results []wirePart
		if reasons {
			parts = append(parts, wirePart{kind: reasoningPart, id: fmt.Sprintf("rs_0%d", round), text: withNumber("first I list", round), signature: fmt.Sprintf("QUJDREVG%d", round)})
		}
		if s.text {
			parts = append(parts, wirePart{text: withNumber("I look at part", round)})
		}
		for n := range s.calls {
			id := f.ids(s.ids, round*10+n)
			call := wirePart{kind: callPart, id: id, name: toolNames[n], text: fmt.Sprintf(`{"part":%d}`, round)}
			if reasons && n == 0 && f.name == "gemini" {
				call.signature = fmt.Sprintf("R0hJSktM%d", round)
			}
			parts = append(parts, call)
			results = append(results, wirePart{kind: resultPart, id: id, name: toolNames[n], text: fmt.Sprintf("file %d of %d", n, round)})
		}
		if s.seen {
			c.earlier = append(c.earlier, asked{c.body(), f.response(parts...), 200})
		}
		if round == s.round {
			c.at = len(c.messages)
		}
		c.say(true, parts...)
		c.say(false, results...)
	}
	return c
}

func (c *trial) say(model bool, parts ...wirePart) {
	c.messages = append(c.messages, wireMessage{model, parts})
}

// body returns the request.
func (c *trial) body() string {
	body := c.form.write(c.messages).request(c.fields, c.tools...)
	if c.emptyReasoning {
		body = strings.ReplaceAll(body, `,"tool_calls":[`, `,"reasoning_content":"","tool_calls":[`)
	}
	if c.model != "" {
		body = strings.Replace(body, `"model":"m"`, `"model":"`+c.model+`"`, 1)
	}
	return body
}

// pathOf returns the path of a part in the request. Part -1 is the message, and message -1 is a declared tool.
func (c *trial) pathOf(message, part int) string {
	if message < 0 {
		return c.form.toolPath(part)
	}
	w := c.form.write(c.messages)
	if part < 0 && c.form.name == "gemini" {
		part = 0 // the finding names the first part in place of the message
	}
	if part < 0 {
		return w.at[message]
	}
	return w.partAt[message][part]
}

// parts returns the parts of the message at an index.
func (c *trial) parts(message int) *[]wirePart { return &c.messages[message].parts }

// callIndex returns the index, in the model's message, of the call that breaks the rule.
func (c *trial) callIndex() int {
	parts := *c.parts(c.at)
	return slices.IndexFunc(parts, func(p wirePart) bool { return p.kind == callPart }) + c.of
}

// call returns the call that breaks the rule.
func (c *trial) call() *wirePart { return &(*c.parts(c.at))[c.callIndex()] }

// result returns the result of the call that breaks the rule.
func (c *trial) result() *wirePart { return &(*c.parts(c.at + 1))[c.of] }

// reasoning returns the reasoning of the round. It is the first part of the message.
func (c *trial) reasoning() *wirePart { return &(*c.parts(c.at))[0] }

// insert inserts a message before the message at an index.
func (c *trial) insert(at int, model bool, parts ...wirePart) {
	c.messages = slices.Insert(c.messages, at, wireMessage{model, parts})
}

// rename gives another id to the call that breaks the rule and to its result.
func (c *trial) rename(id string) { c.call().id, c.result().id = id, id }

// retitle gives the name of another tool to the call that breaks the rule and to its result.
func (c *trial) retitle(name string) { c.call().name, c.result().name = name, name }

// endWithCalls removes all messages after the calls of the last round.
func (c *trial) endWithCalls() { c.messages = c.messages[:len(c.messages)-1] }

// swapResults reverses the results of each round.
func (c *trial) swapResults() {
	for i := range c.messages {
		if !c.messages[i].model {
			slices.Reverse(c.messages[i].parts)
		}
	}
}

// quoteError makes a result contain a provider's error.
func (c *trial) quoteError() {
	c.result().text, c.result().isError = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: "+c.call().id, true
}

// repeatCalls makes all calls of the conversation equal except for their ids, and all results equal.
func (c *trial) repeatCalls() {
	for i := range c.messages {
		for j := range c.messages[i].parts {
			switch p := &c.messages[i].parts[j]; p.kind {
			case callPart:
				p.text = `{"part":0}`
			case resultPart:
				p.text = "the same file"
			}
		}
	}
}

// compact replaces the first round with a summary.
func (c *trial) compact() {
	n := 3
	if !c.step {
		n = 5
	}
	c.messages = append([]wireMessage{{parts: []wirePart{{text: "Summary: part 0 was listed. Go on."}}}}, c.messages[n:]...)
}

// addQuestion adds a text by the user after the last results.
func (c *trial) addQuestion() {
	last := c.parts(len(c.messages) - 1)
	switch c.form.name {
	case "anthropic", "bedrock":
		*last = append(*last, wirePart{text: "and what is next?"})
	case "chat", "responses", "deepseek":
		c.say(false, wirePart{text: "and what is next?"})
	default:
		c.say(true, wirePart{text: "Listed."})
		c.say(false, wirePart{text: "and what is next?"})
	}
}

// splitResults puts each result into a message of its own, for targets that join messages of the same role.
func (c *trial) splitResults() {
	if c.form.name != "anthropic" {
		return
	}
	for i := len(c.messages) - 1; i >= 0; i-- {
		for !c.messages[i].model && len(c.messages[i].parts) > 1 {
			parts := c.messages[i].parts
			c.messages[i].parts = parts[:len(parts)-1]
			c.insert(i+1, false, parts[len(parts)-1])
		}
	}
}
