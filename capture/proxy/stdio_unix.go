//go:build unix

package proxy

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// catchSignals receives the signals for the process, except those that are ignored, e.g. because of nohup. It also
// catches SIGPIPE, so that writing to a closed output returns an error instead of ending this program.
func catchSignals() (signals chan os.Signal, stop func()) {
	signals, broken := make(chan os.Signal, 16), make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	signal.Notify(broken, syscall.SIGPIPE)
	return signals, func() {
		signal.Stop(signals)
		signal.Stop(broken)
	}
}

func terminateProcess(p *os.Process) { _ = p.Signal(syscall.SIGTERM) }

func endingOf(s *os.ProcessState) Ending {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return Ending{Signal: status.Signal()}
	}
	return Ending{Code: s.ExitCode()}
}

// ExitLike ends this program in the same way as the process ended: by the same signal, if that is SIGINT, SIGTERM,
// SIGHUP or SIGKILL. Otherwise, it returns the exit code. After any other signal, the exit code is 128 plus the
// signal's number.
func (e Ending) ExitLike() (code int) {
	switch e.Signal {
	case 0:
		return e.Code
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL:
		signal.Reset(e.Signal)
		_ = syscall.Kill(syscall.Getpid(), e.Signal)
		time.Sleep(time.Second) // another thread of this program may receive the signal first
	}
	return 128 + int(e.Signal)
}
