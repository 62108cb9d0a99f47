//go:build unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// A clientProcess is a client that runs. It has a process group of its own, which owns the terminal where
// we would: what keys send, as ^C does, it gets once and from the terminal; what is sent to us is
// passed on to it. When it is stopped we stop too, and it goes on when we do.
//
// In a pipeline others of our group may want the terminal, as a pager does. There it stays with
// them and us, and what keys send reaches the client as it reaches us.
type clientProcess struct {
	pid     int
	to      int      // who gets signals: the process, or its group as a negative number
	tty     *os.File // nil where we have no terminal to hand over
	signals chan os.Signal
	over    chan struct{} // closed when the client has ended
}

// forwardedSignals are the signals that the client gets from us.
var forwardedSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// startClient starts it; in front it owns the terminal, if we do.
func startClient(cmd *exec.Cmd, inFront bool) (*clientProcess, error) {
	c := &clientProcess{signals: make(chan os.Signal, 16), over: make(chan struct{})}
	for _, sig := range forwardedSignals {
		if !signal.Ignored(sig) { // as nohup wants it, of the client too
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
		signal.Ignore(syscall.SIGTTOU) // it would stop us when we take the terminal back
		signal.Notify(c.signals, syscall.SIGCONT)
		c.giveTerminal()
	}
	go c.forwardSignals(shared)
	return c, nil
}

// ownTerminal is the terminal that we own, nil if there is none.
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

func (c *clientProcess) setForeground(group int) {
	_ = unix.IoctlSetPointerInt(int(c.tty.Fd()), unix.TIOCSPGRP, group)
}

// giveTerminal hands the terminal over, and has the client go on that may have asked too early for it.
func (c *clientProcess) giveTerminal() {
	c.setForeground(c.pid)
	_ = syscall.Kill(-c.pid, syscall.SIGCONT)
}

// forwardSignals passes signals on while the client runs. One that comes later was meant for it, and must not
// keep us from ending as it did; the next ends us.
func (c *clientProcess) forwardSignals(shared bool) {
	for {
		select {
		case sig := <-c.signals:
			c.forwardSignal(sig, shared)
		case <-c.over:
			<-c.signals
			signal.Stop(c.signals)
			return
		}
	}
}

// forwardSignal passes a signal on, but for those of keys where the client has them from the terminal too.
func (c *clientProcess) forwardSignal(sig os.Signal, shared bool) {
	switch n, _ := sig.(syscall.Signal); {
	case shared && (n == syscall.SIGINT || n == syscall.SIGQUIT):
	case n != syscall.SIGCONT:
		_ = syscall.Kill(c.to, n)
	case c.ownsTerminal(syscall.Getpgrp()): // a shell brought us to the front
		c.giveTerminal()
	default:
		_ = syscall.Kill(-c.pid, syscall.SIGCONT)
	}
}

// wait waits for the client to end and returns its exit code.
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
			c.stopWithClient(status.StopSignal())
		case status.Signaled():
			return 128 + int(status.Signal())
		default:
			return status.ExitStatus()
		}
	}
}

// stopWithClient stops us as the client was, and has it go on when we do. One that only wanted the
// terminal before it had it goes on at once.
func (c *clientProcess) stopWithClient(sig syscall.Signal) {
	early := (sig == syscall.SIGTTIN || sig == syscall.SIGTTOU) && c.tty != nil && c.ownsTerminal(c.pid)
	switch {
	case early:
		_ = syscall.Kill(-c.pid, syscall.SIGCONT)
	case c.tty != nil:
		if c.ownsTerminal(c.pid) {
			c.setForeground(syscall.Getpgrp())
		}
		_ = syscall.Kill(0, syscall.SIGTSTP) // SIGCONT is passed on
	}
}

// end ends the client, if it still runs.
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

// takeTerminal takes the terminal back.
func (c *clientProcess) takeTerminal() {
	close(c.over)
	if c.tty != nil {
		if c.pid != 0 && !c.ownsTerminal(syscall.Getpgrp()) {
			c.setForeground(syscall.Getpgrp())
		}
		c.tty.Close()
	}
}
