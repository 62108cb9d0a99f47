//go:build linux && !nohub

package cli

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"toolscope/capture/fleet"
)

// publishedTo runs a proxy process that publishes responses from several models to a hub. One response has a
// malformed call. publishedTo returns the spool and the outcome of the process.
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
		_, _ = io.Copy(io.Discard, resp.Body) // read all of it, so that the responses come one after another
		resp.Body.Close()
	}
	got = p.ended(syscall.SIGTERM)
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*.tsc"))
	if len(files) != 1 || got.code != 128+int(syscall.SIGTERM) {
		t.Fatal(files, got)
	}
	return files[0], got
}

// TestIndexer checks that the lines for the index equal the lines that print writes for a capture while it arrives.
func TestIndexer(t *testing.T) {
	url, _ := aHub(t, "127.0.0.1:0")
	spool, said := publishedTo(t, url)
	if strings.Contains(said.stderr, "index") {
		t.Error(said.stderr)
	}
	a := (&app{}).linkParts()
	each, err := a.newIndexers()
	if err != nil {
		t.Fatal(err)
	}
	src, err := a.openSource(context.Background(), spool)
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

// callLines returns the lines of calls that print writes for a capture on disk, with the file names of a hub.
func callLines(t *testing.T, spool, filter string) (lines string) {
	t.Helper()
	got := command(t, nil, "print", "--format", "jsonl", "--filter", filter, spool)
	for line := range strings.Lines(strings.ReplaceAll(got.stdout, quoted(spool), `"web.1/coder"`)) {
		if strings.HasPrefix(line, `{"type":"call"`) {
			lines += line
		}
	}
	if lines == "" {
		t.Fatal(filter, got)
	}
	return lines
}

// TestCallsOfHub checks that print, check and open find calls by the hub's index. The index's lines must equal the
// lines that print writes for the spool.
func TestCallsOfHub(t *testing.T) {
	url, _ := aHub(t, "127.0.0.1:0")
	spool, _ := publishedTo(t, url)
	malformed := callLines(t, spool, "state:malformed")
	for _, c := range []struct{ address, model, status, want string }{
		{"", "", "malformed", malformed},
		{"&status=malformed&host=web.1", "", "", malformed},
		{"&model=gpt-x", "", "malformed", malformed},
		{"", "claude-x", "", callLines(t, spool, "model:claude-x")},
		{"&model=gpt-4.1&status=complete", "", "", callLines(t, spool, "model:gpt-4.1")},
		{"&host=web", "", "malformed", ""},
		{"&model=claude-x", "", "malformed", ""},
	} {
		args := []string{"print", url + "?until=now" + c.address, "--format", "jsonl"}
		if c.model != "" {
			args = append(args, "--model", c.model)
		}
		if c.status != "" {
			args = append(args, "--status", c.status)
		}
		if got := command(t, nil, args...); got.stdout != c.want || got.code != 0 || got.stderr != "" {
			t.Errorf("%v: exit code %d\n%s%s\nwanted\n%s", args, got.code, got.stdout, got.stderr, c.want)
		}
	}
	there, here := command(t, nil, "print", url+"?until=now", "--status", "malformed"), command(t, nil, "print", spool, "--filter", "state:malformed")
	if strings.Count(there.stdout, "save_note") != strings.Count(here.stdout, "save_note") || strings.Contains(there.stdout, "get_weather") || there.code != 0 {
		t.Errorf("%v, of the spool %v", there, here)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--status", "malformed"}, exitFound, "ARGS_"},
		{[]string{"--model", "claude-x"}, 0, ""},
		{[]string{"--status", "aborted"}, 0, ""},
	} {
		if got := command(t, nil, append([]string{"check", url + "?until=now"}, c.args...)...); got.code != c.code || !strings.Contains(got.stdout, c.want) {
			t.Errorf("%v: %v", c.args, got)
		}
	}
}

// TestCallsRefused checks the errors for index flags without a hub, and for unknown states.
func TestCallsRefused(t *testing.T) {
	log := saved(t, "a.sse", anthropicAnswer)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"print", "--status", "malformed", log}, "need a hub"},
		{[]string{"check", "--model", "m", log}, "need a hub"},
		{[]string{"open", "--model", "m", log}, "need a hub"},
		{[]string{"print", "--status", "bad", "nats://hub:4222"}, "use one of waiting, streaming"},
		{[]string{"print", "nats://hub:4222?status=bad"}, "use one of waiting, streaming"},
	} {
		if got := command(t, nil, c.args...); got.code != 2 || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%v: %v", c.args, got)
		}
	}
}

// TestNoIndex checks that --no-index publishes everything except the index.
func TestNoIndex(t *testing.T) {
	url, _ := aHub(t, "127.0.0.1:0")
	publishedTo(t, url, "--no-index")
	if got := command(t, nil, "print", url+"?until=now", "--format", "jsonl", "--status", "malformed"); got.stdout != "" || got.code != 0 {
		t.Error(got)
	}
	if got := command(t, nil, "print", url+"?until=now", "--format", "jsonl"); strings.Count(got.stdout, `"status":"malformed"`) != 2 {
		t.Error(got)
	}
}
