package cli

import (
	"bytes"
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
}

func (l *later) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held.Write(p)
}

// hold keeps back what is said on standard error until release is called.
func (a *app) hold() (release func()) {
	to, kept := a.stderr, new(later)
	a.stderr = lines{kept}
	return func() {
		a.stderr = to
		kept.mu.Lock()
		defer kept.mu.Unlock()
		_, _ = to.to.Write(kept.held.Bytes())
	}
}
