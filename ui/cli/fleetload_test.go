//go:build linux && !nohub

package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/redact"
)

// spent returns the processor time of a process, and its maximum memory in bytes.
func spent(t *testing.T, pid int) (used time.Duration, peak int64) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):]))
	user, _ := strconv.Atoi(fields[12])
	system, _ := strconv.Atoi(fields[13])
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, _ = fmt.Sscan(rest, &peak)
	return time.Duration(user+system) * 10 * time.Millisecond, peak << 10
}

// agents starts 100 publishers that each publish 1,000 records a second until the context ends. The function stop
// waits for them.
func agents(t *testing.T, ctx context.Context, url string) (stop func()) {
	t.Helper()
	const tick, perTick = 10 * time.Millisecond, 10
	dir := t.TempDir()
	answer := strings.SplitAfter(longAnswer(1, 30_000), "\n\n")
	var all sync.WaitGroup
	for i := range 100 {
		began := time.Now()
		p, _, err := fleet.Publish(began, fleet.PublishOptions{Server: url, Host: fmt.Sprintf("web-%02d", i), Agent: "coder", Spool: filepath.Join(dir, strconv.Itoa(i)), Limit: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			keep, x := redact.KeepAll(), 1
			for n, sent := 0, 0; ctx.Err() == nil; n++ {
				time.Sleep(time.Until(began.Add(time.Duration(n) * tick)))
				for range perTick {
					r := capture.Record{Exchange: x, At: time.Since(began), Data: []byte(answer[sent])}
					if sent == 0 {
						r.Head = &capture.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages", Status: 200, Start: time.Now()}
					}
					if sent++; sent == len(answer) {
						r.End, sent, x = capture.EndEOF, 0, x+1
					}
					for _, c := range keep.Take(r) {
						p.Put(c)
					}
				}
			}
			end, cancel := context.WithTimeout(context.Background(), closeTime)
			defer cancel()
			if err := p.Close(end); err != nil {
				t.Error(err)
			}
		})
	}
	return all.Wait
}

// TestFleetScreen runs the program on a terminal while 100 machines send 1,000 records a second each. It checks
// that keys work, that no data is lost, and that the screen keeps up. It logs the speed.
func TestFleetScreen(t *testing.T) {
	if os.Getenv("TOOLSCOPE_LONG") == "" {
		t.Skip("with TOOLSCOPE_LONG=1")
	}
	seconds := 20
	if n, err := strconv.Atoi(os.Getenv("TOOLSCOPE_LONG")); err == nil && n > 1 {
		seconds = n
	}
	url, _ := aHub(t, "127.0.0.1:0")
	ctx, cancel := context.WithCancel(t.Context())
	stop := agents(t, ctx, url)
	defer stop()
	defer cancel()
	p := start(t, launch{args: []string{"open", url}, w: 140, h: 40})
	p.untilFrame("100 hosts")
	words := regexp.MustCompile(`100 hosts · (\S+)/s · lag (\S+) s · lost 0 B`)
	time.Sleep(3 * time.Second)
	before, _ := spent(t, p.pid)
	others, _ := spent(t, os.Getpid())
	var keys []time.Duration
	var lags []float64
	began := time.Now()
	for time.Since(began) < time.Duration(seconds)*time.Second {
		for _, c := range []struct {
			key  string
			done func(s *screen) bool
		}{
			{"?", func(s *screen) bool { return s.shows("Keys here") }},
			{"\x1b", func(s *screen) bool { return !s.shows("Keys here") }},
		} {
			pressed := time.Now()
			p.keys(c.key)
			p.until(fmt.Sprintf("the answer to %q", c.key), c.done)
			keys = append(keys, time.Since(pressed))
			time.Sleep(150 * time.Millisecond)
		}
		if m := words.FindStringSubmatch(now(p, (*screen).text)); m != nil {
			lag, _ := strconv.ParseFloat(m[2], 64)
			lags = append(lags, lag)
		}
	}
	after, peak := spent(t, p.pid)
	othersAfter, _ := spent(t, os.Getpid())
	took := time.Since(began)
	slices.Sort(keys)
	slices.Sort(lags)
	t.Logf("%d keys: p50 %v, p99 %v, most %v; lag p50 %.1f s, most %.1f s; the screen used %.2f of a core, its peak is %d MB; hub and agents used %.2f\n%s", len(keys), keys[len(keys)/2], keys[len(keys)*99/100], keys[len(keys)-1],
		lags[len(lags)/2], lags[len(lags)-1], (after-before).Seconds()/took.Seconds(), peak>>20, (othersAfter-others).Seconds()/took.Seconds(), now(p, (*screen).text))
	if len(lags) < len(keys)/4 || lags[len(lags)/2] > 5 || keys[len(keys)/2] > time.Second {
		t.Error("it does not keep up")
	}
	p.keys("q")
	p.wantExit(0)
}
