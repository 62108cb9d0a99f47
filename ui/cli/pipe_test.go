//go:build linux

package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// TestReaderGone checks that the program ends without an error message when the reader of its output has gone.
func TestReaderGone(t *testing.T) {
	t.Parallel()
	big := saved(t, "big.sse", strings.Repeat(string(turnOf("f")), 3000))
	for _, args := range [][]string{
		{"print", big}, {"print", "--format", "jsonl", big}, {"replay", big}, {"export", big, "--as", "jsonl"}, {"export", big, "--as", "capture"}, {"open", big}, {big},
		{"demo", "--list"}, {"demo"}, {}, {"version"}, {"--help"}, {"help", "keys"}, {"completion", "bash"},
	} {
		for _, lines := range []int{0, 1} { // as when the reader is the command true, or head -1
			out, w := pipe(t)
			errs := create(t, t.TempDir(), "err")
			read := make(chan error, 1)
			if lines == 0 {
				out.Close()
			} else {
				go func() {
					_, err := bufio.NewReaderSize(out, 16).ReadString('\n')
					out.Close()
					read <- err
				}()
			}
			p := start(t, launch{args: args, stdout: w, stderr: errs})
			w.Close()
			if code := p.exit(); code != 0 && code != 128+int(syscall.SIGPIPE) {
				t.Errorf("%v: exit code %d", args, code)
			}
			if lines == 1 {
				if err := <-read; err != nil {
					t.Errorf("%v: reading a line: %v", args, err)
				}
			}
			if said := contents(t, errs); said != "" {
				t.Errorf("%v says %q", args, said)
			}
		}
	}
}

// TestStreamsClosed checks the program with closed standard streams, as a shell can start it (>&-).
func TestStreamsClosed(t *testing.T) {
	t.Parallel()
	program := builtProgram(t)
	for _, redirection := range []string{">&-", "<&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"} {
		for _, args := range []string{"print " + capturedDemo, "print --format jsonl " + capturedDemo, "replay " + capturedDemo, "demo --list", "demo"} {
			out, err := exec.Command("sh", "-c", program+" "+args+" "+redirection).CombinedOutput()
			if err != nil || bytes.Contains(out, []byte("toolscope:")) {
				t.Errorf("%s %s: %v\n%s", args, redirection, err, out)
			}
		}
	}
}

// TestEmptyPipe checks a pipe that ends before the first byte.
func TestEmptyPipe(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	w.Close()
	p := start(t, launch{stdin: r})
	p.untilShown("END")
	p.keys("q")
	p.wantExit(0)
	p.wantRestored()

	r, w = pipe(t)
	w.Close()
	p = start(t, launch{args: []string{"print"}, stdin: r})
	p.wantExit(1)
	if !p.shows("no bytes arrived") {
		t.Error(p.describe())
	}
}

// TestSlowPipe checks that data is shown while the pipe is still open.
func TestSlowPipe(t *testing.T) {
	t.Parallel()
	first, second := turnOf("first"), turnOf("second")

	r, w := pipe(t)
	p := start(t, launch{stdin: r})
	write(t, w, first[:len(first)/2])
	p.untilShown("first")
	write(t, w, first[len(first)/2:])
	p.untilShown("complete")
	write(t, w, second)
	p.untilShown("second")
	w.Close()
	p.untilShown("END")
	p.keys("q")
	p.wantExit(0)
	p.wantRestored()

	for _, format := range []string{"text", "jsonl"} {
		r, w := pipe(t)
		p := start(t, launch{args: []string{"print", "--format", format}, stdin: r})
		write(t, w, first)
		p.untilShown("first")
		write(t, w, second)
		p.untilShown("second")
		w.Close()
		p.wantExit(0)
	}
}

func write(t *testing.T, w io.Writer, data []byte) {
	t.Helper()
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
}

// TestFollow checks that new calls in a growing file are shown on the screen and printed.
func TestFollow(t *testing.T) {
	for _, args := range [][]string{{"open", "-f"}, {"print", "-f"}, {"print", "--format", "jsonl", "-f"}} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			t.Parallel()
			f := create(t, t.TempDir(), "growing.sse")
			write(t, f, turnOf("first"))
			p := start(t, launch{args: append(args, f.Name())})
			p.untilShown("first")
			write(t, f, turnOf("second"))
			p.untilShown("second")
			p.signal(syscall.SIGTERM)
			p.wantExit(128 + int(syscall.SIGTERM))
			if args[0] == "open" {
				p.wantRestored()
			}
		})
	}
}

// TestSignalsWhilePrinting checks that signals end a program without a screen, and that none of them prints stack
// traces.
func TestSignalsWhilePrinting(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if signal.Ignored(sig) {
			continue // under nohup, the program must ignore the signal
		}
		r, w := pipe(t)
		p := start(t, launch{args: []string{"print"}, stdin: r})
		write(t, w, turnOf("first"))
		p.untilShown("first")
		p.signal(sig)
		p.wantExit(128 + int(sig))
	}
}
