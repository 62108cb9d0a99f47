package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// TestRecents checks that captures are listed together with the demo if there is nothing else to show, and that a
// capture can be opened.
func TestRecents(t *testing.T) {
	var opened []string
	list := func(o *Options) {
		o.Inbox, o.Source = nil, ""
		o.Demo = func(bool) Inbox { return newBox() }
		for i, name := range []string{"b.tsc", "a\x1b[2J.tsc"} {
			o.Recent = append(o.Recent, RecentCapture{
				Name: name, Bytes: 1234, Written: time.Date(2026, 11, 22, 12, i, 0, 0, time.Local), Open: i == 0,
				Read: func() Inbox {
					opened = append(opened, name)
					return newBox()
				},
			})
		}
	}
	for _, size := range [][2]int{{80, 24}, {40, 10}, {250, 60}} {
		s := newScreen(t, size[0], size[1], list)
		checkFrame(t, s.shows("Captures 2", "2026-11-22 12:00", "1,234 B", "record", "enter open", "d demo"))
	}
	s := newScreen(t, 80, 24, list)
	if s.press("j<enter>").hides("Captures"); len(opened) != 1 || opened[0] == "b.tsc" {
		t.Errorf("%q", opened)
	}
	newScreen(t, 80, 24, list).press("d").hides("Captures")
}

// TestServed checks that a session with only an MCP server shows the latest requests and their responses. Once a
// model responds, its turns are shown.
func TestServed(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {80, 24}, {140, 40}} {
		s := newScreen(t, size[0], size[1])
		s.feed(stream.Record{Exchange: 1, Request: true, Head: &stream.Head{Method: "STDIO", URL: "mcp:files"}})
		say := func(request bool, at int, format string, args ...any) {
			s.feed(stream.Record{Exchange: 1, Request: request, At: time.Duration(at) * time.Millisecond, Data: fmt.Appendf(nil, format+"\n", args...)})
		}
		for n := range 30 {
			say(true, 10*n, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"f%d","arguments":{}}}`, n, n)
			say(false, 10*n+4, `{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"gave \u001b[1m %d"}],"isError":%t}}`, n, n, n == 29)
		}
		say(true, 400, `{"jsonrpc":"2.0","id":30,"method":"tools/call","params":{"name":"hangs"}}`)
		s.shows("31 requests, 31 tool calls", "done", "files", "no answer", "failed", " 29")
		if s.hides("single byte"); strings.Contains(s.text(), "\x1b[1m") {
			t.Error("what a tool gave reaches the terminal")
		}
		for _, row := range s.rows() {
			if n := len([]rune(row)); n > size[0] {
				t.Errorf("%d cells: %s", n, row)
			}
		}
		s.press("g").shows("gave", " f0 ").hides("no answer")
		s.press("jG").shows("no answer")
		s.feed(stream.Record{Exchange: 2, At: time.Second, Data: []byte("data: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-x\"}}\n\n")})
		s.shows("claude-x").hides("31 requests")
	}
}
