package capture

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

const (
	headPrint = 1 << 10 // bytes at the beginning of a file by which its content is known again
	lastPrint = 64      // and bytes before the place where reading goes on
)

// errReplaced: the file is the same, but its content is no longer the one that was being read.
var errReplaced = errors.New("content replaced")

// fingerprint are some of the bytes that were read of a content, by which it is known again.
type fingerprint struct {
	offset int64  // where reading goes on
	first  []byte // what was read first, up to headPrint bytes
	begin  int64  // where first lies
	last   []byte // what was read last, up to lastPrint bytes
}

// add counts p as read.
func (p *fingerprint) add(read []byte) {
	n := len(read)
	p.offset += int64(n)
	p.first = append(p.first, read[:min(n, headPrint-len(p.first))]...)
	p.last = append(p.last, read[max(0, n-lastPrint):]...)
	p.last = p.last[max(0, len(p.last)-lastPrint):]
}

func (p fingerprint) clone() fingerprint {
	p.first, p.last = slices.Clone(p.first), slices.Clone(p.last)
	return p
}

// matches reports whether a file holds the content.
func (p *fingerprint) matches(file io.ReaderAt) bool {
	return hasBytesAt(file, p.first, p.begin) && hasBytesAt(file, p.last, p.offset-int64(len(p.last)))
}

// tail is one file that is read as it grows, whatever its name is just then.
//
// A file that was truncated and has grown beyond the old place again cannot be told by its size. So
// a tail remembers some of the bytes it has read, and compares them around every read.
type tail struct {
	fingerprint
	file   osFile        // nil while nothing is read of it
	info   fs.FileInfo   // tells this file from others, whatever their names
	of     *followedName // the name by which it was found
	intake *inputReader
	known  int64       // the bytes before this offset were there when following began
	was    fingerprint // of the content before the present one
	times  int         // how often its content was replaced
	twin   *copyOf     // what it is a copy of

	busy  time.Time   // when it last had bytes
	seen  fs.FileInfo // how it was when it was last read to its end
	until time.Time   // when that was
	out   bool        // another file has its name now, or none
	over  bool        // nothing more is read of it: it cannot be, or it was packed and is read whole
}

func newTail(f osFile, in *inputReader) (*tail, error) {
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &tail{file: f, info: info, intake: in, busy: time.Now()}, nil
}

// read returns the next bytes, io.EOF if there are none yet, or errReplaced. The bytes share buf.
func (t *tail) read(buf []byte) ([]byte, error) {
	if !t.matches(t.file) {
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
	if !t.matches(t.file) && hasBytesAt(t.file, p, t.offset) {
		return nil, errReplaced // p is of the new content already, which will be read from its start
	}
	t.add(p)
	return p, nil
}

// hasBytesAt reports whether a file has the bytes p at the offset.
func hasBytesAt(file io.ReaderAt, p []byte, offset int64) bool {
	now := make([]byte, len(p))
	n, err := file.ReadAt(now, offset)
	if err != nil && err != io.EOF {
		return true // a failing read says nothing about the content
	}
	return bytes.Equal(now[:n], p)
}

// restartWith reads the file from its start, as something new.
func (t *tail) restartWith(in *inputReader) {
	t.was, t.fingerprint, t.known, t.intake = t.fingerprint, fingerprint{}, 0, in
	t.times++
}

// close lets go of the file. What was read of it stays known.
func (t *tail) close() {
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
}

// settleTime is how much older than a look the last change of a file must be, so that a later one
// shows in its time.
const settleTime = 2 * time.Second

// isUnchanged reports whether a file is as it was when it was last read to its end: there is nothing new
// in it.
func (t *tail) isUnchanged(now fs.FileInfo) bool {
	return t.seen != nil && os.SameFile(now, t.seen) && now.Size() == t.seen.Size() && now.ModTime().Equal(t.seen.ModTime()) &&
		t.until.Sub(now.ModTime()) > settleTime
}

// copyOf is what a file is a copy of: the content of another one, as often as that was replaced by
// then. As long as it is still there, the copy says nothing new.
type copyOf struct {
	of    *tail
	times int
}

// isIdleCopy reports whether the file says nothing new because it is a copy. Once the other file has
// another content, or less than the copy, what was read of it is read of the copy, and the rest is
// new.
func (t *tail) isIdleCopy() bool {
	if t.twin == nil {
		return false
	}
	of, then := t.twin.of, t.twin.of.fingerprint
	if of.times != t.twin.times {
		then = of.was
	} else if of.file == nil || !t.isLongerThan(of) {
		return true
	}
	if t.twin = nil; then.matches(t.file) {
		t.fingerprint = then.clone()
	}
	return false
}

// isLongerThan reports whether a copy has more than the other file, which still is what was copied.
func (t *tail) isLongerThan(of *tail) bool {
	copied, err := t.file.Stat()
	if err != nil {
		return false
	}
	info, err := of.file.Stat()
	return err == nil && copied.Size() > info.Size() && of.matches(of.file)
}
