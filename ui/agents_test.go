package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// session returns the requests of an agent like Claude Code, at intervals of a second. They include a sub-agent's
// requests and one background request of each kind.
func session(testing.TB) (records []stream.Record) {
	number := 0
	put := func(r stream.Record) {
		r.Exchange, r.At = number, time.Duration(number)*time.Second
		records = append(records, r)
	}
	ask := func(method, url, header, body, answer string) {
		number++
		fields := map[string][]string{}
		for _, line := range strings.Split(header, "|") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				fields[name] = []string{value}
			}
		}
		put(stream.Record{Request: true, Head: &stream.Head{Method: method, URL: "https://api.anthropic.com" + url, Header: fields}})
		if body != "" {
			put(stream.Record{Request: true, Data: []byte(body)})
		}
		put(stream.Record{Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"application/json"}}}})
		put(stream.Record{Data: []byte(answer)})
		put(stream.Record{End: true})
	}
	const main, sub = "User-Agent: claude-cli/2.1.330 (external, cli)|X-Claude-Code-Session-Id: s1", "|X-Claude-Code-Agent-Id: a77"
	turn := func(header, more, messages, answer string, read, write int) {
		ask("POST", "/v1/messages", header, `{"model":"claude-sonnet-4-5","messages":[`+messages+`]`+more+`}`, fmt.Sprintf(
			`{"id":"msg_%d","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[%s],"stop_reason":"end_turn",`+
				`"usage":{"input_tokens":10,"output_tokens":20,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d}}`, number+1, answer, read, write))
	}
	user := func(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }
	call := func(id, name, input string) string {
		return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, name, input)
	}
	result := func(id, text string) string {
		return fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%q}`, id, text)
	}
	back := func(calls, results string) string {
		return `,{"role":"assistant","content":[` + calls + `]},{"role":"user","content":[` + results + `]}`
	}
	const task, list, tools = `{"prompt":"find the greeting","subagent_type":"Explore"}`, `{"path":"."}`, `,"tools":[{"name":"Task"},{"name":"ls"}]`
	title := `,"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"title":{"type":"string"}}}}}`
	ask("HEAD", "/", "", "", "")
	turn(main, title, user("greet people by name"), `{"type":"text","text":"{\"title\":\"Greeting\"}"}`, 0, 0)
	turn(main, tools, user("greet people by name"), call("toolu_1", "Task", task)+","+call("toolu_2", "ls", list), 0, 8000)
	turn(main+sub, tools, user("find the greeting"), call("toolu_3", "ls", list), 0, 2000)
	ask("POST", "/v1/messages/count_tokens", main, `{"messages":[]}`, `{"input_tokens":1234}`)
	turn(main+sub, tools, user("find the greeting")+back(call("toolu_3", "ls", list), result("toolu_3", "main.go greet.go")), `{"type":"text","text":"greet.go"}`, 2000, 100)
	turn(main, `,"tools":[{"name":"Task"}]`, user("greet people by name")+back(call("toolu_1", "Task", task)+","+call("toolu_2", "ls", list), result("toolu_1", "it is in greet.go")+","+result("toolu_2", ".")), `{"type":"text","text":"Done."}`, 0, 9000)
	return records
}

// TestAgents checks that rows name the agent and the purpose, that a sub-agent's turns are below the call
// that started it, and that background requests are muted.
func TestAgents(t *testing.T) {
	s := newScreen(t, 160, 40).feed(session(t)...).end()
	rows := []string{"   1  ●                HEAD /  ", "   2  ●                (title)           main sonnet-4-5", "   3  ●                Task              main sonnet-4-5",
		"   4  ●                └ ls              Explore sonnet-4-5", "   6  ●                └ (text)          Explore sonnet-4-5", "      ●                ls    ",
		"   5  ●                POST /v1/message… main  ", "   7  ●                (text)            main sonnet-4-5"}
	screen := strings.Split(s.text(), "\n")
	for i, want := range rows {
		if row := screen[3+i]; !strings.Contains(row, want) {
			t.Errorf("row %d is %q, want %q", i+1, row, want)
		}
	}
	s.shows("7 turns · 3 calls").hides("warn", "DIALECT")
	s.press("G").shows("0 tokens read of 8,000").press("3").shows("the cache").press("1")
	s.press("g").press("3").press("1H").shows("hidden: H shows background requests").hides("POST /v1/message…", "(title)")
	s.press("H").shows("POST /v1/message…")
	if s.press("gH"); s.selected.Turn != 2 {
		t.Errorf("turn %d is chosen and not shown", s.selected.Turn+1)
	}
	s.press("H")
	s.press("gj").shows("Claude Code", "purpose      title", "session      s1")
	s.press("/Explore<enter>nh").shows("Explore (a77), started by")
	s.press("<esc>")
	if cost := s.bill.Total(); cost.Approximate || cost.Unknown > 0 {
		t.Errorf("what is asked beside makes the cost uncertain: %+v", cost)
	}
}

// TestFollowNoSide checks that background requests are not followed.
func TestFollowNoSide(t *testing.T) {
	s := newScreen(t, 80, 24)
	records := session(t)
	for i, r := range records {
		if s.feed(r); r.Exchange == 5 && s.chosenName() != "ls" {
			t.Errorf("record %d: it follows %q", i, s.chosenName())
		}
	}
}

// TestSideBody checks that the bodies of background requests and responses can be viewed.
func TestSideBody(t *testing.T) {
	s := newScreen(t, 140, 40).feed(session(t)...).end().press("/count<enter>")
	s.shows("purpose      count", "http status  200", "sent         15 B", `{"messages":[]}`, "received     21 B", `{"input_tokens":1234}`).hides("no price", "DIALECT")
}
