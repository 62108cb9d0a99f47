//go:build linux

package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// standIn is the program, running as a proxy without a screen.
type standIn struct {
	*console
	url string
	out *bufio.Reader // standard output after the URL
}

func proxied(t *testing.T, args ...string) *standIn {
	t.Helper()
	return proxiedIn(t, nil, args...)
}

// proxiedIn starts a proxy with additional variables in its environment.
func proxiedIn(t *testing.T, env []string, args ...string) *standIn {
	t.Helper()
	out, w := pipe(t)
	p := &standIn{out: bufio.NewReader(out)}
	p.console = start(t, launch{w: 250, h: 50, args: append([]string{"proxy"}, args...), env: env, stdout: w})
	w.Close()
	line, err := p.readLine()
	if err != nil || !strings.Contains(line, "http://") {
		t.Fatalf("%q, %v\n%s", line, err, p.describe())
	}
	p.url = "http://127.0.0.1" + strings.TrimRight(line[strings.LastIndexByte(line, ':'):], "\"}\n")
	return p
}

// readLine returns the next line of output, or an error if no line arrives within limit.
func (p *standIn) readLine() (string, error) {
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		line, err := p.out.ReadString('\n')
		read <- result{line, err}
	}()
	select {
	case r := <-read:
		return r.line, r.err
	case <-time.After(limit):
		return "", fmt.Errorf("no line of output within %v", limit)
	}
}

// environment returns the lines of --print-env for a proxy with one unnamed upstream.
func (p *standIn) environment() (lines []string) {
	p.t.Helper()
	for {
		line, err := p.readLine()
		if err != nil {
			p.t.Fatalf("%v\n%s", err, p.describe())
		}
		lines = append(lines, line)
		if strings.HasPrefix(line, "# base URL instead of ") {
			return lines
		}
	}
}

// ended sends the program a signal that ends it, and returns all its output.
func (p *standIn) ended(sig syscall.Signal) outcome {
	p.t.Helper()
	p.signal(sig)
	printed, err := io.ReadAll(p.out)
	if err != nil {
		p.t.Error(err)
	}
	code := 128 + int(sig)
	p.wantExit(code)
	return outcome{code, string(printed), string(p.console.out)}
}

// midway starts a proxy with a response that has arrived up to the end of its arguments. The result left reports that
// the upstream has lost its client.
func midway(t *testing.T) (p *standIn, resp *http.Response, begin, recording string, left chan struct{}) {
	t.Helper()
	begin = anthropicAnswer[:strings.Index(anthropicAnswer, "event: content_block_stop")]
	left = make(chan struct{}, 1)
	upstream, _ := provider(t, hanging(begin, left))
	recording = filepath.Join(t.TempDir(), "a.tsc")
	p = proxied(t, "--to", upstream, "--record", recording, "--format", "jsonl")
	resp, err := http.Post(p.url+"/v1/messages", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if _, err := io.ReadFull(resp.Body, make([]byte, len(begin))); err != nil {
		t.Fatal(err)
	}
	return p, resp, begin, recording, left
}

// TestProxyPrints checks that bodies are passed on byte for byte, and that turns are printed when they end. The
// capture must have the same turns, and only its owner must be able to read it. At the end, the proxy names the capture.
func TestProxyPrints(t *testing.T) {
	upstream, requests := provider(t, answers(events, anthropicAnswer))
	dir := filepath.Join(t.TempDir(), "new", "captures")
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := proxied(t, "--to", "anthropic="+upstream, "--record", dir+"/", "--headless", "--format", "jsonl")
		for range 2 {
			status, body, err := post(t, p.url+"/anthropic/v1/messages")
			if err != nil || status != 200 || body != anthropicAnswer {
				t.Errorf("%d %q %v", status, body, err)
			}
		}
		got := p.ended(sig)
		calls, turns := got.decode(t)
		if len(calls) != 2 || len(turns) != 2 || calls[0].Name != "get_weather" || calls[0].Raw != `{"city":"Oslo"}` || turns[1].Phase != "complete" || !strings.HasPrefix(got.stderr, "toolscope: recorded 2 requests: toolscope "+dir) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%+v", got)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "20*.tsc"))
		if len(files) != 1 {
			t.Fatalf("recorded into %q", files)
		}
		again := command(t, nil, "print", "--format", "jsonl", files[0])
		if want := strings.ReplaceAll(got.stdout, `"file":"proxy"`, fmt.Sprintf("%q:%q", "file", files[0])); again.stdout != want {
			t.Errorf("opened again:\n%s\nwant\n%s", again.stdout, want)
		}
		for path, mode := range map[string]os.FileMode{files[0]: 0o600, dir: 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
		os.Remove(files[0])
	}
	if n := len(requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
}

// TestProxyText checks that calls are printed in the same form as by the command print, after the URL and the lines
// for the environment.
func TestProxyText(t *testing.T) {
	upstream, _ := provider(t, answers(events, anthropicAnswer))
	p := proxied(t, "--to", upstream, "--print-env")
	lines := p.environment()
	if first, last := lines[0], lines[len(lines)-1]; first != "export ANTHROPIC_BASE_URL="+p.url+"\n" || last != "# base URL instead of "+upstream+": "+p.url+"\n" {
		t.Errorf("%q", lines)
	}
	if _, _, err := post(t, p.url+"/v1/messages"); err != nil {
		t.Fatal(err)
	}
	if got := p.ended(syscall.SIGHUP); !strings.Contains(got.stdout, "get_weather") || !strings.HasPrefix(got.stdout, "proxy  turn 1") {
		t.Errorf("%+v", got)
	}
}

// TestProxyEndsStreams checks that a signal cuts open responses at once. The client, the upstream and readers of
// the capture must see that the response is incomplete.
func TestProxyEndsStreams(t *testing.T) {
	t.Parallel()
	p, resp, _, recording, left := midway(t)
	got := p.ended(syscall.SIGTERM)
	if rest, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("the stream seems to have ended properly: %q", rest)
	}
	waitFor(t, left)
	for _, out := range []outcome{got, command(t, nil, "print", "--format", "jsonl", recording)} {
		calls, turns := out.decode(t)
		if len(calls) != 1 || calls[0].Raw != `{"city":"Oslo"}` || calls[0].Status != "aborted" || turns[0].Phase != "aborted" {
			t.Errorf("%+v", out)
		}
	}
}

// TestProxyUnread checks that the proxy still forwards and records when its output is not read, and that a signal
// still ends it.
func TestProxyUnread(t *testing.T) {
	t.Parallel()
	const requests = 200 // more than a pipe can hold
	upstream, _ := provider(t, answers(events, anthropicAnswer))
	recording := filepath.Join(t.TempDir(), "a.tsc")
	p := proxied(t, "--to", upstream, "--record", recording, "--format", "jsonl")
	for range requests {
		if status, body, err := post(t, p.url+"/v1/messages"); err != nil || status != 200 || body != anthropicAnswer {
			t.Fatalf("%d %q %v", status, body, err)
		}
	}
	p.signal(syscall.SIGTERM)
	p.wantExit(128 + int(syscall.SIGTERM))
	again := command(t, nil, "print", "--format", "jsonl", recording)
	if calls, turns := again.decode(t); again.code != 0 || len(calls) != requests || len(turns) != requests {
		t.Errorf("%d calls and %d turns are recorded: %s", len(calls), len(turns), again.stderr)
	}
}

// TestProxyRefuses checks that invalid requests are refused with a code and a reason, and are not sent to an
// upstream.
func TestProxyRefuses(t *testing.T) {
	t.Parallel()
	upstream, requests := provider(t, answers("text/plain", "ok"))
	p := proxied(t, "--to", "anthropic="+upstream, "--headless", "--origin", "https://good.test")
	addr := strings.TrimPrefix(p.url, "http://")
	for _, c := range []struct {
		request string
		status  int
		says    string
	}{
		{"CONNECT x.test:443 HTTP/1.1\r\nHost: x.test:443\r\n\r\n", 405, "CONNECT is refused"},
		{"GET http://169.254.169.254/latest HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n", 421, `other host "169.254.169.254"`},
		{"GET /anthropic/v1 HTTP/1.1\r\nHost: rebound.test\r\n\r\n", 421, `the Host "rebound.test" is refused`},
		{"GET /anthropic/v1 HTTP/1.1\r\nHost: " + addr + "\r\nOrigin: https://bad.test\r\n\r\n", 403, `the Origin "https://bad.test" is refused`},
		{"POST /anthropic/v1 HTTP/1.1\r\nHost: " + addr + "\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "Content-Length and Transfer-Encoding"},
		{"GET /none/\x1b[2J" + canary + " HTTP/1.1\r\nHost: " + addr + "\r\n\r\n", 400, ""}, // refused by net/http
		{"GET /none/%1b[2J" + canary + " HTTP/1.1\r\nHost: " + addr + "\r\n\r\n", 404, "/anthropic/"},
	} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, c.request)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != c.status {
			t.Errorf("%q: %v, %v", c.request, resp, err)
		}
		conn.Close()
		if c.says != "" {
			p.untilShown(fmt.Sprintf("toolscope: refused with %d: ", c.status))
			p.untilShown(c.says)
		}
	}
	if n := len(requests()); n > 0 {
		t.Errorf("%d requests arrived", n)
	}
	req, _ := http.NewRequest("GET", p.url+"/anthropic/v1", nil)
	req.Header.Set("Origin", "https://good.test")
	if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != 200 {
		t.Errorf("an allowed origin: %v %v", resp, err)
	}
	if got := p.ended(syscall.SIGINT); strings.Contains(got.stderr, canary) {
		t.Error(got.stderr)
	}
}

// TestRecordFolder checks that a run never writes to the file of another run, even within the same second.
func TestRecordFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "captures")
	a := (&app{messageOutput: messageOutput{stderr: lineWriter{to: os.Stderr}}}).linkParts()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, want := range []string{"2026-11-21T12-00-00.tsc", "2026-11-21T12-00-00-2.tsc", "2026-11-21T12-00-00-3.tsc"} {
		r, err := a.startCapture(dir, noon, "test")
		if err != nil || r.name != want {
			t.Fatalf("%+v, %v; want %s", r, err, want)
		}
		defer r.Close(context.Background())
		if _, err := os.Stat(filepath.Join(dir, want)); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "a.tsc"), filepath.Join(dir, "new", "folder") + "/"} {
		r, err := a.startCapture(path, noon, "test")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if _, err := a.startCapture(filepath.Join(dir, "a.tsc"), noon, "test"); err == nil || !strings.Contains(err.Error(), "file exists") {
			t.Error(err)
		}
	}
}

// TestProxyWrong checks command lines that must not start a proxy.
func TestProxyWrong(t *testing.T) {
	there := saved(t, "there.tsc", "x")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"anthropic"}, 2, "takes no arguments"},
		{[]string{"--to", "api.test"}, 2, "NAME=URL"},
		{[]string{"--to", "ftp://api.test"}, 2, "NAME=URL"},
		{[]string{"--to", "=http://api.test"}, 2, "NAME=URL"},
		{[]string{"--to", "a=http://x.test", "--to", "a=http://y.test"}, 2, "/a occurs twice"},
		{[]string{"--to", "http://user:" + canary + "@x.test"}, 2, "user name"},
		{[]string{"--to", "http://x.test/?k=" + canary}, 2, "query"},
		{[]string{"--listen", "0.0.0.0:0"}, 2, "other machines"},
		{[]string{"--listen", "8080"}, 2, "HOST:PORT"},
		{[]string{"--public"}, 2, "--token"},
		{[]string{"--token", "short"}, 2, "too short, or has an unsupported character"},
		{[]string{"--token", "with/a/slash"}, 2, "too short, or has an unsupported character"},
		{[]string{"--token", "@missing"}, 1, "missing"},
		{[]string{"--format", "xml"}, 2, "one of text, jsonl"},
		{[]string{"--record", ""}, 2, "--record: the name is empty"},
		{[]string{"--record", there}, 1, "--record: create " + there + ": file exists"},
		{[]string{"--record", filepath.Join(there, "x")}, 1, "--record: create"},
	} {
		out := command(t, nil, append([]string{"proxy"}, c.args...)...)
		if out.code != c.code || out.stdout != "" || !strings.Contains(out.stderr, c.says) || strings.Count(out.stderr, "\n") > 3 || strings.Contains(out.stderr, canary) {
			t.Errorf("%q: %+v, want %d and %q", c.args, out, c.code, c.says)
		}
	}
}

// TestProxyToken checks that requests without the token are refused, and that the token is shown only where
// the user asked for it.
func TestProxyToken(t *testing.T) {
	const token = "open-sesame-1234"
	upstream, requests := provider(t, answers(events, anthropicAnswer))
	recording := filepath.Join(t.TempDir(), "a.tsc")
	p := proxied(t, "--listen", "0.0.0.0:0", "--public", "--token", "@"+saved(t, "token", token+"\n"), "--to", upstream, "--record", recording, "--print-env")
	if lines := p.environment(); !strings.HasSuffix(lines[0], "/"+token+"\n") {
		t.Errorf("%q", lines)
	}
	if status, _, err := post(t, p.url+"/v1/messages"); err != nil || status != 401 {
		t.Errorf("without: %d %v", status, err)
	}
	if status, body, err := post(t, p.url+"/"+token+"/v1/messages"); err != nil || status != 200 || body != anthropicAnswer {
		t.Errorf("with: %d %q %v", status, body, err)
	}
	if all := requests(); len(all) != 1 || all[0].path != "/v1/messages" {
		t.Errorf("%+v", all)
	}
	got := p.ended(syscall.SIGINT)
	recorded, err := os.ReadFile(recording)
	if err != nil || bytes.Contains(recorded, []byte(token)) || strings.Contains(got.stdout+got.stderr, token) || !strings.Contains(got.stderr, "other machines") {
		t.Errorf("%v, %+v\n%s", err, got, recorded)
	}
}
