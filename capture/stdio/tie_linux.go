package stdio

import (
	"os/exec"
	"syscall"
)

// killWithParent has the process be killed when the thread that starts it ends.
func killWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
