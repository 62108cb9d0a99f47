package mock

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"toolscope/capture/fault"
)

func faults(t *testing.T, words ...string) []fault.Fault {
	t.Helper()
	list, err := fault.ParseFaults(words...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// awsPair is two messages of the AWS event stream encoding without headers or payload.
const awsPair = awsMessage + awsMessage

const awsMessage = "\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff"

const messages = "event: message_start\r\ndata: {\"type\":\"message_start\"}\r\n\r\n" +
	"event: content_block_delta\r\ndata: {\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"\\u00e9b\"}}\r\n\r\n" +
	"event: message_stop\r\ndata: {\"type\":\"message_stop\"}\r\n\r\n"

const ollama = `{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":[1]}}}]}}` + "\n\n" + `{"done":true}`

// TestFaults checks the result of each fault for a body whose bytes arrived in two chunks.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		faults, body, want string
		broken             bool
		unfit              string
	}{
		{"cut@0", chatStream, "", true, ""},
		{"cut@1", chatStream, chatStream[:strings.Index(chatStream, ": keep")], true, ""},
		{"cut@2", chatStream, chatStream[:strings.Index(chatStream, "data: [DONE]")], true, ""},
		{"cut@3", chatStream, chatStream, true, ""},
		{"cut@4", chatStream, chatStream, false, "cut@4: the body ends after event 3"},
		{"cut@1", ollama, ollama[:strings.Index(ollama, "\n")+1], true, ""},
		{"cut@1", awsPair, awsMessage, true, ""},
		{"cut@1", "plain", "pl", true, ""},
		{"cut-inside@3", chatStream, strings.TrimSuffix(chatStream, "DONE]\n\n"), true, ""},
		{"cut-inside@2", ollama, ollama[:len(ollama)-6], true, ""},
		{"cut-inside@2", awsPair, awsPair[:24], true, ""},
		{"cut-inside@3", "plain", "plain", false, "cut-inside@3: the body ends after event 2"},
		{"no-terminator", chatStream, strings.TrimSuffix(chatStream, "data: [DONE]\n\n"), false, ""},
		{"no-terminator", messages, messages[:strings.Index(messages, "event: message_stop")], false, ""},
		{"no-terminator", "data: 1\n\ndata: 2\n\n: bye\n\n", "data: 1\n\n: bye\n\n", false, ""},
		{"no-terminator", ollama, ollama[:strings.Index(ollama, `{"done`)], false, ""},
		{"no-terminator", awsPair, awsMessage, false, ""},
		{"no-terminator", "plain", "plain", false, "no-terminator: the body is not a stream of events"},
		{"repeat", "data: 1\n\n: c\n\ndata: 2", "data: 1\n\ndata: 1\n\n: c\n\ndata: 2data: 2", false, ""},
		{"repeat", `{"a":1}`, `{"a":1}`, false, "repeat: the body is not a stream of events"},
		{"merge-index", chatStream, strings.Replace(chatStream, `"index" : 1`, `"index" : 0`, 1), false, ""},
		{"merge-index", messages, messages, false, "merge-index: the body contains no OpenAI chat tool call with an index above 0"},
		{"empty-args", chatStream, strings.NewReplacer(`"{}"`, `""`, `"{\"a\":1}"`, `""`).Replace(chatStream), false, ""},
		{"empty-args", messages, strings.Replace(messages, `"{\"\u00e9b"`, `""`, 1), false, ""},
		{"empty-args", ollama, strings.Replace(ollama, `{"a":[1]}`, `{}`, 1), false, ""},
		{
			"empty-args", `[{"functionCall":{"name":"f","args": {"a":1} }}, {"args":{"a":1}}]`,
			`[{"functionCall":{"name":"f","args": {} }}, {"args":{"a":1}}]`, false, "",
		},
		{
			"empty-args", "data: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{\\\"\"}\n\ndata: {\"delta\":\"text\"}\n\n",
			"data: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\"\"}\n\ndata: {\"delta\":\"text\"}\n\n", false, "",
		},
		{"empty-args", "data: {\"a\":\n\n", "data: {\"a\":\n\n", false, "empty-args: the body contains no call arguments"},
		{"bad-utf8", messages, strings.Replace(messages, `\u00e9b`, "\\u00e9\xff", 1), false, ""},
		{"bad-utf8", `{"text":"1\n"}`, `{"text":"1\n"}`, false, "bad-utf8: the body contains no model text"},
		{"bad-utf8", awsPair, awsPair, false, "bad-utf8: the body contains no model text"},
		{"split", messages, messages, false, ""},
		{"cut@3 repeat split", "data: 1\n\ndata: 2\n\n", "data: 1\n\ndata: 1\n\ndata: 2\n\n", true, ""},
		{"cut@1 empty-args", chatStream, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\"}}]}}]}\n\n", true, ""},
	} {
		var unfit []string
		half := len(c.body) / 2
		x := Exchange{Chunks: []Chunk{{0, []byte(c.body[:half])}, {0, []byte(c.body[half:])}}}
		o := Options{
			Exchanges: []Exchange{x}, Faults: faults(t, strings.Fields(c.faults)...),
			OnUnusedFault: func(f fault.Fault, _ *Exchange, why string) { unfit = append(unfit, f.String()+": "+why) },
		}
		s, _, broken := played(o, t.Context())
		if got := s.Body.String(); got != c.want || broken != c.broken || strings.Join(unfit, "|") != c.unfit {
			t.Errorf("%s of %q:\n%q, broken %t, unfit %q\n%q", c.faults, c.body, got, broken, unfit, c.want)
		}
		if split := strings.Contains(c.faults, "split"); split != (len(s.data) > 4*len(x.Chunks)) || split && len(s.data) != s.Body.Len() {
			t.Errorf("%s: %d writes", c.faults, len(s.data))
		}
		if string(x.Body()) != c.body {
			t.Errorf("%s changed the recording", c.faults)
		}
	}
}

// TestWrites checks that bytes that arrived at once are sent at once, whatever events they contain, unless a
// fault changes that.
func TestWrites(t *testing.T) {
	x := Exchange{Chunks: []Chunk{{0, []byte("data: 1\n\ndata: 2\n\nda")}, {0, []byte("ta: 3\n\n")}, {0, []byte("data: 4\n\n")}}}
	for words, want := range map[string]string{
		"":          "data: 1\n\ndata: 2\n\nda|ta: 3\n\n|data: 4\n\n",
		"delay=1ms": "data: 1\n\n|data: 2\n\n|da|ta: 3\n\n|data: 4\n\n",
		"cut@2":     "data: 1\n\ndata: 2\n\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			s, _, _ := played(Options{Exchanges: []Exchange{x}, Faults: faults(t, strings.Fields(words)...)}, t.Context())
			if got := strings.Join(s.data, "|"); got != want {
				t.Errorf("%s: %q, want %q", words, got, want)
			}
		})
	}
}

// TestRecordedErrors checks that recorded errors get no faults.
func TestRecordedErrors(t *testing.T) {
	for status, want := range map[int]string{302: "data: 1\n\n", 400: "data: 1\n\ndata: 2\n\n"} {
		x := Exchange{Status: status, Chunks: []Chunk{{0, []byte("data: 1\n\ndata: 2\n\n")}}}
		o := Options{Exchanges: []Exchange{x}, Faults: faults(t, "cut@1")}
		if s, _, broken := played(o, t.Context()); s.Body.String() != want || broken != (status < 400) {
			t.Errorf("%d: %q, broken %t", status, s.Body, broken)
		}
	}
}

// TestUnfitOnce checks that a fault without an effect is reported once for each exchange.
func TestUnfitOnce(t *testing.T) {
	var said []string
	list := []Exchange{{URL: "/x", File: "a", Chunks: []Chunk{{0, []byte("{}")}}}, {URL: "/x", File: "b"}}
	p := New(Options{Exchanges: list, Faults: faults(t, "repeat", "cut@9"), OnUnusedFault: func(f fault.Fault, x *Exchange, _ string) { said = append(said, x.File+" "+f.String()) }})
	for range 4 {
		p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/x", nil))
	}
	if !slices.Equal(said, []string{"a repeat", "a cut@9", "b repeat", "b cut@9"}) {
		t.Error(said)
	}
}

// TestUnfitCompressed checks that a fault that needs events reports that it can't read any. Other faults count
// chunks.
func TestUnfitCompressed(t *testing.T) {
	x := Exchange{Header: http.Header{"Content-Encoding": {"gzip"}}, Chunks: []Chunk{{0, []byte("\x1f\x8b1")}, {0, []byte("2")}}}
	var said []string
	o := Options{
		Exchanges: []Exchange{x}, OnUnusedFault: func(f fault.Fault, _ *Exchange, why string) { said = append(said, why) },
		Faults: faults(t, "repeat", "no-terminator", "merge-index", "empty-args", "bad-utf8", "cut@1"),
	}
	s, _, broken := played(o, t.Context())
	if len(said) != 5 || said[0] != "the body is compressed" || said[4] != said[0] || !broken || s.Body.String() != "\x1f\x8b1" {
		t.Error(said, broken, s.Body)
	}
}

// TestStatus checks that errors have the provider's form, chosen by the path or, for a bare body, by its
// content. Errors don't use up exchanges.
func TestStatus(t *testing.T) {
	body := func(s string) []Chunk { return []Chunk{{0, []byte(s)}} }
	for _, c := range []struct {
		fault string
		x     Exchange
		path  string
		want  string // in the JSON
		after string
	}{
		{"status=529", Exchange{URL: "/anthropic/v1/messages"}, "/anthropic/v1/messages", `{"error":{"message":"M","type":"overloaded_error"},"type":"error"}`, "1"},
		{"status=429", Exchange{Chunks: body(messages)}, "/x", `{"error":{"message":"M","type":"rate_limit_error"},"type":"error"}`, "1"},
		{"status=500", Exchange{Chunks: body(messages)}, "/x", `{"error":{"message":"M","type":"api_error"},"type":"error"}`, ""},
		{"status=429", Exchange{Chunks: body(chatStream)}, "/v1/chat/completions", `{"error":{"code":"rate_limit_exceeded","message":"M","param":null,"type":"requests"}}`, "1"},
		{"status=503", Exchange{URL: "/v1/responses"}, "/v1/responses", `{"error":{"code":null,"message":"M","param":null,"type":"server_error"}}`, "1"},
		{"status=401", Exchange{URL: "/v1/responses"}, "/v1/responses", `{"error":{"code":"invalid_api_key","message":"M","param":null,"type":"invalid_request_error"}}`, ""},
		{"status=429", Exchange{URL: "/v1beta/models/g:streamGenerateContent?alt=sse"}, "/v1beta/models/g:streamGenerateContent", `{"error":{"code":429,"message":"M","status":"RESOURCE_EXHAUSTED"}}`, "1"},
		{"status=529", Exchange{Chunks: body(`{"candidates":[]}`)}, "/x", `{"error":{"code":529,"message":"M","status":"UNKNOWN"}}`, "1"},
		{"status=429", Exchange{URL: "/api/chat"}, "/api/chat", `{"error":"M"}`, "1"},
		{"status=429", Exchange{URL: "/model/a/converse-stream"}, "/model/a/converse-stream", `{"message":"M"}`, "1"},
		{"status=429", Exchange{URL: "/v2/chat"}, "/v2/chat", `{"message":"M"}`, "1"},
	} {
		c.x.Status = 200
		server := httptest.NewServer(New(Options{Exchanges: []Exchange{c.x}, Faults: faults(t, c.fault+"x2", "cut@1")}))
		want := strings.Replace(c.want, `"M"`, `"toolscope serve sends this error because of --fault `+c.fault+`x2"`, 1) + "\n"
		for range 2 {
			resp, got, err := request(t, server, "POST", c.path)
			if err != nil || got != want || !strings.HasSuffix(c.fault, resp.Status[:3]) || resp.Header.Get("Retry-After") != c.after {
				t.Errorf("%s for %s: %v\n%s\nwant %s", c.fault, c.path, resp, got, want)
			}
			if kind := resp.Header.Get("X-Amzn-Errortype"); (kind == "ThrottlingException") != strings.HasPrefix(c.path, "/model") {
				t.Errorf("%s: error type %q", c.path, kind)
			}
		}
		if resp, _, _ := request(t, server, "POST", c.path); resp == nil || resp.StatusCode != 200 {
			t.Errorf("%s: not over after two: %v", c.path, resp)
		}
		server.Close()
	}
}

// TestStatusUsesNothing checks that refused requests, and requests without a matching exchange, don't change
// the order of the exchanges.
func TestStatusUsesNothing(t *testing.T) {
	list := []Exchange{{URL: "/x", Chunks: []Chunk{{0, []byte("0")}}}, {URL: "/x", Chunks: []Chunk{{0, []byte("1")}}}}
	var seen []Response
	server := httptest.NewServer(New(Options{Exchanges: list, Faults: faults(t, "status=429x1"), OnResponse: func(a Response) { seen = append(seen, a) }}))
	defer server.Close()
	var got []string
	for _, path := range []string{"/none", "/x", "/x", "/x", "/x"} {
		resp, body, err := request(t, server, "POST", path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, resp.Status[:3]+" "+body[:1])
	}
	server.Close()
	if want := []string{"404 {", "429 {", "200 0", "200 1", "200 1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if seen[1].Fault != "status=429x1" || seen[1].Exchange != &list[0] || seen[2].Reused || !seen[4].Reused || seen[4].Status != http.StatusOK {
		t.Errorf("told %+v", seen)
	}
}
