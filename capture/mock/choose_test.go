package mock

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// session lists the requests of two agents and a background request of one client. The response to each is its
// number.
var session = []string{
	`{"model":"small","messages":[{"content":"title of: fix the lamp"}]}`,
	`{"model":"big","tools":[{"name":"Bash"},{"name":"Agent"}],"messages":[{"content":"fix the lamp"}]}`,
	`{"model":"big","tools":[{"name":"Bash"},{"name":"Agent"}],"messages":[{"content":"fix the lamp"},{"id":"toolu_1"},{"content":"done"}]}`,
	`{"model":"big","tools":[{"name":"Bash"}],"messages":[{"content":"look at the wires"}]}`,
	`{"model":"big","tools":[{"name":"Bash"}],"messages":[{"content":"look at the bulbs"}]}`,
	`{"model":"big","tools":[{"name":"Bash"}],"messages":[{"content":"look at the bulbs"},{"id":"toolu_2"},{"content":"broken"}]}`,
}

func sessionExchanges() (list []Exchange) {
	for i, body := range session {
		list = append(list, Exchange{Method: "POST", URL: "https://h/v1/messages", Status: 200, Asked: []byte(body), Chunks: []Chunk{{0, []byte{byte('0' + i)}}}})
	}
	return list
}

// asking returns the response to a request with this body.
func asking(t *testing.T, server *httptest.Server, path, body string, header http.Header) (resp *http.Response, answer string) {
	t.Helper()
	r, err := http.NewRequest("POST", server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{"Accept-Encoding": {"identity"}}
	}
	resp, err = server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return resp, string(read)
}

// TestAgentSession checks that requests get the responses to the most similar recorded requests, whatever
// their order is. It also checks this when the session runs again, and after a session that broke off.
func TestAgentSession(t *testing.T) {
	server := httptest.NewServer(New(Options{Exchanges: sessionExchanges()}))
	defer server.Close()
	for round, order := range [][]int{{1, 0}, {1, 0, 3, 4, 5, 2}, {0, 1, 4, 3, 5, 2}} {
		for _, n := range order {
			path := []string{"/v1/messages", "/anthropic/v1/messages"}[round%2]
			live := strings.Replace(session[n], `"messages":[`, fmt.Sprintf(`"metadata":{"session":"run %d"},"messages":[`, round), 1)
			if _, got := asking(t, server, path, live, nil); got != string(byte('0'+n)) {
				t.Errorf("round %d: request %d is answered by %s", round, n, got)
			}
		}
	}
}

// TestRefusedAgain checks that a request that was refused and then answered gets the refusal first and then
// the response.
func TestRefusedAgain(t *testing.T) {
	list := sessionExchanges()[:2]
	list = append(list, list[1])
	list[1].Status = 429
	server := httptest.NewServer(New(Options{Exchanges: list}))
	defer server.Close()
	for n, want := range []int{429, 200, 200} {
		if resp, _ := asking(t, server, "/v1/messages", session[1], nil); resp.StatusCode != want {
			t.Errorf("%d: %s", n, resp.Status)
		}
	}
}

// TestSideRequests checks that requests that are not for a model's response use up no fault.
func TestSideRequests(t *testing.T) {
	list := append(sessionExchanges()[1:2], Exchange{Method: "HEAD", URL: "/", Status: 200},
		Exchange{Method: "POST", URL: "/v1/messages/count_tokens", Status: 200, Chunks: []Chunk{{0, []byte("{}")}}}, Exchange{Method: "GET", URL: "/v1/models", Status: 200})
	server := httptest.NewServer(New(Options{Exchanges: list, Faults: faults(t, "status=429x1", "cut@0x1")}))
	defer server.Close()
	for _, line := range []string{"HEAD /", "GET /v1/models", "POST /v1/messages/count_tokens"} {
		method, path, _ := strings.Cut(line, " ")
		if resp, _, err := request(t, server, method, path); err != nil || resp.StatusCode != 200 {
			t.Errorf("%s: %v %v", line, resp, err)
		}
	}
	resp, _ := asking(t, server, "/v1/messages", session[1], nil)
	if _, body := asking(t, server, "/v1/messages", session[1], nil); resp.StatusCode != 429 || body != "" {
		t.Errorf("%s, then %q", resp.Status, body)
	}
	if _, body := asking(t, server, "/v1/messages", session[1], nil); body != "1" {
		t.Errorf("at last %q", body)
	}
}

// TestEndAlike checks that a path may begin with the provider's base path or with the prefix that a proxy
// removes.
func TestEndAlike(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"/v1/responses", "/openai/responses"}: true, {"/v1/messages", "/messages"}: true, {"/v1/messages", "/anthropic/v1/messages"}: true,
		{"/v1/messages", "/v1/messages/count_tokens"}: false, {"/v1/messages", "/v1/responses"}: false, {"/", "/a"}: false,
		{"/a/b/c/messages", "/messages"}: false,
	} {
		if got := endAlike(pair[0], pair[1]); got != want {
			t.Errorf("%q: %t", pair, got)
		}
	}
}

// TestWords checks which bytes belong to the words that are compared, and that shorter words are left out.
func TestWords(t *testing.T) {
	const text = `{"id":"call_0-9z","name":"Zebra data","of":[{"größe":"abc, four"}]}`
	var got []string
	for word := range jsonWords([]byte(text)) {
		got = append(got, string(word))
	}
	if want := []string{"call_0-9z", "name", "Zebra", "data", "größe", "four"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestItems checks that an input that is a string is one item of the history, and a missing input is none.
func TestItems(t *testing.T) {
	for body, want := range map[string]int{
		`{"messages":[{"a":1},{"b":2}]}`: 2, `{"input":"hello"}`: 1, `{"input":[{"a":1},{"b":2}]}`: 2, `{"model":"m"}`: 0,
	} {
		if a := readAsked([]byte(body)); len(a.items) != want || a.known != (want > 0) {
			t.Errorf("%s: %d items, known %t", body, len(a.items), a.known)
		}
	}
}

func gunzip(_ http.Header, coded []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(coded))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// TestCodings checks that an encoded response is sent encoded to a client that accepts the encoding. It is decoded
// for other clients, and for faults that need to read it. Encoded requests are decoded too.
func TestCodings(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(chatStream))
	w.Close()
	list := sessionExchanges()
	list[2].Header, list[2].Chunks = http.Header{"Content-Encoding": {"gzip"}, "Content-Type": {"text/event-stream"}}, []Chunk{{0, []byte(b.String()[:9])}, {5, []byte(b.String()[9:])}}
	coded := b.String()
	b.Reset()
	w = gzip.NewWriter(&b)
	_, _ = w.Write([]byte(session[2]))
	w.Close()
	for _, c := range []struct {
		faults string
		accept string
		want   string
	}{
		{"", "br, GZip;q=0.5", coded}, {"", "gzip;q=0, *;q=0", chatStream}, {"", "br", chatStream}, {"", "*", coded},
		{"merge-index", "gzip", strings.Replace(chatStream, `"index" : 1`, `"index" : 0`, 1)},
	} {
		server := httptest.NewServer(New(Options{Exchanges: list, Decode: gunzip, Faults: faults(t, strings.Fields(c.faults)...)}))
		resp, got := asking(t, server, "/v1/messages", b.String(), http.Header{"Accept-Encoding": {c.accept}, "Content-Encoding": {"gzip"}})
		if got != c.want || (resp.Header.Get("Content-Encoding") == "gzip") != (c.want == coded) {
			t.Errorf("%q for %q: %q %v", c.faults, c.accept, got, resp.Header)
		}
		server.Close()
	}
}

// TestUncodedRequest checks that a body that is JSON despite its Content-Encoding is not decoded.
func TestUncodedRequest(t *testing.T) {
	decode := func(http.Header, []byte) ([]byte, error) { return nil, nil }
	server := httptest.NewServer(New(Options{Exchanges: sessionExchanges(), Decode: decode}))
	defer server.Close()
	if _, got := asking(t, server, "/v1/messages", session[3], http.Header{"Content-Encoding": {"deflate"}}); got != "3" {
		t.Errorf("answered by %s", got)
	}
}
