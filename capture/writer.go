package capture

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Writer writes a capture, each record as one line in one Write, so that what was written survives whatever happens to
// the program next. It may be used from several goroutines.
type Writer struct {
	mu   sync.Mutex
	w    io.Writer
	torn bool // a write failed in the middle of a line
}

// NewWriter begins a capture on w. created is the wall clock time that the records' times count from; by says what
// made the capture.
func NewWriter(w io.Writer, created time.Time, by string) (*Writer, error) {
	line, err := encodeHeader(created, by)
	if err != nil {
		return nil, fmt.Errorf("begin capture: %w", err)
	}
	cw := &Writer{w: w}
	if err := cw.write(line); err != nil {
		return nil, fmt.Errorf("begin capture: %w", err)
	}
	return cw, nil
}

// Create begins a capture in a new file that only its owner may read. It never writes to something that exists
// already, a symbolic link included: O_EXCL follows none.
func Create(path string, created time.Time, by string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, reason(err))
	}
	w, err := NewWriter(f, created, by)
	if err != nil {
		f.Close()
		os.Remove(path)
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	return w, nil
}

// Write appends one record. After an error the capture is still sound up to the record before, and Write may be tried
// again.
func (w *Writer) Write(r Record) error {
	line, err := encodeRecord(r)
	if err == nil {
		err = w.write(line)
	}
	if err != nil {
		return fmt.Errorf("write capture: %w", reason(err))
	}
	return nil
}

func (w *Writer) write(line []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.torn {
		line = append([]byte("\n"), line...)
	}
	n, err := w.w.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if n > 0 {
		w.torn = err != nil && !bytes.HasSuffix(line[:n], []byte("\n"))
	}
	return err
}

// Close closes the file, or whatever the capture is written to, if that can be closed.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, ok := w.w.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Tee records what passes. When that fails, recording stops, the record that could not be written says so in its
// note, and the records go on.
func Tee(src Source, w *Writer) Source {
	return func(yield func(Record, error) bool) {
		recording := true
		for r, err := range src {
			if recording && err == nil {
				if failed := w.Write(r); failed != nil {
					recording = false
					r.Note = joinNotes(r.Note, "recording stopped: "+failed.Error())
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func joinNotes(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
