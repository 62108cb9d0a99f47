//go:build !nootlp

package otlp

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"toolscope/ui/report"
)

// spans returns n spans of the given size in bytes.
func spans(n, size int) (all []report.Span) {
	for i := range n {
		s := report.Span{Name: fmt.Sprint("chat ", i), Began: time.Unix(1, 0), Ended: time.Unix(2, 0)}
		s.Trace[0], s.ID[0], s.ID[1] = 1, byte(i), byte(i>>8)
		s.Attributes = []report.Attribute{{Key: "text", Value: strings.Repeat("x", size) + "\xff"}}
		all = append(all, s)
	}
	return all
}

// counted starts a collector with the given handler and counts the spans in each request.
func counted(t *testing.T, answer func(n int, w http.ResponseWriter)) (url string, got *atomic.Int64) {
	t.Helper()
	got = new(atomic.Int64)
	requests := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		n := spansOf(t, r)
		answer(requests, &counting{w, got, n})
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

// counting counts the spans in a request, and responds with 200.
type counting struct {
	http.ResponseWriter
	got *atomic.Int64
	n   int64
}

func (c *counting) WriteHeader(status int) {
	if status == http.StatusOK {
		c.got.Add(c.n)
	}
	c.ResponseWriter.WriteHeader(status)
}

func spansOf(t *testing.T, r *http.Request) (n int64) {
	t.Helper()
	unzipped, err := gzip.NewReader(r.Body)
	if err != nil {
		t.Error(err)
		return 0
	}
	body, err := io.ReadAll(unzipped)
	if err != nil || r.URL.Path != "/v1/traces" {
		t.Errorf("%s: %v", r.URL, err)
	}
	var all trace.TracesData
	if err := proto.Unmarshal(body, &all); err != nil {
		t.Error(err)
	}
	for _, r := range all.ResourceSpans {
		for _, s := range r.ScopeSpans {
			n += int64(len(s.Spans))
		}
	}
	return n
}

func sender(t *testing.T, o Options) *Sender {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// closed closes a sender and returns its state. It fails the test if spans still wait.
func closed(t *testing.T, s *Sender, within time.Duration) State {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	s.Close(ctx)
	if s.State().Waiting != 0 {
		t.Errorf("still wait: %+v", s.State())
	}
	return s.State()
}

// TestTaken checks that all spans arrive, even if they need more than one request.
func TestTaken(t *testing.T) {
	url, got := counted(t, func(_ int, w http.ResponseWriter) { w.WriteHeader(200) })
	s := sender(t, Options{Endpoint: url})
	s.Put(spans(5000, 1000))
	state := closed(t, s, time.Minute)
	if state.Taken != 5000 || got.Load() != 5000 || state.Missing() != 0 || state.Trouble != "" {
		t.Errorf("%d came; %+v", got.Load(), state)
	}
}

// TestAskedAgain checks that a request to a busy collector is retried after the delay that the collector requests.
func TestAskedAgain(t *testing.T) {
	var asked [3]time.Time
	url, got := counted(t, func(n int, w http.ResponseWriter) {
		asked[min(n, 2)] = time.Now()
		if n == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(503)
			return
		}
		w.WriteHeader(200)
	})
	var said atomic.Int32
	s := sender(t, Options{Endpoint: url, Report: func(string) { said.Add(1) }})
	s.Put(spans(10, 10))
	for s.State().Waiting > 0 {
		s.awaitProgress(nil)
	}
	if state := closed(t, s, time.Minute); state.Taken != 10 || got.Load() != 10 || state.Trouble != "" || said.Load() != 1 {
		t.Errorf("%+v, said %d times", state, said.Load())
	}
	if after := asked[2].Sub(asked[1]); after < time.Second {
		t.Errorf("asked again after %s", after)
	}
}

// TestTooLarge checks that a request that is too large is split, and that a single span that is too large counts as
// refused.
func TestTooLarge(t *testing.T) {
	url, got := counted(t, func(_ int, w http.ResponseWriter) {
		if w.(*counting).n > 3 {
			w.WriteHeader(413)
			return
		}
		w.WriteHeader(200)
	})
	s := sender(t, Options{Endpoint: url})
	s.Put(spans(100, 10))
	if state := closed(t, s, time.Minute); state.Taken != 100 || got.Load() != 100 {
		t.Errorf("%+v", state)
	}
	url, _ = counted(t, func(_ int, w http.ResponseWriter) { w.WriteHeader(413) })
	s = sender(t, Options{Endpoint: url})
	s.Put(spans(5, 10))
	if state := closed(t, s, time.Minute); state.Refused != 5 {
		t.Errorf("%+v", state)
	}
}

// TestNoRoom checks that spans for which the queue has no room are counted, and that each span is in exactly
// one count.
func TestNoRoom(t *testing.T) {
	release := make(chan struct{})
	url, got := counted(t, func(_ int, w http.ResponseWriter) { <-release; w.WriteHeader(200) })
	s := sender(t, Options{Endpoint: url, MaxQueueBytes: 100_000})
	s.Put(spans(1000, 1000))
	state := s.State()
	if state.Dropped == 0 || state.Waiting == 0 || state.Dropped+state.Waiting != 1000 {
		t.Errorf("%+v", state)
	}
	close(release)
	after := closed(t, s, time.Minute)
	if after.Taken != state.Waiting || after.Dropped != state.Dropped || got.Load() != after.Taken {
		t.Errorf("%d came; %+v", got.Load(), after)
	}
}

// TestAwait checks that no spans are lost while a caller waits, even if the collector is busy at first. Await must
// not block if the collector accepts nothing.
func TestAwait(t *testing.T) {
	url, got := counted(t, func(n int, w http.ResponseWriter) { w.WriteHeader(map[bool]int{true: 429, false: 200}[n == 1]) })
	s := sender(t, Options{Endpoint: url, MaxQueueBytes: 20_000})
	for _, one := range spans(300, 1000) {
		s.Await(nil)
		s.Put([]report.Span{one})
	}
	if state := closed(t, s, time.Minute); state.Taken != 300 || got.Load() != 300 {
		t.Errorf("%+v", state)
	}
	url, _ = counted(t, func(_ int, w http.ResponseWriter) { w.WriteHeader(503) })
	s = sender(t, Options{Endpoint: url, MaxQueueBytes: 20_000, StallTimeout: 50 * time.Millisecond})
	for _, one := range spans(300, 1000) {
		s.Await(nil)
		s.Put([]report.Span{one})
	}
	if state := closed(t, s, time.Millisecond); state.Missing() != 300 || state.Dropped == 0 {
		t.Errorf("%+v", state)
	}
}

// TestAwaitEnd checks that Await returns when end is closed, even if the collector is busy.
func TestAwaitEnd(t *testing.T) {
	release, end := make(chan struct{}), make(chan struct{})
	url, _ := counted(t, func(_ int, w http.ResponseWriter) { <-release })
	s := sender(t, Options{Endpoint: url, MaxQueueBytes: 20_000, StallTimeout: time.Hour})
	s.Put(spans(300, 1000))
	close(end)
	s.Await(end)
	if s.State().Waiting == 0 {
		t.Error("it waited for the collector")
	}
	close(release)
	closed(t, s, time.Minute)
}

// TestGone checks that neither Put nor Close blocks if no collector listens, or if a collector accepts a connection
// but never responds.
func TestGone(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for name, at := range map[string]string{"gone": gone.Addr().String(), "silent": silent.Addr().String()} {
		s := sender(t, Options{Endpoint: "http://" + at, Report: func(why string) {
			if name == "silent" {
				t.Errorf("that it will be tried again is said where it will not: %s", why)
			}
		}})
		s.Put(spans(1000, 100))
		began := time.Now()
		state := closed(t, s, time.Second)
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("%s: the end took %s", name, took)
		}
		if state.Left != 1000 || state.Trouble == "" || name == "gone" && !strings.Contains(state.Trouble, "refused") {
			t.Errorf("%s: %+v", name, state)
		}
	}
}

// TestEndpoint checks that an endpoint must be an HTTP URL without secrets.
func TestEndpoint(t *testing.T) {
	for text, want := range map[string]string{
		"http://a:4318": "http://a:4318/v1/traces", "https://a/otlp/": "https://a/otlp/v1/traces", "http://a/v1/traces": "http://a/v1/traces",
		"a:4317": "", "grpc://a:4317": "", "http://u:geheim@a": "", "http://a?key=geheim": "", "http://": "", "http://a:geheim": "",
	} {
		u, err := (&Options{Endpoint: text}).endpointURL()
		if err == nil && u.String() != want || err != nil && (want != "" || strings.Contains(err.Error(), "geheim")) {
			t.Errorf("%s: %v, %v", text, u, err)
		}
	}
}
