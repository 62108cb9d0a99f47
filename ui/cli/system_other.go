//go:build !unix

package cli

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// On this system, programs can't be stopped and continued.
const (
	canStop    = false
	stopSignal = syscall.Signal(-1) // not a valid signal
)

// crashSignals is empty, because programs can't send such signals on this system.
var crashSignals []os.Signal

// isTaken reports whether listening failed because the port is in use. The error is WSAEADDRINUSE.
func isTaken(err error) bool { return errors.Is(err, syscall.Errno(10048)) }

// replaceSelf always fails, because a program can't replace itself on this system.
func replaceSelf(args []string) error { return fmt.Errorf("%s: %w", args[0], errors.ErrUnsupported) }

// canPrefix reports whether a script can be started like a program.
const canPrefix = false

func suspend()      {}
func stopSelf()     {}
func continueSelf() {}

// endWithReader does nothing, because on this system a pipe doesn't report that its reader has gone.
func (a *app) endWithReader() (stop func()) { return func() {} }

// isRunning reports whether a process exists. On Windows, FindProcess returns an error if it doesn't.
func isRunning(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}
