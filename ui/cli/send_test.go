package cli

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolscope/capture"
	"toolscope/providers/host"
)

// TestRedirects checks that a redirect is followed only on the same host. The key must not be sent to another host.
func TestRedirects(t *testing.T) {
	keyless(t)
	other, others := provider(t, answers(events, anthropicAnswer))
	var to string
	url, requests := provider(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			answers(events, anthropicAnswer)(w, r)
			return
		}
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	})
	t.Setenv("ANTHROPIC_API_KEY", canary)
	for i, test := range []struct {
		to   string
		code int
	}{{"/moved", 0}, {other + "/v1/messages", 1}, {"/v1/messages", 1}} {
		to = test.to
		got := command(t, nil, "connect", "anthropic", "--base-url", url, "--format", "text", "hi")
		if got.code != test.code {
			t.Errorf("to %s: %+v", test.to, got)
		}
		if i == 0 && len(requests()) != 2 {
			t.Errorf("asked %d times", len(requests()))
		}
	}
	if len(others()) > 0 {
		t.Error("another host was asked")
	}
}

// TestFirstByte checks that toolscope stops waiting for a provider that is silent for too long, and that other
// providers are not affected.
func TestFirstByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := preparedRequest{label: "slow", host: &host.All[0], url: "http://slow.test/"}
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}
		began := time.Now()
		var last capture.Record
		for r, err := range q.responseSource(context.Background(), client, began, time.Minute) {
			if err != nil {
				t.Fatal(err)
			}
			last = r
		}
		if last.End != capture.EndCut || !strings.Contains(last.Why, "within 1m0s") || time.Since(began) != time.Minute {
			t.Errorf("%+v after %s", last, time.Since(began))
		}
	})
}

// TestFirstByteCame checks that the time limit applies to the first byte, not to the last.
func TestFirstByteCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := preparedRequest{label: "long", host: &host.All[0], url: "http://long.test/"}
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			out, in := io.Pipe()
			go func() {
				_, _ = io.WriteString(in, anthropicAnswer[:100])
				time.Sleep(time.Hour)
				_, _ = io.WriteString(in, anthropicAnswer[100:])
				in.Close()
			}()
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: out}, nil
		})}
		size := 0
		var last capture.Record
		for r, err := range q.responseSource(context.Background(), client, time.Now(), time.Minute) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Side == capture.Response {
				size += len(r.Data)
			}
			last = r
		}
		if last.End != capture.EndEOF || size != len(anthropicAnswer) {
			t.Errorf("%+v, %d bytes", last, size)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
