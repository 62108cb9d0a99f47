package cli

import (
	"bytes"
	"io"
	"sync"

	"toolscope/providers"
	"toolscope/stream"
)

// tally counts turns in place of printing them.
type tally struct{ turns, calls, bad int }

func (n *tally) turn(_ *providers.View, _ string, t *stream.Turn) {
	if t.Model == "" && len(t.Calls) == 0 { // no model answered
		return
	}
	n.turns++
	for _, c := range t.Calls {
		n.calls++
		switch c.Status() {
		case stream.Complete, stream.NoArguments:
		default:
			n.bad++
		}
	}
}

func (n *tally) sentBack([]returned) {}
func (n *tally) flush() error        { return nil }

// later is what is written while a client owns the terminal: it is kept until that has ended.
type later struct {
	mu   sync.Mutex
	held bytes.Buffer
	to   io.Writer // where it goes; nil while it is kept
}

func (l *later) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != nil {
		return l.to.Write(p)
	}
	return l.held.Write(p)
}

// hold keeps back what the program notes and complains of until release is called.
func (a *app) hold() (release func()) {
	kept := new(later)
	a.later.Store(kept)
	return func() {
		kept.mu.Lock()
		defer kept.mu.Unlock()
		_, _ = a.stderr.to.Write(kept.held.Bytes())
		kept.to = a.stderr.to
	}
}

// errs is where the program writes what it notes and complains of.
func (a *app) errs() lines {
	if kept := a.later.Load(); kept != nil {
		return lines{kept}
	}
	return a.stderr
}
