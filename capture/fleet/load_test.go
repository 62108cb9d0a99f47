//go:build linux && !nohub

package fleet

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolscope/capture"
)

// TestLoad is a hub of its own process, 100 publishers of 1,000 records a second each, and three
// views: nothing is missing. How fast that was is told, and decides nothing.
func TestLoad(t *testing.T) {
	if os.Getenv("TOOLSCOPE_LONG") == "" {
		t.Skip("with TOOLSCOPE_LONG=1")
	}
	const publishers, perTick, tick, seconds = 100, 10, 10 * time.Millisecond, 15
	s := &site{t: t, program: program(t), dir: t.TempDir(), addr: freePort(t)}
	s.startHub()
	defer end(s.hub, os.Interrupt)
	var views []*View
	var late [3][]time.Duration
	var read [3]atomic.Int64
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for i := range late {
		of, _ := ParseAddress("nats://"+s.addr, time.Now())
		v, err := Open(ctx, of, Auth{})
		if err != nil {
			t.Fatal(err)
		}
		views = append(views, v)
		running.Go(func() {
			for r := range v.Source(ctx) {
				if text, ok := bytes.CutPrefix(r.Data, []byte("at ")); ok {
					read[i].Add(1)
					at, _ := strconv.ParseInt(string(text[:19]), 10, 64)
					late[i] = append(late[i], time.Since(time.Unix(0, at)))
				}
			}
		})
	}
	var all []*Publisher
	for i := range publishers {
		all = append(all, publish(t, Sending{Server: "nats://" + s.addr, Host: fmt.Sprint("h", i), Agent: "main", Spool: filepath.Join(s.dir, fmt.Sprint(i)), Limit: 1 << 30}))
	}
	time.Sleep(time.Second)
	before, began := processor(t, s.hub), time.Now()
	var senders sync.WaitGroup
	for _, p := range all {
		senders.Go(func() {
			fill := strings.Repeat("x", 50)
			for n := range seconds * 100 {
				time.Sleep(time.Until(began.Add(time.Duration(n) * tick)))
				for range perTick {
					for _, c := range keep.Take(capture.Record{Exchange: 1, At: time.Since(began), Data: fmt.Appendf(nil, "at %019d %s", time.Now().UnixNano(), fill)}) {
						p.Put(c)
					}
				}
			}
		})
	}
	senders.Wait()
	took := time.Since(began)
	const records = publishers * perTick * 100 * seconds
	for i := range read {
		eventually(t, "a view has everything", func() bool { return read[i].Load() == records })
	}
	used := processor(t, s.hub) - before
	stop()
	running.Wait()
	for i, v := range views {
		slices.Sort(late[i])
		if state := v.State(); state.Lost+state.Gaps+state.Spoilt > 0 {
			t.Errorf("view %d: %+v", i, state)
		}
		t.Logf("view %d: %d records, p50 %v, p99 %v", i, len(late[i]), late[i][len(late[i])/2], late[i][len(late[i])*99/100])
	}
	t.Logf("%d records in %v; the hub used %.2f of a core, its peak is %s", records, took.Round(time.Millisecond), used.Seconds()/took.Seconds(), peak(t, s.hub))
}

// processor is the time that a process has used.
func processor(t *testing.T, p *exec.Cmd) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')'):]))
	user, _ := strconv.Atoi(fields[12])
	system, _ := strconv.Atoi(fields[13])
	return time.Duration(user+system) * 10 * time.Millisecond
}

func peak(t *testing.T, p *exec.Cmd) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
