//go:build linux

package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestProxyScreen checks that the empty screen has instructions at any size, and that the screen later shows the
// streaming call and the state of recording. Leaving the screen must end the stream.
func TestProxyScreen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {140, 40}, {40, 10}} {
		left := make(chan struct{}, 1)
		upstream, _ := provider(t, hanging(anthropicAnswer[:strings.Index(anthropicAnswer, "event: content_block_stop")], left))
		dir := t.TempDir()
		p := start(t, launch{w: size[0], h: size[1], args: []string{"proxy", "--to", "anthropic=" + upstream, "--to", "openai=" + upstream, "--to", "gemini=" + upstream, "--record", dir}})
		url := urlOf(p)
		for _, words := range []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "codex -c", "GOOGLE_GEMINI_BASE_URL", "WAITING", "? keys"} {
			p.untilShown(words)
		}
		if size[0] >= 80 {
			p.untilShown("ANTHROPIC_BASE_URL=" + url + "/anthropic")
			p.untilShown("rec 20")
		}
		asked := make(chan error, 1)
		go func() {
			resp, err := http.Post(url+"/anthropic/v1/messages", "application/json", strings.NewReader("{}"))
			if err == nil {
				resp.Body.Close() // at the end of the test
			}
			asked <- err
		}()
		p.untilShown("get_weather")
		if err := <-asked; err != nil {
			t.Error(err)
		}
		waitFor(t, left) // the client has gone
		p.untilShown("aborted")
		p.keys("q")
		p.wantExit(0)
		p.wantRestored()
		if files, _ := filepath.Glob(filepath.Join(dir, "*.tsc")); len(files) != 1 {
			t.Errorf("recorded into %q", files)
		} else if got := command(t, nil, "print", files[0]); got.code != 0 || !strings.Contains(got.stdout, "get_weather") {
			t.Errorf("opened again: %+v", got)
		}
	}
}

// TestProxyScreenRefuses checks that the screen reports a request that the proxy refused.
func TestProxyScreenRefuses(t *testing.T) {
	p := start(t, launch{w: 100, args: []string{"proxy"}})
	url := urlOf(p)
	resp, err := http.Get(url + "/v1/messages?key=" + canary)
	if err != nil || resp.StatusCode != 404 {
		t.Fatalf("%v, %v", resp, err)
	}
	resp.Body.Close()
	p.untilShown("1 refused")
	p.untilShown(`put /anthropic in front of the path`)
	if p.shows(canary) {
		t.Error(p.describe())
	}
	p.keys("q")
	p.wantExit(0)
	p.wantRestored()
}

// TestProxyScreenSignals checks that signals end the proxy during a stream, as they end every screen, and that the
// data so far is recorded.
func TestProxyScreenSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		left := make(chan struct{}, 1)
		upstream, _ := provider(t, hanging(anthropicAnswer[:strings.Index(anthropicAnswer, "event: content_block_stop")], left))
		recording := filepath.Join(t.TempDir(), "a.tsc")
		p := start(t, launch{args: []string{"proxy", "--to", "anthropic=" + upstream, "--record", recording}})
		resp, err := http.Post(urlOf(p)+"/anthropic/v1/messages", "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		p.untilShown("get_weather")
		p.signal(sig)
		p.wantExit(128 + int(sig))
		p.wantRestored()
		waitFor(t, left)
		recorded, err := os.ReadFile(recording)
		if err != nil || !strings.Contains(string(recorded), `"end":"cut","why":"the proxy was closed"`) {
			t.Errorf("%v\n%s", err, recorded)
		}
	}
}
