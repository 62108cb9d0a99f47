package cli

import (
	"bytes"
	"io"
	"sync"

	"toolscope/providers"
	"toolscope/stream"
)

// turnCounter counts turns instead of printing them.
type turnCounter struct{ turns, calls, bad int }

// addTurn counts a turn and its calls.
func (n *turnCounter) addTurn(_ *providers.View, _ string, t *stream.Turn) {
	if t.Model == "" && len(t.Calls) == 0 { // not a response of a model
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

// deferredOutput keeps output while a client owns the terminal.
type deferredOutput struct {
	mu     sync.Mutex
	buffer bytes.Buffer
	to     io.Writer // target after release; nil while the output is kept
}

// Write keeps p, or writes it once the output is released.
func (l *deferredOutput) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != nil {
		return l.to.Write(p)
	}
	return l.buffer.Write(p)
}

// deferOutput keeps the program's notes and errors until release is called.
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

// notesWriter returns the writer for the program's notes and errors.
func (a *app) notesWriter() lineWriter {
	if kept := a.later.Load(); kept != nil {
		return lineWriter{kept}
	}
	return a.stderr
}
