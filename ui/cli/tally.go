package cli

import (
	"bytes"
	"io"
	"sync"

	"toolscope/providers"
	"toolscope/stream"
)

// turnCounter counts turns in place of printing them.
type turnCounter struct{ turns, calls, bad int }

func (n *turnCounter) addTurn(_ *providers.View, _ string, t *stream.Turn) {
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

func (n *turnCounter) sentBack([]sentBackCall) {}
func (n *turnCounter) flush() error            { return nil }

// deferredOutput is what is written while a client owns the terminal: it is kept until that has ended.
type deferredOutput struct {
	mu     sync.Mutex
	buffer bytes.Buffer
	to     io.Writer // where it goes; nil while it is kept
}

func (l *deferredOutput) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != nil {
		return l.to.Write(p)
	}
	return l.buffer.Write(p)
}

// deferOutput keeps back what the program notes and complains of until release is called.
func (a *app) deferOutput() (release func()) {
	kept := new(deferredOutput)
	a.later.Store(kept)
	return func() {
		kept.mu.Lock()
		defer kept.mu.Unlock()
		_, _ = a.stderr.to.Write(kept.buffer.Bytes())
		kept.to = a.stderr.to
	}
}

// notesWriter is where the program writes what it notes and complains of.
func (a *app) notesWriter() lineWriter {
	if kept := a.later.Load(); kept != nil {
		return lineWriter{kept}
	}
	return a.stderr
}
