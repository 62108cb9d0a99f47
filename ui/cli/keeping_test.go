//go:build linux

package cli

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKept checks that a proxy without --record records to toolscope's own folder, and prunes the folder to its
// limits. With --no-record it must not record.
func TestKept(t *testing.T) {
	upstream, _ := provider(t, answers(events, anthropicAnswer))
	state := t.TempDir()
	dir := filepath.Join(state, "toolscope", "recordings")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, "2026-01-01T00-00-00.tsc")
	if err := os.WriteFile(old, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := time.Now().AddDate(0, 0, -100)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) outcome {
		t.Helper()
		p := proxiedIn(t, []string{"XDG_STATE_HOME=" + state}, append([]string{"--to", "anthropic=" + upstream}, args...)...)
		if status, _, err := post(t, p.url+"/anthropic/v1/messages"); err != nil || status != 200 {
			t.Fatalf("%d, %v", status, err)
		}
		return p.ended(syscall.SIGTERM)
	}
	for _, args := range [][]string{{"--no-record"}, {"--keep-secrets"}, {"--record", filepath.Join(t.TempDir(), "a.tsc")}} {
		run(args...)
		if all, _ := filepath.Glob(filepath.Join(dir, "*")); len(all) != 1 || all[0] != old {
			t.Errorf("%q: %q", args, all)
		}
	}
	out := run("--verbose")
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(all) != 1 || all[0] == old || !strings.Contains(out.stderr, "deleted "+old) {
		t.Fatalf("%q, %q", all, out.stderr)
	}
	if again := command(t, nil, "print", all[0]); again.code != 0 || !strings.Contains(again.stdout, "get_weather") {
		t.Errorf("%+v", again)
	}
	t.Setenv("XDG_STATE_HOME", state)
	if got := recentCaptures(); len(got) != 1 || got[0].Path != all[0] || got[0].Open {
		t.Errorf("%+v", got)
	}
}

// TestRecentScreen checks that, without a source, recent captures are listed and can be opened. If there are no
// captures, the demo must play.
func TestRecentScreen(t *testing.T) {
	state := t.TempDir()
	env := []string{"XDG_STATE_HOME=" + state}
	p := start(t, launch{env: env})
	p.untilShown("demo tour")
	p.keys("q")
	p.wantExit(0)
	upstream, _ := provider(t, answers(events, anthropicAnswer))
	proxy := proxiedIn(t, env, "--to", "anthropic="+upstream)
	if _, _, err := post(t, proxy.url+"/anthropic/v1/messages"); err != nil {
		t.Fatal(err)
	}
	p = start(t, launch{env: env}) // while the capture is being recorded
	p.untilShown("Captures 1")
	p.untilShown("recording")
	p.keys("\r")
	p.untilShown("get_weather")
	p.keys("q")
	p.wantExit(0)
	p.wantRestored()
	proxy.ended(syscall.SIGTERM)
}

// TestNextStep checks that common errors contain advice.
func TestNextStep(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"proxy", "--listen", l.Addr().String(), "--no-record"}, "another program uses this port\nuse --listen 127.0.0.1:0 for a free port"},
		{[]string{"proxy", "--record", saved(t, "a.tsc", "x")}, "file exists\nuse a new file"},
		{[]string{"connect", "anthropic/", "hi"}, "needs a model after the slash\ne.g. anthropic/claude-"},
		{[]string{"proxy", "--kept-size", "many"}, "use at least 1MB"},
		{[]string{"proxy", "--kept-days", "-1"}, "use a number of days"},
	} {
		out := command(t, nil, c.args...)
		if out.code == 0 || !strings.Contains(out.stderr, c.says) || strings.Count(out.stderr, "\n") > 3 {
			t.Errorf("%q: %+v, want %q", c.args, out, c.says)
		}
	}
}
