//go:build linux && !nohub && !nootlp

package cli

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/redact"
)

// collected is a collector that keeps the ids of the spans that it received. While away is set, it accepts none.
type collected struct {
	url  string
	away atomic.Bool

	mu  sync.Mutex
	ids []string
}

func newCollected(t *testing.T) *collected {
	c := &collected{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, _ := io.ReadAll(unzipped)
		var all trace.TracesData
		if err := proto.Unmarshal(body, &all); err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, r := range all.ResourceSpans {
			for _, s := range r.ScopeSpans {
				for _, span := range s.Spans {
					c.ids = append(c.ids, string(span.SpanId))
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	c.url = s.URL
	return c
}

// wait waits until the collector has the given number of different spans. It returns the number of received spans.
func (c *collected) wait(t *testing.T, want int) (told int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		c.mu.Lock()
		told, got := len(c.ids), len(slices.Compact(slices.Sorted(slices.Values(c.ids))))
		c.mu.Unlock()
		if got == want {
			return told
		}
		if got > want || time.Now().After(end) {
			t.Fatalf("it has %d spans in place of %d", got, want)
		}
	}
}

// putAnswer publishes an exchange with one call and waits until the hub has it.
func putAnswer(t *testing.T, p *fleet.Publisher, exchange int) {
	t.Helper()
	put(t, p, exchange, []byte(anthropicAnswer))
}

// put publishes an exchange with this response and waits until the hub has it.
func put(t *testing.T, p *fleet.Publisher, exchange int, answer []byte) {
	t.Helper()
	keep := redact.KeepAll()
	r := capture.Record{Exchange: exchange, Head: &capture.Head{URL: "/v1/messages", Status: 200, Start: time.Now()}, Data: answer, End: capture.EndEOF}
	for _, c := range keep.Take(r) {
		p.Put(c)
	}
	for end := time.Now().Add(20 * time.Second); p.State().Records < int64(exchange) || p.Progress().Spooled > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it is not sent: %+v", p.Progress())
		}
	}
}

// TestHubTraces checks that a collector receives all turns from a hub. These include turns that arrive while the hub
// starts. They also include turns that a previous run did not send, because it ended, was killed, or had no
// collector. After a restart, old turns must not be sent again.
func TestHubTraces(t *testing.T) {
	builtProgram(t) // build before the goroutine starts
	to, addr, store := newCollected(t), nobodyAt(t), t.TempDir()
	p, _, err := fleet.Publish(time.Now(), fleet.PublishOptions{Server: "nats://" + addr, Host: "a", Agent: "b", Spool: t.TempDir(), Limit: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		putAnswer(t, p, 1)
	}()
	hub := hubAt(t, addr, store, "--otlp", to.url)
	<-sent
	to.wait(t, 2)

	to.away.Store(true)
	putAnswer(t, p, 2)
	hub.signal(syscall.SIGKILL)
	hub.exit()
	to.away.Store(false)
	hub = hubAt(t, addr, store, "--otlp", to.url)
	to.wait(t, 4)

	putAnswer(t, p, 3)
	hub.signal(syscall.SIGTERM)
	hub.exit()
	told := to.wait(t, 6)
	hub = hubAt(t, addr, store, "--otlp", to.url)
	putAnswer(t, p, 4)
	if again := to.wait(t, 8) - told; again > 4 {
		t.Errorf("%d spans are told after a start that went on", again)
	}
	hub.signal(syscall.SIGTERM)
}

// TestHubTracesEnd checks that an ending hub does not wait for a slow collector. The next start must send the
// remaining turns.
func TestHubTracesEnd(t *testing.T) {
	t.Parallel()
	var told atomic.Int32
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		told.Add(1)
		time.Sleep(3 * time.Second)
	}))
	t.Cleanup(slow.Close)
	addr := nobodyAt(t)
	hub := hubAt(t, addr, t.TempDir(), "--otlp", slow.URL)
	p, _, err := fleet.Publish(time.Now(), fleet.PublishOptions{Server: "nats://" + addr, Host: "a", Agent: "b", Spool: t.TempDir(), Limit: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	const calls = 5000 // enough spans for ten requests
	var answer []string
	for i := range calls {
		answer = append(answer, fmt.Sprintf(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":"c%d","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`, i, i))
	}
	put(t, p, 1, chat(append(answer, finishChunk, "[DONE]")...))
	for end := time.Now().Add(20 * time.Second); told.Load() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it tells nothing")
		}
	}
	hub.signal(syscall.SIGTERM)
	hub.wantExit(exitGaps)
}
