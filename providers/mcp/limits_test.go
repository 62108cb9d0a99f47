package mcp

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
)

// limitNotes returns the findings about exceeded limits.
func limitNotes(l *Log) (all []string) {
	for _, s := range l.Servers {
		for _, f := range s.Findings() {
			if f.Diagnosis == limitExceeded {
				all = append(all, f.Message)
			} else {
				all = append(all, f.Code)
			}
		}
	}
	return all
}

// TestLongMessage checks that a message that is too long is reported, and that the request in it counts as unknown. A
// message of the maximum length is read.
func TestLongMessage(t *testing.T) {
	ask := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`
	for _, method := range []string{Stdio, "POST"} {
		for _, test := range []struct {
			over    int
			request bool // the client's message is too long
			end     string
			state   State
			notes   int
		}{
			{over: 0, end: "\n", state: Done},
			{over: 1, end: "\n", state: Unseen, notes: 1},
			{over: 1, end: "", state: Unseen, notes: 1},
			{over: 1, end: "\n", request: true, notes: 1},
		} {
			if method == "POST" {
				test.end = ""
			}
			l := new(Log)
			l.Begin(1, &stream.Head{Method: method, URL: "mcp:a", Header: map[string][]string{}})
			put := func(request bool, text string) {
				l.Write(&stream.Record{Exchange: 1, Request: request, Data: []byte(text)}, 0)
			}
			answer := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`
			long := func(begin string) string {
				return begin + strings.Repeat("x", maxMessageBytes+test.over-len(begin)-len(`"}]}}`)) + `"}]}}`
			}
			if test.request {
				put(true, long(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","b":[{"c":"`)+test.end)
				put(false, `{"jsonrpc":"2.0","id":1,"result":{}}`+test.end)
			} else {
				put(true, ask+"\n")
				put(false, long(answer)+test.end)
			}
			l.Write(&stream.Record{Exchange: 1, End: true}, 0)
			if got := limitNotes(l); len(got) != test.notes || test.notes == 1 && !strings.Contains(got[0], "longer than 16777216 bytes") {
				t.Errorf("%s, %+v: findings %q", method, test, got)
			}
			if test.request != (len(l.Requests) == 0) || !test.request && l.Requests[0].State != test.state {
				t.Errorf("%s, %+v: %d requests %+v", method, test, len(l.Requests), l.Requests)
			}
		}
	}
}

// TestForgottenRequests checks a request that was dropped because too many requests wait. It must not count as
// unanswered, and its response must not count as a response without a request.
func TestForgottenRequests(t *testing.T) {
	l := new(Log)
	l.Begin(1, &stream.Head{Method: Stdio, URL: "mcp:a"})
	for n := range maxWaiting + 2 {
		l.Write(&stream.Record{Exchange: 1, Request: true, Data: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", n)}, 0)
	}
	l.Write(&stream.Record{Exchange: 1, Data: []byte(`{"jsonrpc":"2.0","id":0,"result":{}}` + "\n")}, 0)
	if got := limitNotes(l); len(got) != 1 || !strings.Contains(got[0], "more than 4096 requests") {
		t.Errorf("findings %q", got)
	}
	if a, b := l.Requests[1].State, l.Requests[2].State; a != Unseen || b != Open {
		t.Errorf("states %s and %s", a, b)
	}
}

// TestManyTools checks that the tools beyond the maximum are reported.
func TestManyTools(t *testing.T) {
	for _, n := range []int{maxTools, maxTools + 1} {
		var tools []string
		for i := range n {
			tools = append(tools, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i))
		}
		l := said(`<{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n" +
			`>{"jsonrpc":"2.0","id":1,"result":{"tools":[` + strings.Join(tools, ",") + `]}}`)
		if got := limitNotes(l); len(got) != n-maxTools || len(l.Servers[0].Tools) != maxTools {
			t.Errorf("%d tools: findings %q, %d kept", n, got, len(l.Servers[0].Tools))
		}
	}
}
