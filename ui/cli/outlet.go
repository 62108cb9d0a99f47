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

// stdWriter is standard output or standard error. A write waits until the reader of the stream reads. When
// the program must end, the time of a write is limited; after a timeout nothing more is written.
type stdWriter struct {
	*os.File
	name   string
	ending *shutdown
	turn   chan struct{} // full during a write

	mu     sync.Mutex
	failed error // error of the first write that failed
}

// shutdownTimeout limits a write when the program is to end.
const shutdownTimeout = 300 * time.Millisecond

// newStdWriter returns a writer to f; errors call it name.
func newStdWriter(f *os.File, name string, e *shutdown) *stdWriter {
	return &stdWriter{File: f, name: name, ending: e, turn: make(chan struct{}, 1)}
}

// maxWriteBytes is how many bytes are written at once; they are copied.
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

// write writes up to maxWriteBytes. A write that timed out continues in the background, with its own copy of
// the bytes.
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
			r.err = fmt.Errorf("%s accepts no more data", o.name)
		}
	}
	if r.err != nil {
		o.keepError(r.err)
	}
	return r.n, r.err
}

// writeTimeout returns the limit for a write. It is zero after a timeout: a new write would wait for the old
// one.
func (o *stdWriter) writeTimeout() time.Duration {
	if o.firstError() != nil {
		return 0
	}
	return shutdownTimeout
}

// WriteString and ReadFrom use Write; those of the file would bypass it.
func (o *stdWriter) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

// ReadFrom writes everything from r.
func (o *stdWriter) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{o}, r)
}

// keepError keeps the first error.
func (o *stdWriter) keepError(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		o.failed = err
	}
}

// firstError returns the error of the first write that failed, or nil.
func (o *stdWriter) firstError() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}

// shutdown signals that the program is to end.
type shutdown struct {
	once sync.Once
	come chan struct{}
}

// newShutdown returns a shutdown that has not started.
func newShutdown() *shutdown { return &shutdown{come: make(chan struct{})} }

// start closes come, once.
func (e *shutdown) start() { e.once.Do(func() { close(e.come) }) }
