package stdio

import (
	"os/exec"
	"syscall"
)

// tie has the process be killed when the thread that starts it ends.
func tie(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
