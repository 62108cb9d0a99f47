package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolscope/ui"
	"toolscope/ui/display"
)

// messageOutput writes the program's notes and errors.
type messageOutput struct {
	stderr  lineWriter
	later   atomic.Pointer[deferredOutput] // receives notes and errors instead of stderr, if not nil
	journal ui.Journal
	notes   atomic.Int64 // number of printed notes
}

// printError writes an error on at most three lines, and adds it to the journal.
func (o *messageOutput) printError(err error) {
	o.journal.Note(time.Now(), err.Error())
	for _, line := range strings.SplitN("toolscope: "+err.Error(), "\n", 3) {
		o.messageWriter().writeLine(display.Clean(line))
	}
}

// printNote writes a note from the program itself on one line, and adds it to the journal.
func (o *messageOutput) printNote(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	o.notes.Add(1)
	o.journal.Note(time.Now(), text)
	o.messageWriter().writeLine(display.Clean("toolscope: " + text))
}

// printRefused prints that a request was refused.
func (o *messageOutput) printRefused(status int, why string) {
	o.printNote("refused with %d: %s", status, why)
}

// messageWriter returns the current writer for notes and errors.
func (o *messageOutput) messageWriter() lineWriter {
	if kept := o.later.Load(); kept != nil {
		return lineWriter{to: kept}
	}
	return o.stderr
}

// deferOutput holds back the notes and errors until release is called.
func (o *messageOutput) deferOutput() (release func()) {
	kept := new(deferredOutput)
	o.later.Store(kept)
	return func() {
		kept.mu.Lock()
		defer kept.mu.Unlock()
		_, _ = o.stderr.to.Write(kept.buffer.Bytes())
		kept.to = o.stderr.to
	}
}

// deferredOutput holds back output while a client owns the terminal.
type deferredOutput struct {
	mu     sync.Mutex
	buffer bytes.Buffer
	to     io.Writer // target after the release; nil while output is held back
}

// Write holds back p. After the release, it writes p.
func (l *deferredOutput) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != nil {
		return l.to.Write(p)
	}
	return l.buffer.Write(p)
}
