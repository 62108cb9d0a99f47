package proxy

import (
	"os/exec"
	"syscall"
)

// killWithParent makes the system kill the process when the thread that started it ends.
func killWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
