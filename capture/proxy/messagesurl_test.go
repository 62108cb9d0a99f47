package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"toolscope/capture"
)

// TestServeOnly checks that a listener with one upstream forwards paths unchanged. If an upstream names a URL with
// its own address for messages, the messages must go through the proxy. Nothing else in its streams may change.
func TestServeOnly(t *testing.T) {
	var text, kind string
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/sse" {
			fmt.Fprint(w, r.URL)
			return
		}
		w.Header().Set("Content-Type", kind)
		for _, part := range strings.SplitAfter(text, "|") {
			io.WriteString(w, strings.TrimSuffix(part, "|"))
			w.(http.Flusher).Flush()
		}
	})
	d := stand(t, "http://127.0.0.1:1", nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- d.proxy.ServeOnly(t.Context(), l, upstreamAt(t, up)) }()
	defer func() {
		l.Close()
		<-served
	}()
	at := "http://" + l.Addr().String()
	get := func(path string) string {
		resp, err := d.client.Get(at + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if got := get("/.well-known/x?y=z"); got != "/.well-known/x?y=z" {
		t.Errorf("%q", got)
	}
	for i, test := range []struct{ kind, text, want string }{
		{"text/event-stream", "ev|ent: endpoint\r\nda|ta: UP/message?s=1\r\n|\r\nevent: message\ndata: UP/x\n\n", "event: endpoint\r\ndata: AT/message?s=1\r\n\r\nevent: message\ndata: UP/x\n\n"},
		{"text/event-stream; charset=utf-8", "event:endpoint\ndata:UP/m\n\n", "event:endpoint\ndata:AT/m\n\n"},
		{"text/event-stream", "event: endpoint\ndata: /message\n\n", ""},
		{"text/event-stream", "event: endpoint\ndata: http://other.example/m\n\n", ""},
		{"text/event-stream", "event: endpoint\ndata: UP0/m\n\n", ""},
		{"text/event-stream", "event: endpoint\ndata: UP/m", ""},
		{"text/event-stream", "event: message\ndata: UP/m\n\n", ""},
		{"text/event-stream", "event: endpoint\ndata: " + strings.Repeat("x", 9000) + "\n\n", ""},
		{"text/plain", "event: endpoint\ndata: UP/m\n\n", ""},
		{"text/event-stream", "", ""},
	} {
		kind, text = test.kind, strings.ReplaceAll(test.text, "UP", up)
		want := strings.NewReplacer("UP", up, "AT", at).Replace(test.want)
		sent := strings.ReplaceAll(text, "|", "")
		if test.want == "" {
			want = sent
		}
		if got := get("/sse"); got != want {
			t.Errorf("%q: %q, want %q", test.text, got, want)
		}
		all := d.ended(i + 2)
		if got := recorded(all, capture.Response); got != sent {
			t.Errorf("%q: recorded as %q", test.text, got)
		}
		if noted := strings.Contains(all[len(all)-1].Note, "instead of "+up); noted != (want != sent) {
			t.Errorf("%q: %+v", test.text, all[len(all)-1])
		}
	}
}

// TestMessagesURLInPieces checks that an event with the URL is held back until it is complete, and that another event
// is passed on as soon as it differs.
func TestMessagesURLInPieces(t *testing.T) {
	for text, want := range map[string]struct{ first, all string }{
		"event: endpoint\ndata: http://up:1/m\n\nevent: x\n\n": {"event: endpoint\ndata: http://at:2/m\n\n", "event: endpoint\ndata: http://at:2/m\n\nevent: x\n\n"},
		"event: message\ndata: http://up:1/m\n\n":              {"event: m", "event: message\ndata: http://up:1/m\n\n"},
		"event: endpoint\ndata: http://up:1/m":                 {"event: endpoint\ndata: http://up:1/m", "event: endpoint\ndata: http://up:1/m"},
		"data: x\n\n":                                          {"d", "data: x\n\n"},
	} {
		m := &messagesURL{ReadCloser: io.NopCloser(iotest.OneByteReader(strings.NewReader(text))), from: "http://up:1", to: "http://at:2"}
		p := make([]byte, 100)
		n, err := m.Read(p)
		rest, _ := io.ReadAll(m)
		if first := string(p[:n]); first != want.first || first+string(rest) != want.all || err != nil {
			t.Errorf("%q: %q, then %q, %v", text, first, rest, err)
		}
	}
}
