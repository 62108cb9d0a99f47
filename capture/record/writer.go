package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"toolscope/capture"
)

// writer writes a capture, each line in one Write, so that written lines survive the end of the program.
type writer struct {
	w    io.Writer
	file bool  // w is a file with only this capture, so it can be truncated
	size int64 // bytes of complete lines
	torn bool  // a write failed in the middle of a line

	damaged error // what another program did to the file, which is closed then
}

func newWriter(w io.Writer, created time.Time, by string) (*writer, error) {
	line, err := capture.EncodeHeader(created, by)
	if err != nil {
		return nil, fmt.Errorf("begin capture: %w", err)
	}
	cw := &writer{w: w}
	if err := cw.write(line); err != nil {
		return nil, fmt.Errorf("begin capture: %w", err)
	}
	return cw, nil
}

// write appends complete lines. After an error, the capture is undamaged up to them, and write may be
// tried again.
func (w *writer) write(line []byte) error {
	if w.damaged != nil {
		return w.damaged
	}
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
		w.torn = !w.truncateTail() && !bytes.HasSuffix(line[:n], []byte("\n"))
	}
	return err
}

// truncateTail removes the part of a line that was written. If that fails, readers report the line as
// damaged.
func (w *writer) truncateTail() bool {
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

// close forces a file to the disk and closes it. Other destinations are closed if they can be.
func (w *writer) close() error {
	if w.damaged != nil {
		return nil
	}
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
		return fmt.Errorf("close capture: %w", capture.WithoutPath(err))
	}
	return nil
}
