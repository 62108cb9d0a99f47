//go:build linux

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/creack/pty"
)

// limit is the maximum time to wait for an event that would be immediate on an idle machine.
const limit = 30 * time.Second

// console is a program with an emulated terminal.
type console struct {
	t      *testing.T
	launch launch
	cmd    *exec.Cmd
	pid    int
	master *os.File
	before syscall.Termios
	tty    string      // name of the terminal device
	unread atomic.Bool // the terminal is no longer read, so the output may end anywhere
	folder string      // TMPDIR and HOME of the program

	mu      sync.Mutex
	out     []byte
	screen  *screen
	changed chan struct{}
	deaf    chan struct{} // closed when the terminal is no longer read
	over    chan struct{}
}

// read acts as the terminal: it displays the output until no process can write to the terminal any more.
func (p *console) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := p.master.Read(buf)
		p.mu.Lock()
		p.out = append(p.out, buf[:n]...)
		asked := len(p.screen.queries)
		p.screen.write(buf[:n])
		queries := p.screen.queries[asked:]
		p.mu.Unlock()
		for _, q := range queries {
			if p.launch.answer != nil {
				p.launch.answer(p, q)
			}
		}
		select {
		case p.changed <- struct{}{}:
		default:
		}
		if err != nil || p.unread.Load() {
			break
		}
	}
	close(p.deaf)
	_ = p.cmd.Wait()
	close(p.over)
}

// end kills the program if it is still running, and checks its output.
func (p *console) end() {
	select {
	case <-p.over:
	default:
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
		_ = p.cmd.Process.Kill()
		<-p.over
	}
	p.master.Close()
	for _, bad := range p.screen.bad {
		p.t.Errorf("the terminal was sent %s", bad)
	}
	if len(p.screen.queries) > 0 && !p.launch.asks {
		p.t.Errorf("the terminal was asked for %v", p.screen.queries)
	}
	if len(p.screen.copied) > 0 && !p.launch.copies {
		p.t.Errorf("the clipboard was sent %q", p.screen.copied)
	}
	if !utf8.Valid(p.out) && !p.unread.Load() {
		p.t.Error("the terminal was sent what is not UTF-8")
	}
	for _, stack := range []string{"DATA RACE", "goroutine ", "runtime error", "Caught panic"} {
		if at := bytes.Index(p.out, []byte(stack)); at >= 0 {
			p.t.Errorf("on the terminal: %s", p.out[at:min(len(p.out), at+4000)])
			break
		}
	}
	files, _ := filepath.Glob(filepath.Join(p.folder, "toolscope-crash-*"))
	for _, f := range files {
		if stack, err := os.ReadFile(f); err == nil && p.t.Failed() {
			p.t.Logf("%s", stack)
		}
	}
}

// until waits for a state of the screen.
func (p *console) until(what string, ok func(*screen) bool) {
	p.t.Helper()
	deadline := time.After(limit)
	look := time.NewTicker(10 * time.Millisecond) // for conditions that are not on the screen
	defer look.Stop()
	for {
		p.mu.Lock()
		yes := ok(p.screen)
		p.mu.Unlock()
		if yes {
			return
		}
		select {
		case <-p.changed:
		case <-look.C:
		case <-p.over:
			select {
			case <-p.changed: // the last output
				continue
			default:
			}
			p.t.Fatalf("the program ended without %s:\n%s", what, p.describe())
		case <-deadline:
			p.t.Fatalf("waited in vain for %s:\n%s", what, p.describe())
		}
	}
}

func (p *console) untilShown(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("%q on the screen", text), func(s *screen) bool { return s.shows(text) })
}

// untilFrame waits until a complete frame contains the text.
func (p *console) untilFrame(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("a frame with %q", text), func(s *screen) bool { return s.shows(text) && s.whole() })
}

// now returns the result of f for the current screen.
func now[T any](p *console, f func(*screen) T) T {
	p.mu.Lock()
	defer p.mu.Unlock()
	return f(p.screen)
}

// shows reports whether the current screen contains the given text.
func (p *console) shows(text string) bool {
	return now(p, func(s *screen) bool { return s.shows(text) })
}

func (p *console) describe() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := p.out[max(0, len(p.out)-300):]
	return fmt.Sprintf("%s\n(the last bytes are %q)", p.screen.text(), last)
}

// keys types text.
func (p *console) keys(text string) {
	p.t.Helper()
	if _, err := p.master.WriteString(text); err != nil && text != "" {
		p.t.Fatal(err)
	}
}

func (p *console) resize(w, h int) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := pty.Setsize(p.master, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}); err != nil {
		p.t.Fatal(err)
	}
	p.screen.resize(w, h)
}

func (p *console) signal(s syscall.Signal) {
	p.t.Helper()
	if err := syscall.Kill(p.pid, s); err != nil {
		p.t.Fatal(err)
	}
}

// exit waits for the program's end and returns its exit code. If signal n ended the program, the code is 128+n, as in
// a shell.
func (p *console) exit() int {
	p.t.Helper()
	select {
	case <-p.over:
	case <-time.After(limit):
		p.t.Fatalf("the program does not end:\n%s", p.describe())
	}
	return exitCode(p.cmd.ProcessState)
}

func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

func (p *console) wantExit(code int) {
	p.t.Helper()
	if got := p.exit(); got != code {
		p.t.Errorf("exit code %d, want %d:\n%s", got, code, p.describe())
	}
}

// wantRestored checks that the terminal is in the same state as before the program opened its screen.
func (p *console) wantRestored() {
	p.t.Helper()
	p.mu.Lock()
	entered, modes := p.screen.entered, p.screen.modes
	for mode, on := range modeDefaults {
		if modes[mode] != on {
			p.t.Errorf("mode %d is left %v", mode, modes[mode])
		}
	}
	p.mu.Unlock()
	if entered == 0 {
		p.t.Error("there was no screen")
	}
	if got := p.termios(); got != p.before {
		p.t.Errorf("the terminal's settings are left\n%+v, were\n%+v", got, p.before)
	}
}

// leaveUnread stops reading the terminal and fills its buffer.
func (p *console) leaveUnread() {
	p.t.Helper()
	p.unread.Store(true)
	fd, err := syscall.Open(p.tty, syscall.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	defer syscall.Close(fd)
	_, _ = syscall.Write(fd, []byte{'.'}) // wakes the reader, which then stops
	<-p.deaf
	stuff(p.t, fd)
}

// stuff writes until the buffer is full.
func stuff(t *testing.T, fd int) {
	t.Helper()
	for {
		switch _, err := syscall.Write(fd, []byte{'.'}); err {
		case nil, syscall.EINTR:
		case syscall.EAGAIN:
			return
		default:
			t.Fatal(err)
		}
	}
}

func (p *console) termios() (got syscall.Termios) {
	p.t.Helper()
	conn, err := p.master.SyscallConn()
	if err != nil {
		p.t.Fatal(err)
	}
	err = errors.Join(err, conn.Control(func(fd uintptr) {
		_, _, e := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TCGETS, uintptr(unsafe.Pointer(&got)))
		if e != 0 {
			err = e
		}
	}))
	if err != nil {
		p.t.Fatal(err)
	}
	return got
}
