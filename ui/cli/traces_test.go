package cli

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/capture/record"
	"toolscope/stream"
	"toolscope/ui/report"
)

// collects starts a collector whose status depends on the number of the request. The function got returns the data
// that the collector received.
func collects(t *testing.T, status func(n int) int) (url string, got func() string) {
	t.Helper()
	var mu sync.Mutex
	var all bytes.Buffer
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		n++
		if code := status(n); code != http.StatusOK {
			w.Header().Set("Retry-After", "300")
			w.WriteHeader(code)
			return
		}
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(&all, unzipped)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() string {
		mu.Lock()
		defer mu.Unlock()
		return all.String()
	}
}

func always(status int) func(int) int { return func(int) int { return status } }

// TestTraceKey checks that equal keys lead to equal hashes, regardless of where the keys come from. A key consists of
// bytes, not text.
func TestTraceKey(t *testing.T) {
	file := twoTurns(t)
	hashes := func(args ...string) string {
		url, got := collects(t, always(200))
		if out := command(t, nil, append([]string{"print", file, "--otlp", url}, args...)...); out.code != 0 {
			t.Fatalf("%v: %+v", args, out)
		}
		all := regexp.MustCompile(`[0-9a-f]{64}`).FindAllString(got(), -1)
		if len(all) != 2 {
			t.Fatalf("%v: %d hashes", args, len(all))
		}
		return strings.Join(all, " ")
	}
	text, bin, other := saved(t, "k", "0123456789abcdef\n"), saved(t, "l", strings.Repeat("\xfe", 32)), saved(t, "m", strings.Repeat("\xff", 32))
	if one, other := hashes(), hashes(); one == other {
		t.Error("a key that nobody knows is the same twice")
	}
	if hashes("--otlp-key", "@"+bin) == hashes("--otlp-key", "@"+other) {
		t.Error("two keys that are no text are the same")
	}
	of := hashes("--otlp-key", "@"+text)
	for _, value := range []string{"0123456789abcdef", "@" + text} {
		t.Setenv("TOOLSCOPE_OTLP_KEY", value)
		if hashes() != of {
			t.Errorf("TOOLSCOPE_OTLP_KEY=%s is another key than the file", value)
		}
	}
	t.Setenv("TOOLSCOPE_OTLP_KEY", "")
	for _, wrong := range []string{"0123456789abcdef", "@" + saved(t, "n", "short"), "@" + filepath.Join(t.TempDir(), "none")} {
		if out := command(t, nil, "print", file, "--otlp", "http://127.0.0.1:1", "--otlp-key", wrong); out.code == 0 || !strings.Contains(out.stderr, "otlp-key") {
			t.Errorf("%s: %+v", wrong, out)
		}
	}
}

// TestTraceContentSecrets checks that content never contains a request's credentials, even if the file was not
// redacted and the credentials have no recognisable form. Secrets that were kept must not reach a collector.
func TestTraceContentSecrets(t *testing.T) {
	const key = "q7Zp3xW9fL2vT8mK4cB6nD1s"
	file := saved(t, "two.tsc", `{"toolscope":1,"created":"2026-11-20T10:00:00Z","by":"test"}
{"x":1,"t":0,"side":"request","head":{"method":"POST","url":"https://api.openai.com/v1/chat/completions","header":{"Authorization":["Bearer `+key+`"]},"start":"2026-11-20T10:00:00Z"},"d":"{\"model\":\"gpt-x\",\"messages\":[]}"}
{"x":1,"t":5,"head":{"status":200,"header":{"Content-Type":["text/event-stream"]}},"d":`+quoted(string(chat(toolChunk(`{"city":"Oslo `+key+`"}`), finishChunk)))+`,"end":"eof"}
`)
	url, got := collects(t, always(200))
	if out := command(t, nil, "print", file, "--otlp", url, "--otlp-content"); out.code != 0 {
		t.Fatal(out)
	}
	if text := got(); !strings.Contains(text, "Oslo") || strings.Contains(text, key) {
		t.Errorf("%q", text)
	}
	if out := command(t, nil, "proxy", "--headless", "--keep-secrets", "--otlp", url, "--otlp-content"); out.code != 2 || !strings.Contains(out.stderr, "never gets secrets") {
		t.Error(out)
	}
}

// TestTraceOnlyTurns checks that there are no spans for requests that do not go to a model, or for requests
// that toolscope refused.
func TestTraceOnlyTurns(t *testing.T) {
	exchange := func(x int, method, url, body, answer, end string) string {
		return fmt.Sprintf(`{"x":%d,"t":1,"side":"request","head":{"method":%q,"url":%q,"start":"2026-11-20T10:00:00Z"},"d":%q}
{"x":%d,"t":5,"head":{"status":200,"header":{"Content-Type":["application/json"]}},"d":%q,"end":"eof"%s}
`, x, method, "https://api.openai.com"+url, body, x, answer, end)
	}
	text := `{"toolscope":1,"created":"2026-11-20T10:00:00Z","by":"test"}` + "\n" +
		exchange(1, "GET", "/v1/models", "", `{"object":"list","data":[]}`, "") +
		exchange(2, "POST", "/v1/embeddings", `{"model":"e","input":"x"}`, `{"object":"list","model":"e","data":[]}`, "") +
		exchange(3, "POST", "/v1/chat/completions", `{"model":"gpt-refused","messages":[]}`, "no", `,"why":"refused: no such path","by":"toolscope"`) +
		exchange(4, "POST", "/v1/chat/completions", `{"model":"gpt-x","stream":true,"messages":[]}`, `{"id":"c","object":"chat.completion","model":"gpt-x","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`, "")
	failed := exchange(5, "GET", "/v1/responses/r/input_items", "", `{"error":{"message":"boom"}}`, "") +
		exchange(6, "DELETE", "/v1/responses/r", "", "no", `,"why":"no answer: nobody there","by":"toolscope"`)
	text += strings.ReplaceAll(failed, `"status":200`, `"status":500`) + exchange(7, "GET", "/v1/responses/r", "", `{"id":"r","object":"response","model":"gpt-y","status":"completed","output":[]}`, "")
	url, got := collects(t, always(200))
	file := saved(t, "a.tsc", text)
	if out := command(t, nil, "print", file, "--otlp", url); out.code != 0 {
		t.Fatal(out)
	}
	if out := command(t, nil, "export", file, "--as", "otlp"); strings.Count(out.stdout, "toolscope.turn.phase") != 2 || out.code != 0 {
		t.Errorf("exported are %s", out.stdout)
	}
	if all := got(); strings.Count(all, "toolscope.turn.phase") != 2 || !strings.Contains(all, "chat gpt-y") || !strings.Contains(all, "chat gpt-x") || !strings.Contains(all, "gen_ai.request.stream") {
		t.Errorf("%q", all)
	}
}

// TestTracePage checks that the help page about otlp lists all of toolscope's own attributes.
func TestTracePage(t *testing.T) {
	page := strings.Join(strings.Fields(command(t, nil, "help", "otlp").stdout), " ")
	all := regexp.MustCompile(`= +"(toolscope\.[a-z_.]+)"`).FindAllStringSubmatch(read(t, "../report/spans.go"), -1)
	if len(all) < 20 {
		t.Fatalf("%d attributes", len(all))
	}
	for _, of := range all {
		if short := " " + of[1][strings.LastIndexByte(of[1], '.'):]; !strings.Contains(page, of[1]) && !(strings.HasPrefix(of[1], "toolscope.finding.") && strings.Contains(page, short)) {
			t.Errorf("it does not have %s", of[1])
		}
	}
}

// TestTraceStreams checks that a stream is recognised by the request or by the end of its path. Folder names in the
// path must not matter.
func TestTraceStreams(t *testing.T) {
	for url, want := range map[string]bool{
		"https://h/upstream/v1/chat/completions": false, "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse-stream": true,
		"https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse": true,
	} {
		out := command(t, nil, "export", saved(t, "a.tsc", fmt.Sprintf(`{"toolscope":1,"created":"2026-11-20T10:00:00Z","by":"test"}
{"x":1,"t":1,"side":"request","head":{"method":"POST","url":%q,"start":"2026-11-20T10:00:00Z"},"d":"{}"}
{"x":1,"t":5,"end":"cut","why":"no answer","by":"network"}
`, url)), "--as", "otlp")
		if !strings.Contains(out.stdout, "toolscope.turn.phase") || strings.Contains(out.stdout, "gen_ai.request.stream") != want {
			t.Errorf("%s: %+v", url, out)
		}
	}
}

// TestTraceOwnAnswer checks that toolscope's own response is not reported as the provider's.
func TestTraceOwnAnswer(t *testing.T) {
	file := saved(t, "a.tsc", `{"toolscope":1,"created":"2026-11-20T10:00:00Z","by":"test"}
{"x":1,"t":0,"side":"request","head":{"method":"POST","url":"https://api.openai.com/v1/chat/completions","start":"2026-11-20T10:00:00Z"},"d":"{\"model\":\"gpt-x\",\"messages\":[]}"}
{"x":1,"t":5,"head":{"status":502},"by":"toolscope","note":"the proxy itself gave this answer: no answer"}
{"x":1,"t":5,"d":"toolscope proxy: no answer\n"}
{"x":1,"t":5,"end":"eof","why":"no answer","by":"network"}
`)
	out := command(t, nil, "export", file, "--as", "otlp")
	if !strings.Contains(out.stdout, `"NO_ANSWER"`) || strings.Contains(out.stdout, "status_code") || strings.Contains(out.stdout, `"502"`) {
		t.Errorf("%+v", out)
	}
}

// TestTraceGivenUp checks a turn that is abandoned because its machine is silent. Its span must end with its last
// data, and contain the spans of its calls.
func TestTraceGivenUp(t *testing.T) {
	text, body := string(chat(`{"id":"c","object":"chat.completion.chunk","model":"gpt-x","choices":[{"index":0,"delta":{"content":"I look."}}]}`)), string(chat(toolChunk(`{"city":`)))
	file := saved(t, "a.tsc", `{"toolscope":1,"created":"2026-11-20T10:00:00Z","by":"test"}
{"x":1,"t":0,"side":"request","head":{"method":"POST","url":"https://api.openai.com/v1/chat/completions","start":"2026-11-20T10:00:00Z"},"d":"{\"model\":\"gpt-x\",\"messages\":[]}"}
{"x":1,"t":5,"head":{"status":200,"header":{"Content-Type":["text/event-stream"]}},"d":`+quoted(text)+`}
{"x":1,"t":2000,"d":`+quoted(body)+`}
{"x":1,"end":"cut","why":"nothing was heard of it","by":"toolscope"}
`)
	out := command(t, nil, "export", file, "--as", "otlp")
	if !strings.Contains(out.stdout, "STOPPED_HERE") || strings.Count(out.stdout, `"endTimeUnixNano": "1795168802000000000"`) != 2 {
		t.Errorf("%+v", out)
	}
}

// TestTraceLosses checks that spans that the collector did not get, and bytes that are not in any span, cause
// exit code 3, even after a signal.
func TestTraceLosses(t *testing.T) {
	for name, lose := range map[string]func(*traceSender){
		"1 span refused": func(l *traceSender) { l.Put([]report.Span{{Name: "x"}}) },
		"the spans lack": func(l *traceSender) {
			l.in = newScreenInbox(record.QueueRules(1000, notShown))
			l.boxes = append(l.boxes, l.in.Queue)
			l.in.Put(capture.Record{Data: make([]byte, 10_000)})
			if words := l.statusNotes(); len(words) == 0 || !words[0].Alarm || words[0].Text != "NOT TRACED 10 kB" {
				t.Errorf("%+v", words)
			}
			close(l.done)
		},
	} {
		a, so := appOf(t)
		url, _ := collects(t, always(400))
		l, err := a.startTracing(&traceFlags{to: url}, stream.Machine{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		lose(l)
		a.endedBy(syscall.SIGTERM)
		l.finishAndReport(a)
		l.finishAndReport(a) // reports it only once
		if out := so(); out.code != exitGaps || strings.Count(out.stderr, name) != 1 {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

// TestTraceTroubleOnScreen checks that notes do not overwrite an open screen. The problem must be in the journal.
func TestTraceTroubleOnScreen(t *testing.T) {
	a, so := appOf(t)
	var noted []string
	a.journal.ForwardTo(func(_ time.Time, text string) { noted = append(noted, text) })
	say := a.traceNotices("http://c")
	a.drawing.Store(true)
	say("gone")
	if out := so(); out.stderr != "" || len(noted) != 1 || !strings.Contains(noted[0], "gone") {
		t.Errorf("%+v, noted %q", out, noted)
	}
	a.drawing.Store(false)
	a.traceNotices("http://c")("gone again")
	if out := so(); !strings.Contains(out.stderr, "gone again") {
		t.Errorf("%+v", out)
	}
}

// TestTraceTroubleAllDay checks a collector that alternates between success and failure. Notes must become less and
// less frequent. After a long time without problems, the next problem must be reported at once.
func TestTraceTroubleAllDay(t *testing.T) {
	s := capture.Backoff{First: firstPause, Max: maxPause}
	at, told := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC), 0
	for range 24 * 60 * 60 {
		at = at.Add(time.Second)
		if s.Allow(at) {
			told++
		}
	}
	if told < 144 || told > 155 { // one every 10 minutes, and some at the start
		t.Errorf("said %d times", told)
	}
	if at = at.Add(time.Hour); !s.Allow(at) || s.Allow(at.Add(9*time.Second)) || !s.Allow(at.Add(11*time.Second)) {
		t.Error("it is said late after an hour of quiet")
	}
	a, so := appOf(t)
	say := a.traceNotices("http://c")
	for range 100 {
		say("busy")
	}
	if out := so(); strings.Count(out.stderr, "busy") != 1 {
		t.Errorf("%+v", out)
	}
}

// TestHold checks that notes from several writers are held back while a client owns the terminal. They must be
// printed after it has ended, each line once.
func TestHold(t *testing.T) {
	a, so := appOf(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 100 {
				a.printNote("%d-%d", i, n)
			}
		})
	}
	release := a.deferOutput()
	a.printNote("held")
	if text, err := os.ReadFile(a.stderr.to.(*os.File).Name()); err != nil || strings.Contains(string(text), "held") {
		t.Errorf("said while the client owned the terminal: %s, %v", text, err)
	}
	release()
	all.Wait()
	a.printNote("behind")
	lines := strings.Split(strings.TrimSpace(so().stderr), "\n")
	if len(lines) != 802 || lines[801] != "toolscope: behind" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}
