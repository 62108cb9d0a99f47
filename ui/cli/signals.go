package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// signals receives the signals that end or stop the program.
type signals struct {
	ch     chan os.Signal
	last   chan os.Signal
	ending *shutdown

	mu        sync.Mutex
	releasing bool        // Bubble Tea sends the next SIGTSTP itself
	goOn      *time.Timer // continues a process that the system did not stop; may be nil
}

// catchSignals starts collecting signals for handleSignals.
func catchSignals(e *shutdown) *signals {
	s := &signals{ch: make(chan os.Signal, 4), last: make(chan os.Signal, 1), ending: e}
	signal.Notify(s.ch, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, stopSignal)
	if len(crashSignals) > 0 { // with no signals, Notify would relay all of them
		signal.Notify(s.ch, crashSignals...)
	}
	return s
}

// handleSignals applies each collected signal. The stop signal stops the program. Any other signal ends the
// program, after the terminal is restored.
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

// stopTime is the maximum time to stop the process.
const stopTime = time.Second / 2

// stopProcess stops the process if Bubble Tea is ready. Bubble Tea has then released the terminal, has sent SIGTSTP
// to the process group, and waits for SIGCONT. toolscope catches that SIGTSTP. If no shell could continue the
// process, the system does not stop it. In that case, the process must continue without SIGCONT.
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

// filterMessage receives each message before the program does. It prepares for SIGTSTP, and drops late terminal
// reports.
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

// catchEnd catches the signals that end a program without a screen. It leaves out signals that are ignored,
// e.g. under nohup. After the first signal, the next one ends the program at once. The function stop restores
// Go's handling.
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

// endedBy sets the exit code for the signal that ended the run.
func (a *app) endedBy(sig os.Signal) {
	a.signalled = true
	if n, ok := sig.(syscall.Signal); ok {
		a.code = 128 + int(n)
	}
}

// waitForEnd waits for an error from the channel over, or for a signal that ends the run.
func (a *app) waitForEnd(over <-chan error, caught <-chan os.Signal) (signalled bool, err error) {
	select {
	case err := <-over:
		return false, err
	case sig := <-caught:
		a.endedBy(sig)
		return true, nil
	}
}

// quitQuietly makes SIGQUIT end a program without a screen in the same way as other signals. By default, Go
// would print the stack of every goroutine. The function stop restores Go's handling.
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

// stdStream has the methods that the program needs for a standard output stream.
type stdStream interface {
	io.ReadWriteCloser
	Fd() uintptr
}

// stdWriter is standard output or standard error. A write blocks until the reader of the stream reads. When the
// program must end, the time for a write is limited. After a timeout, later writes fail at once.
type stdWriter struct {
	*os.File
	name   string
	ending *shutdown
	turn   chan struct{} // full during a write

	mu     sync.Mutex
	failed error  // error of the first write that failed
	spare  []byte // memory for the bytes of the next write
}

// shutdownTimeout is the maximum time for a write when the program must end.
const shutdownTimeout = 300 * time.Millisecond

// newStdWriter returns a writer to f. The parameter name is the name of the stream in errors.
func newStdWriter(f *os.File, name string, e *shutdown) *stdWriter {
	return &stdWriter{File: f, name: name, ending: e, turn: make(chan struct{}, 1)}
}

// maxWriteBytes is the maximum number of bytes in one write. Each write uses a copy of its bytes.
const maxWriteBytes = 256 << 10

// Write writes all of p, or returns an error.
func (o *stdWriter) Write(p []byte) (n int, err error) {
	for {
		part := p[n:min(n+maxWriteBytes, len(p))]
		wrote, err := o.write(part)
		if n += wrote; err != nil || n == len(p) {
			return n, err
		}
	}
}

// write writes up to maxWriteBytes. A write that timed out continues in the background with its own copy of the
// bytes.
func (o *stdWriter) write(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	written := make(chan result, 1)
	o.mu.Lock()
	own := append(o.spare[:0], p...)
	o.spare = nil
	o.mu.Unlock()
	go func() {
		o.turn <- struct{}{}
		n, err := o.File.Write(own)
		<-o.turn
		o.mu.Lock()
		o.spare = own
		o.mu.Unlock()
		written <- result{n, err}
	}()
	var r result
	select {
	case r = <-written:
	case <-o.ending.come:
		limit := shutdownTimeout
		if o.firstError() != nil {
			limit = 0 // a write that timed out would delay this one
		}
		select {
		case r = <-written:
		case <-time.After(limit):
			r.err = fmt.Errorf("%s accepts no more data", o.name)
		}
	}
	if r.err != nil {
		o.mu.Lock()
		o.failed = cmp.Or(o.failed, r.err)
		o.mu.Unlock()
	}
	return r.n, r.err
}

// WriteString writes s. It uses Write, because the WriteString method of the file would bypass Write.
func (o *stdWriter) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

// ReadFrom writes everything from r. It uses Write, because the ReadFrom method of the file would bypass Write.
func (o *stdWriter) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{o}, r)
}

// firstError returns the error of the first write that failed, or nil.
func (o *stdWriter) firstError() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

// shutdown tells writers that the program must end.
type shutdown struct {
	once sync.Once
	come chan struct{}
}

// newShutdown returns a shutdown that has not started yet.
func newShutdown() *shutdown { return &shutdown{come: make(chan struct{})} }

// start closes the channel come. Further calls do nothing.
func (e *shutdown) start() { e.once.Do(func() { close(e.come) }) }
