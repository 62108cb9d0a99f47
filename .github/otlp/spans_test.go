package otlp

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// once checks that each span arrived once. It returns the spans by id.
func once(t *testing.T, spans []span, want int) map[string]span {
	t.Helper()
	byID := map[string]span{}
	for _, s := range spans {
		byID[s.trace+s.id] = s
	}
	if len(spans) != want || len(byID) != want {
		t.Fatalf("%d spans came, %d different ones; wanted are %d", len(spans), len(byID), want)
	}
	return byID
}

// TestEverySpan checks that proxies under load and their hub send every span once, and that the proxies and
// the hub send the same spans.
func TestEverySpan(t *testing.T) {
	const proxies, requests = 4, 500
	upstream, fromProxies, fromHub := provider(t, ""), collecting(t, nil), collecting(t, nil)
	hub := started(t, "hub", "--listen", "127.0.0.1:0", "--store", t.TempDir(), "--otlp", fromHub.url)
	var all []*running
	for i := range proxies {
		all = append(all, started(t, "proxy", "--headless", "--to", upstream, "--otlp", fromProxies.url,
			"--publish", hub.url, "--host", fmt.Sprint("h", i), "--spool", t.TempDir()))
	}
	done := make(chan bool)
	for _, p := range all {
		go func() { ask(t, p.url, requests, nil, ""); done <- true }()
	}
	for range all {
		<-done
	}
	for _, p := range all {
		if code, _ := p.end(); code != stopped {
			t.Errorf("a proxy ended with %d: %s", code, &p.said)
		}
	}
	const want = proxies * requests * spansAnswered
	for end := time.Now().Add(time.Minute); len(fromHub.taken()) < want && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	if code, _ := hub.end(); code != stopped {
		t.Errorf("the hub ended with %d: %s", code, &hub.said)
	}
	seen, told := once(t, fromProxies.taken(), want), once(t, fromHub.taken(), want)
	for id, s := range seen {
		if other, ok := told[id]; !ok || other.name != s.name || other.machine != s.machine || other.began/1000 != s.began/1000 {
			t.Fatalf("a proxy told of %+v, the hub of %+v", s, other)
		}
	}
	calls, broken := 0, 0
	for _, s := range seen {
		switch {
		case s.kind == ptrace.SpanKindClient:
			if s.name != "chat gpt-5" || s.attributes["gen_ai.request.model"] != "gpt-5" || s.attributes["toolscope.turn.phase"] != "complete" || s.ended < s.began {
				t.Fatalf("%+v", s)
			}
			continue
		case s.attributes["toolscope.call.status"] == "complete":
			calls++
		default:
			broken++
			if len(s.events) == 0 {
				t.Fatalf("nothing is said of a broken call: %+v", s)
			}
		}
		if turn, ok := seen[s.trace+s.parent]; !ok || turn.kind != ptrace.SpanKindClient || turn.began > s.began || turn.ended < s.ended {
			t.Fatalf("%+v lies not within its turn %+v", s, turn)
		}
	}
	if calls != proxies*requests || broken != proxies*requests {
		t.Errorf("%d calls, and %d that are broken", calls, broken)
	}
}

// TestLoad checks that all 60,000 spans for a file arrive.
func TestLoad(t *testing.T) {
	const turns = 20_000
	c := collecting(t, nil)
	upstream := provider(t, "")
	dir := t.TempDir()
	proxy := started(t, "proxy", "--headless", "--to", upstream, "--record", filepath.Join(dir, "a.tsc"))
	ask(t, proxy.url, turns, nil, "")
	proxy.end()
	began := time.Now()
	out, err := exec.Command(program, "print", "--summary", "--otlp", c.url, filepath.Join(dir, "a.tsc")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	once(t, c.taken(), turns*spansAnswered)
	t.Logf("%d spans in %s", turns*spansAnswered, time.Since(began))
}

// TestRefused checks that every refused span is counted, and that spans for a busy collector are sent again.
func TestRefused(t *testing.T) {
	n := 0
	c := collecting(t, func(int) error {
		switch n++; n % 3 {
		case 1:
			return errBusy
		case 2:
			return errNever
		}
		return nil
	})
	dir := t.TempDir()
	const turns = 1000
	proxy := started(t, "proxy", "--headless", "--to", provider(t, ""), "--record", filepath.Join(dir, "a.tsc"))
	ask(t, proxy.url, turns, nil, "")
	proxy.end()
	cmd := exec.Command(program, "print", "--summary", "--otlp", c.url, filepath.Join(dir, "a.tsc"))
	var said strings.Builder
	cmd.Stderr = &said
	err := cmd.Run()
	taken := len(once(t, c.taken(), turns*spansAnswered-c.refused))
	want := fmt.Sprintf("%d spans refused; %d accepted: 500 Internal Server Error", c.refused, taken)
	if c.refused == 0 || taken == 0 || cmd.ProcessState.ExitCode() != 3 || !strings.Contains(said.String(), want) || !strings.Contains(said.String(), "no such tenant") {
		t.Errorf("%d refused, %d taken: %v\n%s", c.refused, taken, err, &said)
	}
}

// TestGone checks a collector that is missing, and a collector that accepts connections but never answers.
// Neither delays a program, and the spans that are not delivered are counted.
func TestGone(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for name, at := range map[string]net.Addr{"gone": gone.Addr(), "silent": silent.Addr()} {
		proxy := started(t, "proxy", "--headless", "--no-record", "--to", provider(t, ""), "--otlp", "http://"+at.String())
		began := time.Now()
		ask(t, proxy.url, 100, nil, "")
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: 100 requests took %s", name, took)
		}
		code, took := proxy.end()
		if code != 3 || took > 5*time.Second || !strings.Contains(proxy.said.String(), "300 spans not acknowledged; 0 accepted") {
			t.Errorf("%s: ended after %s with %d: %s", name, took, code, &proxy.said)
		}
	}
}

// TestParent checks that the turn of a request with a trace context is in the same trace, below the parent
// span.
func TestParent(t *testing.T) {
	c := collecting(t, nil)
	proxy := started(t, "proxy", "--headless", "--no-record", "--to", provider(t, ""), "--otlp", c.url)
	ask(t, proxy.url, 1, http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, "Tracestate": {"a=1", "b=2"}}, "")
	ask(t, proxy.url, 1, http.Header{"Traceparent": {"00-00000000000000000000000000000000-b7ad6b7169203331-01"}}, "")
	proxy.end()
	turns := 0
	for _, s := range once(t, c.taken(), 2*spansAnswered) {
		if s.kind != ptrace.SpanKindClient {
			continue
		}
		if s.parent == "b7ad6b7169203331" && s.trace == "0af7651916cd43dd8448eb211c80319c" && s.state == "a=1,b=2" {
			turns++
		} else if s.parent != "" {
			t.Errorf("%+v", s)
		}
	}
	if turns != 1 {
		t.Errorf("%d turns have their parent", turns)
	}
}

// secrets look like keys, but are not valid.
var secrets = []string{
	"sk-ant-api03-" + strings.Repeat("cAnAry0", 13) + "AA", "sk-proj-" + strings.Repeat("cAnAry1x", 6), "AKIACANARY2CANARY2AB", "ghp_" + strings.Repeat("cAnAr3", 6),
	"AIzaSy" + strings.Repeat("cAnAry4-", 4) + "A", "xoxb-123456789012-123456789012-" + strings.Repeat("cAnAr5", 4), "glpat-cAnAry6cAnAry6cAnAr",
	"hf_" + strings.Repeat("cAnAry7", 5)[:34], "gsk_" + strings.Repeat("cAnAry8x", 7)[:52], "npm_" + strings.Repeat("cAnAr9", 6),
}

// TestSecrets checks that none of ten secrets reaches the collector, with or without contents. Without
// contents, no text of the conversation reaches the collector.
func TestSecrets(t *testing.T) {
	for _, content := range []bool{false, true} {
		c := collecting(t, nil)
		dir := t.TempDir()
		for i, secret := range secrets {
			flags := []string{"proxy", "--headless", "--to", provider(t, " "+secret+" SAID"), "--otlp", c.url, "--record", filepath.Join(dir, fmt.Sprint(i, ".tsc"))}
			if content {
				flags = append(flags, "--otlp-content")
			}
			proxy := started(t, flags...)
			ask(t, proxy.url+"/?key="+secret+"&x=", 1, http.Header{"Authorization": {"Bearer " + secret}, "X-Session": {secret}}, " "+secret)
			if code, _ := proxy.end(); code != stopped {
				t.Errorf("ended with %d: %s", code, &proxy.said)
			}
		}
		text := c.text.String()
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("contents %v: %s came", content, secret)
			}
		}
		if strings.Contains(text, "SAID") != content || strings.Contains(text, "Oslo") != content {
			t.Errorf("contents %v: %.3000s", content, text)
		}
		if len(c.taken()) != spansAnswered*len(secrets) {
			t.Errorf("%d spans came", len(c.taken()))
		}
	}
	log := filepath.Join(t.TempDir(), "body.sse")
	if err := os.WriteFile(log, fmt.Appendf(nil, answer, 1, " "+secrets[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	c := collecting(t, nil)
	if out, err := exec.Command(program, "print", "--otlp", c.url, "--otlp-content", log).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if text := c.text.String(); strings.Contains(text, secrets[0]) || !strings.Contains(text, "Oslo") {
		t.Errorf("of a file that was not redacted: %s", text)
	}
}
