//go:build linux

package cli

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"toolscope/capture"
)

// TestProxyBreak checks that a response is held before its client receives the call. The screen must show the held
// response, pass one event on, and then resume the response. The capture must note the hold.
func TestProxyBreak(t *testing.T) {
	upstream, _ := provider(t, answers(events, anthropicAnswer))
	recording := filepath.Join(t.TempDir(), "a.tsc")
	p := start(t, launch{w: 120, h: 30, args: []string{"proxy", "--to", "anthropic=" + upstream, "--record", recording, "--break", "tool:get_weather"}})
	resp, err := http.Post(urlOf(p)+"/anthropic/v1/messages", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	open := strings.Index(anthropicAnswer, "event: content_block_start")
	got := make([]byte, open)
	if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != anthropicAnswer[:open] {
		t.Fatalf("the client has %q, %v", got, err)
	}
	p.untilShown("HELD 1 for")
	p.keys("b")
	p.untilShown("get_weather, waiting")
	p.untilShown("event: content_block_start")
	p.keys(".")
	p.untilShown("event: content_block_delta")
	p.keys("\r")
	rest, err := io.ReadAll(resp.Body)
	if all := string(got) + strings.ReplaceAll(string(rest), ": toolscope holds this response\n\n", ""); all != anthropicAnswer || err != nil {
		t.Errorf("the client has %q, %v", all, err)
	}
	p.untilShown("nothing is held:")
	p.keys("q")
	p.untilShown("Wire ")
	p.untilShown("complete")
	p.keys("q")
	_, _ = p.master.WriteString("w") // q asks while the response is open: wait, then quit
	p.wantExit(0)
	p.wantRestored()
	if got := command(t, nil, "print", "--format", "jsonl", recording); !strings.Contains(got.stdout, `"code":"HELD","severity":"info","by":"toolscope"`) || !strings.Contains(got.stdout, `"status":"complete"`) {
		t.Errorf("%s\n%s", got.stdout, got.stderr)
	}
}

// TestProxyBreakRefuses checks that a breakpoint without a screen and a breakpoint with an invalid filter are
// refused.
func TestProxyBreakRefuses(t *testing.T) {
	for _, c := range []struct {
		says string
		args []string
	}{
		{"--break: needs the screen", []string{"proxy", "--headless", "--break", "tool:x"}},
		{"--break: needs the screen", []string{"run", "--break", "tool:x", "--", "true"}},
	} {
		if out := command(t, nil, c.args...); out.code != 2 || !strings.Contains(out.stderr, c.says) {
			t.Errorf("%q: %d %s", c.args, out.code, out.stderr)
		}
	}
	p := start(t, launch{args: []string{"proxy", "--break", "tols:x"}})
	p.wantExit(2)
	if !p.shows("tols") {
		t.Error(p.describe())
	}
}

// TestProxyFault checks that the client gets the response with the injected fault. The provider's response must be
// printed, and the finding must name toolscope.
func TestProxyFault(t *testing.T) {
	upstream, _ := provider(t, answers(events, anthropicAnswer))
	p := proxied(t, "--to", upstream, "--fault", "empty-args", "--headless", "--format", "jsonl", "--no-record")
	_, body, err := post(t, p.url+"/v1/messages")
	if err != nil || body == anthropicAnswer || strings.Contains(body, `"partial_json":"{`) || !strings.Contains(body, "message_stop") {
		t.Errorf("%q, %v", body, err)
	}
	got := p.ended(syscall.SIGTERM)
	calls, turns := got.decode(t)
	if len(calls) != 1 || calls[0].Status != "complete" || len(turns) != 1 || !strings.Contains(got.stdout, `"code":"BENT","severity":"warn","by":"toolscope"`) {
		t.Errorf("%s\n%s", got.stdout, got.stderr)
	}
	if !strings.Contains(got.stdout, `"message":"`+capture.FaultedNote) {
		t.Errorf("the words of the note are not those of the finding: %s", got.stdout)
	}
	if !strings.Contains(got.stderr, "toolscope injects faults into the responses: --fault empty-args") {
		t.Error(got.stderr)
	}
	for _, args := range [][]string{{"proxy", "--fault", "cat"}, {"run", "--fault", "cat", "--", "true"}} {
		if out := command(t, nil, args...); out.code != 2 || !strings.HasPrefix(out.stderr, "toolscope: --fault: unknown fault \"cat\"\n") {
			t.Errorf("%q: %d %s", args, out.code, out.stderr)
		}
	}
}
