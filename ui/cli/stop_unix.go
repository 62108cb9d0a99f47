//go:build unix

package cli

import "syscall"

// Programs can be stopped, as ^Z in a shell does it, and continued.
const (
	canStop    = true
	stopSignal = syscall.SIGTSTP
)

func suspend() { sendSelf(syscall.SIGTSTP) }

// stopSelf stops the process by SIGTTIN, which does what SIGTSTP does: Go cannot
// uncatch that.
func stopSelf() { sendSelf(syscall.SIGTTIN) }

func continueSelf() { sendSelf(syscall.SIGCONT) }

func sendSelf(s syscall.Signal) { _ = syscall.Kill(syscall.Getpid(), s) }
