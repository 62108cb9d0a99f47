//go:build linux && !nohub

package cli

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolscope/capture/fleet"
)

// metricsURL returns the URL of the metrics, which a program prints when it starts.
func metricsURL(t *testing.T, p *standIn) string {
	t.Helper()
	of := regexp.MustCompile(`metrics: (http://127\.0\.0\.1:\d+/metrics)`)
	var found []string
	p.until("the address of the metrics", func(s *screen) bool {
		found = of.FindStringSubmatch(s.text())
		return found != nil
	})
	return found[1]
}

// fetchMetrics sends a request for metrics, and returns the status, the body and the header.
func fetchMetrics(t *testing.T, method, url string, change func(*http.Request)) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body), answer.Header
}

// awaitMetric requests metrics until they contain a line.
func awaitMetric(t *testing.T, url, line string) (body string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, body, _ = fetchMetrics(t, "GET", url, nil); strings.Contains(body, line+"\n") {
			return body
		}
		if time.Now().After(end) {
			t.Fatalf("no %s in\n%s", line, body)
		}
	}
}

// TestProxyMetrics checks that the metrics of a proxy count the traffic, are the same as those of the capture, and
// contain no secrets. Requests from web pages and with other methods must be refused.
func TestProxyMetrics(t *testing.T) {
	upstream, _ := provider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, anthropicAnswer)
	})
	file := t.TempDir() + "/run.tsc"
	p := proxied(t, "--headless", "--metrics", "127.0.0.1:0", "--record", file, "--to", "anthropic="+upstream)
	url := metricsURL(t, p)
	if status, body, header := fetchMetrics(t, "GET", url, nil); status != 200 || !strings.HasPrefix(header.Get("Content-Type"), "text/plain; version=0.0.4") || !strings.Contains(body, "toolscope_build_info{") {
		t.Errorf("before any traffic: %d %v %s", status, header, body)
	}
	for range 3 {
		r, _ := http.NewRequestWithContext(t.Context(), "POST", p.url+"/anthropic/v1/messages", strings.NewReader(`{"model":"claude-x","messages":[]}`))
		r.Header.Set("X-Api-Key", "sk-ant-api03-"+strings.Repeat("a", 40))
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	model := `model="` + regexp.MustCompile(`"model":"([^"]*)"`).FindStringSubmatch(anthropicAnswer)[1] + `"`
	body := awaitMetric(t, url, `toolscope_turns_total{phase="complete",`+model+`} 3`)
	if strings.Contains(body, "sk-ant") {
		t.Errorf("a key is in the metrics: %s", body)
	}
	for _, c := range []struct {
		method, path string
		change       func(*http.Request)
		status       int
	}{
		{"GET", "", func(r *http.Request) { r.Host = "rebound.example" }, http.StatusMisdirectedRequest},
		{"GET", "", func(r *http.Request) { r.Header.Set("Origin", "https://page.example") }, http.StatusForbidden},
		{"POST", "", nil, http.StatusMethodNotAllowed},
		{"HEAD", "", nil, http.StatusOK},
		{"GET", "/more", nil, http.StatusNotFound},
	} {
		if status, text, _ := fetchMetrics(t, c.method, url+c.path, c.change); status != c.status || strings.Contains(text, "toolscope_turns") {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, text)
		}
	}
	if status, text, _ := fetchMetrics(t, "GET", p.url+"/metrics", nil); strings.Contains(text, "toolscope_turns") {
		t.Errorf("the proxy's own port has metrics: %d %s", status, text)
	}
	p.signal(syscall.SIGTERM)
	p.exit()
	recorded := command(t, nil, "stats", file, "--format", "prometheus").stdout
	counts := regexp.MustCompile(`(?m)^(toolscope_(turns|calls|findings|cost)[^\n]*|gen_ai_client_token[^\n]*)$`)
	if live, later := strings.Join(counts.FindAllString(body, -1), "\n"), strings.Join(counts.FindAllString(recorded, -1), "\n"); live != later || live == "" {
		t.Errorf("live\n%s\nfrom the capture\n%s", live, later)
	}
}

// TestMetricsAddress checks that metrics are served only on this machine.
func TestMetricsAddress(t *testing.T) {
	for _, c := range []struct{ address, want string }{
		{"0.0.0.0:9464", "--metrics 0.0.0.0:9464: other machines could read the metrics\nuse 127.0.0.1:9464 for this machine only"},
		{":9464", "use 127.0.0.1:9464"},
		{"9464", `--metrics "9464":`},
	} {
		for _, name := range []string{"proxy", "hub"} {
			args := []string{name, "--metrics", c.address}
			if name == "hub" {
				args = append(args, "--store", t.TempDir())
			}
			if out := command(t, nil, args...); out.code != 2 || !strings.Contains(out.stderr, c.want) {
				t.Errorf("%s: %d %s", args, out.code, out.stderr)
			}
		}
	}
}

// TestHubMetrics checks that a hub counts the turns that it receives.
func TestHubMetrics(t *testing.T) {
	addr := nobodyAt(t)
	hub := hubAt(t, addr, t.TempDir(), "--metrics", "127.0.0.1:0")
	url := metricsURL(t, hub)
	p, _, err := fleet.Publish(time.Now(), fleet.PublishOptions{Server: "nats://" + addr, Host: "a", Agent: "b", Spool: t.TempDir(), Limit: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context())
	putAnswer(t, p, 1)
	putAnswer(t, p, 2)
	model := `model="` + regexp.MustCompile(`"model":"([^"]*)"`).FindStringSubmatch(anthropicAnswer)[1] + `"`
	awaitMetric(t, url, `toolscope_turns_total{phase="complete",`+model+`} 2`)
	hub.signal(syscall.SIGTERM)
	hub.wantExit(128 + int(syscall.SIGTERM))
}
