package mcp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// said returns the log of one process. In script, the client's lines begin with "<" and the server's with ">". One
// line arrives each millisecond. Other lines are notes.
func said(script string) *Log {
	l := new(Log)
	l.Begin(1, &stream.Head{Method: Stdio, URL: "mcp:files"})
	for i, line := range strings.Split(strings.TrimSpace(script), "\n") {
		r := stream.Record{Exchange: 1, At: time.Duration(i) * time.Millisecond}
		switch text := strings.TrimSpace(line); {
		case strings.HasPrefix(text, "<"):
			r.Request, r.Data = true, []byte(text[1:]+"\n")
		case strings.HasPrefix(text, ">"):
			r.Data = []byte(text[1:] + "\n")
		case strings.HasPrefix(text, "lost"):
			r.Lost, r.Request = 100, strings.HasSuffix(text, "asked")
		case text == "end":
			r.End = true
		default:
			r.Note = text
		}
		l.Write(&r, int32(i))
	}
	l.Close()
	return l
}

// told returns the log in words.
func told(l *Log) string {
	var all []string
	for _, r := range l.Requests {
		text := fmt.Sprintf("%s %s %s", r.ID, r.Method, r.Tool)
		if r.FromServer {
			text = "server " + text
		}
		text += fmt.Sprintf(": %s", r.State)
		if r.Duration() >= 0 {
			text += fmt.Sprintf(" in %d", r.Duration()/time.Millisecond)
		}
		for _, more := range []struct {
			is   bool
			text string
		}{
			{r.Failed, "failed"}, {r.Rounds > 0, fmt.Sprint("rounds ", r.Rounds)}, {r.Progress > 0, fmt.Sprint("progress ", r.Progress)},
			{r.CallID != "", "for " + r.CallID}, {r.TextSize > 0, fmt.Sprintf("text %q", r.Text)}, {r.StructuredSize > 0, "shape " + string(r.Structured)},
			{r.Media > 0, fmt.Sprint("media ", r.Media)}, {r.Error != "", fmt.Sprintf("error %d %s", r.Code, r.Error)},
			{len(r.Args) > 0, "args " + string(r.Args)},
		} {
			if more.is {
				text += " " + more.text
			}
		}
		all = append(all, text)
	}
	for _, s := range l.Servers {
		for _, n := range s.Notes {
			if n.Finding != nil {
				all = append(all, n.Finding.Code+" "+n.Finding.By.String())
			} else {
				all = append(all, "said "+n.Text)
			}
		}
	}
	return strings.Join(all, "\n")
}

func TestConversations(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"a session of 2025-11-25", `
			<{"method":"initialize","params":{"protocolVersion":"2025-11-25"},"jsonrpc":"2.0","id":0}
			>{"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"Files"}},"jsonrpc":"2.0","id":0}
			<{"method":"notifications/initialized","jsonrpc":"2.0"}
			<{"method":"tools/call","params":{"name":"sum","arguments":{"a":1},"_meta":{"claudecode/toolUseId":"toolu_1"}},"jsonrpc":"2.0","id":1}
			>{"result":{"content":[{"type":"text","text":"3"},{"type":"image","data":"","mimeType":"image/png"}],"structuredContent":{"sum":3}},"jsonrpc":"2.0","id":1}
			end`, `
			0 initialize : done in 1
			1 tools/call sum: done in 1 for toolu_1 text "3" shape {"sum":3} media 1 args {"a":1}`},
		{"ids of both directions are counted apart, and strings are not numbers", `
			<{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"callId":"call_1"}}}
			>{"jsonrpc":"2.0","id":1,"method":"roots/list"}
			<{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"b"}}
			<{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}
			>{"jsonrpc":"2.0","id":"1","result":{"isError":true,"content":[]}}
			>{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, `
			1 tools/call a: done in 5 for call_1
			server 1 roots/list : refused in 2 error -32601 no
			"1" tools/call b: done in 2 failed`},
		{"progress goes to the request that asked for it; a request that is taken back is", `
			<{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":7}}}
			>{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7}}
			>{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":8}}
			<{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
			`1 tools/call a: cancelled in 3 progress 1`},
		{"one that is taken back after its answer was answered", `
			<{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
			>{"jsonrpc":"2.0","id":1,"result":{"content":[]}}
			<{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
			`1 tools/call a: done in 1`},
		{"another round with what the server wanted to know is the same call", `
			<{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1}}}
			>{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s"}}
			<{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{"x":1},"requestState":"s","inputResponses":{}}}
			>{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"ok"}]}}
			<{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","arguments":{"x":1}}}`, `
			2 tools/call a: done in 3 rounds 1 text "ok" args {"x":1}
			3 tools/call a: no answer args {"x":1}`},
		{"several messages in a list", `
			<[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]
			>[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"result":{}}]`,
			"1 ping : done in 1\n2 ping : done in 1"},
		{"what is no message is told of whoever said it", `
			>listening on port 1
			<hello
			>{"id":1}
			>{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}
			>{"jsonrpc":"2.0","id":9,"result":{}}
			stderr: one` + "\n", "MCP_STDOUT server\nMCP_STDIN client\nMCP_STDOUT server\nMCP_ERROR server\nMCP_ANSWER server\nsaid one"},
		{"behind a gap nothing is claimed", `
			<{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
			lost
			>{"jsonrpc":"2.0","id":5,"result":{}}
			end`, `1 tools/call a: unknown`},
		{"what no gap is in is still told", `
			<{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
			>{"jsonrpc":"2.0","id":1,"result":{"content":[]}}
			lost
			>rest
			>{"jsonrpc":"2.0","method":"notifications/message"}`, `1 tools/call a: done in 1`},
	} {
		want := strings.ReplaceAll(strings.TrimSpace(test.want), "\t", "")
		if got := told(said(test.script)); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", test.name, got, want)
		}
	}
}

func TestServer(t *testing.T) {
	s := said(`
		<{"method":"initialize","params":{},"jsonrpc":"2.0","id":0}
		>{"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"Files"}},"jsonrpc":"2.0","id":0}
		>{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`).Servers[0]
	if s.Name != "files" || s.Title != "Files" || s.Version != "2025-06-18" || s.Changes != 1 || s.Messages != 3 {
		t.Errorf("%+v", s)
	}
	s = said(`<{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`).Servers[0]
	if s.Version != "2026-07-28" || s.Calls != 1 {
		t.Errorf("%+v", s)
	}
}

// TestHTTP checks that requests are matched to responses in a body, in an event stream after a request to the client,
// and in another exchange.
func TestHTTP(t *testing.T) {
	l := new(Log)
	begin := func(number int, body string) {
		h := &stream.Head{Method: "POST", URL: "http://h/mcp?x=1", Header: map[string][]string{"Mcp-Session-Id": {"s"}, "Mcp-Protocol-Version": {"2025-06-18"}}}
		l.Begin(number, h)
		for _, part := range []string{body[:len(body)/2], body[len(body)/2:]} {
			l.Write(&stream.Record{Exchange: number, Request: true, At: time.Duration(number) * time.Second, Data: []byte(part)}, 0)
		}
	}
	at := func(number int, r stream.Record) {
		r.Exchange, r.At = number, time.Duration(number)*time.Second+time.Millisecond
		l.Write(&r, 0)
	}
	head := func(number, status int, kind string) {
		at(number, stream.Record{Head: &stream.Head{Status: status, Header: map[string][]string{"Content-Type": {kind}}}})
	}
	data := func(number int, pieces ...string) {
		for _, p := range pieces {
			at(number, stream.Record{Data: []byte(p)})
		}
	}
	begin(1, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`)
	head(1, 200, "application/json; charset=utf-8")
	data(1, `{"jsonrpc":"2.0","id":1,`, `"result":{"content":[{"type":"text","text":"A"}]}}`)
	at(1, stream.Record{End: true})
	begin(2, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b"}}`)
	head(2, 200, "text/event-stream")
	data(2, "data: {\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"roots/list\"}\n", "\n")
	begin(3, `{"jsonrpc":"2.0","id":0,"result":{}}`)
	head(3, 202, "")
	at(3, stream.Record{End: true})
	data(2, "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,", "\"result\":{\"content\":[]}}\n\n")
	at(2, stream.Record{End: true})
	begin(4, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"c"}}`)
	head(4, 401, "text/html")
	data(4, "<html>")
	at(4, stream.Record{End: true})
	l.Close()
	want := "1 tools/call a: done in 1 text \"A\"\n2 tools/call b: done in 1\nserver 0 roots/list : done in 999\n2 tools/call c: no answer"
	if got := told(l); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	if len(l.Servers) != 1 || l.Servers[0].Name != "http://h/mcp" || l.Servers[0].Version != "2025-06-18" {
		t.Errorf("%+v", l.Servers[0])
	}
}

// TestAs checks that an earlier view of a request doesn't include a response that arrived later.
func TestAs(t *testing.T) {
	l := said(`
		x
		<{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
		>{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"A"}]}}`)
	r := l.Requests[0]
	if r.AsOf(0) != nil || r.AsOf(2) != r {
		t.Error(r.AsOf(0), r.AsOf(2))
	}
	if was := r.AsOf(1); was == nil || was.State != Open || was.Text != "" || was.Duration() >= 0 || r.State != Done {
		t.Errorf("%+v", was)
	}
}

// TestLimits checks that the amount of kept data doesn't grow with the input.
func TestLimits(t *testing.T) {
	l := new(Log)
	l.Begin(1, &stream.Head{Method: Stdio, URL: "mcp:a"})
	put := func(request bool, text string) {
		l.Write(&stream.Record{Exchange: 1, Request: request, Data: []byte(text)}, 0)
	}
	long := strings.Repeat("x", MaxKept)
	for n := range 3 * maxTextBytes / MaxKept {
		put(true, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a","arguments":{"a":"%s%s"}}}`+"\n", n, long, long))
	}
	if kept := l.Requests[len(l.Requests)-1]; l.bytes > maxTextBytes || len(l.open) > maxWaiting || len(kept.Args) != MaxKept || kept.ArgsSize != 2*MaxKept+8 || l.Requests[0].Args != nil {
		t.Errorf("%d bytes, %d open", l.bytes, len(l.open))
	}
	piece := strings.Repeat("y", 1<<20)
	for range maxMessageBytes>>20 + 2 {
		put(false, piece)
	}
	if part := l.talks[1].answer.(*lineFramer).part; part != nil {
		t.Errorf("%d bytes of a line that is not read", len(part))
	}
	put(false, "\n"+`{"jsonrpc":"2.0","id":0,"result":{}}`+"\n")
	for range 3 * maxNotes {
		put(false, "junk\n")
	}
	if n := len(l.Servers[0].Notes); n != maxNotes {
		t.Errorf("%d notes", n)
	}
}

// FuzzLog checks that the log doesn't depend on how the input is split, and that no input makes reading stop.
func FuzzLog(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`+"\n", `{"jsonrpc":"2.0","id":1,"result":{"content":[{}]}}`+"\n", 7)
	f.Add("[{},1,\n", "[[[[\n{\"jsonrpc\":\"2.0\"\n\x00", 1)
	f.Fuzz(func(t *testing.T, asked, answered string, cut int) {
		var logs [2]string
		for i := range logs {
			l := new(Log)
			l.Begin(1, &stream.Head{Method: Stdio, URL: "mcp:a"})
			for side, text := range []string{asked, answered} {
				at := len(text)
				if i == 1 {
					at = min(max(cut, 0), at)
				}
				for _, p := range []string{text[:at], text[at:]} {
					l.Write(&stream.Record{Exchange: 1, Request: side == 0, Data: []byte(p)}, 0)
				}
			}
			l.Write(&stream.Record{Exchange: 1, End: true}, 0)
			l.Close()
			logs[i] = told(l)
		}
		if logs[0] != logs[1] {
			t.Errorf("%s\nin pieces:\n%s", logs[0], logs[1])
		}
	})
}

// TestPagedTools checks that a tool becomes a former tool only if it is missing from the complete list or changed in
// it.
func TestPagedTools(t *testing.T) {
	page := func(id int, cursor, next, names string) string {
		params, tools := `{}`, []string{}
		if cursor != "" {
			params = fmt.Sprintf(`{"cursor":%q}`, cursor)
		}
		for _, name := range strings.Fields(names) {
			name, kind, _ := strings.Cut(name, ":")
			tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object","title":%q}}`, name, kind))
		}
		return fmt.Sprintf(`<{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":%s}`, id, params) + "\n" +
			fmt.Sprintf(`>{"jsonrpc":"2.0","id":%d,"result":{"tools":[%s],"nextCursor":%q}}`, id, strings.Join(tools, ","), next) + "\n"
	}
	first := page(1, "", "2", "a b") + page(2, "2", "", "c d")
	for _, test := range []struct{ script, tools, former string }{
		{first, "a b c d", ""},
		{first + page(3, "", "2", "a b"), "a b c d", ""},
		{first + page(3, "", "2", "a b") + page(4, "2", "", "c d"), "a b c d", ""},
		{first + page(3, "", "2", "a") + page(4, "2", "", "c d"), "a c d", "b"},
		{first + page(3, "", "2", "a b:new"), "a b c d", "b"},
		{first + page(3, "", "2", "a b") + page(4, "2", "", "c:new d"), "a b c d", "c"},
		{first + page(3, "", "", "c d"), "c d", "a b"},
		{first + page(3, "", "2", "a b") + page(4, "", "", "a"), "a", "b c d"},
		{page(3, "2", "", "c d"), "c d", ""},                          // the first page was not captured
		{page(1, "", "", "a b") + page(3, "2", "", "c"), "c a b", ""}, // the same
	} {
		s := said(test.script).Servers[0]
		names := func(tools []Tool) string {
			var all []string
			for _, tool := range tools {
				all = append(all, tool.Name)
			}
			return strings.Join(all, " ")
		}
		if names(s.Tools) != test.tools || names(s.FormerTools) != test.former {
			t.Errorf("tools %q, former %q, want %q, %q after\n%s", names(s.Tools), names(s.FormerTools), test.tools, test.former, test.script)
		}
	}
}
