package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
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
		recs := d.endsWith(n+1, capture.EndEOF, "")
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
	if whole, _ := data(d.endsWith(1, capture.EndEOF, ""), capture.Response); !bytes.Equal(whole, body) {
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

// BenchmarkLatency measures what the proxy adds, against the same upstream without it, by turns in one run: to the
// first byte, to each of 1,000 events that one stream brings a millisecond apart, and to each of 100 events that 200
// streams bring at the same time, 50 milliseconds apart.
func BenchmarkLatency(b *testing.B) {
	epoch := time.Now()
	up := serve(b, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		events, every := 1, 0
		fmt.Sscanf(r.URL.Path, "/%d/%d", &events, &every)
		for i := range events {
			wait := time.Duration(every) * time.Millisecond
			if i == 0 { // the streams do not keep step
				wait = time.Duration(rand.Int64N(int64(4*wait + 1)))
			}
			time.Sleep(wait)
			fmt.Fprintf(w, "data: %d\n\n", time.Since(epoch))
			w.(http.Flusher).Flush()
		}
	})
	d := stand(b, up, func(o *Options) { o.Record = func(capture.Record) {} })
	bases := [2]string{up, "http://" + d.addr}
	b.Run("first byte", func(b *testing.B) {
		var took [2][]time.Duration
		for b.Loop() {
			for i, base := range bases {
				took[i] = append(took[i], timeToFirstByte(b, d.client, base+"/1/0"))
			}
		}
		reportAdded(b, took)
	})
	for _, test := range []struct {
		streams int
		path    string
	}{{1, "/1000/1"}, {200, "/100/50"}} {
		b.Run(fmt.Sprintf("event of %d streams", test.streams), func(b *testing.B) {
			var took [2][]time.Duration
			for b.Loop() {
				for i, base := range bases {
					took[i] = append(took[i], eventLatencies(b, d.client, base+test.path, test.streams, epoch)...)
				}
			}
			reportAdded(b, took)
		})
	}
}

func reportAdded(b *testing.B, took [2][]time.Duration) {
	b.ReportMetric(0, "ns/op")
	for _, p := range []int{50, 99} {
		direct, proxied := percentile(took[0], p), percentile(took[1], p)
		b.ReportMetric(micros(direct), fmt.Sprintf("p%d-direct-µs", p))
		b.ReportMetric(micros(proxied-direct), fmt.Sprintf("p%d-added-µs", p))
	}
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

func percentile(took []time.Duration, p int) time.Duration {
	slices.Sort(took)
	return took[len(took)*p/100]
}

func timeToFirstByte(b *testing.B, client *http.Client, to string) time.Duration {
	began := time.Now()
	resp, err := client.Post(to, "application/json", strings.NewReader("{}"))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, 1)); err != nil {
		b.Fatal(err)
	}
	took := time.Since(began)
	io.Copy(io.Discard, resp.Body)
	return took
}

// eventLatencies reads events that tell when they were sent, from several streams at the same time.
func eventLatencies(b *testing.B, client *http.Client, to string, streams int, epoch time.Time) (all []time.Duration) {
	var mu sync.Mutex
	var reading sync.WaitGroup
	for range streams {
		reading.Go(func() {
			resp, err := client.Post(to, "application/json", strings.NewReader("{}"))
			if err != nil {
				b.Error(err)
				return
			}
			defer resp.Body.Close()
			var took []time.Duration
			for buf := make([]byte, 4096); err == nil; {
				var n int
				n, err = resp.Body.Read(buf)
				now := time.Since(epoch)
				for line := range strings.FieldsSeq(string(buf[:n])) {
					if sent, err := strconv.ParseInt(line, 10, 64); err == nil {
						took = append(took, now-time.Duration(sent))
					}
				}
			}
			if err != io.EOF {
				b.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
		})
	}
	reading.Wait()
	return all
}

// BenchmarkCancel measures how long the upstream goes on for a client that has left.
func BenchmarkCancel(b *testing.B) {
	cancelled := make(chan time.Time)
	up := serve(b, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		cancelled <- time.Now()
	})
	d := stand(b, up, nil)
	var took []time.Duration
	for b.Loop() {
		ctx, leave := context.WithCancel(b.Context())
		req, _ := http.NewRequestWithContext(ctx, "GET", "http://"+d.addr, nil)
		resp, err := d.client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		left := time.Now()
		leave()
		took = append(took, (<-cancelled).Sub(left))
		resp.Body.Close()
	}
	b.ReportMetric(micros(percentile(took, 99)), "µs-p99")
}

// BenchmarkThroughput copies 16 MiB through the proxy.
func BenchmarkThroughput(b *testing.B) {
	body := bytes.Repeat([]byte("x"), 16<<20)
	up := serve(b, func(w http.ResponseWriter, r *http.Request) { w.Write(body) })
	d := stand(b, up, func(o *Options) { o.Record = func(capture.Record) {} })
	for _, base := range []string{up, "http://" + d.addr} {
		name := "direct"
		if base != up {
			name = "proxied"
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				resp, err := d.client.Get(base)
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}
