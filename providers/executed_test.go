package providers

import (
	"bytes"
	"compress/gzip"
	"testing"
	"time"

	"toolscope/providers/mcp"
	"toolscope/stream"
)

const (
	toolAsk    = `{"method":"tools/call","params":{"name":"sum","arguments":{"a":1}},"jsonrpc":"2.0","id":2}`
	toolAnswer = `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"3"}]}}`
)

// TestExecuted checks that traffic with an MCP server belongs to no turn, wherever it is in the input, and that
// similar traffic belongs to a turn.
func TestExecuted(t *testing.T) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write([]byte(toolAnswer))
	zip.Close()
	post := func(header ...string) *stream.Head {
		h := &stream.Head{Method: "POST", URL: "http://h/mcp", Header: map[string][]string{}}
		for i := 0; i < len(header); i += 2 {
			h.Header[header[i]] = []string{header[i+1]}
		}
		return h
	}
	both := []string{"Accept", "application/json, text/event-stream"}
	for _, test := range []struct {
		name   string
		ask    *stream.Head
		apart  bool // the head comes before the body
		body   string
		coding string
		answer string
		done   int // number of calls to which a server responded
		turns  int
	}{
		{"a process", &stream.Head{Method: mcp.Stdio, URL: "mcp:files"}, true, toolAsk + "\n", "", toolAnswer + "\n", 1, 0},
		{"its first request", post(both...), true, toolAsk, "", toolAnswer, 1, 0},
		{"head and body in one", post(both...), false, toolAsk, "", toolAnswer, 1, 0},
		{"a session", post("Mcp-Session-Id", "s"), true, toolAsk, "", toolAnswer, 1, 0},
		{"a body that is packed", post("Mcp-Protocol-Version", "2025-06-18"), false, toolAsk, "gzip", packed.String(), 1, 0},
		{"a model that may answer either way", post(both...), true, `{"model":"m","messages":[]}`, "", chatBody, 0, 1},
		{"JSON-RPC to nobody that is known", post(), true, toolAsk, "", toolAnswer, 0, 1},
		{"a head and nothing more", post(both...), true, "", "", "", 0, 0},
		{"one that may be to nobody such", post(), true, "", "", "", 0, 0},
	} {
		in := new(Inspector)
		first := stream.Record{Exchange: 1, Request: true, Head: test.ask}
		if !test.apart {
			first.Data = []byte(test.body)
		}
		in.Write(first)
		if test.apart && test.body != "" {
			in.Write(stream.Record{Exchange: 1, Request: true, At: time.Millisecond, Data: []byte(test.body)})
		}
		if test.answer != "" {
			head := &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"application/json"}}}
			if test.coding != "" {
				head.Header["Content-Encoding"] = []string{test.coding}
			}
			in.Write(stream.Record{Exchange: 1, At: 2 * time.Millisecond, Head: head})
			in.Write(stream.Record{Exchange: 1, At: 3 * time.Millisecond, Data: []byte(test.answer), End: true})
		}
		in.Close()
		done := 0
		for _, r := range in.View().Executed() {
			if r.State == mcp.Done && r.Text == "3" {
				done++
			}
		}
		if turns := len(in.Session().Turns); done != test.done || turns != test.turns {
			t.Errorf("%s: %d done, %d turns", test.name, done, turns)
		}
	}
}

// TestExecutedThen checks that a view of a past moment contains only the requests that had been sent and the
// responses that had arrived by that moment.
func TestExecutedThen(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{Exchange: 1, Request: true, Head: &stream.Head{Method: mcp.Stdio, URL: "mcp:files"}})
	in.Write(stream.Record{Exchange: 2, Data: data(chatText)})
	asked := in.Timeline.Len()
	in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(toolAsk + "\n")})
	in.Write(stream.Record{Exchange: 2, Data: data("[DONE]"), End: true})
	in.Write(stream.Record{Exchange: 1, Data: []byte(toolAnswer + "\n")})
	all := in.Timeline.Len()
	for n := range all + 1 {
		got := in.View().At(n).Executed()
		if is := len(got) > 0; is != (n >= asked) {
			t.Errorf("at %d of %d: %d requests", n, all, len(got))
		}
		if len(got) > 0 && (got[0].State == mcp.Done) != (n == all) {
			t.Errorf("at %d of %d: %s", n, all, got[0].State)
		}
	}
	if now := in.View().Executed(); len(now) != 1 || now[0].State != mcp.Done {
		t.Errorf("%+v", now)
	}
}
