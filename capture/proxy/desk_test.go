package proxy

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolscope/capture"
)

// patience is the maximum time that a test waits for an expected event. No test's result depends on the exact value.
const patience = 20 * time.Second

// desk is a running proxy, with its records and the number of its dials.
type desk struct {
	t      testing.TB
	proxy  *Proxy
	addr   string // of the proxy
	client *http.Client
	dials  atomic.Int64

	mu   sync.Mutex
	recs []capture.Record
	came chan struct{} // signals that a record has arrived
}

// upstreamAt parses the URL of a route.
func upstreamAt(t testing.TB, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// serve starts an upstream and returns its URL.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// stand starts a proxy in front of the upstream. The parameter change is a function that may change the proxy's
// options.
func stand(t testing.TB, upstream string, change func(*Options)) *desk {
	t.Helper()
	d := &desk{t: t, came: make(chan struct{}, 1)}
	before := runtime.NumGoroutine()
	o := Options{Routes: []Route{{Prefix: "/", Upstream: upstreamAt(t, upstream)}}, Record: d.record, Log: log.New(logged{t}, "", 0)}
	o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		d.dials.Add(1)
		return dialGuard{}.dialChecked(ctx, network, address)
	}
	if change != nil {
		change(&o)
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.proxy, d.addr = p, l.Addr().String()
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 300}
	d.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, l) }()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		stop()
		if err := <-served; err != nil {
			t.Error("Serve:", err)
		}
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		if err := p.Close(ctx); err != nil {
			t.Error("Close:", err)
		}
		if live := p.Stats().Live; live != 0 {
			t.Errorf("%d exchanges live on", live)
		}
		awaitGoroutines(t, before)
	})
	return d
}

// awaitGoroutines waits until there are no more goroutines than before the test.
func awaitGoroutines(t testing.TB, before int) {
	t.Helper()
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			var stacks [1 << 16]byte
			t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks[:], true)])
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func (d *desk) record(r capture.Record) {
	d.mu.Lock()
	d.recs = append(d.recs, r)
	d.mu.Unlock()
	select {
	case d.came <- struct{}{}:
	default:
	}
}

// records returns the records of an exchange that have arrived so far.
func (d *desk) records(exchange int) []capture.Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	var recs []capture.Record
	for _, r := range d.recs {
		if r.Exchange == exchange {
			recs = append(recs, r)
		}
	}
	return recs
}

// await waits until the function enough returns true for the exchange's records, and returns them.
func (d *desk) await(exchange int, enough func([]capture.Record) bool) []capture.Record {
	d.t.Helper()
	deadline := time.After(patience)
	for {
		recs := d.records(exchange)
		if enough(recs) {
			return recs
		}
		select {
		case <-d.came:
		case <-deadline:
			d.t.Fatalf("exchange %d: waited in vain, with %s", exchange, describe(recs))
		}
	}
}

// ended waits for the end of an exchange, and returns its records.
func (d *desk) ended(exchange int) []capture.Record {
	d.t.Helper()
	recs := d.await(exchange, func(recs []capture.Record) bool {
		return len(recs) > 0 && recs[len(recs)-1].End != ""
	})
	for i, r := range recs {
		if r.End != "" && (i < len(recs)-1 || r.Side != capture.Response) {
			d.t.Errorf("exchange %d ends before its end: %s", exchange, describe(recs))
		}
	}
	return recs
}

// endsWith checks how an exchange ended and which party ended it.
func (d *desk) endsWith(exchange int, end capture.End, by capture.Party, why string) []capture.Record {
	d.t.Helper()
	recs := d.ended(exchange)
	if last := recs[len(recs)-1]; last.End != end || last.By != by || !strings.Contains(last.Why, why) {
		d.t.Errorf("exchange %d: ended %q by %q, %q; want %q by %q, %q", exchange, last.End, last.By, last.Why, end, by, why)
	}
	return recs
}

func (d *desk) get(path string) *http.Response {
	d.t.Helper()
	resp, err := d.client.Get("http://" + d.addr + path)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// raw sends bytes to the proxy and returns the connection.
func (d *desk) raw(text string) (net.Conn, *bufio.Reader) {
	d.t.Helper()
	c, err := net.Dial("tcp", d.addr)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		d.t.Logf("the proxy did not take everything: %v", err)
	}
	return c, bufio.NewReader(c)
}

// ask sends a request byte for byte, and reads the response.
func (d *desk) ask(text string) (resp *http.Response, body string) {
	d.t.Helper()
	_, r := d.raw(text)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	whole, _ := io.ReadAll(resp.Body)
	return resp, string(whole)
}

// recorded returns the recorded bytes of a side.
func recorded(recs []capture.Record, side capture.Side) string {
	return strings.Join(pieces(recs, side), "")
}

func pieces(recs []capture.Record, side capture.Side) (list []string) {
	for _, r := range recs {
		if r.Side == side && len(r.Data) > 0 {
			list = append(list, string(r.Data))
		}
	}
	return list
}

// headOf returns the record with the head of a side.
func headOf(recs []capture.Record, side capture.Side) capture.Record {
	for _, r := range recs {
		if r.Side == side && r.Head != nil {
			return r
		}
	}
	return capture.Record{Head: new(capture.Head)}
}

func notes(recs []capture.Record) string {
	var all []string
	for _, r := range recs {
		if r.Note != "" {
			all = append(all, r.Note)
		}
	}
	return strings.Join(all, "\n")
}

func describe(recs []capture.Record) string {
	var b bytes.Buffer
	for _, r := range recs {
		fmt.Fprintf(&b, "\n%v %q %d bytes", r.At, r.Side, len(r.Data))
		if r.Head != nil {
			fmt.Fprintf(&b, " head %s %s %d", r.Head.Method, r.Head.URL, r.Head.Status)
		}
		fmt.Fprintf(&b, " %s %s %s", r.End, r.Why, r.Note)
	}
	return b.String()
}

// upstreamTCP starts an upstream whose bytes a test controls exactly.
func upstreamTCP(t testing.TB, talk func(c *net.TCPConn, r *bufio.Reader)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var talking sync.WaitGroup
	talking.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			talking.Go(func() {
				defer c.Close()
				c.SetDeadline(time.Now().Add(patience))
				talk(c.(*net.TCPConn), bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() { l.Close(); talking.Wait() })
	return "http://" + l.Addr().String()
}

// logged is net/http's log in a test. Any log line fails the test.
type logged struct{ testing.TB }

func (l logged) Write(p []byte) (int, error) {
	l.Errorf("logged: %s", p)
	return len(p), nil
}
