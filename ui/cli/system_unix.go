//go:build unix

package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"

	"toolscope/capture/proxy"
)

// On this system, programs can be stopped, e.g. by ^Z in a shell, and continued.
const (
	canStop    = true
	stopSignal = syscall.SIGTSTP
)

// crashSignals are the signals with which another program can make toolscope end with a crash report. Without a
// handler, toolscope would end without restoring the terminal. A fault in toolscope's own code raises no such signal,
// because Go turns it into a panic.
var crashSignals = []os.Signal{syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSEGV, syscall.SIGSYS, syscall.SIGTRAP}

// isTaken reports whether listening failed because the port is in use.
func isTaken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// replaceSelf replaces this process with a command. It returns only on failure.
func replaceSelf(args []string) error {
	path, err := exec.LookPath(args[0])
	if err == nil {
		err = syscall.Exec(path, args, os.Environ())
	}
	return fmt.Errorf("%s: %w", args[0], err)
}

// canPrefix reports whether a script can be started like a program.
const canPrefix = true

func suspend() { sendSelf(syscall.SIGTSTP) }

// stopSelf stops the process with SIGTTIN, because Go can't stop catching SIGTSTP. SIGTTIN has the same effect.
func stopSelf() { sendSelf(syscall.SIGTTIN) }

func continueSelf() { sendSelf(syscall.SIGCONT) }

func sendSelf(s syscall.Signal) { _ = syscall.Kill(syscall.Getpid(), s) }

// endWithReader ends the program when the reader of its output has gone. The next write would also end the
// program, but it may never happen. This works only for pipes.
func (a *app) endWithReader() (stop func()) {
	var info unix.Stat_t
	if err := unix.Fstat(int(a.output.Fd()), &info); err != nil || info.Mode&unix.S_IFMT != unix.S_IFIFO {
		return func() {}
	}
	r, w, err := os.Pipe() // wakes waitPipeClosed
	if err != nil {
		return func() {}
	}
	gone := make(chan struct{})
	out, wake := int32(a.output.Fd()), int32(r.Fd())
	go func() {
		defer close(gone)
		if waitPipeClosed(out, wake) {
			if a.tracing != nil {
				signal.Ignore(syscall.SIGPIPE) // otherwise the next write would end the program first
				a.tracing.finishAndReport(a)
			}
			os.Exit(128 + int(syscall.SIGPIPE)) // as a write to a broken pipe would end it
		}
	}()
	return func() {
		w.Close()
		<-gone
		r.Close()
	}
}

// waitPipeClosed waits until the other end of a pipe is closed. It returns false when wake becomes readable.
func waitPipeClosed(out, wake int32) bool {
	// poll reports a broken pipe even without requested events.
	fds := []unix.PollFd{{Fd: out}, {Fd: wake, Events: unix.POLLIN}}
	for {
		switch _, err := unix.Poll(fds, -1); {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		case err != nil, fds[1].Revents != 0:
			return false
		case fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
			return true
		}
	}
}

// isRunning reports whether a process exists.
func isRunning(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// clientProcess is a running client. It has its own process group. That group owns the terminal if
// toolscope's group did. So the client receives the signals for keys, such as ^C, only once, from the
// terminal. toolscope forwards signals that it receives itself. When the client stops, toolscope stops too,
// and both continue together.
//
// In a pipeline, the client stays in toolscope's group, which keeps the terminal, because other processes in
// that group, such as a pager, may need it.
type clientProcess struct {
	pid     int
	to      int      // target for signals: the process, or its group as a negative number
	tty     *os.File // the terminal; nil if toolscope's group does not own one
	signals chan os.Signal
	over    chan struct{} // closed when the client has ended or failed to start
}

// forwardedSignals are the signals that toolscope forwards to the client.
var forwardedSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// startClient starts a client. If inFront is true and toolscope owns the terminal, the client gets the terminal,
// except in a pipeline.
func startClient(cmd *exec.Cmd, inFront bool) (*clientProcess, error) {
	c := &clientProcess{signals: make(chan os.Signal, 16), over: make(chan struct{})}
	for _, sig := range forwardedSignals {
		if !signal.Ignored(sig) { // under nohup, the client ignores these signals too
			signal.Notify(c.signals, sig)
		}
	}
	if inFront {
		c.tty = ownTerminal()
	}
	shared := c.tty != nil && !(term.IsTerminal(os.Stdin.Fd()) && term.IsTerminal(os.Stdout.Fd()))
	if shared {
		c.tty.Close()
		c.tty = nil
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !shared}
	if err := cmd.Start(); err != nil {
		c.takeTerminal()
		return nil, err
	}
	c.pid = cmd.Process.Pid
	if c.to = -c.pid; shared {
		c.to = c.pid
	}
	if c.tty != nil {
		signal.Ignore(syscall.SIGTTOU) // this signal would stop toolscope when it takes the terminal back
		signal.Notify(c.signals, syscall.SIGCONT)
		c.giveTerminal()
	}
	go c.forwardSignals(shared)
	return c, nil
}

// ownTerminal opens the terminal if toolscope's process group owns it. Otherwise it returns nil.
func ownTerminal() *os.File {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	if owner, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP); err != nil || owner != syscall.Getpgrp() {
		tty.Close()
		return nil
	}
	return tty
}

// ownsTerminal reports whether a process group owns the terminal.
func (c *clientProcess) ownsTerminal(group int) bool {
	owner, err := unix.IoctlGetInt(int(c.tty.Fd()), unix.TIOCGPGRP)
	return err == nil && owner == group
}

// setForeground gives the terminal to a process group.
func (c *clientProcess) setForeground(group int) {
	_ = unix.IoctlSetPointerInt(int(c.tty.Fd()), unix.TIOCSPGRP, group)
}

// giveTerminal gives the terminal to the client. It also sends SIGCONT, because the client may have stopped when it
// used the terminal too early.
func (c *clientProcess) giveTerminal() {
	c.setForeground(c.pid)
	_ = syscall.Kill(-c.pid, syscall.SIGCONT)
}

// forwardSignals forwards signals while the client runs. After the client has ended, it ignores one signal,
// because that signal was meant for the client. This lets toolscope end with the client's exit code. The next
// signal ends toolscope.
func (c *clientProcess) forwardSignals(shared bool) {
	for {
		select {
		case sig := <-c.signals:
			// Don't forward the signals for keys that the client also receives from the terminal.
			switch n, _ := sig.(syscall.Signal); {
			case shared && (n == syscall.SIGINT || n == syscall.SIGQUIT):
			case n != syscall.SIGCONT:
				_ = syscall.Kill(c.to, n)
			case c.ownsTerminal(syscall.Getpgrp()): // a shell moved toolscope to the foreground
				c.giveTerminal()
			default:
				_ = syscall.Kill(-c.pid, syscall.SIGCONT)
			}
		case <-c.over:
			<-c.signals
			signal.Stop(c.signals)
			return
		}
	}
}

// wait waits for the client to end and returns its exit code, or 128+n if signal n ended it. If the wait fails,
// it returns 1.
func (c *clientProcess) wait() int {
	defer c.takeTerminal()
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(c.pid, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 1
		case status.Stopped():
			// Stop toolscope when the client has stopped. SIGCONT continues both. A client that stopped
			// only because it used the terminal too early is continued at once.
			sig := status.StopSignal()
			switch early := sig == syscall.SIGTTIN || sig == syscall.SIGTTOU; {
			case early && c.tty != nil && c.ownsTerminal(c.pid):
				_ = syscall.Kill(-c.pid, syscall.SIGCONT)
			case c.tty != nil:
				if c.ownsTerminal(c.pid) {
					c.setForeground(syscall.Getpgrp())
				}
				_ = syscall.Kill(0, syscall.SIGTSTP) // toolscope forwards SIGCONT later
			}
		case status.Signaled():
			return 128 + int(status.Signal())
		default:
			return status.ExitStatus()
		}
	}
}

// leftProcesses reports whether processes that the ended client started are still running. It can't see processes
// outside the client's own process group.
func (c *clientProcess) leftProcesses() bool {
	err := syscall.Kill(-c.pid, 0)
	return c.to == -c.pid && (err == nil || errors.Is(err, syscall.EPERM))
}

// end ends the processes in the client's group, with SIGTERM and then SIGKILL, until the client has ended.
func (c *clientProcess) end() {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = syscall.Kill(-c.pid, sig)
		for end := time.Now().Add(closeTime / 4); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if syscall.Kill(c.pid, 0) != nil {
				return
			}
		}
	}
}

// takeTerminal takes the terminal back after the client has ended or failed to start. It also stops
// forwardSignals.
func (c *clientProcess) takeTerminal() {
	close(c.over)
	if c.tty != nil {
		if c.pid != 0 && !c.ownsTerminal(syscall.Getpgrp()) {
			c.setForeground(syscall.Getpgrp())
		}
		c.tty.Close()
	}
}

// groupTime is the maximum time for which the processes of a group may continue after a signal.
const groupTime = time.Second

// startGroup starts a program in its own process group. On systems that support this, the program ends when toolscope
// ends.
func startGroup(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	proxy.KillWithParent(cmd)
	return cmd.Start()
}

// endGroup ends the processes in a program's group. If the program has already ended, the other processes first get
// some time to end on their own.
func endGroup(cmd *exec.Cmd, done <-chan struct{}) {
	group := -cmd.Process.Pid
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}
	select {
	case <-done:
		signals = append([]syscall.Signal{0}, signals...)
	default:
	}
	for _, sig := range signals {
		if syscall.Kill(group, sig) != nil {
			break
		}
		for end := time.Now().Add(groupTime); time.Now().Before(end) && syscall.Kill(group, 0) == nil; time.Sleep(5 * time.Millisecond) {
		}
	}
	<-done
}

// signalOf describes the signal that ended a process, e.g. as "killed". It returns "" if no signal did.
func signalOf(s *os.ProcessState) string {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}
