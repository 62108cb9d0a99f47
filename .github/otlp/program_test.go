package otlp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is the path of toolscope, built from this tree.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "toolscope-otlp-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for name, value := range map[string]string{"XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state"} { // don't use the user's settings
		if err := os.Setenv(name, filepath.Join(dir, value)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	program = filepath.Join(dir, "toolscope")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// running is a toolscope process that listens.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	url   string
	said  bytes.Buffer
	ended bool
}

// started starts a toolscope that prints the URL at which it listens.
func started(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{t: t, cmd: exec.Command(program, args...)}
	r.cmd.Stderr = &r.said
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.end() })
	out := bufio.NewReader(stdout)
	line, err := out.ReadString('\n')
	if r.url = strings.TrimSpace(line); err != nil || !strings.Contains(line, "://") {
		t.Fatalf("%v: %q, %v\n%s", args, line, err, &r.said)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return r
}

// end sends the signal that ends the program. It returns the exit code, and the time until the program ended.
func (r *running) end() (code int, took time.Duration) {
	if r.ended {
		return r.cmd.ProcessState.ExitCode(), 0
	}
	r.ended = true
	began := time.Now()
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode(), time.Since(began)
}

// stopped is the exit code of a program that ended because of a signal, without other problems.
const stopped = 128 + int(syscall.SIGTERM)

// answer is an OpenAI Chat Completions response with two calls. The second call is cut off.
const answer = `data: {"id":"chatcmpl-%[1]d","object":"chat.completion.chunk","model":"gpt-5","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"call_%[1]d","type":"function","function":{"name":"get_weather","arguments":""}}]}}]}

data: {"id":"chatcmpl-%[1]d","object":"chat.completion.chunk","model":"gpt-5","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":\"Oslo%[2]s\"}"}}]}}]}

data: {"id":"chatcmpl-%[1]d","object":"chat.completion.chunk","model":"gpt-5","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b%[1]d","type":"function","function":{"name":"get_time","arguments":"{\"zone\":"}}]}}]}

data: {"id":"chatcmpl-%[1]d","object":"chat.completion.chunk","model":"gpt-5","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

`

// spansAnswered is the number of spans for one response: one for the turn, and one for each call.
const spansAnswered = 3

// provider starts a provider that responds to each request with answer. The parameter with is a suffix for the city's
// name.
func provider(t *testing.T, with string) string {
	t.Helper()
	var mu sync.Mutex
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		n++
		text := fmt.Sprintf(answer, n, with)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range strings.SplitAfter(text, "\n\n") {
			_, _ = io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const asked = `{"model":"gpt-5","stream":true,"messages":[{"role":"user","content":"What is the weather?%s"}]}`

// ask sends n requests through a proxy, several of them at a time.
func ask(t *testing.T, proxy string, n int, header http.Header, with string) {
	t.Helper()
	var all sync.WaitGroup
	each := make(chan bool)
	for range 8 {
		all.Go(func() {
			for range each {
				r, err := http.NewRequest(http.MethodPost, proxy+"/v1/chat/completions", strings.NewReader(fmt.Sprintf(asked, with)))
				if err != nil {
					t.Error(err)
					continue
				}
				r.Header = header.Clone()
				if r.Header == nil {
					r.Header = http.Header{}
				}
				r.Header.Set("Content-Type", "application/json")
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Error(err)
					continue
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		})
	}
	for range n {
		each <- true
	}
	close(each)
	all.Wait()
}
