package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"toolscope/capture"
)

// onceUpstream starts an upstream that answers one request on each connection. It reads the next request completely,
// writes ending, and closes the connection.
func onceUpstream(t *testing.T, requests *atomic.Int64, ending string) string {
	return upstreamTCP(t, func(c *net.TCPConn, r *bufio.Reader) {
		for first := true; ; first = false {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			body, _ := io.ReadAll(req.Body)
			requests.Add(1)
			if !first {
				io.WriteString(c, ending)
				return
			}
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		}
	})
}

// TestStaleConnection checks that every request gets a response even if the upstream closes each connection at the
// second request on it.
func TestStaleConnection(t *testing.T) {
	var requests atomic.Int64
	d := stand(t, onceUpstream(t, &requests, ""), nil)
	for n := 1; n <= 40; n++ {
		body := strings.Repeat(fmt.Sprint(n), n*1000)
		resp, err := d.client.Post("http://"+d.addr, "text/plain", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 || string(got) != body || err != nil {
			t.Fatalf("request %d: %s, %d bytes, %v", n, resp.Status, len(got), err)
		}
		recs := d.endsWith(n, capture.EndEOF, capture.Provider, "")
		if whole := recorded(recs, capture.Request); whole != body {
			t.Errorf("request %d: recorded %d bytes of %d", n, len(whole), len(body))
		}
		if said := strings.Contains(notes(recs), "the request was sent again"); said != (n%2 == 0) {
			t.Errorf("request %d: notes %q", n, notes(recs))
		}
	}
	if n := requests.Load(); n != 60 {
		t.Errorf("the upstream got %d requests", n)
	}
}

// TestNotSentAgain checks that a request is sent again only if it was sent on a reused connection and got no bytes.
func TestNotSentAgain(t *testing.T) {
	chunked := func(n int) io.Reader { return io.MultiReader(bytes.NewReader(make([]byte, n))) }
	for _, test := range []struct {
		name     string
		ending   string
		body     io.Reader
		used     bool // the connection has had a request before
		status   int
		requests int64 // number of requests that the upstream received
		by       capture.Party
		why      string
	}{
		{"nothing", "", chunked(10), true, 200, 2, capture.Provider, ""},
		{"nothing of a new connection", "", chunked(10), false, 502, 1, capture.Network, "the connection was closed before"},
		{"a part of the head", "HTTP/1.1 200 OK\r\n", chunked(10), true, 502, 1, capture.Network, "the connection was closed before"},
		{"another protocol", "SSH-2.0\r\n\r\n", chunked(10), true, 502, 1, capture.Network, "the response is not HTTP"},
		{"too long", "", chunked(maxKeptBytes + 1), true, 502, 1, capture.Toolscope, "the upstream had closed the idle connection, and the request is too long"},
		{"too long and said so", "", bytes.NewReader(make([]byte, maxKeptBytes+1)), true, 200, 1, capture.Provider, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var requests atomic.Int64
			up := onceUpstream(t, &requests, test.ending)
			if !test.used {
				up = upstreamTCP(t, func(_ *net.TCPConn, r *bufio.Reader) {
					req, _ := http.ReadRequest(r)
					io.Copy(io.Discard, req.Body)
					requests.Add(1)
				})
			}
			d := stand(t, up, nil)
			number := 1
			if test.used {
				io.Copy(io.Discard, d.get("/").Body)
				d.ended(1)
				requests.Store(0)
				number = 2
			}
			resp, err := d.client.Post("http://"+d.addr, "text/plain", test.body)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			io.Copy(io.Discard, resp.Body)
			d.endsWith(number, capture.EndEOF, test.by, test.why)
			if n := requests.Load(); resp.StatusCode != test.status || n != test.requests {
				t.Errorf("%s; the upstream got %d requests", resp.Status, n)
			}
		})
	}
}

// TestStreamErrorIsNotSentAgain checks that a request is not sent again if an HTTP/2 upstream refuses it without
// ending the connection.
func TestStreamErrorIsNotSentAgain(t *testing.T) {
	var requests atomic.Int64
	d := serveHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		if io.Copy(io.Discard, r.Body); requests.Add(1) > 1 {
			panic(http.ErrAbortHandler)
		}
	})
	for n, want := range []int{200, 502} {
		resp, err := d.client.Post("http://"+d.addr, "text/plain", strings.NewReader("hi"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want || requests.Load() != int64(n+1) {
			t.Errorf("request %d: %s; the upstream got %d", n+1, resp.Status, requests.Load())
		}
	}
}

// TestClosedConnectionIsNotReused checks that a client that asks to close its connection gets its own connection to
// the upstream.
func TestClosedConnectionIsNotReused(t *testing.T) {
	d := stand(t, serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Close) }), nil)
	for n, test := range []struct {
		field string
		dials int64
	}{{"", 1}, {"", 1}, {"Connection: close\r\n", 2}, {"connection: Close\r\n", 3}, {"", 3}} {
		c, r := d.raw("GET / HTTP/1.1\r\nHost: localhost\r\n" + test.field + "\r\n")
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(resp.Body); string(body) != fmt.Sprint(test.field != "") || d.dials.Load() != test.dials {
			t.Errorf("request %d: %d dials; closed by the upstream: %s", n+1, d.dials.Load(), body)
		}
		d.ended(n + 1)
		c.Close()
	}
}

// TestOwnLimit checks that a lack of file descriptors is attributed to toolscope.
func TestOwnLimit(t *testing.T) {
	for err, ours := range map[error]bool{syscall.EMFILE: true, syscall.ENFILE: true, syscall.ECONNREFUSED: false} {
		if isOwnLimit(&net.OpError{Op: "dial", Err: err}) != ours {
			t.Errorf("%v is ours: %v", err, !ours)
		}
	}
}
