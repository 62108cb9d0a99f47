//go:build linux

package cli

import (
	"bufio"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// served starts serve and returns its URL.
func served(t *testing.T, args ...string) (p *console, url string) {
	t.Helper()
	out, w := pipe(t)
	p = start(t, launch{w: 200, args: append([]string{"serve"}, args...), stdout: w})
	w.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "http://127.0.0.1:") {
		t.Fatalf("%q, %v\n%s", line, err, p.describe())
	}
	return p, strings.TrimSpace(line)
}

func post(t *testing.T, url string) (status int, body string, err error) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader("{}"))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(read), err
}

// TestServe checks that captures of several kinds can be served together, that each request is printed, and that the
// output is sanitised.
func TestServe(t *testing.T) {
	body := string(turnOf("first"))
	bare := saved(t, "a\x1b[2J.sse", body)
	p, url := served(t, "--speed", "max", "--fault", "repeat", "--fault", "cut-inside@9999", bare, capturedDemo)
	status, got, err := post(t, url+"/any/%1b%5b2J")
	if err != nil || status != 200 || strings.Count(got, "[DONE]") != 2 || len(got) != 2*len(body) {
		t.Errorf("%d %q %v", status, got, err)
	}
	p.untilShown("POST /any/␛[2J: " + filepath.Dir(bare))
	p.untilShown("a␛[2J.sse, exchange 1: 200, 1 chunk")
	p.untilShown("toolscope: --fault cut-inside@9999 has no effect on ")
	status, got, err = post(t, url+"/v1/messages")
	if err != nil || status != 200 || strings.Count(got, "event: message_start") != 2 {
		t.Errorf("%d, %d bytes, %v", status, len(got), err)
	}
	if _, again, _ := post(t, url+"/v1/messages"); again != got {
		t.Errorf("another answer of %d bytes", len(again))
	}
	p.untilShown(", again")
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	p.untilShown("GET /: the list of exchanges")
	if resp, err = http.Get(url + "/none"); err != nil || resp.StatusCode != 404 {
		t.Errorf("%v %v", resp, err)
	}
	resp.Body.Close()
	p.untilShown("GET /none: no recorded exchange matches: 404")
	p.signal(syscall.SIGTERM)
	p.wantExit(128 + int(syscall.SIGTERM))
}

// TestServeSignals checks that each signal ends serve at once, even during a stream that would last for hours.
func TestServeSignals(t *testing.T) {
	t.Parallel()
	slow := saved(t, "slow.tsc", `{"toolscope":1}`+"\n"+`{"t":0,"x":1,"head":{"status":200},"d":"data: 1\n\n"}`+"\n"+`{"t":9999999,"x":1,"d":"data: 2\n\n","end":"eof"}`+"\n")
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			p, url := served(t, slow)
			resp, err := http.Post(url, "application/json", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			first := make([]byte, len("data: 1\n\n"))
			if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "data: 1\n\n" {
				t.Fatalf("%q %v", first, err)
			}
			began := time.Now()
			p.signal(sig)
			p.wantExit(128 + int(sig))
			t.Logf("ended after %v", time.Since(began))
			if _, err := io.ReadAll(resp.Body); err == nil {
				t.Error("the stream seems to have ended properly")
			}
		})
	}
}

// TestServeRefused checks that errors have at most three lines and contain the valid values.
func TestServeRefused(t *testing.T) {
	body := saved(t, "a.sse", "data: 1\n\n")
	empty := saved(t, "empty.sse", "")
	damaged := saved(t, "damaged.tsc", `{"toolscope":1}`+"\n\x1b{\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "toolscope: serve: needs a CAPTURE"},
		{[]string{filepath.Join(t.TempDir(), "none")}, 1, "no such file"},
		{[]string{empty}, 1, "toolscope: serve: no response found in " + empty},
		{[]string{damaged}, 1, ": damaged line 2 at byte 16 ("},
		{[]string{body, "--fault", "cat"}, 2, "toolscope: --fault: unknown fault \"cat\"\nuse one of status=CODE, "},
		{[]string{body, "--fault", "cut"}, 2, "\nuse cut@N, e.g. cut@3\n"},
		{[]string{body, "--speed", "fast"}, 2, `toolscope: --speed "fast": not a number`},
		{[]string{body, "--speed", "-1"}, 2, `toolscope: --speed "-1"`},
		{[]string{body, "--speed", "NaN"}, 2, `toolscope: --speed "NaN"`},
		{[]string{body, "--listen", "8080"}, 2, "\nuse HOST:PORT, e.g. 127.0.0.1:8080\n"},
		{[]string{body, "--listen", ":8080"}, 2, "\nallow that with --public, or use 127.0.0.1:8080 for this machine only\n"},
		{[]string{body, "--listen", "0.0.0.0:0"}, 2, "other machines could connect"},
		{[]string{body, "--listen", "[::]:0"}, 2, "other machines could connect"},
		{[]string{body, "--listen", "192.0.2.1:0"}, 2, "other machines could connect"},
		{[]string{body, "--listen", "192.0.2.1:0", "--public"}, 1, "--listen: listen tcp 192.0.2.1:0"},
	} {
		out := command(t, nil, append([]string{"serve"}, c.args...)...)
		if out.code != c.code || out.stdout != "" || !strings.Contains(out.stderr, c.want) || strings.Count(out.stderr, "\n") > 3 || strings.Contains(out.stderr, "\x1b") {
			t.Errorf("%q: code %d, stdout %q, stderr\n%s\nwant %q", c.args, out.code, out.stdout, out.stderr, c.want)
		}
	}
}

// TestServePublic checks that --public listens on all addresses and prints a warning.
func TestServePublic(t *testing.T) {
	out, w := pipe(t)
	p := start(t, launch{args: []string{"serve", "--public", "--listen", "0.0.0.0:0", saved(t, "a.sse", "data: 1\n\n")}, stdout: w})
	w.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || strings.HasPrefix(line, "http://127") {
		t.Errorf("%q %v", line, err)
	}
	p.untilShown("toolscope: everyone who can reach this machine can read the captures")
	p.signal(syscall.SIGINT)
	p.wantExit(130)
}

// TestServeAdmits checks that requests from a web page in a browser are refused, and that the operator sees a note.
func TestServeAdmits(t *testing.T) {
	out, w := pipe(t)
	p := start(t, launch{args: []string{"serve", saved(t, "a.sse", "data: 1\n\n")}, stdout: w})
	w.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host, origin string
		status       int
	}{{"", "", 200}, {"evil.example", "", 421}, {"", "https://evil.example", 403}, {"", "http://localhost:3000", 200}} {
		r, err := http.NewRequest("POST", strings.TrimSpace(line)+"/v1/messages", nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Host = c.host; c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%q: %s", c, resp.Status)
		}
	}
	p.untilShown("toolscope: refused with 421: the Host \"evil.example\"")
	p.untilShown("toolscope: refused with 403: the Origin \"https://evil.example\"")
	p.signal(syscall.SIGINT)
	p.wantExit(130)
}
