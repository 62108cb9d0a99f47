//go:build !unix

package cli

import "syscall"

// Programs cannot be stopped and continued.
const (
	canStop    = false
	stopSignal = syscall.Signal(-1) // none
)

func suspend()      {}
func stopSelf()     {}
func continueSelf() {}

// endWithReader does nothing where pipes do not tell that nobody reads them.
func (a *app) endWithReader() (stop func()) { return func() {} }
