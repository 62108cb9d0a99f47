package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"toolscope/capture"
)

// TestRing checks that, in a ring of proxies in which each is the upstream of the previous one, a request is refused
// when it reaches a proxy for the second time.
func TestRing(t *testing.T) {
	const size = 3
	var listeners [size]net.Listener
	for i := range listeners {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners[i] = l
	}
	var proxies [size]*Proxy
	var heads [size][]*capture.Head
	for i, l := range listeners {
		p, err := New(Options{
			Routes: []Route{{Prefix: "/", Upstream: upstreamAt(t, "http://"+listeners[(i+1)%size].Addr().String())}},
			Record: func(r capture.Record) {
				if r.Side == capture.Request && r.Head != nil {
					heads[i] = append(heads[i], r.Head)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		proxies[i] = p
		go p.Serve(t.Context(), l)
	}
	resp, err := http.Post("http://"+listeners[0].Addr().String()+"/v1/x", "text/plain", strings.NewReader("hi"))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusLoopDetected || !strings.Contains(string(body), "leads back to this proxy") {
		t.Errorf("%s %q", resp.Status, body)
	}
	for i, p := range proxies {
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if s := p.Stats(); s.Requests != 1 || s.Refused != map[bool]int64{true: 1}[i == 0] {
			t.Errorf("proxy %d: %+v", i, s)
		}
		for _, h := range heads[i] {
			if _, ok := h.Header["Toolscope-Via"]; ok || h.Header["Connection"] != nil {
				t.Errorf("proxy %d recorded %v", i, h.Header)
			}
		}
	}
}

// TestRowOfProxies checks that a row of proxies is not taken for a ring. A provider on another machine must never get
// a mark, neither from the proxies nor from the client.
func TestRowOfProxies(t *testing.T) {
	var got http.Header
	up := upstreamAt(t, serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	last := stand(t, "http://provider.example", func(o *Options) {
		o.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, up.Host)
		}
	})
	ask := func(d *desk) {
		resp, body := d.ask("GET / HTTP/1.1\r\nHost: localhost\r\nToolscope-Via: mine\r\nConnection: close\r\nX-Own: 1\r\n\r\n")
		if resp.StatusCode != 200 || got.Get("X-Own") != "1" || got["Toolscope-Via"] != nil {
			t.Errorf("%s %q, the provider got %v", resp.Status, body, got)
		}
	}
	ask(last)
	first := stand(t, "http://"+last.addr, nil)
	ask(first)
	for _, recs := range [][]capture.Record{first.ended(1), last.ended(1), last.ended(2)} {
		if h := headOf(recs, capture.Request).Head.Header; h["Toolscope-Via"] != nil || h.Get("X-Own") != "1" {
			t.Errorf("recorded %v", h)
		}
	}
}
