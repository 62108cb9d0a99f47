//go:build linux && !nohub

package cli

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"toolscope/capture/fleet"
)

// publishedTo is a proxy as a process that publishes answers of several models to a hub, one of them
// with a call that is malformed. It returns the spool, and what was said at the end.
func publishedTo(t *testing.T, url string, args ...string) (spool string, got outcome) {
	t.Helper()
	malformed, err := os.ReadFile("testdata/malformed.sse")
	if err != nil {
		t.Fatal(err)
	}
	upstream, _ := provider(t, func(w http.ResponseWriter, r *http.Request) {
		body := anthropicAnswer
		switch r.Header.Get("X-Want") {
		case "malformed":
			body = string(malformed)
		case "chat":
			body = turnOfChat("run_shell")
		}
		answers(events, body)(w, r)
	})
	dir := t.TempDir()
	p := proxied(t, append([]string{"--to", upstream, "--publish", url, "--host", "web.1", "--agent", "coder", "--spool", dir, "--format", "jsonl"}, args...)...)
	for _, want := range []string{"", "malformed", "", "chat", "malformed"} {
		path := "/v1/chat/completions"
		if want == "" {
			path = "/v1/messages"
		}
		ask, _ := http.NewRequest("POST", p.url+path, strings.NewReader(`{"model":"m","messages":[]}`))
		ask.Header.Set("X-Want", want)
		resp, err := http.DefaultClient.Do(ask)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	got = p.ended(syscall.SIGTERM)
	files, _ := filepath.Glob(filepath.Join(dir, "*.tsc"))
	if len(files) != 1 || got.code != 128+int(syscall.SIGTERM) {
		t.Fatal(files, got)
	}
	return files[0], got
}

// TestIndexer: the lines of calls are those that print writes of a capture that arrives.
func TestIndexer(t *testing.T) {
	url, _ := aHub(t, "127.0.0.1:0")
	spool, said := publishedTo(t, url)
	if strings.Contains(said.stderr, "index") {
		t.Error(said.stderr)
	}
	a := &app{}
	each, err := a.indexed()
	if err != nil {
		t.Fatal(err)
	}
	src, err := a.source(context.Background(), spool)
	if err != nil {
		t.Fatal(err)
	}
	x, got := each(spool), ""
	var calls []fleet.Call
	for r, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		x.Write(r)
		calls = append(calls, x.Calls(false)...)
	}
	statuses := ""
	for _, c := range append(calls, x.Calls(true)...) {
		got += string(c.Line)
		statuses += c.Model + ":" + c.Status + " "
	}
	want := ""
	for line := range strings.Lines(command(t, nil, "print", "--format", "jsonl", spool).stdout) {
		if strings.HasPrefix(line, `{"type":"call"`) {
			want += line
		}
	}
	if got != want || statuses != "claude-x:complete gpt-x:malformed claude-x:complete gpt-4.1:complete gpt-x:malformed " {
		t.Errorf("%s\n%s\nwanted\n%s", statuses, got, want)
	}
}
