package proxy

import (
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
)

func TestTrailers(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(w, r.Body)
		w.(http.Flusher).Flush() // trailers need chunks
		w.Header().Set(http.TrailerPrefix+"X-Late", "unannounced")
		w.Header().Set(http.TrailerPrefix+"X-Sent", r.Trailer.Get("X-Sum"))
	})
	d := stand(t, up, nil)
	_, r := d.raw("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 42\r\n\r\n")
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != "hi" || resp.Trailer.Get("X-Late") != "unannounced" || resp.Trailer.Get("X-Sent") != "42" {
		t.Errorf("%q, %v, %v", body, resp.Trailer, err)
	}
}

func TestEarlyHints(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		w.Header()["Content-Type"] = nil
		io.WriteString(w, "done")
	})
	d := stand(t, up, nil)
	var hints []string
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
		hints = append(hints, fmt.Sprint(code, h.Get("Link")))
		return nil
	}})
	req, _ := http.NewRequestWithContext(ctx, "GET", "http://"+d.addr, nil)
	resp, err := d.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if _, typed := resp.Header["Content-Type"]; typed || string(body) != "done" || !slices.Equal(hints, []string{"103</a>"}) {
		t.Errorf("%v, %v, %q", hints, resp.Header, body)
	}
}

// TestExpectContinue checks that the upstream decides whether the client sends the body.
func TestExpectContinue(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/no" {
			w.WriteHeader(http.StatusExpectationFailed)
			return
		}
		io.Copy(w, r.Body)
	})
	d := stand(t, up, nil)
	c, r := d.raw("POST /yes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	if line, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("%q, %v", line, err)
	}
	r.ReadString('\n')
	io.WriteString(c, "hi")
	if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != 200 {
		t.Error(resp, err)
	}
	d.endsWith(1, capture.EndEOF, capture.Provider, "")
	_, r = d.raw("POST /no HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != http.StatusExpectationFailed {
		t.Error(resp, err)
	}
	if whole := recorded(d.ended(2), capture.Request); len(whole) != 0 {
		t.Errorf("%q was sent", whole)
	}
}

// serveHTTP2 starts a proxy in front of an upstream with HTTP/2 over TLS.
func serveHTTP2(t *testing.T, h http.HandlerFunc) *desk {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = quiet
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return stand(t, s.URL, func(o *Options) { o.Roots = roots })
}

func TestHTTP2(t *testing.T) {
	d := serveHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s", r.Proto, body)
		w.(http.Flusher).Flush()
		w.Header().Set(http.TrailerPrefix+"X-Late", "1")
	})
	for n := range 2 {
		resp, err := d.client.Post("http://"+d.addr, "text/plain", strings.NewReader("hi"))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != "HTTP/2.0 hi" || resp.Trailer.Get("X-Late") != "1" {
			t.Errorf("%s %q, %v", resp.Status, body, err)
		}
		if whole := recorded(d.endsWith(n+1, capture.EndEOF, capture.Provider, ""), capture.Response); whole != "HTTP/2.0 hi" {
			t.Errorf("recorded %q", whole)
		}
	}
	if n := d.dials.Load(); n != 1 {
		t.Errorf("%d dials", n)
	}
}

// sendNow sends a part of a response immediately.
func sendNow(w http.ResponseWriter, text string) {
	io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

func TestHTTP2BreaksOff(t *testing.T) {
	left := make(chan bool)
	d := serveHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
		sendNow(w, "data: 1\n\n")
		if r.URL.Path == "/reset" {
			panic(http.ErrAbortHandler)
		}
		<-r.Context().Done()
		close(left)
	})
	if body, err := io.ReadAll(d.get("/reset").Body); string(body) != "data: 1\n\n" || err == nil {
		t.Errorf("%q, %v", body, err)
	}
	d.endsWith(1, capture.EndCut, capture.Network, "stream error")
	resp := d.get("/stay")
	io.ReadFull(resp.Body, make([]byte, 9))
	resp.Body.Close()
	<-left
	d.endsWith(2, capture.EndCut, capture.Client, clientGone(9))
}

// TestOtherUpgradesAreNotPassedOn checks that a client may switch only to WebSocket.
func TestOtherUpgradesAreNotPassedOn(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		TakeMarks(r.Header)
		fmt.Fprint(w, r.Header["Upgrade"], r.Header["Connection"])
	})
	d := stand(t, up, nil)
	resp, body := d.ask("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n")
	if resp.StatusCode != 200 || body != "[] []" {
		t.Errorf("%s %q", resp.Status, body)
	}
}

// TestUploadIsReadAgain checks that a request is sent again on another connection only if the beginning of its body
// is still kept.
func TestUploadIsReadAgain(t *testing.T) {
	d := stand(t, "http://127.0.0.1:1", nil)
	x := &exchange{p: d.proxy, number: 1}
	x.idle = quietTimer()
	text := strings.Repeat("0123456789", maxKeptBytes/10+10)
	u := &upload{bodyTap: &bodyTap{x: x, side: capture.Request, body: strings.NewReader(text)}}
	first, _ := u.newReader()
	io.CopyN(io.Discard, first, 1000)
	first.Close()
	if _, err := first.Read(make([]byte, 1)); err == nil {
		t.Error("a closed body is read")
	}
	second, err := u.newReader()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(second); string(got) != text || err != nil {
		t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
	}
	if _, err := u.newReader(); err == nil {
		t.Error("what was not kept can be sent again")
	}
	u.handOver()
	recs := d.await(1, func(recs []capture.Record) bool {
		whole := recorded(recs, capture.Request)
		return len(whole) >= len(text)
	})
	if whole := recorded(recs, capture.Request); whole != text {
		t.Errorf("recorded %d bytes of %d", len(whole), len(text))
	}
}
