package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/providers/host"
)

const canary = "sk-ant-canary-0123456789abcdef"

// asked is what a provider was asked.
type asked struct {
	path   string
	header http.Header
	body   []byte
}

// provider answers every request alike, and remembers them.
func provider(t *testing.T, answer http.HandlerFunc) (url string, requests func() []asked) {
	t.Helper()
	var mu sync.Mutex
	var all []asked
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		all = append(all, asked{r.URL.String(), r.Header, body})
		mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []asked {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

func answers(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}
}

const events = "text/event-stream"

const anthropicAnswer = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"get_weather","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"Oslo\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":12}}

event: message_stop
data: {"type":"message_stop"}

`

// keyless has the environment name no key and no address.
func keyless(t *testing.T) {
	for i := range host.All {
		h := &host.All[i]
		for _, k := range h.Keys {
			t.Setenv(k.Variable, "")
		}
		for _, p := range h.Extra {
			t.Setenv(p.Value, "")
		}
		if h.Variable != "" {
			t.Setenv(h.Variable, "")
		}
	}
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
}

func toolsFile(t *testing.T) string {
	t.Helper()
	return file(t, "tools.json", `[{"name":"get_weather","description":"W","input_schema":{"type":"object","properties":{"city":{"type":"integer"}}}}]`)
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestConnect: one provider is asked, and its answer is printed and held against
// the tools that it was told of.
func TestConnect(t *testing.T) {
	keyless(t)
	url, requests := provider(t, answers(events, anthropicAnswer))
	t.Setenv("ANTHROPIC_API_KEY", canary)
	t.Setenv("ANTHROPIC_BASE_URL", url)
	got := command(t, nil, "connect", "anthropic", "--model", "claude-opus-4-5", "--tools", toolsFile(t), "--system", "Be brief.",
		"--header", "anthropic-beta=x-1", "--header", "X-Other: y", "--format", "jsonl", "Weather", "in", "Oslo?")
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	calls, turns := got.decode(t)
	if len(calls) != 1 || calls[0].Name != "get_weather" || calls[0].Status != "complete" || calls[0].File != "anthropic" ||
		len(turns) != 1 || turns[0].Phase != "complete" || turns[0].File != "anthropic" {
		t.Errorf("%+v %+v", calls, turns)
	}
	if len(calls[0].Findings) == 0 || !strings.Contains(calls[0].Findings[0].Code, "SCHEMA") {
		t.Errorf("not held against its schema: %+v", calls[0].Findings)
	}
	sent := requests()
	if len(sent) != 1 {
		t.Fatalf("asked %d times", len(sent))
	}
	h, body := sent[0].header, map[string]any{}
	if err := json.Unmarshal(sent[0].body, &body); err != nil {
		t.Fatal(err)
	}
	if sent[0].path != "/v1/messages" || h.Get("X-Api-Key") != canary || h.Get("Anthropic-Version") == "" || h.Get("Anthropic-Beta") != "x-1" || h.Get("X-Other") != "y" || h.Get("Authorization") != "" {
		t.Errorf("%s %v", sent[0].path, h)
	}
	if body["model"] != "claude-opus-4-5" || body["max_tokens"] != 21333.0 || body["system"] != "Be brief." || body["stream"] != true ||
		!strings.Contains(string(sent[0].body), `"text":"Weather in Oslo?"`) || !strings.Contains(string(sent[0].body), `"input_schema"`) {
		t.Errorf("%s", sent[0].body)
	}
}

// TestConnectSeveral: the same prompt and tools go to each provider in its form,
// and one that does not answer keeps nobody else from it.
func TestConnectSeveral(t *testing.T) {
	keyless(t)
	first, askedFirst := provider(t, answers(events, anthropicAnswer))
	second, askedSecond := provider(t, answers(events, string(turnOfChat("get_weather"))))
	third, askedThird := provider(t, answers("application/x-ndjson",
		`{"model":"q","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"index":0,"name":"get_weather","arguments":{"city":"Oslo"}}}]},"done":false}`+"\n"+
			`{"model":"q","created_at":"2026-01-01T00:00:01Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":6}`+"\n"))
	gone := httptest.NewServer(nil)
	gone.Close()
	t.Setenv("ANTHROPIC_BASE_URL", first)
	t.Setenv("OPENAI_BASE_URL", second)
	t.Setenv("OLLAMA_HOST", third)
	t.Setenv("GOOGLE_GEMINI_BASE_URL", gone.URL)
	got := command(t, []byte("Weather in Oslo?\n"), "connect", "anthropic,openai-chat/gpt-4.1, ollama/q ,gemini", "--tools", toolsFile(t), "--format", "jsonl", "-")
	calls, _ := got.decode(t)
	var from []string
	for _, c := range calls {
		from = append(from, c.File+" "+c.Dialect+" "+c.Name)
	}
	slices.Sort(from)
	if want := []string{"anthropic anthropic get_weather", "ollama/q ollama get_weather", "openai-chat/gpt-4.1 openai-chat get_weather"}; !slices.Equal(from, want) {
		t.Errorf("%q", from)
	}
	if got.code != 1 || !strings.Contains(got.stderr, "gemini: ") || !strings.Contains(got.stderr, "connection refused") || strings.Count(got.stderr, "\n") != 1 {
		t.Errorf("%d, %s", got.code, got.stderr)
	}
	for name, requests := range map[string]func() []asked{"anthropic": askedFirst, "openai-chat": askedSecond, "ollama": askedThird} {
		d, err := providers.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		sent := requests()
		if len(sent) != 1 || !bytes.Contains(sent[0].body, []byte("Weather in Oslo?")) {
			t.Fatalf("%s: %v", name, sent)
		}
		if tools := d.Tools(sent[0].body); len(tools) != 1 || tools[0].Description != "W" {
			t.Errorf("%s: %s", name, sent[0].body)
		}
	}
}

func turnOfChat(name string) string {
	return `data: {"id":"1","object":"chat.completion.chunk","model":"gpt-4.1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"` + name + `","arguments":"{\"city\":\"Oslo\"}"}}]},"finish_reason":null}]}

data: {"id":"1","object":"chat.completion.chunk","model":"gpt-4.1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

`
}

// TestConnectErrors: what providers say when they refuse, or break off, in their
// own words.
func TestConnectErrors(t *testing.T) {
	keyless(t)
	status := func(code int, kind, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	const failed = `{"type":"error","error":{"type":"%s","message":"%s"}}`
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		says   []string
	}{
		"401":                {status(401, "application/json", fmt.Sprintf(failed, "authentication_error", "invalid x-api-key "+canary)), []string{"HTTP 401", "invalid x-api-key [redacted]"}},
		"429":                {status(429, "application/json", fmt.Sprintf(failed, "rate_limit_error", "slow down"), "Retry-After", "12"), []string{"HTTP 429", "slow down", "retry after 12 s"}},
		"529":                {status(529, "application/json", fmt.Sprintf(failed, "overloaded_error", "Overloaded"), "Retry-After", "Fri, 01 Jan 2027 00:00:00 GMT"), []string{"HTTP 529", "Overloaded", "retry after Fri"}},
		"502":                {status(502, "text/html", "<html><body>Bad \x1b[31mgateway</body></html>"), []string{"502"}},
		"500 without a word": {status(500, "", ""), []string{"500"}},
		"redirect":           {status(307, "", "", "Location", "http://169.254.169.254/latest"), []string{"HTTP 307", "another host"}},
		"error in the stream": {answers(events, anthropicAnswer[:strings.Index(anthropicAnswer, "event: content_block_delta")]+
			"event: error\ndata: "+fmt.Sprintf(failed, "overloaded_error", "Overloaded in the middle")+"\n\n"), []string{"Overloaded in the middle"}},
		"cut":     {answers(events, anthropicAnswer[:400]), []string{"broke off"}},
		"nothing": {answers(events, ""), []string{"broke off"}},
		"garbage": {answers("text/plain", "\x00\x01 hello \x1b]0;title\a\n{{{"), []string{"none of a known protocol"}},
		"broken connection": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, anthropicAnswer[:400])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, []string{"anthropic: "}},
	} {
		t.Run(name, func(t *testing.T) {
			url, requests := provider(t, test.answer)
			t.Setenv("ANTHROPIC_API_KEY", canary)
			for _, format := range []string{"text", "jsonl"} {
				recording := filepath.Join(t.TempDir(), "a.tsc")
				got := command(t, nil, "connect", "anthropic", "--base-url", url, "--format", format, "--record", recording, "hi")
				if got.code != 1 {
					t.Errorf("exit code %d: %+v", got.code, got)
				}
				for _, word := range test.says {
					if !strings.Contains(got.stderr, word) {
						t.Errorf("stderr does not say %q: %q", word, got.stderr)
					}
				}
				recorded, err := os.ReadFile(recording)
				if err != nil {
					t.Fatal(err)
				}
				for what, text := range map[string]string{"stdout": got.stdout, "stderr": got.stderr, "the recording": string(recorded)} {
					if strings.Contains(text, canary) {
						t.Errorf("the key is in %s: %s", what, text)
					}
					if what != "the recording" && strings.ContainsAny(text, "\x1b\a\x00") {
						t.Errorf("%s commands the terminal: %q", what, text)
					}
				}
			}
			if n := len(requests()); n != 2 {
				t.Errorf("asked %d times for two runs", n)
			}
		})
	}
}

// TestConnectRecord: the recording holds the exchange, the request too, and opens
// as one; the key is not in it, split or whole.
func TestConnectRecord(t *testing.T) {
	keyless(t)
	url, _ := provider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", events)
		w.Header().Set("Set-Cookie", "session="+canary)
		for _, piece := range []string{anthropicAnswer, ": " + canary[:9], canary[9:] + " " + canary[:4]} {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
		}
	})
	t.Setenv("ANTHROPIC_AUTH_TOKEN", canary)
	recording := filepath.Join(t.TempDir(), "a.tsc")
	args := []string{"connect", "anthropic", "--base-url", url, "--tools", toolsFile(t), "--record", recording, "--header", "Cookie=" + canary[3:], "--header", "X-My-Secret=" + canary, "hi"}
	if got := command(t, nil, args...); got.code != 0 || strings.Contains(got.stdout, canary) {
		t.Fatalf("%+v", got)
	}
	recorded, err := os.ReadFile(recording)
	if err != nil || bytes.Contains(recorded, []byte(canary[9:])) || bytes.Contains(recorded, []byte(canary[:9]+`"`)) {
		t.Fatalf("%v: %s", err, recorded)
	}
	if info, _ := os.Stat(recording); info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v", info.Mode())
	}
	for _, want := range []string{`"side":"request"`, `"X-My-Secret":["[redacted]"]`, `"Authorization":["[redacted]"]`, `"method":"POST"`, "get_weather"} {
		if !bytes.Contains(recorded, []byte(want)) {
			t.Errorf("no %s in %s", want, recorded)
		}
	}
	again := command(t, nil, "print", "--format", "jsonl", recording)
	calls, turns := again.decode(t)
	if len(calls) != 1 || len(turns) != 1 || len(calls[0].Findings) == 0 {
		t.Errorf("opened again: %+v", again)
	}
	if got := command(t, nil, args...); got.code != 1 || !strings.Contains(got.stderr, "--record") {
		t.Errorf("into a file that exists: %+v", got)
	}
}

// TestConnectRequest: a body is sent as it is, byte for byte, to whom it is for.
func TestConnectRequest(t *testing.T) {
	keyless(t)
	url, requests := provider(t, answers(events, anthropicAnswer))
	t.Setenv("ANTHROPIC_BASE_URL", url)
	t.Setenv("GOOGLE_GEMINI_BASE_URL", url)
	body := "{ \"model\":\"claude-x\", \"max_tokens\": 5,\n \"messages\": [] , \"x\":1e400}\n"
	path := file(t, "body.json", body)
	for i, args := range [][]string{{"--request", path}, {"anthropic", "--request", path}, {"gemini", "--request", path, "--model", "gemini-x"}} {
		got := command(t, nil, append([]string{"connect", "--format", "text"}, args...)...)
		sent := requests()
		if got.code != 0 || len(sent) != i+1 || string(sent[i].body) != body {
			t.Fatalf("%v: %+v", args, got)
		}
		want := "/v1/messages"
		if i == 2 {
			want = "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
		}
		if sent[i].path != want {
			t.Errorf("%v: sent to %s", args, sent[i].path)
		}
	}
	if got := command(t, []byte(body), "connect", "--format", "text", "--request", "-"); got.code != 0 || string(requests()[3].body) != body {
		t.Errorf("from standard input: %+v", got)
	}
}

// TestConnectWrong: command lines that ask nobody.
func TestConnectWrong(t *testing.T) {
	keyless(t)
	body := file(t, "body.json", `{"model":"claude-x","messages":[]}`)
	odd := file(t, "odd.json", `{"hello":1}`)
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{}, 2, "no PROVIDER"},
		{[]string{"nobody", "hi"}, 2, "there are anthropic"},
		{[]string{"aistudio", "hi"}, 2, "never asked"},
		{[]string{"anthropic"}, 2, "no PROMPT"},
		{[]string{"anthropic", " "}, 2, "no PROMPT"},
		{[]string{"anthropic", "hi"}, 1, "ANTHROPIC_API_KEY, then ANTHROPIC_AUTH_TOKEN"},
		{[]string{"openai,gemini", "hi", "--base-url", "http://x"}, 2, "2 providers"},
		{[]string{"ollama", "hi"}, 2, "which model"},
		{[]string{"bedrock", "hi"}, 1, "AWS_REGION"},
		{[]string{"azure/d", "hi"}, 1, "AZURE_OPENAI_ENDPOINT"},
		{[]string{"anthropic", "hi", "--base-url", "x"}, 1, "https://"},
		{[]string{"anthropic", "hi", "--tools", "missing.json"}, 1, "missing.json"},
		{[]string{"anthropic", "hi", "--tools", odd}, 1, "declares no tools"},
		{[]string{"anthropic", "hi", "--system", "@missing.md"}, 1, "missing.md"},
		{[]string{"ollama/x", "hi", "--header", "nonsense"}, 2, "NAME=VALUE"},
		{[]string{"ollama/x", "hi", "--header", "A=b\nC: d"}, 2, "NAME=VALUE"},
		{[]string{"anthropic", "hi", "--format", "xml"}, 2, "text or jsonl"},
		{[]string{"anthropic", "hi", "--request", body}, 2, "as it is"},
		{[]string{"--request", body, "--tools", odd}, 2, "as it is"},
		{[]string{"--request", odd}, 2, "no known protocol"},
		{[]string{"--request", "missing.json"}, 1, "missing.json"},
	} {
		got := command(t, nil, append([]string{"connect"}, test.args...)...)
		if got.code != test.code || !strings.Contains(got.stderr, test.says) || got.stdout != "" {
			t.Errorf("%q: %+v, wanted %d and %q", test.args, got, test.code, test.says)
		}
	}
}

// TestConnectKeys: no key goes where none is needed, and one given by hand is
// enough.
func TestConnectKeys(t *testing.T) {
	keyless(t)
	url, requests := provider(t, answers(events, anthropicAnswer))
	for i, args := range [][]string{
		{"anthropic", "--base-url", url, "hi"}, // on this machine
		{"anthropic", "--base-url", url, "--header", "X-Api-Key=" + canary, "hi"},
	} {
		got := command(t, nil, append([]string{"connect", "--format", "text"}, args...)...)
		if sent := requests(); got.code != 0 || len(sent) != i+1 || (sent[i].header.Get("X-Api-Key") == canary) != (i == 1) {
			t.Errorf("%q: %+v %v", args, got, sent)
		}
	}
}

// TestRedirects: one is followed on the same host, never to another, and the key
// goes to no other.
func TestRedirects(t *testing.T) {
	keyless(t)
	other, others := provider(t, answers(events, anthropicAnswer))
	var to string
	url, requests := provider(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			answers(events, anthropicAnswer)(w, r)
			return
		}
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	})
	t.Setenv("ANTHROPIC_API_KEY", canary)
	for i, test := range []struct {
		to   string
		code int
	}{{"/moved", 0}, {other + "/v1/messages", 1}, {"/v1/messages", 1}} {
		to = test.to
		got := command(t, nil, "connect", "anthropic", "--base-url", url, "--format", "text", "hi")
		if got.code != test.code {
			t.Errorf("to %s: %+v", test.to, got)
		}
		if i == 0 && len(requests()) != 2 {
			t.Errorf("asked %d times", len(requests()))
		}
	}
	if len(others()) > 0 {
		t.Error("another host was asked")
	}
}

// TestFirstByte: who is silent for too long is given up, and the next one is
// not kept from answering.
func TestFirstByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := query{label: "slow", host: &host.All[0], url: "http://slow.test/"}
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}
		began := time.Now()
		var last capture.Record
		for r, err := range q.source(context.Background(), client, began, time.Minute) {
			if err != nil {
				t.Fatal(err)
			}
			last = r
		}
		if last.End != capture.EndCut || !strings.Contains(last.Why, "within 1m0s") || time.Since(began) != time.Minute {
			t.Errorf("%+v after %s", last, time.Since(began))
		}
	})
}

// TestFirstByteCame: the limit is on the first byte, not on the last.
func TestFirstByteCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := query{label: "long", host: &host.All[0], url: "http://long.test/"}
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			out, in := io.Pipe()
			go func() {
				_, _ = io.WriteString(in, anthropicAnswer[:100])
				time.Sleep(time.Hour)
				_, _ = io.WriteString(in, anthropicAnswer[100:])
				in.Close()
			}()
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: out}, nil
		})}
		size := 0
		var last capture.Record
		for r, err := range q.source(context.Background(), client, time.Now(), time.Minute) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Side == capture.Response {
				size += len(r.Data)
			}
			last = r
		}
		if last.End != capture.EndEOF || size != len(anthropicAnswer) {
			t.Errorf("%+v, %d bytes", last, size)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestCover: a secret is found however the body is cut, and nothing else
// changes.
func TestCover(t *testing.T) {
	body := "before " + canary + " between " + canary[:7] + " " + canary + canary + " after " + canary[:3]
	want := strings.ReplaceAll(body, canary, hidden)
	for cut := range len(body) {
		for second := cut; second < len(body); second += 7 {
			c := cover{secrets: []string{canary, ""}}
			got := ""
			for i, piece := range []string{body[:cut], body[cut:second], body[second:]} {
				r := capture.Record{Exchange: 1, Data: []byte(piece)}
				if i == 2 {
					r.End = capture.EndEOF
				}
				got += string(c.record(r).Data)
			}
			if got != want {
				t.Fatalf("cut at %d and %d: %s", cut, second, got)
			}
		}
	}
	c := cover{secrets: []string{canary}}
	if r := c.record(capture.Record{Data: []byte("data: {}\n\n")}); string(r.Data) != "data: {}\n\n" {
		t.Errorf("kept waiting: %q", r.Data)
	}
}

// TestHostsPage: the page names every host, its variables, and no secret.
func TestHostsPage(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", canary)
	got := command(t, nil, "help", "hosts")
	if got.code != 0 || strings.Contains(got.stdout, canary) {
		t.Fatalf("%+v", got)
	}
	for i := range host.All {
		h := &host.All[i]
		if !strings.Contains(got.stdout, "\n  "+h.Name+": "+h.Title+"\n") {
			t.Errorf("no %s", h.Name)
		}
		for _, k := range h.Keys {
			if !strings.Contains(got.stdout, k.Variable) {
				t.Errorf("no %s", k.Variable)
			}
		}
	}
	for line := range strings.Lines(got.stdout) {
		if len([]rune(line)) > 100 {
			t.Errorf("a line of %d: %s", len([]rune(line)), line)
		}
	}
}
