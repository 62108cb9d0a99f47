package proxy

import (
	"os/exec"
	"syscall"
)

// KillWithParent makes the system kill the process when the thread that started it ends.
func KillWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
