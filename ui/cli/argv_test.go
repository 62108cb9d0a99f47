package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

// The secrets in these command lines have no recognisable form. Each of them is recognised only by the flag before
// it.
const (
	argvKey      = "sk-" + "hunter2xyz"
	argvPassword = "pw-short"
)

// wantHidden checks that text contains a replacement and none of the secrets.
func wantHidden(t *testing.T, place, text string) {
	t.Helper()
	shown := strings.Contains(text, argvKey) || strings.Contains(text, argvPassword)
	if shown || !strings.Contains(text, "[redacted:") {
		t.Errorf("%s: %s", place, text)
	}
}

// TestLaunchHidesArgv checks that the notes that run prints hide the secrets in its own command line and in the
// command lines of servers.
func TestLaunchHidesArgv(t *testing.T) {
	lacks := func(command string, env map[string]string, servers ...mcpServer) string {
		o := newClientLaunch(strings.Fields(command), func(name string) string { return env[name] })
		if o.servers = servers; len(servers) == 0 {
			o.findServers(t.Context())
		}
		o.wrapServers("/r.mcp")
		return strings.Join(o.lacks, "\n")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("PATH", t.TempDir()) // servers can't be listed, because the program is not found
	wantHidden(t, "list", lacks("npx --api-key "+argvKey+" codex --password "+argvPassword, nil))
	wantHidden(t, "prefix", lacks("claude", map[string]string{shellPrefix: "wrap --password=" + argvPassword}))
	srv := []string{"srv", "--api-key", argvKey, "-u", "bob:" + argvPassword}
	got := lacks("gemini", nil, mcpServer{name: "files", command: srv, file: "s.json"})
	wantHidden(t, "server", got)
	if !strings.Contains(got, `"--","srv","--api-key","[redacted:`) {
		t.Error(got)
	}
}

// TestUnstartedHidesArgv checks that secrets are hidden in the errors about commands that can't be started, and in
// their captures.
func TestUnstartedHidesArgv(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(runFolder, folder)
	t.Setenv("HOME", folder)
	got := command(t, nil, "run", "--", "API_KEY="+argvKey, "agent")
	wantHidden(t, "run", got.stderr)
	if !strings.Contains(got.stderr, "API_KEY=") || got.code != exitNoCommand {
		t.Errorf("%+v", got)
	}
	got = command(t, nil, "mcp", "--", "API_KEY="+argvKey, "srv", "--password", argvPassword)
	wantHidden(t, "mcp", got.stderr)
	if got.code != exitNoCommand {
		t.Errorf("%+v", got)
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*.tsc"))
	if len(files) != 1 {
		t.Fatalf("%q", files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(text), "can't start it") {
		t.Errorf("%s, %v", text, err)
	}
	wantHidden(t, "capture", files[0]+string(text))
}

// argvCapture returns a capture that was recorded without a redactor.
func argvCapture() []capture.Record {
	list, _ := json.Marshal([]string{"srv", "--api-key", argvKey, "--password", argvPassword, "--root", "/home"})
	head := &capture.Head{Method: capture.Stdio, URL: "mcp:srv", Start: time.Unix(0, 0)}
	return []capture.Record{
		{Exchange: 1, Side: capture.Request, Note: capture.Argv + string(list), Head: head},
		{Exchange: 1, End: capture.EndEOF},
	}
}

// TestExportHidesArgv checks that a redacted export hides the secrets in a command line.
func TestExportHidesArgv(t *testing.T) {
	src := func(yield func(capture.Record, error) bool) {
		for _, rec := range argvCapture() {
			if !yield(rec, nil) {
				return
			}
		}
	}
	text := ""
	for rec, err := range redactedSource(src, newRedactor()) {
		if err != nil {
			t.Fatal(err)
		}
		text += rec.Note
	}
	wantHidden(t, "export", text)
	const begin, end = capture.Argv + `["srv","--api-key","[redacted:`, `"--root","/home"]`
	if !strings.HasPrefix(text, begin) || !strings.HasSuffix(text, end) {
		t.Error(text)
	}
}
