//go:build linux

package cli

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRunWaitsForOthers checks a client that ends while a process that it started waits for a response. The response
// must still be delivered and recorded, unless a signal arrives.
func TestRunWaitsForOthers(t *testing.T) {
	program := builtProgram(t)
	for _, interrupted := range []bool{false, true} {
		t.Run(fmt.Sprint("interrupted ", interrupted), func(t *testing.T) {
			dir := t.TempDir()
			goOn := make(chan struct{})
			upstream, _ := provider(t, func(w http.ResponseWriter, r *http.Request) {
				create(t, dir, "asked")
				select {
				case <-goOn:
					answers(events, anthropicAnswer)(w, r)
				case <-r.Context().Done():
				}
			})
			rec := filepath.Join(dir, "a.tsc")
			script := fmt.Sprintf("%s connect anthropic/claude-x hi >%s/out 2>&1 & while [ ! -e %[2]s/asked ]; do sleep 0.05; done; exit 7", program, dir)
			p := start(t, launch{
				w: 200, h: 24, args: []string{"run", "--headless", "--to", "anthropic=" + upstream, "--record", rec, "--", "sh", "-c", script},
				env: []string{"ANTHROPIC_API_KEY=x"},
			})
			p.untilShown("sh has ended: waiting for 1 request from processes that it started")
			if interrupted {
				p.signal(syscall.SIGINT)
			} else {
				close(goOn)
			}
			p.wantExit(7)
			if got := command(t, nil, "print", rec); strings.Contains(got.stdout, "get_weather") == interrupted {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestRunNamesOthers checks the note about processes that outlive the client and lose the proxy.
func TestRunNamesOthers(t *testing.T) {
	const words = "processes that sh started are still running, but the proxy has ended"
	dir := t.TempDir()
	script := "(while [ ! -e " + dir + "/stop ]; do sleep 0.05; done) & exit 3"
	p := start(t, launch{w: 200, h: 24, args: []string{"run", "--no-record", "--", "sh", "-c", script}})
	p.untilShown(words)
	create(t, dir, "stop")
	p.wantExit(3)
	p = start(t, launch{w: 200, h: 24, args: []string{"run", "--no-record", "--", "sh", "-c", "sleep 0; exit 3"}})
	p.wantExit(3)
	if strings.Contains(string(p.out), words) {
		t.Errorf("nothing was left: %q", p.out)
	}
}
