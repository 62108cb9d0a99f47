package capture

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"time"
)

const (
	headPrint = 1 << 10 // bytes at the beginning of a file by which its content is known again
	lastPrint = 64      // and bytes before the place where reading goes on
)

// errReplaced: the file is the same, but its content is no longer the one that was being read.
var errReplaced = errors.New("content replaced")

// tail is one open file that is read as it grows.
//
// A file that was truncated and has grown beyond the old place again cannot be told by its size. So
// a tail remembers some of the bytes it has read, and compares them around every read.
type tail struct {
	file   file
	info   fs.FileInfo // tells this file from others, whatever their names
	intake *intake
	offset int64  // where reading goes on
	first  []byte // what was read first, up to headPrint bytes
	begin  int64  // where first lies
	last   []byte // what was read last, up to lastPrint bytes
	known  int64  // the bytes before this offset were there when following began

	busy time.Time // of a rotated file: when it last had bytes
}

func newTail(f file, in *intake) (*tail, error) {
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &tail{file: f, info: info, intake: in}, nil
}

// read returns the next bytes, io.EOF if there are none yet, or errReplaced. The bytes share buf.
func (t *tail) read(buf []byte) ([]byte, error) {
	if !t.same() {
		return nil, errReplaced
	}
	if t.offset < t.known {
		buf = buf[:min(int64(len(buf)), t.known-t.offset)]
	}
	n, err := t.file.ReadAt(buf, t.offset)
	if n == 0 {
		return nil, err
	}
	p := buf[:n]
	if !t.same() && holds(t.file, p, t.offset) {
		return nil, errReplaced // p is of the new content already, which will be read from its start
	}
	t.offset += int64(n)
	t.first = append(t.first, p[:min(n, headPrint-len(t.first))]...)
	t.last = append(t.last, p[max(0, n-lastPrint):]...)
	t.last = t.last[max(0, len(t.last)-lastPrint):]
	return p, nil
}

// same reports whether the content is still the one that was being read.
func (t *tail) same() bool {
	return holds(t.file, t.first, t.begin) && holds(t.file, t.last, t.offset-int64(len(t.last)))
}

// holds reports whether a file has the bytes p at the offset.
func holds(file io.ReaderAt, p []byte, offset int64) bool {
	now := make([]byte, len(p))
	n, err := file.ReadAt(now, offset)
	if err != nil && err != io.EOF {
		return true // a failing read says nothing about the content
	}
	return bytes.Equal(now[:n], p)
}

// restart reads the file from its start, as something new.
func (t *tail) restart(in *intake) {
	t.intake, t.offset, t.begin, t.known = in, 0, 0, 0
	t.first, t.last = t.first[:0], t.last[:0]
}
