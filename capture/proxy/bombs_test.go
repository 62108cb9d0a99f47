package proxy

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"toolscope/capture"
)

// liveHeap returns the size of the heap after garbage collection.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the second run frees objects that the first one only finalised
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestBombsLeaveNothing checks that memory, goroutines and connections don't grow with many large responses through a
// proxy, on one connection.
func TestBombsLeaveNothing(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(make([]byte, 8<<20))
	_ = z.Close()
	line := []byte("data: " + strings.Repeat("[", 8<<20))
	events := bytes.Repeat([]byte("data: {}\n\n"), 100_000)
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		switch r.URL.Path {
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		case "/line":
			_, _ = w.Write(line)
		case "/events":
			_, _ = w.Write(events)
		default:
			_, _ = io.WriteString(w, "data: {}\n\n")
		}
	})
	d := stand(t, up, func(o *Options) { o.Record = func(capture.Record) {} })
	get := func(path string) {
		resp, err := d.client.Get("http://" + d.addr + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if n, err := io.Copy(io.Discard, resp.Body); n == 0 || err != nil {
			t.Fatalf("%s: %d bytes, %v", path, n, err)
		}
	}
	for path, times := range map[string]int{"/small": 600, "/gzip": 20, "/line": 4, "/events": 20} {
		for range 20 {
			get("/small")
		}
		get(path)
		heap, goroutines := liveHeap(), runtime.NumGoroutine()
		for range times {
			get(path)
		}
		awaitGoroutines(t, goroutines)
		if grown := liveHeap() - heap; grown > 1<<20 {
			t.Errorf("%s, %d times: the heap grew by %d bytes", path, times, grown)
		}
	}
	d.proxy.upstreams.mu.Lock()
	defer d.proxy.upstreams.mu.Unlock()
	if n := len(d.proxy.upstreams.open); n != 1 || d.dials.Load() != 1 {
		t.Errorf("%d connections are open of %d", n, d.dials.Load())
	}
}

// TestUpstreamConns checks that no connection outlives the proxy, whatever the transport does with the connection.
func TestUpstreamConns(t *testing.T) {
	var conns upstreamConns
	var ends []net.Conn
	dial := conns.trackDial(func(_ context.Context, _, address string) (net.Conn, error) {
		if address == "" {
			return nil, errors.New("refused")
		}
		near, far := net.Pipe()
		ends = append(ends, far)
		return near, nil
	})
	isClosed := func(far net.Conn) bool {
		_, err := far.Read(make([]byte, 1))
		return err == io.EOF
	}
	var open []net.Conn
	for i := range 3 {
		c, err := dial(t.Context(), "tcp", fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	if _, err := dial(t.Context(), "tcp", ""); err == nil {
		t.Error("an error is lost")
	}
	if err := open[0].Close(); err != nil || !isClosed(ends[0]) || len(conns.open) != 2 {
		t.Errorf("%v, %d are open", err, len(conns.open))
	}
	if err := open[1].(*upstreamConn).CloseWrite(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a pipe has only one side to close: %v", err)
	}
	conns.closeAll()
	if !isClosed(ends[1]) || !isClosed(ends[2]) || len(conns.open) != 0 {
		t.Error("connections are left")
	}
	if c, err := dial(t.Context(), "tcp", "late"); !errors.Is(err, errClosed) || c != nil || !isClosed(ends[3]) {
		t.Errorf("%v, %v", c, err)
	}
}
