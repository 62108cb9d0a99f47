package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

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
