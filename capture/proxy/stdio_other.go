//go:build !unix

package proxy

import (
	"os"
	"os/signal"
)

// catchSignals prevents ^C from ending this program. The process gets ^C from the console as well.
func catchSignals() (signals chan os.Signal, stop func()) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt)
	return make(chan os.Signal), func() { signal.Stop(caught) }
}

func terminateProcess(p *os.Process) { _ = p.Kill() }

func endingOf(s *os.ProcessState) Ending { return Ending{Code: s.ExitCode()} }

// ExitLike returns the exit code for this program.
func (e Ending) ExitLike() (code int) { return e.Code }
