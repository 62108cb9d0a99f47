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

// Programs can be stopped, as ^Z in a shell does it, and continued.
const (
	canStop    = true
	stopSignal = syscall.SIGTSTP
)

// isTaken reports whether listening failed because somebody else does so there.
func isTaken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// replaceSelf has a command be run in our place.
func replaceSelf(args []string) error {
	path, err := exec.LookPath(args[0])
	if err == nil {
		err = syscall.Exec(path, args, os.Environ())
	}
	return fmt.Errorf("%s: %w", args[0], err)
}

// canPrefix is whether a script can be started as a program is.
const canPrefix = true

func suspend() { sendSelf(syscall.SIGTSTP) }

// stopSelf stops the process by SIGTTIN, which does what SIGTSTP does: Go cannot uncatch that.
func stopSelf() { sendSelf(syscall.SIGTTIN) }

func continueSelf() { sendSelf(syscall.SIGCONT) }

func sendSelf(s syscall.Signal) { _ = syscall.Kill(syscall.Getpid(), s) }

// endWithReader has the program end when nobody reads its output any more. The next write would end
// it too, but there may never be one. Only of a pipe can this be told.
func (a *app) endWithReader() (stop func()) {
	var info unix.Stat_t
	if err := unix.Fstat(int(a.output.Fd()), &info); err != nil || info.Mode&unix.S_IFMT != unix.S_IFIFO {
		return func() {}
	}
	r, w, err := os.Pipe() // wakes the one who waits
	if err != nil {
		return func() {}
	}
	gone := make(chan struct{})
	out, wake := int32(a.output.Fd()), int32(r.Fd())
	go func() {
		defer close(gone)
		if waitPipeClosed(out, wake) {
			if a.tracing != nil {
				signal.Ignore(syscall.SIGPIPE) // the next write would end the program before that
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

// waitPipeClosed waits for the other end of a pipe to be closed. It gives up when something comes of
// wake.
func waitPipeClosed(out, wake int32) bool {
	// That a pipe is broken is told without asking for it.
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

// endAsBrokenPipe ends the program as the signal does that a write to a broken pipe brings.
func endAsBrokenPipe() { os.Exit(128 + int(syscall.SIGPIPE)) }
