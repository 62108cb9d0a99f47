package capture

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"
)

// Writer writes a capture, each record as one line in one Write, so that what was written survives whatever happens to
// the program next. It may be used from several goroutines.
type Writer struct {
	mu   sync.Mutex
	w    io.Writer
	file bool  // w is a file that holds nothing else, so that it can be cut
	size int64 // bytes of whole lines
	torn bool  // a write failed in the middle of a line
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
	switch {
	case err == nil:
		w.size += int64(n)
		w.torn = false
	case n > 0:
		w.torn = !w.untorn() && !bytes.HasSuffix(line[:n], []byte("\n"))
	}
	return err
}

// untorn takes the part of a line that was written back. Where that cannot be done, a reader will name it.
func (w *Writer) untorn() bool {
	f, ok := w.w.(interface {
		io.Seeker
		Truncate(size int64) error
	})
	if !w.file || !ok || f.Truncate(w.size) != nil {
		return false
	}
	_, err := f.Seek(w.size, io.SeekStart)
	return err == nil
}

// Close forces a file to the disk and closes it, or closes whatever the capture is written to, if that can be closed.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	if f, ok := w.w.(interface{ Sync() error }); ok {
		if err = f.Sync(); errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
			err = nil // a pipe, or a device
		}
	}
	if c, ok := w.w.(io.Closer); ok {
		err = cmp.Or(c.Close(), err)
	}
	if err != nil {
		return fmt.Errorf("close capture: %w", reason(err))
	}
	return nil
}
