package record

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolscope/capture"
)

// A Spool is a capture that waits to be sent elsewhere. It is made of segments, NAME.tsc and then
// NAME.tsc.OFFSET: one behind the other they are the capture, and each but the last is whole. When
// all of them are larger than its limit, the oldest goes, sent or not.
//
// Whoever writes to it, or sends what another program left of it, has its last segment locked.
type Spool struct {
	base    string // path of the first segment
	segment int64  // size from which the next segment begins
	limit   int64
	bell    chan struct{}

	mu     sync.Mutex
	parts  []part
	end    int64
	last   *os.File // being written or, of a spool that was left, only locked
	reader *os.File // of the part that was read last
	from   int64    // where that part begins
	closed bool
}

// part is a segment: where in the capture it begins, and where it stands.
type part struct {
	start int64
	path  string
}

const (
	sentMark     = ".sent" + Extension
	leastSegment = 64 << 10
)

// CreateSpool begins a spool of that name in a directory, as [CreateIn] begins a capture.
func CreateSpool(dir, name string, limit int64, created time.Time, by string) (r *Recorder, s *Spool, warning string, err error) {
	if warning, err = makeDir(dir); err != nil {
		return nil, nil, "", err
	}
	s = &Spool{base: filepath.Join(dir, name+Extension), limit: limit, segment: max(limit/8, leastSegment), bell: make(chan struct{}, 1)}
	if err := s.next(); err != nil {
		return nil, nil, warning, fmt.Errorf("create %s: %w", s.base, capture.Reason(err))
	}
	if r, err = New(s, created, by); err != nil {
		s.Release(false)
		return nil, nil, warning, err
	}
	return r, s, warning, nil
}

// Name is that of the spool.
func (s *Spool) Name() string {
	name, _, _ := strings.Cut(filepath.Base(s.base), Extension)
	return strings.TrimSuffix(name, ".sent")
}

// Path is where its first segment is, or was.
func (s *Spool) Path() string { return s.base }

// Bell rings when there may be more, or the end.
func (s *Spool) Bell() <-chan struct{} { return s.bell }

// Ring rings the bell.
func (s *Spool) Ring() {
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// Span is what of the capture is there, and whether no more will be.
func (s *Spool) Span() (first, end int64, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parts[0].start, s.end, s.closed
}

// next begins the next segment.
func (s *Spool) next() error {
	path := s.base
	if s.end > 0 {
		path += "." + strconv.FormatInt(s.end, 10)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return err
	}
	if err := cmp.Or(own(f), lock(f)); err != nil {
		f.Close()
		os.Remove(path)
		return err
	}
	if s.last != nil {
		s.last.Close()
	}
	s.last, s.parts = f, append(s.parts, part{s.end, path})
	return nil
}

// Write appends whole lines: all of them, or nothing.
func (s *Spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := s.end - s.parts[len(s.parts)-1].start
	if size > 0 && size+int64(len(p)) > s.segment {
		if err := s.next(); err != nil {
			return 0, err
		}
		size = 0
	}
	if n, err := s.last.Write(p); err != nil {
		if n > 0 && (s.last.Truncate(size) != nil || seekTo(s.last, size) != nil) {
			s.end += int64(n) // it stays, as the beginning of a line that is damaged
			s.Ring()
			return n, err
		}
		return 0, err
	}
	s.end += int64(len(p))
	s.shrink()
	s.Ring()
	return len(p), nil
}

func seekTo(f *os.File, at int64) error {
	_, err := f.Seek(at, io.SeekStart)
	return err
}

// shrink deletes the oldest segments beyond the limit.
func (s *Spool) shrink() {
	for len(s.parts) > 1 && s.end-s.parts[0].start > s.limit {
		if s.reader != nil && s.from == s.parts[0].start {
			s.reader.Close()
			s.reader = nil
		}
		os.Remove(s.parts[0].path)
		s.parts = s.parts[1:]
	}
}

// ReadAt reads what is there at an offset of the capture, of one segment. What is there no more is
// [fs.ErrNotExist].
func (s *Spool) ReadAt(p []byte, at int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, found := slices.BinarySearchFunc(s.parts, at, func(p part, at int64) int { return cmp.Compare(p.start, at) })
	if !found {
		i--
	}
	if i < 0 {
		return 0, fs.ErrNotExist
	}
	of, end := s.parts[i], s.end
	if i+1 < len(s.parts) {
		end = s.parts[i+1].start
	}
	if s.reader == nil || s.from != of.start {
		if s.reader != nil {
			s.reader.Close()
		}
		var err error
		if s.reader, err = os.Open(of.path); err != nil {
			s.reader = nil
			return 0, err
		}
		s.from = of.start
	}
	n, err := s.reader.ReadAt(p[:min(int64(len(p)), end-at)], at-of.start)
	if n > 0 {
		err = nil
	}
	return n, err
}

// Close ends what is written to the spool. It can be read until it is let go of.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.Ring()
	s.closed = true
	return s.last.Sync()
}

// Release lets go of the spool. One that was sent is marked as such, so that nobody sends it again
// when the other side has let go of it; see [LeftSpools].
func (s *Spool) Release(sent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range []*os.File{s.last, s.reader} {
		if f != nil {
			f.Close()
		}
	}
	s.reader = nil
	if !sent || isSent(s.base) {
		return
	}
	for _, p := range s.parts {
		_ = os.Rename(p.path, strings.Replace(p.path, Extension, sentMark, 1)) // else it is looked at once more
	}
}

func isSent(path string) bool { return strings.Contains(filepath.Base(path), sentMark) }

// LeftSpools takes over what other runs left in a directory and nobody is at: the oldest first. What
// was sent longer than keep ago is deleted.
func LeftSpools(dir string, keep time.Duration, now time.Time) (left []*Spool) {
	var names []string
	parts, ends, written := map[string][]part{}, map[string]int64{}, map[string]time.Time{}
	all, _ := os.ReadDir(dir) // what was read before an error
	for _, e := range all {
		stem, rest, is := strings.Cut(e.Name(), Extension)
		info, err := e.Info()
		start := int64(0)
		if rest != "" && is {
			start, err = strconv.ParseInt(strings.TrimPrefix(rest, "."), 10, 64)
		}
		if !is || err != nil || !info.Mode().IsRegular() {
			continue
		}
		if parts[stem] == nil {
			names = append(names, stem)
		}
		parts[stem] = append(parts[stem], part{start, filepath.Join(dir, e.Name())})
		ends[stem] = max(ends[stem], start+info.Size())
		if info.ModTime().After(written[stem]) {
			written[stem] = info.ModTime()
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(written[a].Compare(written[b]), strings.Compare(a, b)) })
	for _, name := range names {
		s := &Spool{base: filepath.Join(dir, name+Extension), bell: make(chan struct{}, 1), parts: parts[name], end: ends[name], closed: true}
		slices.SortFunc(s.parts, func(a, b part) int { return cmp.Compare(a.start, b.start) })
		if s.takeOver(isSent(s.base) && now.Sub(written[name]) > keep) {
			left = append(left, s)
		}
	}
	return left
}

// takeOver locks a spool that was left, or deletes it. It reports whether it is ours now.
func (s *Spool) takeOver(gone bool) bool {
	f, err := os.OpenFile(s.parts[len(s.parts)-1].path, os.O_RDWR|noFollow|noWait, 0)
	if err != nil {
		return false
	}
	if isHeld(f, exclusive) {
		f.Close()
		return false
	}
	// It may have grown since its directory was read: whoever wrote to it has let go of it meanwhile.
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return false
	}
	if gone {
		f.Close()
		for _, p := range s.parts {
			os.Remove(p.path)
		}
		return false
	}
	s.last, s.end = f, s.parts[len(s.parts)-1].start+info.Size()
	return true
}
