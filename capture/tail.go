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
	headPrint = 1 << 10 // bytes at the beginning of a file that identify its content
	lastPrint = 64      // bytes before the read offset that identify it as well
)

// errReplaced means that the file is the same, but its content was replaced.
var errReplaced = errors.New("content replaced")

// fingerprint holds some of the bytes read from a content, which identify it.
type fingerprint struct {
	offset int64  // where reading continues
	first  []byte // the first bytes read, up to headPrint
	begin  int64  // where first begins
	last   []byte // the last bytes read, up to lastPrint
}

// add counts bytes as read.
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

// matches reports whether a file has this content.
func (p *fingerprint) matches(file io.ReaderAt) bool {
	return hasBytesAt(file, p.first, p.begin) && hasBytesAt(file, p.last, p.offset-int64(len(p.last)))
}

// tail is one file that is read as it grows, whatever its current name.
//
// If a file was truncated and then grew beyond the old offset, its size doesn't show that. So a tail
// stores some of the bytes that it has read, and compares them around every read.
type tail struct {
	fingerprint
	file   osFile        // nil while closed
	info   fs.FileInfo   // identifies the file, whatever its name
	of     *followedName // the name by which it was found
	intake *inputReader
	known  int64       // the bytes before this offset existed when following began
	was    fingerprint // of the previous content
	times  int         // how often its content was replaced
	twin   *copyOf     // what it is a copy of

	busy  time.Time   // when it last had bytes
	seen  fs.FileInfo // its state when it was last read to its end
	until time.Time   // when that was
	out   bool        // another file has its name now, or none
	over  bool        // nothing more is read: it is unreadable, or compressed and read completely
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
		return nil, errReplaced // p is of the new content, which will be read from its start
	}
	t.add(p)
	return p, nil
}

// hasBytesAt reports whether a file has the bytes p at the offset.
func hasBytesAt(file io.ReaderAt, p []byte, offset int64) bool {
	now := make([]byte, len(p))
	n, err := file.ReadAt(now, offset)
	if err != nil && err != io.EOF {
		return true // a failing read shows nothing about the content
	}
	return bytes.Equal(now[:n], p)
}

// restartWith makes the tail read the file from its start, as new content.
func (t *tail) restartWith(in *inputReader) {
	t.was, t.fingerprint, t.known, t.intake = t.fingerprint, fingerprint{}, 0, in
	t.times++
}

// close closes the file. The state of reading is kept.
func (t *tail) close() {
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
}

// settleTime is how long before a look a file's last change must be for a later change to alter its
// modification time.
const settleTime = 2 * time.Second

// isUnchanged reports whether a file has not changed since it was last read to its end.
func (t *tail) isUnchanged(now fs.FileInfo) bool {
	return t.seen != nil && os.SameFile(now, t.seen) && now.Size() == t.seen.Size() && now.ModTime().Equal(t.seen.ModTime()) &&
		t.until.Sub(now.ModTime()) > settleTime
}

// copyOf is the content that a file is a copy of: another file's, after so many replacements. While that
// content is still there, the copy has nothing new.
type copyOf struct {
	of    *tail
	times int
}

// isIdleCopy reports whether the file has nothing new because it is a copy. If the other file gets other
// content, or has less than the copy, then the bytes read of it count as read of the copy, and the rest
// is new.
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

// isLongerThan reports whether a copy has more bytes than the other file, which still has the copied
// content.
func (t *tail) isLongerThan(of *tail) bool {
	copied, err := t.file.Stat()
	if err != nil {
		return false
	}
	info, err := of.file.Stat()
	return err == nil && copied.Size() > info.Size() && of.matches(of.file)
}
