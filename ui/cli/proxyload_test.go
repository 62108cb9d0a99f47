//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"toolscope/capture/proxy"
	"toolscope/capture/record"
)

// inside runs a proxy without a screen in this process. The function end ends the proxy and returns its output.
func inside(t *testing.T, l *liveInput, upstream string) (url string, end func() outcome) {
	t.Helper()
	all, err := buildRoutes([]string{upstream}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a, so := appOf(t)
	r := &runningProxy{liveInput: l, app: a, routes: all}
	if err := r.createProxy(proxy.Options{Routes: proxyRoutes(all)}, false); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.finishRun(r.printUntilEnd(r.startServing(ctx, listener), printerOf(t, a, "jsonl")))
		a.endLive(l)
	}()
	return "http://" + listener.Addr().String(), func() outcome {
		cancel()
		<-ended
		return so()
	}
}

// full is a disk with room for a given number of bytes, which can be increased.
type full struct {
	mu   sync.Mutex
	room int
	file strings.Builder
}

func (f *full) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(len(p), f.room)
	f.room -= n
	f.file.Write(p[:n])
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// TestProxyDiskFull checks that the proxy still forwards and prints when the disk is full. A note and the exit code
// must report the gaps.
func TestProxyDiskFull(t *testing.T) {
	upstream, _ := provider(t, answers(events, anthropicAnswer))
	for _, room := range []int{1 << 20, 2000, 200} {
		disk := &full{room: room}
		recorder, err := record.New(disk, time.Now(), "test")
		if err != nil {
			t.Fatal(err)
		}
		l := newLiveInput(newRedactor(), time.Now())
		l.rec = &captureWriter{recorder, "a.tsc", "a.tsc"}
		url, end := inside(t, l, upstream)
		for range 3 {
			if status, body, err := post(t, url+"/v1/messages"); err != nil || status != 200 || body != anthropicAnswer {
				t.Errorf("room %d: %d %q %v", room, status, body, err)
			}
		}
		got := end()
		calls, _ := got.decode(t)
		full := room < 1<<20
		if len(calls) != 3 || full != (got.code == exitGaps) || full != strings.Contains(got.stderr, "no space left on device") {
			t.Errorf("room %d: %+v", room, got)
		}
		words := fmt.Sprint(l.statusNotes())
		if full != strings.Contains(words, "NOT RECORDED: no space left on device") || full != strings.Contains(words, "GAP ") {
			t.Errorf("room %d: %s", room, words)
		}
		again := command(t, nil, "print", "--format", "jsonl", saved(t, "a.tsc", disk.file.String()))
		if _, turns := again.decode(t); (again.code == 1) != full || !full && len(turns) != 3 {
			t.Errorf("room %d: opened again: %+v", room, again)
		}
	}
}

// TestProxyManyStreams checks 200 parallel clients, each with its own stream. All data must be passed on, printed
// and recorded, and no goroutine may be leaked.
func TestProxyManyStreams(t *testing.T) {
	const streams = 200
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt) // starts the signal goroutine before goroutines are counted
	signal.Stop(signals)
	before := runtime.NumGoroutine()
	var begun sync.WaitGroup // no stream continues before all streams have begun
	begun.Add(streams)
	answer := func(name string) string { return strings.ReplaceAll(anthropicAnswer, "get_weather", name) }
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", events)
		for i, event := range strings.SplitAfter(answer(r.Header.Get("Name")), "\n\n") {
			_, _ = io.WriteString(w, event)
			_ = http.NewResponseController(w).Flush()
			if i == 0 {
				begun.Done()
				begun.Wait()
			}
		}
	})}
	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if err := server.Serve(upstream); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	recording := filepath.Join(t.TempDir(), "a.tsc")
	l, err := (&app{messageOutput: messageOutput{stderr: lineWriter{to: os.Stderr}}}).linkParts().startLive("test", &liveFlags{record: recording})
	if err != nil {
		t.Fatal(err)
	}
	url, end := inside(t, l, "http://"+upstream.Addr().String())
	client := &http.Client{Transport: &http.Transport{}}
	var clients sync.WaitGroup
	for n := range streams {
		clients.Go(func() {
			name := fmt.Sprint("tool_", n)
			req, _ := http.NewRequest("POST", url+"/v1/messages", strings.NewReader("{}"))
			req.Header.Set("Name", name)
			resp, err := client.Do(req)
			if err != nil {
				t.Error(err)
				begun.Done()
				return
			}
			defer resp.Body.Close()
			if body, err := io.ReadAll(resp.Body); err != nil || string(body) != answer(name) {
				t.Errorf("%s: %d bytes, %v", name, len(body), err)
			}
		})
	}
	clients.Wait()
	got := end()
	client.CloseIdleConnections()
	server.Close()
	for _, out := range []outcome{got, command(t, nil, "print", "--format", "jsonl", recording)} {
		calls, turns := out.decode(t)
		names := map[string]bool{}
		for _, c := range calls {
			names[c.Name] = c.Status == "complete" && c.Raw == `{"city":"Oslo"}`
		}
		for n := range streams {
			if !names[fmt.Sprint("tool_", n)] {
				t.Errorf("tool_%d is missing or broken", n)
			}
		}
		if out.code != 0 || len(calls) != streams || len(turns) != streams {
			t.Errorf("code %d, %d calls, %d turns, %s", out.code, len(calls), len(turns), out.stderr)
		}
	}
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
