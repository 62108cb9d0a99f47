package providers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/providers/protocol/historytest"
	"toolscope/stream"
)

// An agent is a client that sends the history of a conversation back in one of many forms.
type agent struct {
	r       *rand.Rand
	to      *protocol.Target
	ids     string // the form of the provider's ids
	sends   string // the client's treatment of ids
	window  int    // number of messages that the client sends after the first one; 0 for all
	forgets bool   // the client also leaves out the first message
	breaks  int    // one call in this many is sent with changes; 0 for none
	history []protocol.Message
	made    int
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func newAgent(r *rand.Rand) *agent {
	to, err := FindTarget(pick(r, "openai-chat", "openai-chat", "anthropic", "gemini", "ollama", "openai-responses", "mistral"))
	if err != nil {
		panic(err)
	}
	a := &agent{
		r: r, to: to, ids: pick(r, "random", "random", "counter", "hidden", "none"), sends: pick(r, "", "", "", "fitted", "others"),
		window: pick(r, 0, 0, 4, 7), forgets: r.IntN(4) == 0, breaks: pick(r, 0, 0, 5, 2),
	}
	a.say(protocol.User, protocol.Part{Kind: protocol.TextPart, Text: []byte(pick(r, "go", "go", "look around", "fix it", ""))})
	return a
}

func (a *agent) say(role protocol.Role, parts ...protocol.Part) {
	a.history = append(a.history, protocol.Message{Role: role, Parts: parts})
}

func (a *agent) id() string {
	a.made++
	switch a.ids {
	case "random":
		return fmt.Sprintf("call_%08xZ%dq", a.r.Uint32(), a.made)
	case "counter":
		return fmt.Sprintf("call_%d", a.made%5)
	case "hidden":
		return "toolu_0hidden1d2"
	}
	return ""
}

// answers returns a turn of the model: some calls, perhaps preceded by text.
func (a *agent) answers() (m protocol.Message) {
	m.Role = protocol.Assistant
	if a.r.IntN(3) == 0 {
		m.Parts = append(m.Parts, protocol.Part{Kind: protocol.TextPart, Text: []byte(pick(a.r, "hm", "I will look that up for you now.", fmt.Sprintf("This is what I will do next: %d.", a.made)))})
	}
	for range pick(a.r, 0, 1, 1, 1, 2, 3) {
		m.Parts = append(m.Parts, protocol.Part{
			Kind: protocol.CallPart, ID: a.id(), Name: pick(a.r, "read", "read", "edit", "run"), ToolKind: "function", Form: a.to.Form,
			Args: []byte(pick(a.r, `{}`, `{"path": "a"}`, `{"n": 1.0, "m": 12345678901234567890}`, fmt.Sprintf(`{"line": %d, "text": "x\u00e9"}`, a.r.IntN(20)))),
		})
	}
	return m
}

// response returns the provider's response for a message of the model.
func (a *agent) response(m protocol.Message) string {
	text, calls := "", []string{}
	for _, p := range m.Parts {
		if p.Kind == protocol.TextPart {
			text = string(p.Text)
			continue
		}
		calls = append(calls, fmt.Sprintf(map[string]string{
			"openai-chat":      `{"id":%[1]q,"type":"function","function":{"name":%[2]q,"arguments":%[3]q}}`,
			"anthropic":        `{"type":"tool_use","id":%[1]q,"name":%[2]q,"input":%[3]s}`,
			"gemini":           `{"functionCall":{"name":%[2]q,"args":%[3]s}}`,
			"ollama":           `{"function":{"name":%[2]q,"arguments":%[3]s}}`,
			"openai-responses": `{"type":"function_call","id":"fc_%[1]s","call_id":%[1]q,"name":%[2]q,"arguments":%[3]q,"status":"completed"}`,
		}[a.to.Protocol]+"%.0[1]s%.0[2]s%.0[3]s", p.ID, p.Name, p.Args))
	}
	all := strings.Join(calls, ",")
	also := func(part string) string {
		if text != "" {
			all = strings.TrimSuffix(fmt.Sprintf(part, text)+","+all, ",")
		}
		return all
	}
	switch a.to.Protocol {
	case "anthropic":
		return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[` + also(`{"type":"text","text":%q}`) + `],"stop_reason":"tool_use"}`
	case "gemini":
		return `{"candidates":[{"content":{"role":"model","parts":[` + also(`{"text":%q}`) + `]},"finishReason":"STOP","index":0}],"modelVersion":"m","responseId":"r"}`
	case "ollama":
		return fmt.Sprintf(`{"model":"m","created_at":"t","message":{"role":"assistant","content":%q,"tool_calls":[%s]},"done":true,"done_reason":"stop"}`, text, all)
	case "openai-responses":
		return `{"object":"response","id":"resp_1","model":"m","output":[` + also(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`) + `],"status":"completed"}`
	}
	return fmt.Sprintf(`{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q,"tool_calls":[%s]},"finish_reason":"tool_calls"}]}`, text, all)
}

// sent returns the history in the form in which the client sends it.
func (a *agent) sent() []protocol.Message {
	out := slices.Clone(a.history)
	if n := len(out); a.window > 0 && n > a.window+1 {
		out = append(slices.Clone(out[:1]), out[n-a.window:]...)
	}
	if a.forgets && len(out) > 1 {
		out = out[1:]
	}
	for i := range out {
		out[i].Parts = slices.Clone(out[i].Parts)
		for j := 0; j < len(out[i].Parts); j++ {
			p := &out[i].Parts[j]
			p.ID = a.sentID(p.ID)
			if p.Kind != protocol.CallPart || a.breaks == 0 || a.r.IntN(a.breaks) > 0 {
				continue
			}
			switch a.r.IntN(4) {
			case 0:
				p.Args = []byte(strings.NewReplacer(`": `, `":`, ".0", "").Replace(string(p.Args)))
			case 1:
				p.Args = []byte(`{}`)
			case 2:
				p.Args = []byte(`{"path":"b"}`)
			case 3:
				out[i].Parts = slices.Delete(out[i].Parts, j, j+1)
				j--
			}
		}
	}
	return out
}

func (a *agent) sentID(id string) string {
	switch {
	case id == "":
		return ""
	case a.sends == "fitted":
		fitted := strings.ReplaceAll(id, "_", "")
		return fitted[:min(len(fitted), 9)]
	case a.sends == "others":
		return "new" + id
	}
	return id
}

// step makes the agent send a request, and the provider respond. The response may be lost on its way to the client.
// In this case, the client retries the request.
func (a *agent) step(write func(stream.Record), exchange int) {
	if a.r.IntN(10) > 0 {
		write(stream.Record{Exchange: exchange, Request: true, Data: historytest.Request(a.to, a.to.Encode(a.sent()))})
	}
	m := a.answers()
	write(stream.Record{Exchange: exchange, Data: []byte(a.response(m))})
	if a.r.IntN(4) > 0 {
		write(stream.Record{Exchange: exchange, End: true})
	}
	if a.r.IntN(8) == 0 {
		return
	}
	a.history = append(a.history, m)
	var results []protocol.Part
	for _, p := range m.Parts {
		if p.Kind == protocol.CallPart && a.r.IntN(12) > 0 {
			results = append(results, protocol.Part{Kind: protocol.ResultPart, ID: p.ID, Name: p.Name, Text: []byte(`"ok"`)})
		}
	}
	if len(results) == 0 {
		results = append(results, protocol.Part{Kind: protocol.TextPart, Text: []byte(pick(a.r, "on", "and now?"))})
	}
	a.say(protocol.User, results...)
}

// anyTalk writes a session with several agents at the same time.
func anyTalk(seed uint64, exchanges int, in *Inspector) {
	anyTalkTo(seed, exchanges, func(r stream.Record) {
		in.Write(r)
		in.MakeRoom()
	})
	in.Close()
}

func anyTalkTo(seed uint64, exchanges int, write func(stream.Record)) {
	r := rand.New(rand.NewPCG(seed, 7))
	agents := []*agent{newAgent(r), newAgent(r), newAgent(r)}
	for n := range exchanges {
		if i := r.IntN(len(agents)); r.IntN(20) == 0 {
			agents[i] = newAgent(r)
		}
		agents[r.IntN(len(agents))].step(write, n+1)
	}
}

// toldOf returns all reports about calls that were sent back.
func toldOf(s *stream.Session) string {
	var b strings.Builder
	for _, t := range s.Turns {
		for _, c := range t.Calls {
			for _, r := range c.SentBack {
				fmt.Fprintf(&b, "%d.%d %s %+v\n", t.Number, c.Number, c.Name, r)
			}
			for _, f := range c.Findings {
				fmt.Fprintf(&b, "%d.%d %s %s %d\n", t.Number, c.Number, f.Code, f.Message, f.Event)
			}
		}
	}
	return b.String()
}
