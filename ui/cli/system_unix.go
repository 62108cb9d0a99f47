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

// Programs can be stopped, as by ^Z in a shell, and continued.
const (
	canStop    = true
	stopSignal = syscall.SIGTSTP
)

// crashSignals are the signals by which other programs make one end with a report. Go would end without
// restoring the terminal. A fault of our own code is not such a signal: Go makes it a panic.
var crashSignals = []os.Signal{syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSEGV, syscall.SIGSYS, syscall.SIGTRAP}

// isTaken reports whether listening failed because the port is in use.
func isTaken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// replaceSelf replaces this process with a command. It only returns on failure.
func replaceSelf(args []string) error {
	path, err := exec.LookPath(args[0])
	if err == nil {
		err = syscall.Exec(path, args, os.Environ())
	}
	return fmt.Errorf("%s: %w", args[0], err)
}

// canPrefix is whether a script can be started like a program.
const canPrefix = true

func suspend() { sendSelf(syscall.SIGTSTP) }

// stopSelf stops the process with SIGTTIN, which works like SIGTSTP: Go can't uncatch SIGTSTP.
func stopSelf() { sendSelf(syscall.SIGTTIN) }

func continueSelf() { sendSelf(syscall.SIGCONT) }

func sendSelf(s syscall.Signal) { _ = syscall.Kill(syscall.Getpid(), s) }

// endWithReader ends the program when the reader of its output is gone. The next write would end it too, but
// there may be none. It only works for pipes.
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
				signal.Ignore(syscall.SIGPIPE) // or the next write would end the program first
				a.tracing.finishAndReport(a)
			}
			endAsBrokenPipe()
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
	// Broken pipes are reported without a request for it.
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

// endAsBrokenPipe ends the program like the signal of a write to a broken pipe.
func endAsBrokenPipe() { os.Exit(128 + int(syscall.SIGPIPE)) }
