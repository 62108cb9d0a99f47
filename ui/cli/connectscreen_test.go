//go:build linux

package cli

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hanging returns a handler that writes the string begin and then waits. The handler reports when the client has
// left.
func hanging(begin string, left chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", events)
		_, _ = io.WriteString(w, begin)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		left <- struct{}{}
	}
}

func waitFor(t *testing.T, left <-chan struct{}) {
	t.Helper()
	select {
	case <-left:
	case <-time.After(20 * time.Second):
		t.Error("the request was not cancelled")
	}
}

// TestConnectInterrupted checks that a signal cancels all requests, and that the data received until then is printed.
func TestConnectInterrupted(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		left := make(chan struct{}, 2)
		first, _ := provider(t, hanging(anthropicAnswer, left))
		second, _ := provider(t, hanging(turnOfChat("look_up"), left))
		p := start(t, launch{
			args: []string{"connect", "anthropic,openai-chat", "--format", "text", "hi"},
			env:  []string{"ANTHROPIC_API_KEY=" + canary, "ANTHROPIC_BASE_URL=" + first, "OPENAI_BASE_URL=" + second}, w: 200, h: 50,
		})
		p.untilShown("get_weather")
		p.untilShown("look_up")
		p.signal(sig)
		p.wantExit(128 + int(sig))
		waitFor(t, left)
		waitFor(t, left)
		if p.shows(canary) {
			t.Error(p.describe())
		}
	}
}

// TestConnectScreen checks that the response is shown while it arrives. Leaving the screen must cancel the request,
// and must not count as a failure.
func TestConnectScreen(t *testing.T) {
	left := make(chan struct{}, 1)
	url, _ := provider(t, hanging(anthropicAnswer[:strings.Index(anthropicAnswer, "event: content_block_stop")], left))
	p := start(t, launch{
		args: []string{"connect", "anthropic", "--base-url", url, "hi"}, env: []string{"ANTHROPIC_API_KEY=" + canary}, w: 120,
	})
	p.untilShown("get_weather")
	p.untilShown("Oslo")
	p.keys("q")
	p.wantExit(0)
	p.wantRestored()
	waitFor(t, left)
}

// TestConnectScreenError checks that the provider's message is on the screen, and on stderr after the screen is
// closed.
func TestConnectScreenError(t *testing.T) {
	url, _ := provider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key `+canary+`"}}`)
	})
	errs := create(t, t.TempDir(), "err")
	p := start(t, launch{
		args: []string{"connect", "anthropic", "--base-url", url, "hi"}, env: []string{"ANTHROPIC_API_KEY=" + canary}, w: 160, stderr: errs,
	})
	p.untilShown("invalid x-api-key")
	if p.shows(canary) {
		t.Error(p.describe())
	}
	p.keys("q")
	p.wantExit(1)
	p.wantRestored()
	if said := contents(t, errs); !strings.Contains(said, "HTTP 401") || !strings.Contains(said, "invalid x-api-key") || strings.Contains(said, canary) {
		t.Errorf("stderr: %q", said)
	}
}
