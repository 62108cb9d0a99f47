package providers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toolscope/stream"
)

// A legalAgent is a client whose requests obey all rules of its target while its history grows.
type legalAgent struct {
	r        *rand.Rand
	form     *requestForm
	url      string
	name     string // distinguishes its texts and ids from those of other agents
	messages []wireMessage
	model    string
	reasons  bool
	keeps    bool // the provider keeps the history, and the client sends only new items
	sent     int  // number of messages that the provider keeps
	before   string
	steps    int
	ids      int
	features map[string]int
}

func newLegalAgent(r *rand.Rand, name string, features map[string]int) *legalAgent {
	f := &requestForms[r.IntN(len(requestForms))]
	a := &legalAgent{
		r: r, form: f, url: f.other, name: name, model: "m", ids: r.IntN(3), features: features,
		reasons: r.IntN(2) == 0 && f.name != "chat" && f.name != "mistral", keeps: f.name == "responses" && r.IntN(2) == 0,
	}
	if f.name == "mistral" || r.IntN(4) == 0 {
		a.url = f.own
	}
	a.ask()
	return a
}

// id returns an id of a call. The ids of two agents differ.
func (a *legalAgent) id(n int) string {
	id := a.form.ids(a.ids, a.steps*10+n)
	if a.form.name == "mistral" {
		return a.name[len(a.name)-3:] + id[len(id)-6:]
	}
	if id == "" {
		return ""
	}
	return id + a.name
}

// ask adds a question by the user, perhaps with an image.
func (a *legalAgent) ask() {
	parts := []wirePart{{text: fmt.Sprintf("%s asks question %d", a.name, a.steps)}}
	image := map[string]string{
		"anthropic":        `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`,
		"bedrock":          `{"image":{"format":"png","source":{"bytes":"iVBORw0KGgo="}}}`,
		"openai-responses": `{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]}`,
		"gemini":           `{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}`,
	}[a.form.protocol]
	if image != "" && a.r.IntN(4) == 0 {
		a.features["image"]++
		parts = append(parts, wirePart{kind: rawPart, text: image})
	}
	a.messages = append(a.messages, wireMessage{parts: parts})
}

// answer returns a turn of the model.
func (a *legalAgent) answer() (parts []wirePart) {
	if a.reasons {
		p := wirePart{kind: reasoningPart, id: fmt.Sprintf("rs_%s%d", a.name, a.steps), text: fmt.Sprintf("%s thinks about %d", a.name, a.steps), signature: fmt.Sprintf("QUJD%s%d", a.name, a.steps)}
		if a.features["reasoning"]++; a.form.name == "responses" && !a.keeps && a.ids == 0 {
			p.id = "" // with store:false, items may have no id
		}
		parts = append(parts, p)
	}
	if a.r.IntN(3) == 0 {
		raw := map[string]string{
			"anthropic":        `{"type":"server_tool_use","id":"srvtoolu_%[1]s","name":"web_search","input":{"query":"%[1]s"}}#{"type":"web_search_tool_result","tool_use_id":"srvtoolu_%[1]s","content":[]}`,
			"openai-responses": `{"type":"web_search_call","id":"ws_%[1]s","status":"completed","action":{"type":"search","query":"%[1]s"}}`,
			"gemini":           `{"executableCode":{"language":"PYTHON","code":"print(%[1]s)"}}#{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"%[1]s"}}`,
		}[a.form.protocol]
		for text := range strings.SplitSeq(raw, "#") {
			if text != "" {
				a.features["server tool"]++
				parts = append(parts, wirePart{kind: rawPart, text: fmt.Sprintf(text, fmt.Sprint(a.name, a.steps))})
			}
		}
	}
	if a.r.IntN(2) == 0 {
		parts = append(parts, wirePart{text: fmt.Sprintf("%s looks at %d", a.name, a.steps)})
	}
	n := pick(a.r, 0, 1, 1, 2, 3, 5)
	for i := range n {
		call := wirePart{kind: callPart, id: a.id(i), name: pick(a.r, toolNames...), text: fmt.Sprintf(`{"part":"%s-%d-%d"}`, a.name, a.steps, i)}
		if a.reasons && i == 0 && a.form.name == "gemini" {
			call.signature = fmt.Sprintf("R0hJ%s%d", a.name, a.steps)
		}
		parts = append(parts, call)
	}
	if n > 1 {
		a.features["parallel"]++
	}
	if n == 0 {
		parts = append(parts, wirePart{text: fmt.Sprintf("%s is done with %d", a.name, a.steps)})
	}
	return parts
}

// addResults adds the results of calls, in any order if they have ids, and perhaps a text after them.
func (a *legalAgent) addResults(calls []wirePart) {
	var results []wirePart
	for i, c := range calls {
		results = append(results, wirePart{kind: resultPart, id: c.id, name: c.name, text: fmt.Sprintf("%s has %d of %d", a.name, i, a.steps), isError: a.r.IntN(5) == 0})
	}
	if calls[0].id != "" && a.r.IntN(2) == 0 {
		a.r.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
	}
	if (a.form.name == "anthropic" || a.form.name == "bedrock") && a.r.IntN(4) == 0 {
		results = append(results, wirePart{text: fmt.Sprintf("%s hurries %d", a.name, a.steps)})
	}
	a.messages = append(a.messages, wireMessage{parts: results})
}

// change compacts the history or changes the model, if a step is over.
func (a *legalAgent) change() {
	if a.keeps {
		return
	}
	switch a.r.IntN(6) {
	case 0:
		a.features["compaction"]++
		a.messages = []wireMessage{{parts: []wirePart{{text: fmt.Sprintf("Summary of %s: %d steps are done.", a.name, a.steps)}}}}
	case 1:
		a.features["another model"]++
		a.model = pick(a.r, "m", "other", "third")
	case 2:
		a.features["reasoning of earlier steps is gone"]++
		c := trial{messages: a.messages}
		c.dropReasoning()
		a.messages = slices.DeleteFunc(c.messages, func(m wireMessage) bool { return len(m.parts) == 0 })
	}
}

// step writes a request and its response, and adds the model's turn and the next user message to the history.
func (a *legalAgent) step(in *Inspector, exchange int) {
	a.steps++
	messages, fields := a.messages, ""
	if a.reasons && a.form.name == "anthropic" {
		fields = `"thinking":{"type":"enabled","budget_tokens":5},`
	}
	if a.keeps && a.before != "" {
		a.features["previous_response_id"]++
		messages, fields = messages[a.sent:], `"previous_response_id":"`+a.before+`",`
	} else if a.form.name == "responses" && !a.keeps {
		fields = `"store":false,`
	}
	body := strings.Replace(a.form.write(messages).request(fields, toolNames...), `"model":"m"`, `"model":"`+a.model+`"`, 1)
	if a.r.IntN(12) == 0 {
		a.features["no response"]++
		writeUnanswered(in, exchange, a.url, body)
		return // the client retries the request
	}
	parts := a.answer()
	a.before = fmt.Sprintf("resp_%s%d", a.name, a.steps)
	response := strings.NewReplacer(`"model":"m"`, `"model":"`+a.model+`"`, `"modelVersion":"m"`, `"modelVersion":"`+a.model+`"`, `"resp_1"`, `"`+a.before+`"`,
		`"msg_1"`, `"msg_`+a.before+`"`).Replace(a.form.response(parts...))
	in.Write(stream.Record{Exchange: exchange, Request: true, Data: []byte(body), Head: &stream.Head{Method: "POST", URL: a.url}})
	in.Write(stream.Record{Exchange: exchange, Data: []byte(response), Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"application/json"}}}})
	in.Write(stream.Record{Exchange: exchange, End: true})
	a.messages = append(a.messages, wireMessage{model: true, parts: parts})
	a.sent = len(a.messages)
	calls := slices.DeleteFunc(slices.Clone(parts), func(p wirePart) bool { return p.kind != callPart })
	if len(calls) > 0 {
		a.addResults(calls)
		return
	}
	a.change()
	a.ask()
}

// TestLegalRequests checks that requests of agents that obey all rules have no finding above info and no finding about
// a rule, whether or not the provider is known and its responses are seen.
func TestLegalRequests(t *testing.T) {
	const requests = 40
	features := map[string]int{}
	failed := 0
	for seed := range inLong(50, 1000) {
		r := rand.New(rand.NewPCG(seed, 11))
		in := new(Inspector)
		agents := []*legalAgent{newLegalAgent(r, fmt.Sprintf("agent%d01", seed), features)}
		for n := range requests {
			if r.IntN(12) == 0 {
				features["sub-agent"]++
				agents = append(agents, newLegalAgent(r, fmt.Sprintf("sub%d%03d", seed, len(agents)), features))
			}
			agents[r.IntN(len(agents))].step(in, n+1)
		}
		in.Close()
		if got := describeFindings(in, stream.Warn); got != "" && failed < 8 {
			failed++
			t.Errorf("seed %d: %q", seed, got)
		}
	}
	for _, feature := range []string{"image", "server tool", "parallel", "compaction", "another model", "previous_response_id", "no response", "sub-agent", "reasoning", "reasoning of earlier steps is gone"} {
		if features[feature] < 20 {
			t.Errorf("%s: only %d times", feature, features[feature])
		}
	}
	t.Log(features)
}
