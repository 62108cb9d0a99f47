//go:build !unix

package cli

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Programs can't be stopped and continued here.
const (
	canStop    = false
	stopSignal = syscall.Signal(-1) // no such signal
)

// crashSignals are none: other programs can't send them.
var crashSignals []os.Signal

// isTaken reports whether listening failed because the port is in use: WSAEADDRINUSE.
func isTaken(err error) bool { return errors.Is(err, syscall.Errno(10048)) }

// replaceSelf fails: a program can't replace itself here.
func replaceSelf(args []string) error { return fmt.Errorf("%s: %w", args[0], errors.ErrUnsupported) }

// canPrefix is whether a script can be started like a program.
const canPrefix = false

func suspend()      {}
func stopSelf()     {}
func continueSelf() {}

// endWithReader does nothing: pipes don't report that their reader is gone.
func (a *app) endWithReader() (stop func()) { return func() {} }
