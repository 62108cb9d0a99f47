//go:build linux

package cli

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

// ends lists the signals that end the program.
var ends = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// TestScreenUnread checks that the program can end on a terminal whose output is not read, e.g. after ^S or a broken
// connection.
func TestScreenUnread(t *testing.T) {
	t.Parallel()
	growing := saved(t, "a.sse", string(turnOf("first")))
	upstream, _ := provider(t, hanging(anthropicAnswer, make(chan struct{}, 3)))
	for _, c := range []struct {
		args  []string
		shown string
	}{
		{[]string{"demo"}, "PLAY 1×"},
		{[]string{"open", "-f", growing}, "first"},
		{[]string{"proxy", "--to", upstream}, "proxy 127.0.0.1"},
		{[]string{"connect", "anthropic", "--base-url", upstream, "hi"}, "get_weather"},
	} {
		for _, sig := range ends {
			t.Run(fmt.Sprint(c.args[0], " ", sig), func(t *testing.T) {
				t.Parallel()
				p := start(t, launch{args: c.args, env: []string{"ANTHROPIC_API_KEY=" + canary}})
				p.untilShown(c.shown)
				p.leaveUnread()
				p.signal(sig)
				p.wantExit(128 + int(sig))
			})
		}
	}
}

// TestPrintUnread is like TestScreenUnread, but without a screen, on a terminal and in a pipe.
func TestPrintUnread(t *testing.T) {
	t.Parallel()
	growing := saved(t, "a.sse", string(turnOf("first")))
	asked := make(chan struct{}, 8)
	answer := hanging(strings.Repeat(anthropicAnswer, 50), make(chan struct{}, 8))
	upstream, _ := provider(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		answer(w, r)
	})
	for name, c := range map[string]struct {
		args  []string
		begun func(p *console, out *bufio.Reader) // returns when the program prints something
	}{
		"print -f": {[]string{"print", "-f", growing}, nil},
		"connect": {
			[]string{"connect", "anthropic", "--base-url", upstream, "--format", "text", "hi"},
			func(*console, *bufio.Reader) { <-asked },
		},
	} {
		for _, sig := range ends {
			t.Run(fmt.Sprint(name, " ", sig), func(t *testing.T) { // sequential, because each subtest waits for its own request
				out, w := pipe(t)
				conn, err := w.SyscallConn()
				if err != nil {
					t.Fatal(err)
				}
				_ = conn.Control(func(fd uintptr) { stuff(t, int(fd)) })
				p := start(t, launch{args: c.args, stdout: w, env: []string{"ANTHROPIC_API_KEY=" + canary}})
				if c.begun != nil {
					c.begun(p, bufio.NewReader(out))
				}
				p.signal(sig)
				p.wantExit(128 + int(sig))
			})
		}
	}
}

// TestProxyUnreadTerminal is like TestScreenUnread, for a proxy without a screen.
func TestProxyUnreadTerminal(t *testing.T) {
	t.Parallel()
	upstream, _ := provider(t, answers(events, strings.Repeat(anthropicAnswer, 100)))
	for _, sig := range ends {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			p := start(t, launch{args: []string{"proxy", "--headless", "--to", upstream}, w: 200})
			p.untilShown("http://127.0.0.1")
			url := now(p, func(s *screen) string {
				_, rest, _ := strings.Cut(s.text(), "http://127.0.0.1")
				return "http://127.0.0.1" + strings.Fields(rest)[0]
			})
			p.leaveUnread()
			if status, _, err := post(t, url+"/v1/messages"); err != nil || status != 200 {
				t.Fatal(status, err)
			}
			p.signal(sig)
			p.wantExit(128 + int(sig))
		})
	}
}

// TestReaderLeavesQuiet checks that the program ends when the reader of its output has gone, even if no more output
// follows.
func TestReaderLeavesQuiet(t *testing.T) {
	t.Parallel()
	growing := saved(t, "a.sse", string(turnOf("first")))
	silent, _ := pipe(t)
	for _, c := range []launch{{args: []string{"print", "-f", growing}}, {args: []string{"print", "-f", "--format", "jsonl", growing}}, {args: []string{"print", "-"}, stdin: silent}} {
		out, w := pipe(t)
		c.stdout = w
		p := start(t, c)
		w.Close()
		if c.stdin == nil {
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Error(err)
			}
		}
		out.Close()
		p.wantExit(128 + int(syscall.SIGPIPE))
	}
}

// TestDiskFull checks that failed writes are errors in all commands, including help pages.
func TestDiskFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	nobody, _ := os.Open(os.DevNull)
	defer nobody.Close()
	for _, args := range [][]string{
		{"--help"}, {"print", "--help"}, {"version"}, {"--version"}, {"completion", "bash"}, {"help", "keys"}, {"help", "losses"},
		{"demo", "--list"}, {"demo"}, {"print", capturedDemo}, {"print", "--format", "jsonl", capturedDemo}, {"replay", capturedDemo},
	} {
		errs := create(t, t.TempDir(), "err")
		code := Run(args, nobody, full, errs)
		if said := contents(t, errs); code != 1 || strings.Count(said, "no space left on device") != 1 {
			t.Errorf("%v: exit %d, says %q", args, code, said)
		}
	}
}

// TestOutletPassesOn checks that a stdWriter writes as its file does, and returns the file's errors.
func TestOutletPassesOn(t *testing.T) {
	r, w := pipe(t)
	o := newStdWriter(w, "it", newShutdown())
	for _, write := range []func() error{
		func() error { _, err := o.Write([]byte("a")); return err },
		func() error { _, err := o.WriteString("b"); return err },
		func() error { _, err := o.ReadFrom(strings.NewReader("c")); return err },
	} {
		if err := write(); err != nil {
			t.Error(err)
		}
	}
	w.Close()
	if got, _ := io.ReadAll(r); string(got) != "abc" || o.firstError() != nil {
		t.Errorf("%q, %v", got, o.firstError())
	}
	if _, err := o.Write([]byte("d")); err == nil || o.firstError() == nil {
		t.Error("written to what is closed")
	}
}

// TestOutletGivesUp checks that a blocked write and all later writes are abandoned when the program must end. Writes
// whose data is read must succeed.
func TestOutletGivesUp(t *testing.T) {
	r, w := pipe(t)
	e := newShutdown()
	o := newStdWriter(w, "it", e)
	e.start()
	if _, err := o.Write([]byte("taken")); err != nil {
		t.Error(err)
	}
	for range 2 {
		if _, err := o.Write(make([]byte, 1<<20)); err == nil || !strings.Contains(err.Error(), "it accepts no more data") {
			t.Error(err)
		}
	}
	r.Close()
}
