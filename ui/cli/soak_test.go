//go:build linux && !nohub

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// soakClient sends requests to a proxy.
type soakClient struct {
	t           *testing.T
	url         string
	sent, wrong atomic.Int64 // numbers of requests, and of responses that differ from those that the server sent
}

// The kinds of exchanges.
const (
	soakWhole     = iota // the response is complete
	soakReset            // the server resets the connection inside the arguments
	soakCancelled        // the client cancels the request inside the arguments
	soakRefused          // the server responds with HTTP 529
)

// watched has the resources of a program over time.
type watched struct {
	name    string
	pid     int
	samples []resources
}

type resources struct{ files, threads, kilobytes int }

// serveSoak responds as the request's header Soak says.
func serveSoak(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	kind := r.Header.Get("Soak")
	if kind == fmt.Sprint(soakRefused) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(529)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
		return
	}
	w.Header().Set("Content-Type", events)
	for i, event := range strings.SplitAfter(longAnswer(1, 2_000), "\n\n") {
		_, _ = io.WriteString(w, event)
		_ = http.NewResponseController(w).Flush()
		if i == 6 {
			switch kind {
			case fmt.Sprint(soakReset):
				panic(http.ErrAbortHandler)
			case fmt.Sprint(soakCancelled):
				<-r.Context().Done()
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// sendRequests sends requests of random kinds until the context ends.
func (s *soakClient) sendRequests(until context.Context, random *rand.Rand) {
	for until.Err() == nil {
		time.Sleep(time.Duration(random.IntN(1600)) * time.Millisecond)
		kind := []int{soakWhole, soakWhole, soakWhole, soakWhole, soakWhole, soakWhole, soakReset, soakCancelled, soakRefused}[random.IntN(9)]
		ctx, cancel := context.WithCancel(context.Background())
		asked, _ := http.NewRequestWithContext(ctx, "POST", s.url+"/v1/messages", strings.NewReader(fmt.Sprintf(`{"model":"m","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"%d"}]}`, random.Int64())))
		asked.Header.Set("Soak", fmt.Sprint(kind))
		asked.Header.Set("Anthropic-Version", "2023-06-01")
		s.sent.Add(1)
		resp, err := http.DefaultClient.Do(asked)
		if err != nil {
			s.t.Errorf("a request failed: %v", err)
			cancel()
			continue
		}
		lines, got := bufio.NewReader(resp.Body), 0
		for err == nil {
			var line string
			line, err = lines.ReadString('\n')
			if got += len(line); kind == soakCancelled && got > 500 {
				cancel()
			}
		}
		resp.Body.Close()
		cancel()
		ended := err == io.EOF
		if ended != (kind == soakWhole || kind == soakRefused) || kind == soakWhole && got != len(longAnswer(1, 2_000)) ||
			(resp.StatusCode == 529) != (kind == soakRefused) {
			s.wrong.Add(1)
		}
	}
}

// writeRotatedLog writes streams as the lines of a container's log until the context ends, and rotates the log. It returns
// the number of streams.
func writeRotatedLog(t *testing.T, until context.Context, path string, random *rand.Rand) (streams int) {
	for until.Err() == nil {
		if streams%200 == 199 {
			if err := os.Rename(path, path+".1"); err != nil {
				t.Error(err)
			}
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Error(err)
			return streams
		}
		for line := range strings.SplitAfterSeq(anthropicAnswer, "\n") {
			text, _ := json.Marshal(map[string]string{"log": line, "stream": "stdout", "time": time.Now().UTC().Format(time.RFC3339Nano)})
			_, _ = f.Write(append(text, '\n'))
		}
		f.Close()
		streams++
		time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
	}
	return streams
}

// countTurns counts the turns in JSON lines until they end.
func countTurns(lines io.Reader) (turns int) {
	scanner := bufio.NewScanner(lines)
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		if strings.HasPrefix(scanner.Text(), `{"type":"turn"`) {
			turns++
		}
	}
	return turns
}

// sampleResources samples the resources of the programs until the context ends.
func sampleResources(t *testing.T, until context.Context, programs []*watched, each time.Duration) {
	for tick := time.NewTicker(each); ; {
		select {
		case <-until.Done():
			return
		case <-tick.C:
		}
		for _, p := range programs {
			files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.pid))
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
				return
			}
			r := resources{files: len(files)}
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
			for name, to := range map[string]*int{"Threads:": &r.threads, "VmRSS:": &r.kilobytes} {
				_, rest, _ := strings.Cut(string(status), name)
				_, _ = fmt.Sscan(rest, to)
			}
			p.samples = append(p.samples, r)
		}
	}
}

// checkFlat compares the medians of a program's resources in the second and the last quarter of the time.
func (p *watched) checkFlat(t *testing.T, requests int) {
	quarter := len(p.samples) / 4
	median := func(from int, of func(resources) int) int {
		var values []int
		for _, r := range p.samples[from : from+quarter] {
			values = append(values, of(r))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	for _, c := range []struct {
		what   string
		of     func(resources) int
		spread int // allowed growth in percent
		more   int // allowed absolute growth, in addition
	}{
		{"descriptors", func(r resources) int { return r.files }, 5, 8},
		{"threads", func(r resources) int { return r.threads }, 5, 4},
		{"kilobytes", func(r resources) int { return r.kilobytes }, 10, 8<<10 + 2*requests}, // a dropped turn leaves a row
	} {
		before, after := median(quarter, c.of), median(len(p.samples)-quarter, c.of)
		t.Logf("%-12s %6d -> %6d %s", p.name, before, after, c.what)
		if after > before+before*c.spread/100+c.more {
			t.Errorf("%s: %d %s grew to %d", p.name, before, c.what, after)
		}
	}
}

// fillDisk fills the file system of a folder and empties it again, until the context ends.
func fillDisk(until context.Context, folder string, each time.Duration) {
	filler := filepath.Join(folder, "filler")
	for full := false; until.Err() == nil; full = !full {
		if full {
			os.Remove(filler)
		} else if f, err := os.Create(filler); err == nil {
			_, _ = io.Copy(f, io.LimitReader(zeroes{}, 1<<30))
			f.Close()
		}
		select {
		case <-until.Done():
		case <-time.After(each):
		}
	}
	os.Remove(filler)
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestSoak runs proxies, a hub, a followed log and a screen at once for the time in TOOLSCOPE_SOAK, e.g. 1h. The
// traffic is random and has resets, cancelled requests and errors. The log is rotated. If the test runs as root, the
// disk of one proxy is full half of the time. Each exchange must be recorded or reported as a gap, each response must
// arrive unchanged, and the descriptors, threads and memory of each program must not grow.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("TOOLSCOPE_SOAK"))
	if err != nil {
		t.Skip("with TOOLSCOPE_SOAK=1h")
	}
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var traffic, programs sync.WaitGroup
	random := func() *rand.Rand { return rand.New(rand.NewPCG(rand.Uint64(), 1)) }
	upstream := httptest.NewServer(http.HandlerFunc(serveSoak))
	defer upstream.Close()

	hub := hubAt(t, "127.0.0.1:0", t.TempDir(), "--max-bytes", "4GB")
	programs.Go(func() { _, _ = io.Copy(io.Discard, hub.out) })
	hubURL := hub.url
	captures, small, growing := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "log.json")
	publisher := proxied(t, "--to", upstream.URL, "--headless", "--format", "jsonl", "--memory", "32MB", "--record", captures, "--publish", hubURL, "--host", "a", "--spool", t.TempDir())
	limited := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=4m") == nil
	if limited {
		t.Cleanup(func() { _ = syscall.Unmount(small, 0) })
	}
	crowded := proxied(t, "--to", upstream.URL, "--headless", "--format", "jsonl", "--memory", "32MB", "--record", small)
	if err := os.WriteFile(growing, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, w := pipe(t)
	follower := start(t, launch{args: []string{"print", "-f", "--format", "jsonl", growing}, stdout: w})
	w.Close()
	screen := start(t, launch{args: []string{"open", hubURL, "--memory", "32MB"}, w: 140, h: 40})

	var printed [3]int
	for i, lines := range []io.Reader{publisher.out, crowded.out, out} {
		programs.Go(func() { printed[i] = countTurns(lines) })
	}
	all := []*watched{{name: "hub", pid: hub.pid}, {name: "publisher", pid: publisher.pid}, {name: "full disk", pid: crowded.pid}, {name: "follower", pid: follower.pid}, {name: "screen", pid: screen.pid}}
	clients := []*soakClient{{t: t, url: publisher.url}, {t: t, url: crowded.url}}
	for _, c := range clients {
		for range 4 {
			traffic.Go(func() { c.sendRequests(ctx, random()) })
		}
	}
	if limited {
		traffic.Go(func() { fillDisk(ctx, small, length/12) })
	}
	streams := 0
	traffic.Go(func() { streams = writeRotatedLog(t, ctx, growing, random()) })
	traffic.Go(func() {
		for keys := random(); ctx.Err() == nil; time.Sleep(3 * time.Second) {
			screen.keys([]string{"j", "k", "?", "\x1b", "]", "[", "L", "s", "\r", "!", "6", "5"}[keys.IntN(12)])
		}
	})
	traffic.Go(func() { sampleResources(t, ctx, all, length/120) })
	traffic.Wait()
	time.Sleep(3 * time.Second) // until the hub and the follower have the last data

	follower.signal(syscall.SIGINT)
	publisher.signal(syscall.SIGTERM)
	crowded.signal(syscall.SIGTERM)
	if code := publisher.exit(); code != 128+int(syscall.SIGTERM) { // 3 would mean that something was lost
		t.Errorf("the publisher ended with %d\n%s", code, publisher.describe())
	}
	gaps := crowded.exit()
	follower.exit()
	hubTurns := countTurns(strings.NewReader(command(t, nil, "print", "--format", "jsonl", hubURL+"?until=now").stdout))
	hub.signal(syscall.SIGTERM)
	programs.Wait()
	recorded := countTurns(strings.NewReader(command(t, nil, "print", "--format", "jsonl", captures).stdout))
	kept := command(t, nil, "print", "--format", "jsonl", small)
	t.Logf("publisher: %d requests, %d turns printed, %d recorded, %d on the hub", clients[0].sent.Load(), printed[0], recorded, hubTurns)
	t.Logf("full disk: %d requests, %d turns printed, %d recorded, exit codes %d and %d", clients[1].sent.Load(), printed[1], countTurns(strings.NewReader(kept.stdout)), gaps, kept.code)
	t.Logf("log: %d streams, %d turns printed", streams, printed[2])
	for _, c := range clients {
		if n := c.wrong.Load(); n > 0 {
			t.Errorf("%d responses arrived changed", n)
		}
	}
	if n := int(clients[0].sent.Load()); printed[0] != n || recorded != n || hubTurns != n {
		t.Error("the publisher lost exchanges")
	}
	if printed[1] != int(clients[1].sent.Load()) {
		t.Error("the proxy with the full disk did not print each exchange")
	}
	if onDisk := countTurns(strings.NewReader(kept.stdout)); gaps != exitGaps && (gaps != 0 || onDisk != printed[1]) {
		t.Errorf("the proxy with the full disk ended with %d\n%s", gaps, crowded.describe())
	}
	if printed[2] != streams {
		t.Error("the follower lost streams")
	}
	for _, p := range all {
		p.checkFlat(t, int(clients[0].sent.Load()))
	}
}
