//go:build linux && !nohub

package cli

import (
	"strings"
	"testing"
)

// TestAskHub checks the answers about runs on a hub. A run is the data that one agent on one machine published.
func TestAskHub(t *testing.T) {
	url, _ := aHub(t, "127.0.0.1:0")
	if out := command(t, nil, "ask", "runs", url); out.code != 0 || !strings.HasPrefix(out.stdout, "0 runs, newest first\n") {
		t.Errorf("an empty hub: %+v", out)
	}
	publishedTo(t, url)
	for _, c := range []struct{ args, want, not string }{
		{"runs", "1 run, newest first\n", "not read yet"},
		{"runs", "\nweb.1/coder written 20", ""},
		{"problems", "ERROR ARGS_BROKEN by=model web.1/coder#2.1 save_note", ".tsc line"},
		{"call ref=web.1/coder#2.1", "ARGS_BROKEN by=model", ""},
		{"calls run=web.1/coder", "\nweb.1/coder#5.1 save_note", ""},
	} {
		words := strings.Fields(c.args)
		out := command(t, nil, append([]string{"ask", words[0], url}, words[1:]...)...)
		if out.code != 0 || !strings.Contains(out.stdout, c.want) || c.not != "" && strings.Contains(out.stdout, c.not) {
			t.Errorf("%s: %+v", c.args, out)
		}
	}
	if out := command(t, nil, "ask", "runs", url+"?host=other"); !strings.HasPrefix(out.stdout, "0 runs") {
		t.Errorf("another machine: %+v", out)
	}
	if out := command(t, nil, "ask", "runs", url+"?until=1h"); !strings.HasPrefix(out.stdout, "0 runs") {
		t.Errorf("an earlier period: %+v", out)
	}
	if out := command(t, nil, "ask", "runs", url+"?model=m"); out.code != 2 || !strings.Contains(out.stderr, "ask can't select calls by model or state") {
		t.Errorf("an indexed address: %+v", out)
	}
	if out := command(t, nil, "ask", "runs", "nats://127.0.0.1:1"); out.code != 1 || !strings.Contains(out.stderr, "can't list the runs: ") {
		t.Errorf("no hub: %+v", out)
	}
}
