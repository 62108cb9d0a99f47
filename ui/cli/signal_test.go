//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// TestSignals checks that the terminal is restored after each signal that ends the program.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSEGV, syscall.SIGSYS, syscall.SIGTRAP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			p := start(t, launch{args: []string{"demo"}})
			p.untilShown("PLAY 1×")
			p.signal(sig)
			p.wantExit(128 + int(sig))
			p.wantRestored()
		})
	}
}

// TestSignalWhileAsking checks signals during the query for the background. At that time, the terminal is already in
// raw mode, but there is no screen.
func TestSignalWhileAsking(t *testing.T) {
	t.Parallel()
	p := start(t, launch{args: []string{"demo"}, env: []string{"COLORFGBG="}, asks: true})
	p.until("a question", func(s *screen) bool { return len(s.queries) > 0 })
	p.signal(syscall.SIGTERM)
	p.wantExit(128 + int(syscall.SIGTERM))
	if got := p.termios(); got != p.before {
		t.Errorf("the terminal's settings are left\n%+v, were\n%+v", got, p.before)
	}
}

func TestInterruptKey(t *testing.T) {
	t.Parallel()
	p := start(t, launch{args: []string{"demo"}})
	p.untilShown("PLAY 1×")
	p.keys("\x03")
	p.wantExit(130)
	p.wantRestored()
}

// TestHangup checks that the program ends when its terminal goes away, e.g. when its window is closed.
func TestHangup(t *testing.T) {
	t.Parallel()
	p := start(t, launch{args: []string{"demo"}})
	p.untilShown("PLAY 1×")
	p.master.Close()
	p.wantExit(128 + int(syscall.SIGHUP))
}

// runJob runs a command as a shell with job control does: in a new process group in the foreground. Only such a
// process can be stopped.
func runJob() int {
	signal.Ignore(syscall.SIGTTOU) // otherwise the change of the foreground group would stop the command
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	report := os.NewFile(4, "report")
	fmt.Fprintln(report, cmd.Process.Pid)
	report.Close()
	_ = cmd.Wait()
	return exitCode(cmd.ProcessState)
}

// TestSuspend checks that the key and the signal really stop the program, with the terminal restored, and that the
// program can continue.
func TestSuspend(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*console){
		"key":    func(p *console) { p.keys("\x1a") },
		"signal": func(p *console) { p.signal(syscall.SIGTSTP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, launch{args: []string{"demo"}, helper: "job"})
			p.untilShown("PLAY 1×")
			for round := 1; round <= 2; round++ {
				stop(p)
				p.until("the normal screen", func(s *screen) bool { return !s.modes[1049] && p.stopped() })
				p.wantRestored()
				p.signal(syscall.SIGCONT)
				p.until("the screen again", func(s *screen) bool {
					return s.entered == round+1 && s.modes[1049] && !s.modes[25] && s.shows("toolscope")
				})
			}
			p.keys("?")
			p.untilShown("esc close")
			p.signal(syscall.SIGTERM)
			p.wantExit(128 + int(syscall.SIGTERM))
			p.wantRestored()
		})
	}
}

// stopped reports whether the program is stopped, according to ps.
func (p *console) stopped() bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "T")
}

// TestSuspendWithoutShell checks a program that no shell could continue, e.g. the only process of a terminal
// window. The program must not stay stopped, and must still end on a signal.
func TestSuspendWithoutShell(t *testing.T) {
	t.Parallel()
	p := start(t, launch{args: []string{"demo"}})
	p.untilShown("PLAY 1×")
	p.keys("\x1a")
	p.until("the screen again", func(s *screen) bool { return s.entered == 2 && s.shows("Calls") })
	p.keys("?")
	p.untilShown("esc close")
	p.keys("\x1a")
	p.until("the normal screen", func(s *screen) bool { return !s.modes[1049] })
	p.signal(syscall.SIGINT)
	p.wantExit(130)
	p.wantRestored()
}
