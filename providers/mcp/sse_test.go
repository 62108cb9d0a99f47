package mcp

import (
	"fmt"
	"testing"
	"time"

	"toolscope/stream"
)

// oldSession returns the log of a session over HTTP+SSE: the event stream, and the messages that the client
// sends. If early is set, the stream is read before the messages, as in an archive.
func oldSession(endpoint, post string, early bool) *Log {
	l := new(Log)
	at := time.Duration(0)
	write := func(number int, r stream.Record) {
		at += time.Millisecond
		r.Exchange, r.At = number, at
		l.Write(&r, 0)
	}
	l.Begin(1, &stream.Head{Method: "GET", URL: "http://h:1/sse?k=v"})
	write(1, stream.Record{Request: true, Data: []byte("{}")}) // not a message: a GET has no body
	write(1, stream.Record{Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}})
	write(1, stream.Record{Data: []byte("event: endpoint\r\ndata: " + endpoint + "\r\n\r\n")})
	answer := func(id int) {
		write(1, stream.Record{Data: fmt.Appendf(nil, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"T%[1]d\"}]}}\n\n", id)})
	}
	ask := func(number, id int) {
		h := &stream.Head{Method: "POST", URL: post}
		if !l.IsEndpoint(h) {
			return
		}
		l.Begin(number, h)
		write(number, stream.Record{Request: true, Data: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a"}}`, id)})
		write(number, stream.Record{Head: &stream.Head{Status: 202}})
		write(number, stream.Record{Data: []byte("Accepted"), End: true})
	}
	steps := []func(){func() { ask(2, 1) }, func() { ask(3, 2) }, func() { answer(2) }, func() { answer(1) }}
	if early {
		steps = append(steps[2:], steps[:2]...)
	}
	for _, step := range steps {
		step()
	}
	l.Close()
	return l
}

// TestEventStream checks that responses on the event stream belong to the messages that were sent to the stream's
// endpoint, whether the stream or the messages are read first. The body of a response with status 202 is not a
// message.
func TestEventStream(t *testing.T) {
	for _, endpoint := range []string{"/message?sessionId=d1", "http://h:1/message?sessionId=d1", "message?sessionId=d1"} {
		for _, early := range []bool{false, true} {
			l := oldSession(endpoint, "http://h:1/message?sessionId=d1", early)
			want := "1 tools/call a: done in 7 text \"T1\"\n2 tools/call a: done in 3 text \"T2\""
			if early {
				want = "1 tools/call a: done text \"T1\"\n2 tools/call a: done text \"T2\""
			}
			if got := told(l); got != want {
				t.Errorf("%s, early %v:\n%s\nwant:\n%s", endpoint, early, got, want)
			}
			if len(l.Servers) != 1 || l.Servers[0].Name != "http://h:1/sse" || len(l.Servers[0].Findings()) > 0 {
				t.Errorf("%s: %+v", endpoint, l.Servers)
			}
		}
	}
	if l := oldSession("/message?sessionId=[redacted:session:22d5]", "http://h:1/message?sessionId=[redacted:sessionid:22d5]", false); len(l.Requests) != 2 {
		t.Errorf("in a capture the session's id has two names: %s", told(l))
	}
	for post, want := range map[string]int{
		"http://h:1/message?sessionId=[redacted:sessionid:13d0]": 2, "http://h:1/message?sessionId=d2": 0,
		"http://h:1/message?id=[redacted:sessionid:13d0]": 0, "http://h:2/message?sessionId=[redacted:sessionid:13d0]": 0,
	} {
		if l := oldSession("/message?sessionId=d1", post, false); len(l.Requests) != want {
			t.Errorf("%s: %s", post, told(l))
		}
	}
	if l := oldSession("/message?sessionId=[redacted:session:22d5]", "http://h:1/message?sessionId=[redacted:sessionid:13d0]", false); len(l.Requests) > 0 {
		t.Errorf("a message of another session is read: %s", told(l))
	}
	twice := "/message?sessionId=d1\r\n\r\nevent: endpoint\r\ndata: /message?sessionId=d2"
	if l := oldSession(twice, "http://h:1/message?sessionId=[redacted:sessionid:13d0]", false); len(l.Requests) > 0 {
		t.Errorf("one of two sessions is chosen: %s", told(l))
	}
	if l := oldSession("/message?sessionId=d1", "http://h:1/message?sessionId=d2", false); len(l.Requests) > 0 {
		t.Errorf("a message of another session is read: %s", told(l))
	}
}

// TestCancelledLate checks that a cancellation counts only if no response follows it, because the redactor may hold
// back the end of a response.
func TestCancelledLate(t *testing.T) {
	for _, answered := range []bool{true, false} {
		l := oldSession("/m", "http://h:1/m", false)
		send := func(number int, body string) {
			l.Begin(number, &stream.Head{Method: "POST", URL: "http://h:1/m"})
			l.Write(&stream.Record{Exchange: number, Request: true, At: 100 * time.Millisecond, Data: []byte(body), End: true}, 0)
		}
		send(4, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a"}}`)
		send(5, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
		want := Cancelled
		if answered {
			want = Done
			l.Write(&stream.Record{Exchange: 1, At: 99 * time.Millisecond, Data: []byte("data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[]}}\n\n")}, 0)
		}
		l.Write(&stream.Record{Exchange: 1, At: 101 * time.Millisecond, End: true}, 0)
		if got := l.Requests[2].State; got != want || len(l.Servers[0].Findings()) > 0 {
			t.Errorf("%v, want %v, %+v", got, want, l.Servers[0].Findings())
		}
	}
}

// TestAcceptedWithBody checks that, over other transports, the body of a response with status 202 is reported once,
// as an info.
func TestAcceptedWithBody(t *testing.T) {
	l := new(Log)
	for number := 1; number <= 3; number++ {
		l.Begin(number, &stream.Head{Method: "POST", URL: "http://h/mcp"})
		l.Write(&stream.Record{Exchange: number, Request: true, Data: []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)}, 0)
		l.Write(&stream.Record{Exchange: number, Head: &stream.Head{Status: 202}}, 0)
		l.Write(&stream.Record{Exchange: number, Data: []byte("Accepted"), End: true}, 0)
	}
	all := l.Servers[0].Findings()
	if len(all) != 1 || all[0].Code != "MCP_BODY" || all[0].Severity != stream.Info {
		t.Errorf("%+v", all)
	}
}
