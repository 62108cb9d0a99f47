package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"toolscope/capture"
	"toolscope/providers/host"
)

// outcome is the result of a run of the command line.
type outcome struct {
	code           int
	stdout, stderr string
}

// command runs the command line with files as its standard streams.
func command(t *testing.T, stdin []byte, args ...string) outcome {
	t.Helper()
	dir := t.TempDir()
	path := os.DevNull
	if stdin != nil {
		path = saved(t, "in", string(stdin))
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	out, errs := create(t, dir, "out"), create(t, dir, "err")
	code := Run(args, in, out, errs)
	return outcome{code, contents(t, out), contents(t, errs)}
}

// appOf returns the program in this process, and a function that returns the program's output and exit code.
func appOf(t *testing.T) (a *app, so func() outcome) {
	t.Helper()
	dir := t.TempDir()
	out, errs := create(t, dir, "out"), create(t, dir, "err")
	a = (&app{ending: newShutdown(), stdout: lineWriter{to: out}, messageOutput: messageOutput{stderr: lineWriter{to: errs}}}).linkParts()
	return a, func() outcome { return outcome{a.code, contents(t, out), contents(t, errs)} }
}

func create(t *testing.T, dir, name string) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func contents(t *testing.T, f *os.File) string {
	t.Helper()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// chat returns a Chat Completions stream with these data lines.
func chat(chunks ...string) []byte {
	var b bytes.Buffer
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.Bytes()
}

func toolChunk(args string) string {
	lit, _ := json.Marshal(args)
	return `{"id":"c1","model":"gpt-x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":` + string(lit) + `}}]}}]}`
}

const finishChunk = `{"id":"c1","model":"gpt-x","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14}}`

const canary = "sk-ant-canary-0123456789abcdef"

// asked is a request that a provider received.
type asked struct {
	path   string
	header http.Header
	body   []byte
}

// provider starts a provider that handles all requests with answer. requests returns the requests so far.
func provider(t *testing.T, answer http.HandlerFunc) (url string, requests func() []asked) {
	t.Helper()
	var mu sync.Mutex
	var all []asked
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		all = append(all, asked{r.URL.String(), r.Header, body})
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
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

// keyless removes all keys and addresses from the environment.
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

func saved(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func turnOfChat(name string) string {
	return `data: {"id":"1","object":"chat.completion.chunk","model":"gpt-4.1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"` + name + `","arguments":"{\"city\":\"Oslo\"}"}}]},"finish_reason":null}]}

data: {"id":"1","object":"chat.completion.chunk","model":"gpt-4.1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

`
}

// turnOf returns a stream of one turn that calls the named tool. Several such streams one after another are several
// turns.
func turnOf(name string) []byte {
	call := strings.Replace(toolChunk(`{"a":1}`), `"name":"f"`, `"name":"`+name+`"`, 1)
	return chat(call, finishChunk, "[DONE]")
}

func same(t *testing.T, call int, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("call %d: %s %v, want %v", call+1, what, got, want)
	}
}

// demoRecords returns all records of a scenario.
func demoRecords(t *testing.T, name string) []capture.Record {
	t.Helper()
	return allOf(t)(demoSource(context.Background(), name))
}

// requestOf returns the body of the first request in a demo.
func requestOf(t *testing.T, name string) (body []byte) {
	t.Helper()
	for _, r := range demoRecords(t, name) {
		if r.Exchange == 1 && r.Side == capture.Request {
			body = append(body, r.Data...)
		}
	}
	return body
}

// again returns the records of a capture.
func again(t *testing.T, file string) []capture.Record {
	t.Helper()
	return allOf(t)(capture.Open(context.Background(), "-", capture.Options{Stdin: strings.NewReader(file)}))
}

// allOf returns a function that reads all records of an opened source.
func allOf(t *testing.T) func(capture.Source, error) []capture.Record {
	return func(src capture.Source, err error) (all []capture.Record) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range src {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		return all
	}
}

// quoted returns s as JSON, with as few escapes as possible.
func quoted(s string) string {
	b, _ := json.Marshal(s)
	return strings.NewReplacer(`\u2028`, "\u2028", `\u003c`, "<", `\u003e`, ">").Replace(string(b))
}
