//go:build linux && !nohub

package cli

import (
	"context"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/capture/fleet"
	"toolscope/capture/redact"
)

// aHub starts a hub in this process and returns its URL and the folder of its files.
func aHub(t *testing.T, listen string) (url, store string) {
	t.Helper()
	store = t.TempDir()
	h, err := fleet.StartHub(context.Background(), fleet.HubOptions{Listen: listen, Store: store, Keep: time.Hour, KeepBytes: 1 << 30, Log: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h.URL(), store
}

func TestFleetRefused(t *testing.T) {
	log := saved(t, "a.sse", anthropicAnswer)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"proxy", "--publish", "nats://me:hunter2pw@hub:4222"}, "an address can't contain a secret"},
		{[]string{"proxy", "--publish", "nats://hub:4222", "--keep-secrets"}, "--keep-secrets: can't be combined with --publish"},
		{[]string{"proxy", "--publish", "nats://hub:4222?host=a"}, "works only for reading"},
		{[]string{"proxy", "--publish", "nats://hub:4222", "--linger", "0s"}, "from 1ms to 5s"},
		{[]string{"proxy", "--publish", "nats://hub:4222", "--host", strings.Repeat("é", 40), "--agent", "b"}, "--host and --agent: together, the names of the machine and the agent have 241 bytes"},
		{[]string{"print", "nats://hub:4222?host=" + strings.Repeat("a", 201)}, "use at most 200"},
		{[]string{"proxy", "--publish", "http://hub"}, "use nats://HOST:PORT"},
		{[]string{"proxy", "--publish", "nats://hub:4222", "--hub-token", "hunter2pw"}, "not allowed on the command line"},
		{[]string{"proxy", "--publish", "nats://hub:4222", "--spool-limit", "x"}, "not a size"},
		{[]string{log, "--publish", "nats://hub:4222"}, "toolscope -f FILE --publish URL"},
		{[]string{"-f", "nats://hub:4222", "--publish", "nats://hub:4222"}, "can't publish the data of a hub"},
		{[]string{"print", "nats://me:hunter2pw@hub:4222"}, "an address can't contain a secret"},
		{[]string{"print", "nats://hub:4222?hots=a"}, "use host, agent, model, status, since or until"},
		{[]string{"print", "--count", "nats://hub:4222"}, "use --summary"},
		{[]string{"print", "nats://hub:4222?host=a&host=b"}, "host appears 2 times"},
		{[]string{"print", "nats://hub:4222?since=1h&until=2h"}, `"until" is before "since"`},
		{[]string{"check", "nats://hub:4222"}, "e.g. nats://hub:4222?until=now"},
		{[]string{"export", "nats://hub:4222?host=a", "--as", "jsonl"}, "e.g. nats://hub:4222?host=a&until=now"},
		{[]string{"cut", "nats://hub:4222?host=a", "--at-delta", "1", "-o", filepath.Join(t.TempDir(), "x.tsc")}, "sets no end time"},
		{[]string{"serve", "nats://hub:4222?since=1h"}, "sets no end time"},
		{[]string{"diff", log, "nats://hub:4222"}, "sets no end time"},
		{[]string{"replay", "nats://hub:4222", "--to", "anthropic"}, "sets no end time"},
		{[]string{"hub", "--public"}, "needs --auth"},
		{[]string{"hub", "--listen", "0.0.0.0:0"}, "other machines could connect"},
		{[]string{"hub", "--keep", "0s"}, "use a time of at least 1s"},
		{[]string{"hub", "--sync", "never"}, "1s, always"},
	} {
		got := command(t, nil, c.args...)
		if got.code != 2 || !strings.Contains(got.stderr, c.want) || strings.Contains(got.stderr, "hunter2pw") {
			t.Errorf("%v: exit code %d, stderr\n%s", c.args, got.code, got.stderr)
		}
	}
	for _, args := range [][]string{{"print", "tls://127.0.0.1:1?until=now"}, {"proxy", "--publish", "tls://127.0.0.1:1", "--listen", "127.0.0.1:0", "--to", "http://127.0.0.1:1"}} {
		if got := command(t, nil, append(args, "--tls-ca", "none.pem")...); got.code != 1 || got.stderr != "toolscope: --hub-ca none.pem: no such file or directory\n" {
			t.Errorf("%v: exit code %d, stderr\n%s", args, got.code, got.stderr)
		}
	}
	if got := command(t, nil, "print", "nats://127.0.0.1:1?until=now"); got.code != 1 || !strings.Contains(got.stderr, "hub nats://127.0.0.1:1: ") {
		t.Errorf("exit code %d, stderr\n%s", got.code, got.stderr)
	}
}

// TestPublish checks that a proxy sends the same data to a hub as to a capture, without secrets. The data on the hub
// must be readable like a file.
func TestPublish(t *testing.T) {
	url, store := aHub(t, "127.0.0.1:0")
	const key, word = "sk-ant-api03-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MGFiY2RlZg", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	upstream, _ := provider(t, answers(events, strings.Replace(anthropicAnswer, "Oslo", word, 1)))
	spool := t.TempDir()
	p := proxied(t, "--to", upstream, "--publish", url, "--host", "web1", "--agent", "coder", "--spool", spool, "--format", "jsonl")
	ask, _ := http.NewRequest("POST", p.url+"/v1/messages", strings.NewReader(`{"model":"m","messages":[]}`))
	ask.Header.Set("X-Api-Key", key)
	resp, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := p.ended(syscall.SIGTERM); strings.Contains(got.stdout, word) || !strings.Contains(got.stdout, "get_weather") {
		t.Error(got)
	}
	files, _ := filepath.Glob(filepath.Join(spool, "*", "web1.coder.*.tsc"))
	if len(files) != 1 {
		t.Fatalf("the spool holds %v", files)
	}
	for _, dir := range []string{store, spool} {
		read := 0
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				text, _ := os.ReadFile(path)
				read += len(text)
				if strings.Contains(string(text), key) || strings.Contains(string(text), word) {
					t.Errorf("%s holds a secret", path)
				}
			}
			return nil
		})
		if read == 0 {
			t.Errorf("nothing is in %s", dir)
		}
	}
	there, here := command(t, nil, "print", url+"?until=now", "--format", "jsonl"), command(t, nil, "print", files[0], "--format", "jsonl")
	if want := strings.ReplaceAll(here.stdout, quoted(files[0]), `"web1/coder"`); there.stdout != want || there.code != 0 || strings.Count(want, "\n") != 2 {
		t.Errorf("the hub has\n%s%s\nthe spool\n%s", there.stdout, there.stderr, want)
	}
	if got := command(t, nil, "check", url+"?until=now"); got.code != 0 {
		t.Error(got)
	}
	if got := command(t, nil, "export", url+"?until=now&host=web1", "--as", "jsonl"); got.code != 0 || !strings.Contains(got.stdout, "get_weather") {
		t.Error(got)
	}
	for _, args := range [][]string{{"print"}, {"check"}} {
		if got := command(t, nil, append(args, url+"?since=1ns&until=now")...); got.code != 0 || !strings.Contains(got.stderr, "no data in this period") {
			t.Errorf("%v, of a time in which nothing came: %+v", args, got)
		}
	}
	if got := command(t, nil, "print", url+"?until=now&host=web2"); got.code != 1 || !strings.Contains(got.stderr, "no bytes arrived") {
		t.Error(got)
	}
}

// TestPublishNoHub checks that a proxy that can't reach its hub listens at once. It must soon report the problem, and
// at the end the unsent data.
func TestPublishNoHub(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	upstream, _ := provider(t, answers(events, anthropicAnswer))
	spool := t.TempDir()
	send := []string{"--to", upstream, "--publish", "nats://" + addr, "--host", "web1", "--spool", spool, "--headless"}
	p := proxied(t, send...)
	resp, err := http.Post(p.url+"/v1/messages", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	p.untilShown("--publish: the traffic doesn't reach the hub: the hub can't be reached")
	if got := p.ended(syscall.SIGTERM); !strings.Contains(got.stderr, "the next run sends this data: the hub can't be reached") {
		t.Error(got)
	}
	url, _ := aHub(t, addr)
	p = proxied(t, send...)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if got := command(t, nil, "print", url+"?until=now"); strings.Contains(got.stdout, "get_weather") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("what was left is never sent")
		}
	}
	p.ended(syscall.SIGTERM)
}

// TestPrintGaps checks that print exits with 3 and check with 2 if data is missing.
func TestPrintGaps(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	p, _, err := fleet.Publish(time.Now(), fleet.PublishOptions{Server: "nats://" + addr, Host: "a", Agent: "b", Spool: t.TempDir(), Limit: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	keep := redact.KeepAll()
	for x := range 2000 {
		for _, c := range keep.Take(capture.Record{Exchange: x + 1, Data: []byte(anthropicAnswer), End: capture.EndEOF}) {
			p.Put(c)
		}
	}
	for p.State().Records < 2000 {
		time.Sleep(time.Millisecond)
	}
	url, _ := aHub(t, addr)
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	for p.Progress().Spooled > 0 {
		time.Sleep(time.Millisecond)
	}
	if err := p.Close(ctx); err == nil {
		t.Error("the sender does not know of its loss")
	}
	if got := command(t, nil, "print", url+"?until=now"); got.code != exitGaps || !strings.Contains(got.stderr, "bytes, in 1 gap") || !strings.Contains(got.stdout, "get_weather") {
		t.Errorf("exit code %d\n%s", got.code, got.stderr)
	}
	if got := command(t, nil, "check", url+"?until=now"); got.code != exitTrouble || !strings.Contains(got.stderr, "never arrived") || !strings.Contains(got.stdout, " of a/b") {
		t.Errorf("exit code %d\n%s%s", got.code, got.stderr, got.stdout)
	}
}

// TestNewKey checks that a key is written to a new file that only its owner can read. The key must give access to a
// hub that has the public half of the key.
func TestNewKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "web1.nk")
	got := command(t, nil, "hub", "--new-key", file)
	public := strings.TrimSpace(got.stdout)
	stat, err := os.Stat(file)
	if got.code != 0 || err != nil || stat.Mode().Perm() != 0o600 || !strings.HasPrefix(public, "U") {
		t.Fatal(got, err)
	}
	if got := command(t, nil, "hub", "--new-key", file); got.code != 1 || !strings.Contains(got.stderr, "another file has this name") {
		t.Error(got)
	}
	auth := saved(t, "auth.conf", "authorization { users: [ { nkey: "+public+" } ] }")
	h, err := fleet.StartHub(context.Background(), fleet.HubOptions{Listen: "127.0.0.1:0", Store: t.TempDir(), Keep: time.Hour, KeepBytes: 1 << 30, Auth: auth, Log: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if got := command(t, nil, "print", h.URL()+"?until=now", "--nkey", file); !strings.Contains(got.stderr, "no bytes arrived") {
		t.Error(got)
	}
	if got := command(t, nil, "print", h.URL()+"?until=now"); strings.Contains(got.stderr, "no bytes arrived") {
		t.Error(got)
	}
}
