package mock

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/capture/fault"
)

const chatStream = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]}}]}\n\n" +
	": keep-alive\n\n" +
	"data: {\"choices\":[{\"delta\":{\"tool_calls\":[ {\"index\" : 1,\"function\":{\"arguments\":\"{\\\"a\\\":1}\"}}]}}]}\n\n" +
	"data: [DONE]\n\n"

// opened returns the exchanges in a file with this content.
func opened(t *testing.T, content string) []Exchange {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.tsc")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := capture.Open(t.Context(), path, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, notes, err := Read(src)
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	return list
}

// posted returns the response to one request over a real connection, its body, and the error that ended the body.
func posted(t *testing.T, o Options, method, path string) (*http.Response, string, error) {
	t.Helper()
	server := httptest.NewServer(New(o))
	defer server.Close()
	return request(t, server, method, path)
}

func request(t *testing.T, server *httptest.Server, method, path string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequest(method, server.URL+path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "identity") // otherwise, the client itself would decode the body
	resp, err := server.Client().Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// TestSources checks that the mock answers with the recorded bytes for every format that capture.Open reads.
func TestSources(t *testing.T) {
	const gzipped = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03rest"
	aws := "\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff"
	for _, c := range []struct {
		name, content, path string
		want, kind, coding  string
		status              int
	}{
		{
			"own format", `{"toolscope":1}` + "\n" +
				`{"t":0,"x":1,"side":"request","head":{"method":"POST","url":"https://h/v1/x?key=1"},"d":"{}"}` + "\n" +
				`{"t":9,"x":1,"head":{"status":201,"header":{"Content-Type":["text/event-stream"]}},"d":"data: 1\n\nda"}` + "\n" +
				`{"t":10,"x":1,"d":"ta: 2\n\n","end":"eof"}` + "\n",
			"/v1/x", "data: 1\n\ndata: 2\n\n", "text/event-stream", "", 201,
		},
		{
			"curl -v", "> POST /v1/x HTTP/1.1\n> Host: h\n> \n< HTTP/1.1 429 Too Many\n< Content-Type: application/json\n< Content-Length: 99\n< \n{\"error\":1}",
			"/v1/x?other=1", `{"error":1}`, "application/json", "", 429,
		},
		{"curl -i", "HTTP/2 200\r\nX-Kind: a\r\n\r\n{\"a\":1}\n{\"b\":1}\n", "/any", "{\"a\":1}\n{\"b\":1}\n", "application/x-ndjson", "", 200},
		{"events", chatStream, "/any", chatStream, "text/event-stream; charset=utf-8", "", 200},
		{"comment first", ": hi\n\ndata: 1\n\n", "/any", ": hi\n\ndata: 1\n\n", "text/event-stream; charset=utf-8", "", 200},
		{"lines", "{\"a\":1}\n{\"a\":2}\n", "/any", "{\"a\":1}\n{\"a\":2}\n", "application/x-ndjson", "", 200},
		{"pretty JSON", "{\n \"a\":1}\n", "/any", "{\n \"a\":1}\n", "application/json", "", 200},
		{"JSON array", "[{\"a\":1}\n,\n{\"a\":2}]", "/any", "[{\"a\":1}\n,\n{\"a\":2}]", "application/json", "", 200},
		{"AWS messages", aws, "/any", aws, "application/vnd.amazon.eventstream", "", 200},
		{"text", "hällo", "/any", "hällo", "text/plain; charset=utf-8", "", 200},
		{"bytes", "\x00\x01", "/any", "\x00\x01", "application/octet-stream", "", 200},
		{"encoded", "HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Type: text/x\n\n" + gzipped, "/any", gzipped, "text/x", "gzip", 200},
		{"encoded, with a control", "HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Type: text/x\n\ndata: \x01\n\n", "/any", "data: \x01\n\n", "text/x", "", 200},
		{"brotli", "HTTP/1.1 200 OK\nContent-Encoding: br\nContent-Type: text/x\n\n\x0b\x02\x80", "/any", "\x0b\x02\x80", "text/x", "br", 200},
		{"zstd", "HTTP/1.1 200 OK\nContent-Encoding: zstd\nContent-Type: text/x\n\n\x28\xb5\x2f\xfd", "/any", "\x28\xb5\x2f\xfd", "text/x", "zstd", 200},
		{"identity", "HTTP/1.1 200 OK\nContent-Encoding: identity\nContent-Type: text/x\n\n\x01", "/any", "\x01", "text/x", "", 200},
		{"encoded once", "HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Type: text/x\n\n" + chatStream, "/any", chatStream, "text/x", "", 200},
		{"chunks of curl --raw", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n8\r\ndata: 1\n\r\n1\r\n\n\r\n0\r\n\r\n", "/any", "data: 1\n\n", "text/event-stream; charset=utf-8", "", 200},
		{"chunks undone", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\ndata: 1\n\n", "/any", "data: 1\n\n", "text/event-stream; charset=utf-8", "", 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, body, err := posted(t, Options{Exchanges: opened(t, c.content)}, http.MethodPost, c.path)
			if err != nil || body != c.want || resp.StatusCode != c.status {
				t.Fatalf("%v\n%q\nwant %q\n%v", resp, body, c.want, err)
			}
			h := resp.Header
			if h.Get("Content-Type") != c.kind || h.Get("Content-Encoding") != c.coding || resp.ContentLength > 0 {
				t.Errorf("header %v, length %d", h, resp.ContentLength)
			}
		})
	}
}

// TestHeader checks that the recorded headers are sent, except those of the recorded connection.
func TestHeader(t *testing.T) {
	x := Exchange{URL: "/x", Chunks: []Chunk{{0, []byte("{}")}}, Header: http.Header{
		"X-Request-Id": {"a", "b"}, "Connection": {"close, X-Hop"}, "X-Hop": {"1"}, "Keep-Alive": {"5"}, "Content-Length": {"7"},
		"Date": {"then"}, "Trailer": {"X-T"}, "x-lower": {"c"}, "X-Split": {"a\r\nX-Injected: 1"}, "Bad Name": {"x"},
	}}
	resp, _, err := posted(t, Options{Exchanges: []Exchange{x}}, "POST", "/x")
	if err != nil {
		t.Fatal(err)
	}
	h := resp.Header
	if !slices.Equal(h.Values("X-Request-Id"), []string{"a", "b"}) || h.Get("X-Lower") != "c" || h.Get("X-Split") == "" {
		t.Errorf("missing: %v", h)
	}
	for _, name := range []string{"X-Hop", "Keep-Alive", "Content-Length", "Trailer", "X-Injected", "Bad Name"} {
		if h.Values(name) != nil {
			t.Errorf("%s: %q", name, h.Values(name))
		}
	}
	if h.Get("Date") == "then" {
		t.Error("the recorded date")
	}
}

// TestChoice checks that exchanges are chosen by path and in order, and that the last one is repeated. A query
// decides between the remaining exchanges.
func TestChoice(t *testing.T) {
	const none = "404"
	list := []Exchange{
		{Method: "POST", URL: "https://h/v1/a?key=1"}, {Method: "POST", URL: "/v1/a"}, {Method: "GET", URL: "/v1/a"},
		{}, {Method: "POST", URL: "/v1/b%20c/"}, {}, {URL: "/any"}, {Method: "POST", URL: "/q?x=1"}, {Method: "POST", URL: "/q?x=2"},
	}
	for i := range list {
		list[i].Status, list[i].Chunks = 200, []Chunk{{0, []byte{byte('0' + i)}}}
	}
	server := httptest.NewServer(New(Options{Exchanges: list}))
	defer server.Close()
	for i, c := range []struct{ method, path, want string }{
		{"POST", "/v1/a", "1"}, // the first exchange with the same query
		{"POST", "/v1/a", "0"},
		{"POST", "/v1/a", "1"}, // all used
		{"POST", "/v1/a?key=1", "0"},
		{"POST", "//v1/a/", "1"},
		{"GET", "/v1/a", "2"},
		{"POST", "/v1/b c", "4"},
		{"POST", "/elsewhere", "3"}, {"POST", "/elsewhere", "5"}, {"POST", "/other", "5"},
		{"GET", "/elsewhere", none}, {"PUT", "/v1/a", none},
		{"PUT", "/any", "6"}, {"POST", "/any", "6"},
		{"POST", "/q?x=2", "8"}, {"POST", "/q?x=2", "7"}, {"POST", "/q?x=2", "8"}, {"POST", "/q?x=3", "8"},
	} {
		resp, body, err := request(t, server, c.method, strings.ReplaceAll(c.path, " ", "%20"))
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == http.StatusNotFound {
			body = none
		}
		if body != c.want {
			t.Errorf("%d: %s %s: %s, want %s", i, c.method, c.path, body, c.want)
		}
	}
}

// TestConcurrentRequests checks that each exchange is used once, whichever request gets it.
func TestConcurrentRequests(t *testing.T) {
	var list []Exchange
	for i := range 50 {
		list = append(list, Exchange{URL: "/x", Chunks: []Chunk{{0, fmt.Appendf(nil, "%d", i)}}})
	}
	server := httptest.NewServer(New(Options{Exchanges: list, Faults: faults(t, "repeat", "cut@9"), OnUnusedFault: func(fault.Fault, *Exchange, string) {}}))
	defer server.Close()
	got := make(chan string, len(list))
	for range list {
		go func() {
			resp, err := server.Client().Post(server.URL+"/x", "", nil)
			if err != nil {
				got <- err.Error()
				return
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			got <- string(body)
		}()
	}
	seen := map[string]bool{}
	for range list {
		seen[<-got] = true
	}
	for i := range list {
		if !seen[fmt.Sprint(i)] {
			t.Errorf("%d of %v", i, seen)
		}
	}
}

// TestNothingFits checks that the error lists the known paths, in JSON, and that GET / lists them as text.
func TestNothingFits(t *testing.T) {
	list := []Exchange{
		{Method: "POST", URL: "/v1/\x1b[31m", File: "a\x1b.tsc", Chunks: []Chunk{{0, []byte("{}")}}},
		{Method: "P\x1bT", URL: "/v1/b", Status: 200, EndAfter: 1500 * time.Millisecond, Cut: true},
	}
	var seen []Response
	server := httptest.NewServer(New(Options{Exchanges: list, OnResponse: func(a Response) { seen = append(seen, a) }}))
	defer server.Close()
	resp, body, _ := request(t, server, "POST", "/v1/c%1b")
	want := `{"error":{"message":"no recorded exchange matches POST /v1/c%1B; the recorded exchanges are: POST /v1/%1B%5B31m, \"P\\x1bT\" /v1/b","type":"not_found_error"},"type":"error"}` + "\n"
	if resp.StatusCode != 404 || body != want || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%v\n%s\n%s", resp, body, want)
	}
	resp, body, _ = request(t, server, "GET", "/")
	want = "toolscope serve: 2 recorded exchanges\n\nPOST /v1/%1B%5B31m  200, 1 chunk  (\"a\\x1b.tsc\")\n\"P\\x1bT\" /v1/b  200, 0 chunks in 1.5 s, cut off  ()\n"
	if resp.StatusCode != 200 || body != want {
		t.Errorf("%v\n%s\n%s", resp, body, want)
	}
	server.Close()
	if len(seen) != 2 || seen[0].Status != 404 || seen[0].Exchange != nil || seen[1].Path != "/" {
		t.Errorf("told %+v", seen)
	}
}

// TestManyPaths checks that the error names at most 20 paths and counts the others.
func TestManyPaths(t *testing.T) {
	var list []Exchange
	for i := range 22 {
		list = append(list, Exchange{Method: "POST", URL: fmt.Sprintf("/v1/%d", i)})
	}
	_, body, _ := posted(t, Options{Exchanges: list}, "POST", "/none")
	if !strings.Contains(body, "POST /v1/18, POST /v1/19, 2 more\"") {
		t.Error(body)
	}
}

// TestBroken checks that a connection that broke before or in its response breaks again, and that a response with an
// impossible status is sent with status 200.
func TestBroken(t *testing.T) {
	list := opened(t, `{"toolscope":1}`+"\n"+
		`{"x":1,"side":"request","head":{"method":"POST","url":"/cut"}}`+"\n"+
		`{"x":2,"side":"request","head":{"method":"POST","url":"/silent"}}`+"\n"+
		`{"x":3,"side":"request","head":{"method":"POST","url":"/blocked"}}`+"\n"+
		`{"x":3,"head":{"status":999},"d":"x","end":"eof"}`+"\n"+
		`{"x":4,"head":{"status":70000},"d":"x","end":"eof"}`+"\n"+
		`{"x":1,"d":"data: 1\n\n","end":"cut","why":"reset"}`+"\n")
	server := httptest.NewServer(New(Options{Exchanges: list}))
	defer server.Close()
	if _, body, err := request(t, server, "POST", "/cut"); body != "data: 1\n\n" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, %v", body, err)
	}
	if resp, _, err := request(t, server, "POST", "/silent"); resp != nil || err == nil {
		t.Errorf("%v, %v", resp, err)
	}
	if resp, _, err := request(t, server, "POST", "/blocked"); err != nil || resp.StatusCode != 999 {
		t.Errorf("%v, %v", resp, err)
	}
	if resp, _, err := request(t, server, "POST", "/bare"); err != nil || resp.StatusCode != 200 {
		t.Errorf("%v, %v", resp, err)
	}
}

// TestRead checks that Read groups the records of several exchanges, in whatever order they arrive, and leaves out
// empty exchanges.
func TestRead(t *testing.T) {
	failed := errors.New("disk")
	src := func(yield func(capture.Record, error) bool) {
		for _, r := range []capture.Record{
			{Exchange: 1, At: 5, Note: "damaged line 2"},
			{Exchange: 3, Side: capture.Request, At: 10, Head: &capture.Head{Method: "POST", URL: "/a"}},
			{Exchange: 2, At: 12, Data: []byte("b")},
			{Exchange: 3, Side: capture.Request, At: 20, Data: []byte("{}")},
			{Exchange: 3, At: 30, Head: &capture.Head{Status: 200, File: "f"}},
			{Exchange: 3, Side: capture.Request, At: 35, Data: []byte("late")},
			{Exchange: 2, At: capture.NoTime, Data: []byte("c")},
			{Exchange: 3, At: 50, Data: []byte("d")},
			{Exchange: 3, At: 45, Data: []byte("e")},
			{Exchange: 2, At: 40, End: capture.EndEOF},
			{Exchange: 4, Side: capture.Request, At: 0, Head: &capture.Head{URL: "/b"}, Note: "about the exchange"},
			{Exchange: 4, At: 30, Head: &capture.Head{Status: 200}, Note: "one byte is missing", Lost: 1},
			{Exchange: 5, At: capture.NoTime, Data: []byte("f")},
			{Exchange: 5, Side: capture.Request, At: 35, Data: []byte("late")},
			{Exchange: 5, At: 50, Data: []byte("g")},
		} {
			if !yield(r, nil) {
				return
			}
		}
		yield(capture.Record{}, failed)
	}
	list, notes, err := Read(src)
	if !errors.Is(err, failed) || !slices.Equal(notes, []string{"damaged line 2", "one byte is missing"}) || len(list) != 4 {
		t.Fatal(list, notes, err)
	}
	a, b, c, d := list[0], list[1], list[2], list[3] // in the order in which they began
	if a.Number != 3 || a.HeadAfter != 10 || a.Chunks[0].After != 30 || a.Chunks[1].After != 30 || !a.Cut || a.File != "f" {
		t.Errorf("%+v", a)
	}
	if b.Number != 2 || b.HeadAfter != 0 || b.Chunks[1].After != 0 || b.EndAfter != 28 || b.Cut || string(b.Body()) != "bc" {
		t.Errorf("%+v", b)
	}
	if c.Number != 4 || c.HeadAfter != 30 {
		t.Errorf("%+v", c)
	}
	if d.Number != 5 || d.Chunks[1].After != 0 {
		t.Errorf("%+v", d)
	}
}
