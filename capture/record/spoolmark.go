package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// lockPath is where the lock of a spool stands, hidden from who opens all that is in its folder.
func lockPath(dir, name string) string { return filepath.Join(dir, "."+name+".lock") }

// A SendMark says of a spool how far sending it is. Where it cannot be read it is the zero value, and
// everything is sent again that the other side does not have.
type SendMark struct {
	Created time.Time `json:"created"` // when the capture began
	Stream  time.Time `json:"stream"`  // when the stream was made that has it
	Seq     uint64    `json:"seq"`     // number of the last message there
	SentTo  int64     `json:"at"`      // the other side has what is before it, or it had its time there
	Highest int64     `json:"most"`    // the most that the other side ever had
	Sent    time.Time `json:"sent"`    // when the other side had all of a capture that has ended; zero before that
}

// markSize is what a mark takes in its file, whatever stands in it.
const markSize = 512

// lockFile is the file .NAME.lock of a spool.
type lockFile struct {
	f     *os.File
	path  string
	known bool // the file system has locks; where it has none, the file's time tells that somebody is there
}

// errInUse is a spool that somebody is at.
var errInUse = errors.New("another program is at it")

func (l *lockFile) createLocked(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return err
	}
	l.f, l.path = f, path
	if err := restrictToOwner(f); err != nil {
		return err
	}
	held, err := tryLock(f, exclusive)
	if l.known = err == nil; held {
		return errInUse
	}
	return nil
}

// takeOrphan opens the file of a spool that was left and locks it.
func (l *lockFile) takeOrphan(path string, now time.Time) (err error) {
	*l, err = openFree(path, os.O_RDWR|os.O_CREATE, exclusive, now)
	return err
}

// openOrphan opens the file of a spool that nobody is at.
func openOrphan(path string, now time.Time) (lockFile, error) {
	return openFree(path, os.O_RDONLY, shared, now)
}

func openFree(path string, flags, kind int, now time.Time) (l lockFile, err error) {
	f, err := os.OpenFile(path, flags|noFollow|noWait, 0o600)
	if err != nil {
		return l, err
	}
	info, err := f.Stat()
	if err == nil {
		held, without := tryLock(f, kind)
		if l = (lockFile{f, path, without == nil}); info.Mode().IsRegular() && isFree(held, without, now.Sub(info.ModTime())) {
			return l, nil
		}
		err = errInUse
	}
	f.Close()
	return lockFile{}, err
}

// quietTime is how long nobody has touched the lock of a spool that nobody is at, where there are no
// locks: whoever is at it does so much more often.
const quietTime = 10 * time.Minute

// isFree reports whether nobody is at a spool. age is that of its lock's last change.
func isFree(held bool, unlockable error, age time.Duration) bool {
	if unlockable != nil {
		return age > quietTime
	}
	return !held
}

func (l *lockFile) read() (m SendMark) {
	text := make([]byte, markSize)
	n, _ := l.f.ReadAt(text, 0)
	if json.Unmarshal(bytes.TrimSpace(text[:n]), &m) != nil {
		return SendMark{}
	}
	return m
}

func (l *lockFile) write(m SendMark) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	text = append(text, bytes.Repeat([]byte(" "), max(1, markSize-len(text))-1)...)
	_, err = l.f.WriteAt(append(text, '\n'), 0)
	return err
}

func (l *lockFile) close() {
	if l.f != nil {
		l.f.Close()
		l.f = nil
	}
}

func (l *lockFile) remove() {
	if l.f == nil {
		return
	}
	if mustClose {
		l.close()
	}
	os.Remove(l.path)
	l.close()
}

// Mark is how far sending is.
func (s *Spool) Mark() SendMark {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock.f == nil {
		return SendMark{}
	}
	return s.lock.read()
}

// SetMark keeps how far sending is, for who sends the spool next.
func (s *Spool) SetMark(m SendMark) error {
	s.mu.Lock()
	lock := s.lock
	s.sent = m.SentTo
	s.mu.Unlock()
	if lock.f == nil {
		return os.ErrClosed
	}
	return lock.write(m) // nobody waits for it who asks for something else
}

// Refresh shows that somebody is at the spool, where a lock cannot. It is called every few seconds.
func (s *Spool) Refresh(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock.f != nil && !s.lock.known {
		_ = os.Chtimes(s.lock.path, now, now) // else it may be taken in a while
	}
}
