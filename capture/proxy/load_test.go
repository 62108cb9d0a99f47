package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"toolscope/capture"
)

// 200 streams at once: each gets its own bytes, and so do the records.
func TestManyStreams(t *testing.T) {
	const streams, events = 200, 50
	var all sync.WaitGroup // they have all begun before any goes on
	all.Add(streams)
	event := func(path string, i int) string { return fmt.Sprintf("data: %s %d\n\n", path, i) }
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for i := range events {
			io.WriteString(w, event(r.URL.Path, i))
			w.(http.Flusher).Flush()
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
		path := strings.TrimPrefix(headOf(recs, capture.Request).URL, up)
		if whole, _ := data(recs, capture.Response); string(whole) != wanted(path, events, event) {
			t.Errorf("exchange %d: %d bytes recorded", n+1, len(whole))
		}
	}
	if s := d.proxy.Stats(); s.Requests != streams || s.Gaps != 0 || s.LostBytes != 0 {
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

// Whoever takes the records is stuck. The traffic goes on, and what is missing is told to the byte.
func TestQueueIsFull(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	up := serve(t, func(w http.ResponseWriter, r *http.Request) { w.Write(body) })
	stuck := make(chan bool)
	var d *desk
	d = stand(t, up, func(o *Options) {
		o.Limits.QueueBytes = 100 << 10
		o.Record = func(r capture.Record) {
			<-stuck
			d.record(r)
		}
	})
	for range 3 {
		got, err := io.ReadAll(d.get("/").Body)
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("%d bytes of %d, %v", len(got), len(body), err)
		}
	}
	for d.proxy.Stats().Live > 0 {
		time.Sleep(time.Millisecond)
	}
	s := d.proxy.Stats()
	if s.Gaps < 3 || s.LostBytes < 2*int64(len(body)) || s.QueuedBytes > 125<<10 {
		t.Errorf("%+v", s)
	}
	close(stuck)
	missing := 0
	for n := 1; n <= 3; n++ {
		recs := d.ended(n)
		whole, _ := data(recs, capture.Response)
		lost := 0
		fmt.Sscanf(notes(recs), fmt.Sprintf("gap: %%d bytes of exchange %d were not recorded: the queue is full", n), &lost)
		if lost == 0 || len(whole)+lost != len(body) {
			t.Errorf("exchange %d: %d bytes recorded, %s", n, len(whole), describe(recs))
		}
		missing += lost
		if headOf(recs, capture.Response) == nil || headOf(recs, capture.Request) == nil {
			t.Errorf("exchange %d: no heads: %s", n, describe(recs))
		}
	}
	if int64(missing) != s.LostBytes {
		t.Errorf("%d bytes told, %d lost", missing, s.LostBytes)
	}
	if got, _ := io.ReadAll(d.get("/").Body); !bytes.Equal(got, body) {
		t.Error("afterwards:", len(got))
	}
}

// With room for nothing at all, at least the notes arrive.
func TestQueueWithoutRoom(t *testing.T) {
	stuck := make(chan bool)
	var got []capture.Record
	q := newQueue(recordCost+1, func(r capture.Record) { <-stuck; got = append(got, r) })
	for x := range 3 {
		q.put(capture.Record{Exchange: x + 1, Side: capture.Request, Head: &capture.Head{URL: "/" + strings.Repeat("x", 500)}, Data: []byte("12")})
		q.put(capture.Record{Exchange: x + 1, Data: []byte("345")})
		q.put(capture.Record{Exchange: x + 1, End: capture.EndEOF})
	}
	close(stuck)
	q.close()
	told := map[int]string{}
	for _, r := range got {
		if told[r.Exchange] += r.Note; r.Note != "" && r.End != "" {
			t.Errorf("%+v", r)
		}
	}
	for x := 1; x <= 3; x++ {
		if !strings.Contains(told[x], "gap: ") || !strings.Contains(told[x], "and a head or an end") {
			t.Errorf("exchange %d: %q", x, told[x])
		}
	}
	if queued, gaps, lost := q.stats(); queued != 0 || gaps < 3 || lost > 15 || lost < 6 {
		t.Errorf("%d queued, %d gaps, %d lost", queued, gaps, lost)
	}
}

// A client that does not read holds up its own exchange and no other, and gets all in the end.
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
	if whole, _ := data(d.endsWith(1, capture.EndEOF, capture.Provider, ""), capture.Response); !bytes.Equal(whole, body) {
		t.Errorf("%d bytes recorded", len(whole))
	}
}

func TestCloseDoesNotWaitForEver(t *testing.T) {
	stuck := make(chan bool)
	defer close(stuck)
	p, err := New(Options{Routes: []Route{{"/", upstreamAt(t, "http://127.0.0.1:1")}}, Record: func(capture.Record) { <-stuck }})
	if err != nil {
		t.Fatal(err)
	}
	p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "http://localhost/", nil))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := p.Close(ctx); err != context.Canceled {
		t.Error(err)
	}
}
