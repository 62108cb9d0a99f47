package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolscope/stream"
)

// requests returns an exchange with the given request, and a call of the tool f.
func requests(body string) []stream.Record {
	a := new(anthropic).open("msg_one")
	a.call("toolu_1", "f", `{"a":1}`).seal()
	asks := stream.Record{Request: true, Data: []byte(body), Head: &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages"}}
	return append([]stream.Record{asks}, a.records...)
}

// TestRequestTab checks that a request is folded, except for its last message and the call's tool. A search finds
// folded text. If a part of the request is missing, the reason is shown.
func TestRequestTab(t *testing.T) {
	body := `{"model":"claude-x","system":[{"type":"text","text":"be kind"}],"messages":[{"role":"user","content":"first"},{"role":"assistant","content":[{"type":"text","text":"second"}]},{"role":"user","content":[{"type":"text","text":"third"}]}],` +
		`"tools":[{"name":"e","description":"does e","input_schema":{"type":"object"}},{"name":"f","description":"does f","input_schema":{"type":"object","required":["a"]}}]}`
	for _, change := range [][]func(*Options){nil, {ascii}, {colourless}} {
		s := newScreen(t, 100, 60, change...).feed(requests(body)...)
		s.press("6z").shows("POST /v1/messages", "3 messages  2 tools", `"third"`, `"does f"`, `"required": [`, `"model": "claude-x"`).
			hides("first", "second", "be kind", "does e")
		checkFrame(t, s)
		s.press("/does e<enter>").shows(`"does e"`).hides("first")
		s.press("<esc>*").shows("first", "second", "be kind")
		checkFrame(t, s.press("*").hides("first", "third", "does f").resize(40, 10))
	}
	for _, c := range []struct {
		why     string
		records []stream.Record
	}{
		{"no request: the source has only", requests("")[1:]},
		{"the request has no body", requests("")},
		{"toolscope missed bytes", append([]stream.Record{{Request: true, Lost: 9, Data: []byte("{}")}}, requests("")[1:]...)},
	} {
		newScreen(t, 100, 40).feed(c.records...).press("6").shows(c.why)
	}
	newScreen(t, 100, 40).feed(requests(`no JSON at all`)...).press("6").shows("no JSON at all")
}

// TestRequestBig checks that a large body is laid out in another goroutine, and that a note says so until it
// is ready.
func TestRequestBig(t *testing.T) {
	var messages []string
	for n := range 3000 {
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":"message %d %s"}`, n, strings.Repeat("word ", 300)))
	}
	body := `{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`
	s := newScreen(t, 80, 24).feed(requests(body)...)
	if s.press("6").shows("laying out"); s.cmd == nil {
		t.Fatal("nothing is done beside the screen")
	}
	s.finish().press("z").shows("3,000 messages", `"model": "m"`, "user, 2 items").hides("laid out")
	s.press("/message 2999<enter>").shows("message 2999")
	s.press("/message 17 <enter>").shows("message 17 ")
	checkFrame(t, s)
	first := s.request.Top
	if s.resize(90, 24); s.cmd == nil {
		t.Fatal("nothing is done for another width")
	}
	s.shows("message 17 ").finish() // until then, the old layout is shown
	if s.request.Top == 0 && first > 0 {
		t.Error("it is at the top again")
	}
}

// TestRequestNotes checks that hints about the settings are between the head and the body, and that keys for the body
// still reach its rows. A request without hints has no row for them.
func TestRequestNotes(t *testing.T) {
	const hint = "max_tokens is 64000, the model's maximum"
	for _, limit := range []string{"64000", "100"} {
		body := `{"model":"claude-sonnet-4-5","max_tokens":` + limit + `,"messages":[{"role":"user","content":"third"}]}`
		s := newScreen(t, 60, 40).feed(requests(body)...).press("6z").shows(`"max_tokens": `+limit, `"third"`)
		if text := strings.Join(strings.Fields(s.text()), " "); strings.Contains(text, hint) != (limit == "64000") {
			t.Errorf("%s: %s", limit, text)
		}
		checkFrame(t, s)
		s.press("/third<enter>").press("-").hides(`"third"`)
		checkFrame(t, s.resize(40, 10))
	}
}

// measuredSession returns a conversation of three requests with tools of an MCP server and of the client. The
// provider reads most of the third request from its cache.
func measuredSession(testing.TB) (records []stream.Record) {
	tool := func(name string, size int) string {
		return fmt.Sprintf(`{"name":%q,"description":%q,"input_schema":{"type":"object"}}`, name, strings.Repeat("All that the tool does. ", size))
	}
	tools := []string{tool("read_log", 40), tool("write_note", 30)}
	for _, name := range []string{"search", "issue", "merge", "release"} {
		tools = append(tools, tool("mcp__forge__"+name, 50))
	}
	messages := []string{`{"role":"user","content":"Why does the build fail?"}`}
	for i, x := range []struct {
		read, write int
		finish      string
	}{{0, 2400, "tool_use"}, {2400, 700, "tool_use"}, {3100, 900, "end_turn"}} {
		block := fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":"read_log","input":{"lines":%d}}`, i+1, 20*(i+1))
		if x.finish == "end_turn" {
			block = `{"type":"text","text":"A certificate has expired."}`
		}
		put := func(r stream.Record) {
			r.Exchange, r.At = i+1, time.Duration(len(records))*100*time.Millisecond
			records = append(records, r)
		}
		body := `{"model":"claude-sonnet-4-5","max_tokens":1024,"system":"` + strings.Repeat("You look after builds. ", 60) + `","tools":[` + strings.Join(tools, ",") + `],"messages":[` + strings.Join(messages, ",") + `]}`
		put(stream.Record{Request: true, Head: &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages", Header: map[string][]string{"User-Agent": {"claude-cli/2.1.330 (external, cli)"}, "X-Claude-Code-Session-Id": {"s1"}}}})
		put(stream.Record{Request: true, Data: []byte(body)})
		put(stream.Record{Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"application/json"}}}})
		put(stream.Record{Data: fmt.Appendf(nil, `{"id":"msg_%d","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[%s],"stop_reason":%q,"usage":{"input_tokens":40,"output_tokens":30,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d}}`,
			i+1, block, x.finish, x.read, x.write)})
		put(stream.Record{End: true})
		messages = append(messages, `{"role":"assistant","content":[`+block+`]}`, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":%q}]}`, i+1, strings.Repeat("x509: certificate has expired\n", 60*(i+1))))
	}
	return records
}

// TestBreakdownOfRequest checks that the request tab shows the parts of the request, the new parts, the cached parts,
// and the tools that were never called. It also checks that enter goes to a part in the body.
func TestBreakdownOfRequest(t *testing.T) {
	s := newScreen(t, 100, 40, static).feed(measuredSession(t)...).end().press("G6z")
	s.shows("POST /v1/messages  14.4 kB  5 messages  6 tools", "Part of the request", "BYTES  TOKENS    $ NOW", "tools: read_log,…", "tools: forge", "system  ", "tool result 1 ", "tool result 2 ", "tool calls",
		"in all, 3.1k cached", "14.4 kB    4.0k", "uncached $0.0121", "5 of 6 tools not called so far", "── Body ─")
	s.press("jjj<enter>").shows(`▌     {`, `"name": "mcp__forge__search"`)
	checkFrame(t, s)
	for _, size := range [][2]int{{40, 10}, {60, 18}, {250, 60}} {
		small := newScreen(t, size[0], size[1], static).feed(measuredSession(t)...).end().press("G6z")
		small.shows("Part of the request")
		checkFrame(t, small)
	}
}

// TestBreakdownWhileOpen checks that the tab shows only sizes until the response reports its usage.
func TestBreakdownWhileOpen(t *testing.T) {
	chunk := func(text string) stream.Record {
		return stream.Record{Exchange: 1, Data: []byte(`data: {"id":"c1","object":"chat.completion.chunk","model":"gpt-5.2",` + text + "}\n\n")}
	}
	s := newScreen(t, 100, 40).feed(
		stream.Record{Exchange: 1, Request: true, Head: &stream.Head{Method: "POST", URL: "https://api.openai.com/v1/chat/completions"}, Data: []byte(askedBody)},
		chunk(`"choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"}}]`)).press("6z")
	s.shows("Part of the request", "BYTES", "in all").hides("TOKENS", "$ NOW", "NEW")
	s.feed(chunk(`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]`), chunk(`"choices":[],"usage":{"prompt_tokens":1234,"completion_tokens":5,"total_tokens":1239}`)).
		shows("TOKENS", "$ NOW", "1.2k").hides("cached", "NEW")
}

// TestRequestEdits checks that o in the request tab lists what changed since the previous request of the
// conversation, that enter goes to the changed part, and that o shows the breakdown again. Outside the tab, o has its
// usual meaning.
func TestRequestEdits(t *testing.T) {
	s := newScreen(t, 100, 40, static).feed(measuredSession(t)...).end().press("G6o")
	s.shows("What changed since the request of turn 2", "=  messages[0] to [2]  the same", `+  messages[3]         assistant  tool_use read_l`, "+  messages[4]         user  tool_result").hides("Part of the request")
	s.press("zjjj<enter>").shows(`▌     {`, `"role": "assistant"`)
	checkFrame(t, s)
	s.press("oz").shows("Part of the request").hides("What changed")
	s.press("1gg6o").shows("The previous request of this conversation is unknown")
	s.press("1Go").shows("no captured request sent the call back")
	checkFrame(t, newScreen(t, 40, 10, static).feed(measuredSession(t)...).end().press("G6oz"))
}

// TestFramesOfHostileRequests checks that text from requests, hosts and errors is only drawn as text, in
// every view of sent requests.
func TestFramesOfHostileRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // synctest's fake clock skips the time after which notices disappear
		for i, text := range hostile {
			if i%thin() != 0 {
				continue
			}
			q := quote(strings.ToValidUTF8(text, "?") + "model")
			body := `{"model":` + q + `,"x` + text + `":1,"messages":[{"role":"user","content":` + q + `}],"tools":[{"name":` + q + `,"input_schema":{"type":"object"}},{"type":` + q + `,"name":` + q + `}]}`
			records := func(n int) []stream.Record {
				a := (&anthropic{exchange: n}).open("msg_"+text).call("toolu_"+text, "tool"+text, `{"a`+text+`":"`+text+`"}`).seal()
				all := withRequest(body, a.stop("tool_use").records)
				all[0].Head.File, all[0].Head.URL = "file"+text, "http://h"+text+"/v1/messages"
				return all
			}
			for _, s := range []*rig{newScreen(t, 72, 20), newScreen(t, 130, 30, ascii, colourless)} {
				s.opt.Places[2].Address, s.opt.Places[3].Trouble, s.opt.Places[4].Warning = "http://"+text, "no "+text, "mind "+text
				s.refuses = errors.New("not " + text)
				s.feed(records(1)...).feed(records(2)...)
				for _, keys := range []string{"gR", "<enter>", "j", "j", "p", "<tab>", "r", "<esc>G", "<esc>1gj", "a", "<tab>", "<enter>", "<enter>", "<esc>g", "=", "l", "r", "G", "<esc>"} {
					s.press(keys)
					s.finish()
					checkFrame(t, s)
					if strings.Contains(s.text(), "Result of") {
						s.paste(text)
						checkFrame(t, s)
					}
					if strings.Contains(s.text(), " SEND ") && keys == "p" {
						s.press("m").paste(text)
						checkFrame(t, s)
						s.press("<enter>")
						checkFrame(t, s)
					}
				}
			}
		}
	})
}
