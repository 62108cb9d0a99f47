//go:build linux && !nohub

package cli

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hubAt starts a hub as a process.
func hubAt(t *testing.T, addr, store string, more ...string) *standIn {
	t.Helper()
	out, w := pipe(t)
	p := &standIn{out: bufio.NewReader(out)}
	p.console = start(t, launch{w: 250, h: 50, args: append([]string{"hub", "--listen", addr, "--store", store}, more...), stdout: w})
	w.Close()
	line, err := p.out.ReadString('\n')
	if err != nil || !strings.Contains(line, "://") {
		t.Fatalf("%q, %v\n%s", line, err, p.describe())
	}
	p.url = strings.TrimSpace(line)
	return p
}

// nobodyAt returns an address at which no program listens.
func nobodyAt(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// stamped responds with events that contain their send times, at the pace of a fast model.
func stamped(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", events)
	for range 20 {
		_, _ = fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%d\"}}]}\n\n", time.Now().UnixNano())
		_ = http.NewResponseController(w).Flush()
		time.Sleep(time.Millisecond)
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// delays returns the delays of one response's events, and the time to the first byte.
func delays(t *testing.T, url string) (each []time.Duration, first time.Duration) {
	t.Helper()
	began := time.Now()
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		now := time.Now()
		_, text, ok := strings.Cut(lines.Text(), `"content":"`)
		if !ok {
			continue
		}
		at, err := strconv.ParseInt(text[:strings.IndexByte(text, '"')], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if each = append(each, now.Sub(time.Unix(0, at))); len(each) == 1 {
			first = now.Sub(began)
		}
	}
	if len(each) != 20 {
		t.Fatalf("%d events came", len(each))
	}
	return each, first
}

// measured has the delays of one proxy.
type measured struct{ each, first []time.Duration }

func (m *measured) ask(t *testing.T, url string) {
	for range 5 {
		each, first := delays(t, url)
		m.each, m.first = append(m.each, each...), append(m.first, first)
	}
}

func rank(all []time.Duration, percent int) time.Duration {
	slices.Sort(all)
	return all[len(all)*percent/100]
}

// TestPublishDelays checks that a publishing proxy is as fast as a recording proxy, whether the hub is running, never
// started, ending, or stopped. It logs the ratios, and fails only for ratios that noise can't explain.
func TestPublishDelays(t *testing.T) {
	if os.Getenv("TOOLSCOPE_LONG") == "" {
		t.Skip("with TOOLSCOPE_LONG=1")
	}
	upstream := httptest.NewServer(http.HandlerFunc(stamped))
	t.Cleanup(upstream.Close)
	const blocks = 60
	for _, c := range []struct {
		name   string
		begin  bool
		midway func(hub *standIn)
	}{
		{"the hub is up", true, func(*standIn) {}},
		{"there is no hub", false, func(*standIn) {}},
		{"the hub is killed midway", true, func(hub *standIn) { hub.signal(syscall.SIGKILL) }},
		{"the hub is frozen midway", true, func(hub *standIn) { hub.signal(syscall.SIGSTOP) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			addr := nobodyAt(t)
			var hub *standIn
			if c.begin {
				hub = hubAt(t, addr, t.TempDir())
			}
			plain := proxied(t, "--to", upstream.URL, "--headless", "--record", t.TempDir())
			sends := proxied(t, "--to", upstream.URL, "--headless", "--publish", "nats://"+addr, "--host", "a", "--spool", t.TempDir())
			var without, with measured
			new(measured).ask(t, plain.url)
			new(measured).ask(t, sends.url)
			for n := range blocks {
				if n == blocks/4 {
					c.midway(hub)
				}
				if n%2 == 0 { // alternate which proxy goes first
					without.ask(t, plain.url)
				}
				with.ask(t, sends.url)
				if n%2 == 1 {
					without.ask(t, plain.url)
				}
			}
			ratio := func(what string, a, b []time.Duration, percent int) float64 {
				x, y := rank(a, percent), rank(b, percent)
				t.Logf("%s, p%d: %v without, %v with: %.2f times", what, percent, x, y, float64(y)/float64(x))
				return float64(y) / float64(x)
			}
			for _, percent := range []int{50, 99} {
				events := ratio("an event", without.each, with.each, percent)
				first := ratio("the first byte", without.first, with.first, percent)
				if percent == 50 && max(events, first) > 1.5 {
					t.Errorf("%.2f times as long for an event, %.2f for the first byte", events, first)
				}
			}
		})
	}
}

// TestPublishStart checks that a proxy with --publish listens as soon as a proxy without it. The hub is missing, or
// accepts connections and never responds. The test logs the difference, and fails only if noise can't explain it,
// such as when the proxy waits for a connection.
func TestPublishStart(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts connections, but no program handles them
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	const starts = 3
	names := []string{"without --publish", "nobody is there", "the hub says nothing"}
	send := func(addr string) []string {
		return []string{"--publish", "nats://" + addr, "--host", "a", "--spool", t.TempDir()}
	}
	more := [][]string{nil, send(nobodyAt(t)), send(silent.Addr().String())}
	took := make([][]time.Duration, len(more))
	for range starts {
		for i, args := range more { // alternate
			began := time.Now()
			p := proxied(t, append([]string{"--to", "http://127.0.0.1:1", "--headless"}, args...)...)
			took[i] = append(took[i], time.Since(began))
			p.signal(syscall.SIGKILL)
			p.exit()
		}
	}
	plain := rank(took[0], 50)
	for i, all := range took {
		t.Logf("%s: it listens after %v, at the median", names[i], rank(all, 50))
		if later := rank(all, 50) - plain; later > time.Second {
			t.Errorf("%s: %v later", names[i], later)
		}
	}
}
