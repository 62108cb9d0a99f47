package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// OrphanSpool is a spool that no program uses.
type OrphanSpool struct {
	Name    string
	Waits   int64     // number of bytes still to be sent, according to its mark
	Written time.Time // time of its last byte
}

// OrphanSpools lists the spools of a directory that are not in use by a program, oldest first. Files with names that
// isOurs rejects are ignored.
func OrphanSpools(dir string, now time.Time, isOurs func(name string) bool) (left []OrphanSpool) {
	parts, written := spoolsIn(dir, isOurs)
	for name, its := range parts {
		one := OrphanSpool{Name: name, Written: written[name]}
		var mark SendMark
		if lock, err := openFree(lockPath(dir, name), os.O_RDONLY, shared, now); err == nil {
			mark = lock.read()
			lock.close()
		} else if !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, p := range its {
			one.Waits += max(0, p.end-max(p.start, mark.SentTo))
		}
		left = append(left, one)
	}
	slices.SortFunc(left, func(a, b OrphanSpool) int {
		return cmp.Or(a.Written.Compare(b.Written), strings.Compare(a.Name, b.Name))
	})
	return left
}

// spoolsIn returns the segments of the spools in a directory, by name, and the time of each spool's last
// byte.
func spoolsIn(dir string, isOurs func(name string) bool) (parts map[string][]segment, written map[string]time.Time) {
	parts, written = map[string][]segment{}, map[string]time.Time{}
	all, _ := os.ReadDir(dir) // after an error, the entries that were read before it
	for _, e := range all {
		name, start, ok := segmentOf(e.Name())
		if !ok || !isOurs(name) {
			continue
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		parts[name] = append(parts[name], segment{start, start + info.Size(), filepath.Join(dir, e.Name())})
		if info.ModTime().After(written[name]) {
			written[name] = info.ModTime()
		}
	}
	for _, its := range parts {
		slices.SortFunc(its, func(a, b segment) int { return cmp.Compare(a.start, b.start) })
		for i := range its[:len(its)-1] {
			its[i].end = min(its[i].end, its[i+1].start)
		}
	}
	return parts, written
}

// segmentOf returns the spool of a file, and the offset in the capture where the file begins. The result ok is
// false if the file's name is not the name of a segment.
func segmentOf(file string) (name string, start int64, ok bool) {
	if name, ok = strings.CutSuffix(file, Extension); ok {
		return name, 0, true
	}
	i := strings.LastIndex(file, Extension+".")
	if i < 0 {
		return "", 0, false
	}
	start, err := strconv.ParseInt(file[i+len(Extension)+1:], 10, 64)
	return file[:i], start, err == nil && start > 0
}

// TakeSpool takes over an orphaned spool. The result ok is false if another program uses the spool, or if the
// spool has no segments any more.
func TakeSpool(dir, name string, now time.Time) (s *Spool, ok bool) {
	s = &Spool{base: filepath.Join(dir, name), bell: make(chan struct{}, 1), closed: true}
	var err error
	if s.lock, err = openFree(lockPath(dir, name), os.O_RDWR|os.O_CREATE, exclusive, now); err != nil {
		return nil, false
	}
	// From here on, no other program changes the spool.
	parts, _ := spoolsIn(dir, func(other string) bool { return other == name })
	if s.parts = parts[name]; len(s.parts) == 0 {
		s.lock.remove()
		return nil, false
	}
	s.end = s.parts[len(s.parts)-1].end
	s.Refresh(now)
	return s, true
}

// Remove deletes the spool and releases it.
func (s *Spool) Remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeFiles()
	for _, p := range s.parts {
		os.Remove(p.path)
	}
	s.lock.remove()
}

// lockPath returns the path of a spool's lock file. The file is hidden, so that opening all files of the folder skips
// it.
func lockPath(dir, name string) string { return filepath.Join(dir, "."+name+".lock") }

// SendMark is the send position of a spool. If it can't be read, it is the zero value, and everything that the
// hub does not have is sent again.
type SendMark struct {
	Created time.Time `json:"created"` // when the capture began
	Stream  time.Time `json:"stream"`  // when its stream on the hub was created
	Seq     uint64    `json:"seq"`     // number of the last message in that stream
	SentTo  int64     `json:"at"`      // the hub has all bytes before this offset, or they expired there
	Highest int64     `json:"most"`    // the highest offset that the hub ever had
	Sent    time.Time `json:"sent"`    // when the hub had all of a finished capture; zero before that
}

// markSize is the fixed size of a mark in its file.
const markSize = 512

// lockFile is the file .NAME.lock of a spool.
type lockFile struct {
	f     *os.File
	path  string
	known bool // the file system has locks; without them, the file's time shows whether it is in use
}

// errInUse is the error for a spool that another program uses.
var errInUse = errors.New("another program uses the spool")

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

// quietTime is the time without a change after which a lock file counts as free, on file systems without locks. A
// program that uses the file updates its time much more often.
const quietTime = 10 * time.Minute

// isFree reports whether no program uses a spool. The parameter age is the time since the last change of the
// spool's lock file.
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

// Mark returns the send position.
func (s *Spool) Mark() SendMark {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock.f == nil {
		return SendMark{}
	}
	return s.lock.read()
}

// SetMark stores the send position for the next sender of the spool.
func (s *Spool) SetMark(m SendMark) error {
	s.mu.Lock()
	lock := s.lock
	s.sent = m.SentTo
	s.mu.Unlock()
	if lock.f == nil {
		return os.ErrClosed
	}
	return lock.write(m) // without holding mu, so that other methods don't wait for the write
}

// Refresh marks the spool as in use on file systems without locks. It is called every few seconds.
func (s *Spool) Refresh(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock.f != nil && !s.lock.known {
		_ = os.Chtimes(s.lock.path, now, now) // if it fails, another program may take the spool later
	}
}
