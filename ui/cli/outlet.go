package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// stdStream is what the program needs of a standard stream that it writes to.
type stdStream interface {
	io.ReadWriteCloser
	Fd() uintptr
}

// An stdWriter is standard output, or standard error. A write waits for as long as its reader does not
// read. Once the program is to end it has a limited time, and when that is over nothing more is
// written.
type stdWriter struct {
	*os.File
	name   string
	ending *shutdown
	turn   chan struct{} // holds one while somebody writes

	mu     sync.Mutex
	failed error // what the first write that failed said
}

// shutdownTimeout is how long a write may take once the program is to end.
const shutdownTimeout = 300 * time.Millisecond

func newStdWriter(f *os.File, name string, e *shutdown) *stdWriter {
	return &stdWriter{File: f, name: name, ending: e, turn: make(chan struct{}, 1)}
}

// maxWriteBytes is how much is written at once: so much is copied for it.
const maxWriteBytes = 256 << 10

// Write writes all of p, or says why not.
func (o *stdWriter) Write(p []byte) (n int, err error) {
	for {
		part := p[n:min(n+maxWriteBytes, len(p))]
		wrote, err := o.write(part)
		if n += wrote; err != nil || n == len(p) {
			return n, err
		}
	}
}

// write is Write of not too much. One that is given up goes on in the background, in bytes of its
// own.
func (o *stdWriter) write(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	written := make(chan result, 1)
	own := append([]byte(nil), p...)
	go func() {
		o.turn <- struct{}{}
		n, err := o.File.Write(own)
		<-o.turn
		written <- result{n, err}
	}()
	var r result
	select {
	case r = <-written:
	case <-o.ending.come:
		select {
		case r = <-written:
		case <-time.After(o.writeTimeout()):
			r.err = fmt.Errorf("%s takes nothing more", o.name)
		}
	}
	if r.err != nil {
		o.keepError(r.err)
	}
	return r.n, r.err
}

// writeTimeout is none after a write that was given up: the next would wait for it.
func (o *stdWriter) writeTimeout() time.Duration {
	if o.firstError() != nil {
		return 0
	}
	return shutdownTimeout
}

// WriteString and ReadFrom go the same way: those of the file would go past it.
func (o *stdWriter) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

func (o *stdWriter) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{o}, r)
}

func (o *stdWriter) keepError(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		o.failed = err
	}
}

// firstError is why something was not written, or nil.
func (o *stdWriter) firstError() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

// shutdown tells everybody that the program is to end.
type shutdown struct {
	once sync.Once
	come chan struct{}
}

func newShutdown() *shutdown { return &shutdown{come: make(chan struct{})} }

func (e *shutdown) start() { e.once.Do(func() { close(e.come) }) }
