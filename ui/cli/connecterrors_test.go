package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConnectErrors checks that a provider's message is reported if the provider refuses a request or breaks off a
// response.
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
		"401":                {status(401, "application/json", fmt.Sprintf(failed, "authentication_error", "invalid x-api-key "+canary)), []string{"HTTP 401", "invalid x-api-key [redacted:x-api-key:"}},
		"429":                {status(429, "application/json", fmt.Sprintf(failed, "rate_limit_error", "slow down"), "Retry-After", "12"), []string{"HTTP 429", "slow down", "retry after 12 s"}},
		"529":                {status(529, "application/json", fmt.Sprintf(failed, "overloaded_error", "Overloaded"), "Retry-After", "Fri, 01 Jan 2027 00:00:00 GMT"), []string{"HTTP 529", "Overloaded", "retry after Fri"}},
		"502":                {status(502, "text/html", "<html><body>Bad \x1b[31mgateway</body></html>"), []string{"502"}},
		"500 without a word": {status(500, "", ""), []string{"500"}},
		"redirect":           {status(307, "", "", "Location", "http://169.254.169.254/latest"), []string{"HTTP 307", "another host"}},
		"error in the stream": {answers(events, anthropicAnswer[:strings.Index(anthropicAnswer, "event: content_block_delta")]+
			"event: error\ndata: "+fmt.Sprintf(failed, "overloaded_error", "Overloaded in the middle")+"\n\n"), []string{"Overloaded in the middle"}},
		"cut":     {answers(events, anthropicAnswer[:400]), []string{"ended early"}},
		"nothing": {answers(events, ""), []string{"with an empty body"}},
		"garbage": {answers("text/plain", "\x00\x01 hello \x1b]0;title\a\n{{{"), []string{"its protocol is unknown"}},
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

// TestConnectRecord checks that the capture has the exchange with its request, and can be opened. The key must not
// be in it, whether split or complete.
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
	for _, want := range []string{`"side":"request"`, `"X-My-Secret":["[redacted:authorization:`, `"Authorization":["Bearer [redacted:authorization:`, `"method":"POST"`, "get_weather"} {
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

// TestConnectKeys checks that no key is sent if none is needed, and that a key in --header is sufficient.
func TestConnectKeys(t *testing.T) {
	keyless(t)
	url, requests := provider(t, answers(events, anthropicAnswer))
	for i, args := range [][]string{
		{"anthropic", "--base-url", url, "hi"}, // a host on this machine
		{"anthropic", "--base-url", url, "--header", "X-Api-Key=" + canary, "hi"},
	} {
		got := command(t, nil, append([]string{"connect", "--format", "text"}, args...)...)
		if sent := requests(); got.code != 0 || len(sent) != i+1 || (sent[i].header.Get("X-Api-Key") == canary) != (i == 1) {
			t.Errorf("%q: %+v %v", args, got, sent)
		}
	}
}

// TestExposed checks that a key counts as exposed only if it is sent unencrypted to another machine.
func TestExposed(t *testing.T) {
	keyless(t)
	t.Setenv("ANTHROPIC_API_KEY", canary)
	for url, want := range map[string]bool{"http://box.test": true, "https://box.test": false, "http://127.0.0.1:1": false} {
		a := (&app{stdin: os.Stdin, messageOutput: messageOutput{stderr: lineWriter{to: os.Stderr}}}).linkParts()
		list, err := a.buildRequests([]string{"anthropic", "hi"}, &connectFlags{baseURL: url})
		if err != nil || list[0].exposed != want {
			t.Errorf("%s: %v, %v", url, list, err)
		}
	}
}
