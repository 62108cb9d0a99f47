package providers

import (
	"strings"
	"testing"
	"time"

	"toolscope/providers/mcp"
	"toolscope/stream"
)

// TestEventStreamServer checks that an event stream with the URL for messages is recognised as an MCP server's,
// however it is cut into chunks, and that the messages to this URL are for the server. Another stream, or another
// response to a GET, is not from a server.
func TestEventStreamServer(t *testing.T) {
	const start = "event: endpoint\ndata: /m?s=1\n\n"
	for _, test := range []struct {
		name, kind, body string
		served           bool
	}{
		{"a server's stream", "text/event-stream", start, true},
		{"without spaces", "text/event-stream;charset=utf-8", "event:endpoint\ndata:/m?s=1\n\n", true},
		{"another stream", "text/event-stream", "event: end\ndata: {}\n\n", false},
		{"a page", "text/html", start, false},
		{"nothing", "text/event-stream", "", false},
	} {
		for cut := range len(test.body) + 1 {
			in := new(Inspector)
			in.Write(stream.Record{Exchange: 1, Request: true, Head: &stream.Head{Method: "GET", URL: "http://h/sse", Header: map[string][]string{"Accept": {"text/event-stream"}}}})
			in.Write(stream.Record{Exchange: 1, At: 1, Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {test.kind}}}})
			for _, part := range []string{test.body[:cut], test.body[cut:]} {
				in.Write(stream.Record{Exchange: 1, At: 2, Data: []byte(part)})
			}
			in.Write(stream.Record{Exchange: 2, At: time.Second, Request: true, Head: &stream.Head{Method: "POST", URL: "http://h/m?s=1"}})
			in.Write(stream.Record{Exchange: 2, At: time.Second, Request: true, Data: []byte(toolAsk)})
			in.Write(stream.Record{Exchange: 1, At: 2 * time.Second, Data: []byte("data: " + toolAnswer + "\n\n"), End: true})
			in.Write(stream.Record{Exchange: 2, At: 3 * time.Second, Head: &stream.Head{Status: 202}, Data: []byte("Accepted"), End: true})
			in.Close()
			all := in.View().Executed()
			done := len(all) == 1 && all[0].State == mcp.Done && all[0].Text == "3"
			if done != test.served || (len(in.Session().Turns) == 0) != test.served && strings.Contains(test.kind, "stream") {
				t.Errorf("%s, cut at %d: %+v, %d turns", test.name, cut, all, len(in.Session().Turns))
			}
		}
	}
}
