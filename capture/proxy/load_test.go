package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"toolscope/capture"
)

// TestManyStreams checks that, with 200 streams at once, each client gets the bytes of its own stream, and each
// exchange records them.
func TestManyStreams(t *testing.T) {
	const streams, events = 200, 50
	var all sync.WaitGroup // waits until all streams have begun
	all.Add(streams)
	event := func(path string, i int) string { return fmt.Sprintf("data: %s %d\n\n", path, i) }
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for i := range events {
			sendNow(w, event(r.URL.Path, i))
			if i == 0 {
				all.Done()
				all.Wait()
			}
		}
	})
	d := stand(t, up, nil)
	var clients sync.WaitGroup
	for n := range streams {
		clients.Go(func() {
			path := fmt.Sprint("/", n)
			resp, err := d.client.Get("http://" + d.addr + path)
			if err != nil {
				t.Error(err)
				all.Done()
				return
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || string(body) != wanted(path, events, event) {
				t.Errorf("%s: %d bytes, %v", path, len(body), err)
			}
		})
	}
	clients.Wait()
	for n := range streams {
		recs := d.endsWith(n+1, capture.EndEOF, capture.Provider, "")
		path := strings.TrimPrefix(headOf(recs, capture.Request).Head.URL, up)
		if whole := recorded(recs, capture.Response); whole != wanted(path, events, event) {
			t.Errorf("exchange %d: %d bytes recorded", n+1, len(whole))
		}
	}
	if s := d.proxy.Stats(); s.Requests != streams {
		t.Errorf("%+v", s)
	}
}

func wanted(path string, events int, event func(string, int) string) string {
	var b strings.Builder
	for i := range events {
		b.WriteString(event(path, i))
	}
	return b.String()
}

// TestSlowReader checks that a client that doesn't read blocks only its own exchange, and gets everything in
// the end.
func TestSlowReader(t *testing.T) {
	body := bytes.Repeat([]byte("x"), 16<<20)
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/big" {
			w.Write(body)
		}
	})
	d := stand(t, up, nil)
	slow := d.get("/big")
	for range 20 {
		if resp := d.get("/"); resp.StatusCode != 200 {
			t.Error(resp.Status)
		}
	}
	if got, err := io.ReadAll(slow.Body); !bytes.Equal(got, body) || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if whole := recorded(d.endsWith(1, capture.EndEOF, capture.Provider, ""), capture.Response); whole != string(body) {
		t.Errorf("%d bytes recorded", len(whole))
	}
}

func TestCloseDoesNotWaitForEver(t *testing.T) {
	recorded, stuck := make(chan bool, 10), make(chan bool)
	d := stand(t, serve(t, func(http.ResponseWriter, *http.Request) {}), func(o *Options) {
		o.Record = func(capture.Record) {
			recorded <- true
			<-stuck
		}
	})
	var asked sync.WaitGroup
	asked.Go(func() {
		if resp, err := d.client.Get("http://" + d.addr); err == nil {
			resp.Body.Close()
		}
	})
	<-recorded
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := d.proxy.Close(ctx); err != context.Canceled {
		t.Error(err)
	}
	close(stuck)
	asked.Wait()
}
