package providers

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
)

// dialogue writes exchanges in Anthropic's protocol to an inspector.
type dialogue struct {
	in     Inspector
	number int
}

// ask sends a request with the given headers ("Name: value" lines) and messages. The response has the given
// content blocks.
func (d *dialogue) ask(header, messages, answer string) *stream.Turn {
	d.number++
	fields := map[string][]string{}
	for _, line := range strings.Split(header, "\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			fields[name] = []string{value}
		}
	}
	d.in.Write(stream.Record{Exchange: d.number, Request: true, Head: &stream.Head{Method: "POST", URL: "http://h/v1/messages", Header: fields}})
	d.in.Write(stream.Record{Exchange: d.number, Request: true, Data: []byte(`{"model":"m","tools":[{"name":"Task"}],"messages":[` + messages + `]}`)})
	d.in.Write(stream.Record{Exchange: d.number, Head: &stream.Head{Status: 200}})
	d.in.Write(stream.Record{Exchange: d.number, End: true, Data: []byte(fmt.Sprintf(
		`{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[%s],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`, d.number, answer))})
	return d.in.View().TurnOf(d.number)
}

func user(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

const (
	toolCall   = `{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}`
	taskCall   = `{"type":"tool_use","id":"toolu_2","name":"Task","input":{"prompt":"look around","subagent_type":"Explore"}}`
	toolResult = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"a b"}]}`
	taskResult = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_2","content":"nothing there"}]}`
)

func said(call string) string { return `{"role":"assistant","content":[` + call + `]}` }

// TestConversationsByName checks that the client's names for agents are used, and that the call that started a
// sub-agent is found.
func TestConversationsByName(t *testing.T) {
	d := new(dialogue)
	const main = "User-Agent: claude-cli/2.1.330 (external)\nX-Claude-Code-Session-Id: s1"
	const sub = main + "\nX-Claude-Code-Agent-Id: a7"
	first := d.ask(main, user("do it"), taskCall)
	second := d.ask(sub, user("<note/>")+","+user("look around"), toolCall)
	third := d.ask(sub, user("<note/>")+","+user("look around")+","+said(toolCall)+","+toolResult, "")
	deep := d.ask(main+"\nX-Claude-Code-Agent-Id: a8\nX-Claude-Code-Parent-Agent-Id: a7", user("deeper"), "")
	last := d.ask(main, user("do it")+","+said(taskCall)+","+taskResult, "")
	other := d.ask("User-Agent: claude-cli/2\nX-Claude-Code-Session-Id: s2", user("do it"), "")
	for _, c := range []struct {
		turn                          *stream.Turn
		session, agent, parent, title string
		lane                          int32
		call                          int32
	}{
		{first, "s1", "main", "", "", 1, 0}, {second, "s1", "a7", "main", "Explore", 2, 1}, {third, "s1", "a7", "main", "Explore", 2, 1},
		{deep, "s1", "a8", "a7", "", 3, 0}, {last, "s1", "main", "", "", 1, 0}, {other, "s2", "main", "", "", 4, 0},
	} {
		a := c.turn.Request
		if a.Session != c.session || a.GeneratedSession || a.Agent != c.agent || a.Parent != c.parent || a.Title != c.title || a.Conversation != c.lane || a.StartedBy.Call != c.call {
			t.Errorf("turn %d: %+v, want %+v", c.turn.Number+1, a, c)
		}
	}
	if second.Request.StartedBy != first.Calls[0].Ref() || third.Request.ResultsOf != "ls" || third.Request.Snippet != "a b" || first.Request.Snippet != "do it" {
		t.Errorf("%+v, %+v", second.Request, third.Request)
	}
}

// TestConversationsByHistory checks that conversations are found by their history if the client gives no names.
func TestConversationsByHistory(t *testing.T) {
	d := new(dialogue)
	setup := user("context") + "," + said(`{"type":"text","text":"Got it."}`) + ","
	var got []string
	ask := func(messages, answer string) {
		a := d.ask("User-Agent: QwenCode/0.15", messages, answer).Request
		got = append(got, fmt.Sprintf("%s %s<%s", a.Session, a.Agent, a.Parent))
		if !a.GeneratedSession {
			t.Errorf("%s: the client said no such thing", a.Session)
		}
	}
	ask(setup+user("do it"), taskCall)                                                          // 1
	ask(setup+user("look around"), toolCall)                                                    // 2: the agent
	ask(setup+user("look around")+","+said(toolCall)+","+toolResult, "")                        // 3: continues
	ask(setup+user("do it")+","+said(taskCall)+","+taskResult, `{"type":"text","text":"done"}`) // 4: continues
	ask(setup+user("do it"), "")                                                                // 5: begins anew
	ask(setup+user("do it")+","+said(taskCall)+","+taskResult+","+user("and now?"), "")         // 6: continues
	ask(user("something else"), "")                                                             // 7
	ask(user("something else"), "")                                                             // 8: once again
	want := []string{
		"conversation-1 main<", "conversation-1 toolu_2<main", "conversation-1 toolu_2<main", "conversation-1 main<",
		"conversation-5 main<", "conversation-1 main<", "conversation-7 main<", "conversation-7 main<",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// TestChange checks that the changes since the previous request are reported for the turn, and that there is a
// finding if they broke the cache. There must be no finding if the cache has expired.
func TestChange(t *testing.T) {
	var got []string
	var in Inspector
	ask := func(n int, tools, system, messages string, read, write int) {
		in.Write(stream.Record{Exchange: n, Request: true, Head: &stream.Head{Method: "POST", URL: "http://h/v1/messages"},
			Data: []byte(fmt.Sprintf(`{"model":"m","tools":[%s],"system":%q,"messages":[%s]}`, tools, system, messages))})
		in.Write(stream.Record{Exchange: n, End: true, Data: []byte(fmt.Sprintf(
			`{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"b"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d}}`, n, read, write))})
		turn := in.View().TurnOf(n)
		c, found := turn.Request.Change, ""
		for _, f := range turn.Findings {
			found += " " + f.Code
		}
		got = append(got, fmt.Sprintf("%d: %d same, %d added, %d altered, %d gone, breaks at %q%s", n, c.Same, c.Added, c.Altered, c.Removed, c.BreaksAt(), found))
	}
	a, b := user("a"), said(`{"type":"text","text":"b"}`)
	marked := `{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}`
	ask(1, `{"name":"x"}`, "s", marked, 0, 5000)
	ask(2, `{"name":"x","cache_control":{"type":"ephemeral"}}`, "s", a+","+b+","+user("c"), 5000, 100)
	ask(3, `{"name":"x"}`, "s", a+","+b+","+user("d")+","+b+","+user("e"), 2000, 3000)
	ask(4, `{"name":"x"}`, "s", a+","+b+","+user("d")+","+b+","+user("e")+","+b+","+user("f"), 0, 6000) // the cache has expired
	ask(5, `{"name":"x"},{"name":"y"}`, "s", a+","+b+","+user("d")+","+b+","+user("e")+","+b+","+user("f"), 0, 6000)
	ask(6, `{"name":"x"},{"name":"y"}`, "t", a+","+b+","+user("d"), 6000, 0)
	want := []string{
		`1: 0 same, 0 added, 0 altered, 0 gone, breaks at ""`,
		`2: 1 same, 2 added, 0 altered, 0 gone, breaks at ""`,
		`3: 2 same, 2 added, 1 altered, 0 gone, breaks at "message 3" CACHE_BROKEN`,
		`4: 5 same, 2 added, 0 altered, 0 gone, breaks at ""`,
		`5: 7 same, 0 added, 0 altered, 0 gone, breaks at "the tools" CACHE_BROKEN`,
		`6: 3 same, 0 added, 0 altered, 4 gone, breaks at "the system prompt"`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestConversationsBounded checks that the amount of data that is kept for conversations has a limit.
func TestConversationsBounded(t *testing.T) {
	var r recentMap[int, int]
	for i := range 100 {
		r.set(i%60, i, 10)
	}
	if len(r.is) != 10 || len(r.keys) != 10 {
		t.Errorf("%d entries, %d keys", len(r.is), len(r.keys))
	}
	if v, ok := r.peek(39); v != 99 || !ok || r.get(20) != 0 {
		t.Errorf("%d %t, %d", v, ok, r.get(20))
	}
}

// TestPlain checks that a client's requests that are not for a model end with the HTTP response, without findings.
func TestPlain(t *testing.T) {
	for _, c := range []struct {
		method, url, request, body string
		header                     map[string][]string
		status                     int
		purpose                    string
		phase                      stream.TurnPhase
	}{
		{method: "HEAD", url: "http://h/", status: 200, purpose: "health"},
		{method: "GET", url: "http://h/v1/models?limit=9", body: `{"object":"list","data":[]}`, status: 200, purpose: "models"},
		{method: "GET", url: "http://h/v1/models", body: `{"error":{"message":"no"}}`, status: 401, purpose: "models", phase: stream.TurnRejected},
		{method: "POST", url: "http://h/v1/messages/count_tokens", request: `{"messages":[]}`, body: `{"input_tokens":3}`, status: 200, purpose: "count"},
		{method: "POST", url: "http://h/v1beta/models/m:countTokens", request: `{}`, body: `{"totalTokens":3}`, status: 200, purpose: "count"},
		{method: "POST", url: "http://h/v1/embeddings", request: `{"input":"x"}`, body: `{"object":"list"}`, status: 200, purpose: "embeddings"},
		{method: "GET", url: "http://h/inference-profiles?type=SYSTEM_DEFINED", body: `{}`, status: 200, purpose: "models"},
		{method: "GET", url: "http://h/something", body: `{"a":1}`, status: 200, purpose: "other"},
		{method: "GET", url: "http://h/v1/responses", header: map[string][]string{"Sec-Websocket-Key": {"k"}}, status: 404, purpose: "connect", phase: stream.TurnRejected},
	} {
		in := new(Inspector)
		in.Write(stream.Record{Request: true, Head: &stream.Head{Method: c.method, URL: c.url, Header: c.header}, Data: []byte(c.request)})
		in.Write(stream.Record{Head: &stream.Head{Status: c.status}, Data: []byte(c.body)})
		in.Write(stream.Record{End: true})
		if c.phase == stream.TurnIsOpen {
			c.phase = stream.TurnComplete
		}
		turn := in.View().TurnOf(0)
		if turn == nil {
			t.Errorf("%s %s: no turn", c.method, c.url)
			continue
		}
		if !turn.Closed() || turn.Phase() != c.phase || len(turn.Findings) > 0 || turn.Finish != fmt.Sprint(c.status) || turn.Request.Purpose != c.purpose || !turn.Request.Background {
			t.Errorf("%s %s: %s, closed %t, %q, %+v, %+v", c.method, c.url, turn.Phase(), turn.Closed(), turn.Finish, turn.Request, turn.Findings)
		}
	}
}

// TestSockets checks that each request on a WebSocket has its own purpose, and that its turn has the same
// purpose.
func TestSockets(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{Request: true, Head: &stream.Head{Method: "GET", URL: "http://h/v1/responses", Header: map[string][]string{
		"Originator": {"codex_exec"}, "Session-Id": {"s"}, "Thread-Id": {"s"}, "Sec-Websocket-Key": {"k"}}}})
	in.Write(stream.Record{Head: &stream.Head{Status: 101}})
	answer := func(n int) {
		for _, kind := range []string{"created", "completed"} {
			in.Write(stream.Record{Data: []byte(fmt.Sprintf(
				`{"type":"response.%s","response":{"id":"resp_%d","object":"response","status":"completed","model":"m","output":[],"usage":{"input_tokens":1,"output_tokens":0}}}`, kind, n))})
		}
	}
	ask := func(more string) {
		in.Write(stream.Record{Request: true, Data: []byte(`{"type":"response.create","model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}]` + more + `}`)})
	}
	ask(`,"generate":false`)
	answer(1)
	ask(`,"previous_response_id":"resp_1"`)
	in.Write(stream.Record{Request: true, Data: []byte(`{"type":"response.cancel"}`)})
	answer(2)
	ask(`,"client_metadata":{"x-openai-subagent":"review","thread_id":"t"}`)
	answer(3)
	in.Close()
	var got []string
	for _, turn := range in.Session().Turns {
		got = append(got, turn.Request.Purpose+" "+turn.Request.Agent+" "+turn.Request.Snippet)
	}
	if want := "[prewarm main go turn main go review t go]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
