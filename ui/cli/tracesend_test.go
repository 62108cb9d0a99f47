//go:build linux

package cli

import (
	"bufio"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTraceFollowed checks a followed source that ends with a signal, or when the reader of the output is gone. The
// collector must receive all printed turns, even if it was busy.
func TestTraceFollowed(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGPIPE} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			url, got := collects(t, func(n int) int {
				if n == 1 {
					return http.StatusServiceUnavailable
				}
				return http.StatusOK
			})
			growing := saved(t, "a.sse", string(turnOf("first")))
			out, w := pipe(t)
			p := start(t, launch{args: []string{"print", "-f", growing, "--otlp", url}, stdout: w})
			w.Close()
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if sig == syscall.SIGPIPE {
				out.Close()
			} else {
				p.signal(sig)
			}
			p.wantExit(128 + int(sig))
			if !strings.Contains(got(), "toolscope.tool_call first") {
				t.Errorf("the collector has %d bytes", len(got()))
			}
		})
	}
}

// TestTraceFollowedTrouble checks that failures of the collector are reported while a file is followed, because its
// end may be days away.
func TestTraceFollowedTrouble(t *testing.T) {
	t.Parallel()
	url, _ := collects(t, always(http.StatusServiceUnavailable))
	said, w := pipe(t)
	p := start(t, launch{args: []string{"print", "-f", saved(t, "a.sse", string(turnOf("first"))), "--otlp", url}, stderr: w})
	w.Close()
	if err := said.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil || !strings.Contains(line, "503 Service Unavailable; spans that the collector doesn't accept are sent again") {
		t.Errorf("%q, %v", line, err)
	}
	p.signal(syscall.SIGINT)
	p.wantExit(exitGaps)
}
