//go:build !nootlp

package otlp

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// partial returns an ExportTraceServiceResponse with the given number of rejected spans.
func partial(rejected int64, words string) string {
	part := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(rejected))
	part = protowire.AppendString(protowire.AppendTag(part, 2, protowire.BytesType), words)
	return string(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), part))
}

// TestAnswers checks that spans count as accepted only after a response in the protocol's format. No count
// exceeds the number of sent spans, and warnings are reported.
func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		status            int
		kind, body        string
		taken, refused    int64
		trouble, location string
	}{
		{status: 200, taken: 10},
		{status: 202, kind: "text/plain", taken: 10},
		{status: 200, kind: protobuf, body: partial(3, "too old"), taken: 7, refused: 3, trouble: "rejected: too old"},
		{status: 200, kind: protobuf + "; charset=utf-8", body: partial(1000, "all"), refused: 10, trouble: "rejected: all"},
		{status: 200, kind: protobuf, body: partial(-5, ""), taken: 10},
		{status: 200, kind: protobuf, body: partial(0, "soon full"), taken: 10, trouble: "warning: soon full"},
		{status: 200, kind: protobuf, body: "\xff\xff", refused: 10, trouble: "200 OK, but this is not a collector's response"},
		{status: 200, kind: "application/json", body: `{}`, taken: 10},
		{status: 200, kind: "application/json", body: `{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"},"x":1}`, taken: 8, refused: 2, trouble: "rejected: no"},
		{status: 200, kind: "application/json", body: `{"partialSuccess":{"rejectedSpans":2}}`, taken: 8, refused: 2, trouble: "rejected: no reason given"},
		{status: 200, kind: "application/json", body: `OK`, refused: 10, trouble: "200 OK, but this is not a collector's response"},
		{status: 200, kind: "text/html; charset=utf-8", body: "<html>", refused: 10, trouble: `"text/html"`},
		{status: 302, location: "/elsewhere", refused: 10, trouble: "302 Found: redirects are not followed"},
		{status: 401, kind: "application/json", body: "no key", refused: 10, trouble: "401 Unauthorized no key"},
		{status: 401, kind: protobuf, body: "\x08\x10\x12\x06no key", refused: 10, trouble: "401 Unauthorized no key"},
		{status: 401, kind: "text/plain; charset=utf-8", body: "no key", refused: 10, trouble: "401 Unauthorized no key"},
		{status: 401, kind: "text/html", body: "<html>", refused: 10, trouble: "401 Unauthorized"},
	} {
		var requests atomic.Int32
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			w.Header().Set("Content-Type", test.kind)
			if test.location != "" {
				w.Header().Set("Location", test.location)
			}
			w.WriteHeader(test.status)
			_, _ = io.WriteString(w, test.body)
		}))
		to := sender(t, Options{Endpoint: s.URL})
		to.Put(spans(10, 10))
		state := closed(t, to, time.Minute)
		if state.Taken != test.taken || state.Refused != test.refused || requests.Load() != 1 || !strings.HasPrefix(state.Trouble, test.trouble) && !strings.Contains(state.Trouble, test.trouble) {
			t.Errorf("%d %s %q: %d requests, %+v", test.status, test.kind, test.body, requests.Load(), state)
		}
		if test.trouble == "" && state.Trouble != "" {
			t.Errorf("%d %s %q: %s", test.status, test.kind, test.body, state.Trouble)
		}
		s.Close()
	}
}

// TestBrokenOff checks that accepted spans are not resent if only part of the response arrives.
func TestBrokenOff(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var requests atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			requests.Add(1)
			_, _ = c.Read(make([]byte, 1<<16))
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nno")
			c.Close()
		}
	}()
	s := sender(t, Options{Endpoint: "http://" + l.Addr().String()})
	s.Put(spans(1, 10))
	if state := closed(t, s, time.Second); state.Taken != 1 || requests.Load() != 1 || !strings.Contains(state.Trouble, "did not arrive") {
		t.Errorf("%d requests, %+v", requests.Load(), state)
	}
}

// TestPageOfHTML checks that an HTML page is not accepted as a response, regardless of its length. A response that
// is too long is reported as too long.
func TestPageOfHTML(t *testing.T) {
	for kind, want := range map[string]State{
		"text/html": {Refused: 1, Trouble: `200 OK, but this is not a collector's response: the body has the type "text/html"`},
		protobuf:    {Taken: 1, Trouble: "200 OK, but the rest of the response was not read: it is larger than 4194304 bytes"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, strings.Repeat("x", maxResponseBytes+1))
		}))
		to := sender(t, Options{Endpoint: s.URL})
		to.Put(spans(1, 10))
		if state := closed(t, to, time.Minute); state != want {
			t.Errorf("%s: %+v", kind, state)
		}
		s.Close()
	}
}

// TestSecretsSaidBack checks that a key that the collector received is removed from the collector's reported text,
// even if the text is cut.
func TestSecretsSaidBack(t *testing.T) {
	getenv := func(name string) string {
		return map[string]string{headersOfAll: "Authorization=Bearer%20geheim-geheim,X-N=401"}[name]
	}
	for status, words := range map[int]string{
		401: "no such key: Bearer geheim-geheim", 403: "no such key: geheim-geheim", 400: strings.Repeat("x", maxErrorTextBytes-6) + "geheim-geheim", 200: "soon no more: geheim-geheim",
	} {
		for _, kind := range []string{protobuf, "text/plain", "application/json"} {
			body := words
			switch {
			case status == 200 && kind == protobuf:
				body = partial(0, words)
			case status == 200:
				body = `{"partialSuccess":{"errorMessage":"` + words + `"}}`
			case kind == protobuf:
				body = string(protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), words))
			}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", kind)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
			}))
			to := sender(t, Options{Endpoint: s.URL, Getenv: getenv})
			to.Put(spans(1, 10))
			if state := closed(t, to, time.Minute); strings.Contains(state.Trouble, "gehei") || !strings.Contains(state.Trouble, words[:10]) && !(status == 200 && kind == "text/plain") || status == 401 && !strings.HasPrefix(state.Trouble, "401 ") {
				t.Errorf("%d, %s: %+v", status, kind, state)
			}
			s.Close()
		}
	}
}

// TestRetryAfter checks that delays are accepted in seconds and as dates, up to 5 minutes.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-7": 0, "soon": 0, "100000000000": 5 * time.Minute, "90": 90 * time.Second,
		now.Add(9 * time.Second).Format(http.TimeFormat): 9 * time.Second, now.Add(-time.Hour).Format(http.TimeFormat): 0,
		now.Add(time.Hour).Format(http.TimeFormat): 5 * time.Minute,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: %s, not %s", text, got, want)
		}
	}
}

// TestLastAttempt checks that Close starts a delayed retry at once.
func TestLastAttempt(t *testing.T) {
	url, got := counted(t, func(n int, w http.ResponseWriter) {
		if n == 1 {
			w.Header().Set("Retry-After", "300")
			w.WriteHeader(503)
			return
		}
		w.WriteHeader(200)
	})
	turnedAway := make(chan bool, 1)
	s := sender(t, Options{Endpoint: url, Report: func(string) { turnedAway <- true }})
	s.Put(spans(10, 10))
	<-turnedAway
	if state := closed(t, s, 30*time.Second); state.Taken != 10 || got.Load() != 10 || state.Trouble != "" {
		t.Errorf("%+v", state)
	}
}

// TestFinish checks that Finish sends all spans, however long this takes, and gives up if the collector stalls.
func TestFinish(t *testing.T) {
	url, got := counted(t, func(n int, w http.ResponseWriter) { w.WriteHeader(map[bool]int{true: 503, false: 200}[n < 3]) })
	s := sender(t, Options{Endpoint: url})
	s.Put(spans(2000, 10))
	s.Finish()
	if state := s.State(); state.Taken != 2000 || got.Load() != 2000 || state.Waiting != 0 {
		t.Errorf("%+v", state)
	}
	url, _ = counted(t, func(_ int, w http.ResponseWriter) { w.WriteHeader(503) })
	turnedAway := make(chan bool, 1)
	s = sender(t, Options{Endpoint: url, StallTimeout: 20 * time.Millisecond, Report: func(string) { turnedAway <- true }})
	s.Put(spans(10, 10))
	<-turnedAway
	s.Finish()
	if state := s.State(); state.Left != 10 || state.Waiting != 0 || !strings.HasPrefix(state.Trouble, "503 ") {
		t.Errorf("%+v", state)
	}
}

// TestRoomInFlight checks that spans in a request keep their space in the queue until the outcome of the request is
// known.
func TestRoomInFlight(t *testing.T) {
	arrived, release := make(chan bool), make(chan bool)
	url, _ := counted(t, func(n int, w http.ResponseWriter) {
		if n == 1 {
			arrived <- true
			<-release
		}
		w.WriteHeader(200)
	})
	s := sender(t, Options{Endpoint: url, MaxQueueBytes: 20_000})
	s.Put(spans(1000, 1000))
	full := s.State().Waiting
	<-arrived
	s.Put(spans(1000, 1000))
	if now := s.State().Waiting; now != full {
		t.Errorf("%d wait where there is room for %d", now, full)
	}
	close(release)
	if state := closed(t, s, time.Minute); state.Taken != full || s.freeBytes != 20_000 {
		t.Errorf("%+v, and room for %d bytes", state, s.freeBytes)
	}
}

// TestEnvironment checks that variables for the watched program change neither the URL nor the encryption. Only
// headers are read from variables.
func TestEnvironment(t *testing.T) {
	env := map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/x", "OTEL_EXPORTER_OTLP_INSECURE": "true",
		"OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere", "OTEL_EXPORTER_OTLP_COMPRESSION": "none", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
		"OTEL_EXPORTER_OTLP_HEADERS": "X-A=1, Authorization=Bearer%20one,", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "authorization=Bearer two=2",
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
	getenv := func(name string) string { return env[name] }
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		if n := spansOf(t, r); n != 10 {
			t.Errorf("%d spans", n)
		}
	}))
	defer server.Close()
	s := sender(t, Options{Endpoint: server.URL, Getenv: getenv})
	s.Put(spans(10, 10))
	if state := closed(t, s, time.Minute); state.Taken != 10 || got.Get("X-A") != "1" || got.Get("Authorization") != "Bearer two=2" {
		t.Errorf("%+v\n%v", state, got)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s = sender(t, Options{Endpoint: "https://" + l.Addr().String(), Getenv: getenv})
	s.Put(spans(1, 10))
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(c, first); err != nil || first[0] != 0x16 { // a TLS handshake
		t.Errorf("%q went out in the clear: %v", first, err)
	}
	c.Close()
	closed(t, s, time.Millisecond)
}

// TestWrongHeaders checks that an error gives the number of the invalid header and does not quote it.
func TestWrongHeaders(t *testing.T) {
	for text, n := range map[string]int{
		"Authorization: Bearer geheim": 1, "X-A=1,Authorization=%zzgeheim": 2, "X-A=1,,geheim geheim=2": 3, "A=geheim%0d%0aX:1": 1, "=geheim": 1,
	} {
		_, err := New(Options{Endpoint: "http://127.0.0.1:1", Getenv: func(name string) string { return map[string]string{headersOfAll: text}[name] }})
		if err == nil || strings.Contains(err.Error(), "geheim") || !strings.Contains(err.Error(), fmt.Sprintf("pair %d of OTEL_EXPORTER_OTLP_HEADERS", n)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
