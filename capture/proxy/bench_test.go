package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/capture/record"
)

// BenchmarkLatency measures the latency that the proxy adds. It alternates between requests with the proxy and
// requests without it, to the same upstream. It measures the time to the first byte, to each of 1,000 events that one
// stream sends 1 ms apart, and to each of 100 events that 200 parallel streams send 50 ms apart.
func BenchmarkLatency(b *testing.B) {
	epoch := time.Now()
	up := serve(b, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		events, every := 1, 0
		fmt.Sscanf(r.URL.Path, "/%d/%d", &events, &every)
		for i := range events {
			wait := time.Duration(every) * time.Millisecond
			if i == 0 { // start the streams at different times
				wait = time.Duration(rand.Int64N(int64(4*wait + 1)))
			}
			time.Sleep(wait)
			fmt.Fprintf(w, "data: %d\n\n", time.Since(epoch))
			w.(http.Flusher).Flush()
		}
	})
	box := capture.NewQueue(record.QueueRules(64<<20, ""))
	go func() {
		for range box.All {
		}
	}()
	defer box.Close(nil)
	d := stand(b, up, func(o *Options) { o.Record = func(r capture.Record) { box.Put(r) } })
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

// eventLatencies reads events that contain their send time, from several streams at the same time.
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

// BenchmarkCancel measures how long the upstream continues after a client has left.
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

// BenchmarkThroughput measures copying 16 MiB through the proxy.
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
