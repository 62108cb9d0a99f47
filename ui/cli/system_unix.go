//go:build unix

package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
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
