package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"toolscope/capture"
)

// A Spool is a capture that waits to be sent elsewhere. It is made of segments, NAME.tsc and then
// NAME.tsc.OFFSET: one behind the other they are the capture. When all of them are larger than its
// limit, the oldest goes, sent or not; when the disk is full, those that were sent.
//
// Whoever writes to it, or sends what another program left of it, has .NAME.lock locked: from before
// there is a segment until it is let go of. How far sending is stands in that file, see [Mark].
type Spool struct {
	base    string // path without extension
	segment int64  // size from which the next segment begins
	limit   int64
	bell    chan struct{}
	lock    lockFile
	syncs   sync.WaitGroup // of segments that are whole

	mu     sync.Mutex // who writes reads parts, end and last without it
	parts  []segment
	end    int64
	last   *os.File // being written; nil where the spool was left
	reader *os.File // of the part that was read last, if that is not being written
	from   int64    // where that part begins
	closed bool
	sent   int64 // the other side has what is before it
}

// segment is a segment: which bytes of the capture it has, and where it stands.
type segment struct {
	start, end int64
	path       string
}

// A SpoolGap is bytes of a spool that are not there.
type SpoolGap struct {
	End  int64  // where they end
	Path string // of the segment that others removed or cut; "" for what the spool itself let go of
}

func (h *SpoolGap) Error() string {
	if h.Path == "" {
		return "the spool was full"
	}
	return h.Path + " was removed or cut"
}

const minSegmentBytes = 64 << 10

// CreateSpool begins a spool of that name in a directory, as [CreateIn] begins a capture.
func CreateSpool(dir, name string, limit int64, created time.Time, by string) (r *Recorder, s *Spool, warning string, err error) {
	if warning, err = makeDir(dir); err != nil {
		return nil, nil, "", err
	}
	s = &Spool{base: filepath.Join(dir, name), limit: limit, segment: max(limit/8, minSegmentBytes), bell: make(chan struct{}, 1)}
	if err = s.lock.createLocked(lockPath(dir, name)); err == nil {
		err = s.lock.write(SendMark{Created: created})
	}
	if err == nil {
		err = s.beginSegment()
	}
	if err != nil {
		s.lock.remove()
		return nil, nil, warning, fmt.Errorf("create %s: %w", s.Path(), capture.WithoutPath(err))
	}
	if r, err = New(s, created, by); err != nil {
		s.Remove()
		return nil, nil, warning, err
	}
	return r, s, warning, nil
}

// Name is that of the spool.
func (s *Spool) Name() string { return filepath.Base(s.base) }

// Path is where its first segment is, or was.
func (s *Spool) Path() string { return s.base + Extension }

// Wakeups rings when there may be more, or the end.
func (s *Spool) Wakeups() <-chan struct{} { return s.bell }

// Wake rings the bell.
func (s *Spool) Wake() {
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

// Span is what of the capture is there, and whether no more will be.
func (s *Spool) Span() (first, end int64, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.parts) == 0 {
		return s.end, s.end, s.closed
	}
	return s.parts[0].start, s.end, s.closed
}

// beginSegment begins the next segment. The one before it is forced to the disk, for which nobody waits.
func (s *Spool) beginSegment() error {
	path := s.Path()
	if s.end > 0 {
		path += "." + strconv.FormatInt(s.end, 10)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return err
	}
	if err := restrictToOwner(f); err != nil {
		f.Close()
		os.Remove(path)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if whole := s.last; whole != nil {
		s.syncs.Go(func() {
			_ = whole.Sync() // what a power failure takes of it is a hole
			whole.Close()
		})
	}
	s.last, s.parts = f, append(s.parts, segment{s.end, s.end, path})
	return nil
}

// Write appends whole lines: all of them, or nothing. Where the disk does not take them, what was sent makes
// room for them. Only one goroutine writes, and nobody else waits for the disk that it writes to.
func (s *Spool) Write(p []byte) (int, error) {
	n, err := s.write(p)
	if err != nil && n == 0 && s.makeRoom() {
		n, err = s.write(p)
	}
	return n, err
}

func (s *Spool) write(p []byte) (int, error) {
	size := s.end - s.parts[len(s.parts)-1].start
	if size > 0 && size+int64(len(p)) > s.segment {
		if err := s.beginSegment(); err != nil {
			return 0, err
		}
		size = 0
	}
	n, err := s.last.Write(p)
	if err != nil && n > 0 && s.last.Truncate(size) == nil && seekTo(s.last, size) == nil {
		n = 0
	} // else it stays, as the beginning of a line that is damaged
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end += int64(n)
	s.parts[len(s.parts)-1].end = s.end
	s.enforceLimit()
	s.Wake()
	return n, err
}

func seekTo(f *os.File, at int64) error {
	_, err := f.Seek(at, io.SeekStart)
	return err
}

// ReadAt reads what is there at an offset of the capture, of one segment. What is there no more is a
// [Hole].
func (s *Spool) ReadAt(p []byte, at int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.partOf(at)
	if at >= s.end {
		return 0, io.EOF
	}
	if i < 0 || at >= s.parts[i].end {
		return 0, s.gapAfter(i)
	}
	of := &s.parts[i]
	f, err := s.openSegment(i)
	if errors.Is(err, fs.ErrNotExist) {
		of.end = at
		return 0, s.gapAfter(i)
	}
	if err != nil {
		return 0, err
	}
	n, err := f.ReadAt(p[:min(int64(len(p)), of.end-at)], at-of.start)
	switch {
	case n > 0:
		return n, nil
	case err == io.EOF:
		of.end = at
		return 0, s.gapAfter(i)
	}
	return 0, err
}

// partOf is the last segment that begins at an offset or before it, -1 where there is none.
func (s *Spool) partOf(at int64) int {
	i, found := slices.BinarySearchFunc(s.parts, at, func(p segment, at int64) int { return cmp.Compare(p.start, at) })
	if !found {
		i--
	}
	return i
}

// gapAfter is what is missing behind a segment, or before the first one.
func (s *Spool) gapAfter(i int) *SpoolGap {
	h := &SpoolGap{End: s.end}
	if i >= 0 {
		h.Path = s.parts[i].path
	}
	if i+1 < len(s.parts) {
		h.End = s.parts[i+1].start
	}
	return h
}

// openSegment opens a segment for reading. The one that is being written is open already, and is read even
// if somebody removes it.
func (s *Spool) openSegment(i int) (*os.File, error) {
	if i == len(s.parts)-1 && s.last != nil {
		return s.last, nil
	}
	if s.reader != nil && s.from == s.parts[i].start {
		return s.reader, nil
	}
	if s.reader != nil {
		s.reader.Close()
	}
	var err error
	if s.reader, err = os.OpenFile(s.parts[i].path, os.O_RDONLY|noFollow|noWait, 0); err != nil {
		s.reader = nil
		return nil, err
	}
	s.from = s.parts[i].start
	return s.reader, nil
}

// Close ends what is written to the spool. It can be read until it is let go of.
func (s *Spool) Close() error {
	s.mu.Lock()
	last := s.last
	s.closed = true
	s.mu.Unlock()
	s.Wake()
	s.syncs.Wait()
	return last.Sync()
}

// Release lets go of the spool.
func (s *Spool) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeFiles()
	s.lock.close()
}

func (s *Spool) closeFiles() {
	for _, f := range []*os.File{s.last, s.reader} {
		if f != nil {
			f.Close()
		}
	}
	s.reader = nil
}
