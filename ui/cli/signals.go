package cli

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// signals handles the signals that end or stop the program.
type signals struct {
	ch     chan os.Signal
	last   chan os.Signal
	ending *shutdown

	mu        sync.Mutex
	releasing bool        // Bubble Tea sends the next SIGTSTP
	goOn      *time.Timer // continues a process that was not stopped; may be nil
}

// catchSignals collects signals until handleSignals runs.
func catchSignals(e *shutdown) *signals {
	s := &signals{ch: make(chan os.Signal, 4), last: make(chan os.Signal, 1), ending: e}
	signal.Notify(s.ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, stopSignal)
	if len(crashSignals) > 0 { // Notify without signals means all
		signal.Notify(s.ch, crashSignals...)
	}
	return s
}

// handleSignals ends the program on a signal, with the terminal restored, and stops it on the stop signal.
func (s *signals) handleSignals(p *tea.Program) {
	for sig := range s.ch {
		if sig == stopSignal {
			if !s.stopProcess() {
				go p.Send(tea.SuspendMsg{})
			}
			continue
		}
		select {
		case s.last <- sig:
		default: // keep the first signal
		}
		s.ending.start()
		p.Kill()
	}
}

// stopTime limits how long stopping the process may take.
const stopTime = time.Second / 2

// stopProcess stops the process if Bubble Tea is ready: it has released the terminal, has sent SIGTSTP to the
// process group, which we caught, and waits for SIGCONT. If no shell could continue the process, it isn't
// stopped; then it must continue on its own.
func (s *signals) stopProcess() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.releasing {
		return false
	}
	s.releasing = false
	stopSelf()
	s.goOn = time.AfterFunc(stopTime, continueSelf)
	return true
}

// filterMessage handles messages before the program gets them.
func (s *signals) filterMessage(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case tea.SuspendMsg:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.releasing = true
		if s.goOn != nil {
			s.goOn.Stop()
		}
	case tea.KeyMsg:
		if lateAnswer(msg) {
			return nil
		}
	}
	return msg
}

// endSignal returns the signal that ended the program, or nil.
func (s *signals) endSignal() os.Signal {
	signal.Stop(s.ch)
	select {
	case sig := <-s.last:
		return sig
	default:
		return nil
	}
}

// catchEnd catches the signals that end a program without a screen, except ignored signals, e.g. under
// nohup. The next signal ends the program at once. stop restores Go's handling.
func (a *app) catchEnd() (caught chan os.Signal, stop func()) {
	first, caught := make(chan os.Signal, 1), make(chan os.Signal, 1)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(first, sig)
		}
	}
	go func() {
		if sig, ok := <-first; ok {
			signal.Stop(first)
			a.ending.start()
			caught <- sig
		}
	}()
	return caught, func() {
		signal.Stop(first)
		close(first)
	}
}

// endedBy sets the exit code for a signal.
func (a *app) endedBy(sig os.Signal) {
	if n, ok := sig.(syscall.Signal); ok {
		a.code = 128 + int(n)
	}
}

// waitForEnd waits for over, or for the signal that ends the run.
func (a *app) waitForEnd(over <-chan error, caught <-chan os.Signal) (signalled bool, err error) {
	select {
	case err := <-over:
		return false, err
	case sig := <-caught:
		a.endedBy(sig)
		return true, nil
	}
}

// quitQuietly makes SIGQUIT end a program without a screen as other signals do: Go would print the stack of
// every goroutine. stop restores Go's handling.
func quitQuietly() (stop func()) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGQUIT)
	go func() {
		if _, quit := <-ch; quit {
			os.Exit(128 + int(syscall.SIGQUIT))
		}
	}()
	return func() {
		signal.Stop(ch)
		close(ch)
	}
}
