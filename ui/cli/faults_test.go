//go:build linux

package cli

import (
	"strings"
	"syscall"
	"testing"

	"toolscope/capture"
)

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
