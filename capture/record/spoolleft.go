package record

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// OrphanSpool is a spool in a directory that no program uses.
type OrphanSpool struct {
	Name    string
	Waits   int64     // bytes still to be sent, according to its mark
	Written time.Time // time of its last byte
}

// OrphanSpools lists the spools of a directory that no program uses, oldest first. Files with names that
// isOurs rejects are ignored.
func OrphanSpools(dir string, now time.Time, isOurs func(name string) bool) (left []OrphanSpool) {
	parts, written := spoolsIn(dir, isOurs)
	for name, its := range parts {
		one := OrphanSpool{Name: name, Written: written[name]}
		var mark SendMark
		if lock, err := openOrphan(lockPath(dir, name), now); err == nil {
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
	all, _ := os.ReadDir(dir) // the entries read before an error
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

// segmentOf returns the spool of a file, and the offset in the capture where the file begins.
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

// TakeSpool takes over an orphaned spool. ok is false if another program uses it, or it has no segments
// any more.
func TakeSpool(dir, name string, now time.Time) (s *Spool, ok bool) {
	s = &Spool{base: filepath.Join(dir, name), bell: make(chan struct{}, 1), closed: true}
	if s.lock.takeOrphan(lockPath(dir, name), now) != nil {
		return nil, false
	}
	// From here on, no other program changes it.
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
