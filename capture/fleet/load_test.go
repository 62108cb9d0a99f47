//go:build linux && !nohub

package fleet

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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

// Each publisher of TestLoad records loadPerTick records every loadTick.
const (
	loadTick    = 10 * time.Millisecond
	loadPerTick = 10
)

// publisherEnv makes this program run some of the publishers of TestLoad. Its value consists of the server, the
// number of the first publisher, the number after the last one, the folder and the seconds, separated by spaces.
const publisherEnv = "TOOLSCOPE_TEST_PUBLISHER"

// TestLoadPublisher runs some publishers in a process of its own. They connect at
// once, and begin to publish when a line arrives on stdin.
func TestLoadPublisher(t *testing.T) {
	var server, dir string
	var from, to, seconds int
	if _, err := fmt.Sscan(os.Getenv(publisherEnv), &server, &from, &to, &dir, &seconds); err != nil {
		t.Skip("it is a part of TestLoad")
	}
	var all []*Publisher
	for i := from; i < to; i++ {
		p := publish(t, PublishOptions{Server: server, Host: fmt.Sprint("h", i), Agent: "main", Spool: filepath.Join(dir, fmt.Sprint(i)), Limit: 1 << 30})
		eventually(t, "it is connected", p.link.IsConnected)
		all = append(all, p)
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	began, fill := time.Now(), strings.Repeat("x", 50)
	var running sync.WaitGroup
	for _, p := range all {
		running.Go(func() {
			for n := range seconds * int(time.Second/loadTick) {
				time.Sleep(time.Until(began.Add(time.Duration(n) * loadTick)))
				for range loadPerTick {
					for _, c := range keep.Take(capture.Record{Exchange: 1, At: time.Since(began), Data: fmt.Appendf(nil, "at %019d %s", time.Now().UnixNano(), fill)}) {
						p.Put(c)
					}
				}
			}
			over, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := p.Close(over); err != nil || p.Progress().Spooled > 0 {
				t.Error(err, p.Progress())
			}
		})
	}
	running.Wait()
}

// loadPublishers starts n publishers in the given number of processes. The function begin makes all of them record,
// and end waits for them and returns the CPU time they used.
func loadPublishers(t *testing.T, s *site, n, processes, seconds int) (begin func(), end func() time.Duration) {
	var all []*exec.Cmd
	var starts []io.Writer
	for i := range processes {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLoadPublisher$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=nats://%s %d %d %s %d", publisherEnv, s.addr, i*n/processes, (i+1)*n/processes, s.dir, seconds))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		in, wrong := cmd.StdinPipe()
		if err := errors.Join(err, wrong, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		if line, err := lines.ReadString('\n'); line != "ready\n" {
			t.Fatal(line, err)
		}
		go func() {
			if said, _ := io.ReadAll(lines); bytes.Contains(said, []byte("FAIL")) {
				_, _ = os.Stderr.Write(said)
			}
		}()
		all, starts = append(all, cmd), append(starts, in)
	}
	return func() {
			for _, in := range starts {
				_, _ = io.WriteString(in, "\n")
			}
		}, func() (used time.Duration) {
			for _, cmd := range all {
				if err := cmd.Wait(); err != nil {
					t.Error(err)
				}
				used += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			return used
		}
}

// TestLoad checks that three views miss nothing from 100 publishers that each make 1,000 records a second. It logs
// the latencies and CPU times but doesn't judge them. The publishers share four processes: a hundred processes that
// each wake up a hundred times a second would need more than two cores for that alone.
func TestLoad(t *testing.T) {
	if os.Getenv("TOOLSCOPE_LONG") == "" {
		t.Skip("with TOOLSCOPE_LONG=1, or the number of seconds")
	}
	seconds := 15
	if n, err := strconv.Atoi(os.Getenv("TOOLSCOPE_LONG")); err == nil && n > 1 {
		seconds = n
	}
	const publishers, processes = 100, 4
	records := publishers * loadPerTick * seconds * int(time.Second/loadTick)
	s := &site{t: t, program: program(t), dir: t.TempDir(), addr: freePort(t)}
	s.startHub()
	defer end(s.hub, os.Interrupt)
	var views []*View
	var late [3][]time.Duration
	var read [3]atomic.Int64
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for i := range late {
		late[i] = make([]time.Duration, 0, records) // growing the slice would stop the test for up to a second
		of, _ := ParseAddress("nats://" + s.addr)
		v, err := Open(ctx, of, Credentials{})
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
	begin, ended := loadPublishers(t, s, publishers, processes, seconds)
	before, ours, began := processor(t, s.hub.Process.Pid), processor(t, os.Getpid()), time.Now()
	begin()
	publishing := ended()
	took := time.Since(began)
	for i := range read {
		eventually(t, "a view has everything", func() bool { return read[i].Load() == int64(records) })
	}
	used, viewing := processor(t, s.hub.Process.Pid)-before, processor(t, os.Getpid())-ours
	stop()
	running.Wait()
	for i, v := range views {
		slices.Sort(late[i])
		if state := v.State(); state.Lost+state.Gaps+state.Invalid > 0 {
			t.Errorf("view %d: %+v", i, state)
		}
		t.Logf("view %d: %d records, p50 %v, p99 %v", i, len(late[i]), late[i][len(late[i])/2], late[i][len(late[i])*99/100])
	}
	cores := func(used time.Duration) float64 { return used.Seconds() / took.Seconds() }
	t.Logf("%d records in %v; the hub used %.2f of a core, its peak is %s; the publishers used %.2f, the views %.2f", records, took.Round(time.Millisecond), cores(used), peak(t, s.hub), cores(publishing), cores(viewing))
}

// processor returns the CPU time that a process has used.
func processor(t *testing.T, pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
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
